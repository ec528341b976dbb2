package conformance

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A POST without a body could be repeated by the transport: only requests with a body were protected.
func TestSession_OnlyAGETCanBeRepeated(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		method string
		body   map[string]any
		sent   string
	}{
		"GET":                 {http.MethodGet, nil, ""},
		"POST":                {http.MethodPost, map[string]any{"a": 1}, `{"a":1}`},
		"POST without a body": {http.MethodPost, nil, "{}"},
		"PUT without a body":  {http.MethodPut, nil, "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent *http.Request
			received := make(chan string, 1)
			service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body) // what came
				received <- string(body)
			}))
			defer service.Close()
			s := newSession(t.Context(), Target{BaseURL: service.URL}, settings{patience: 1 << 40, transport: recording{&sent}})
			if a := s.send(&operation{method: test.method, path: "/v1/rates"}, request{body: test.body}); a.lost != nil {
				t.Fatal(a.lost)
			}
			if got := <-received; got != test.sent {
				t.Errorf("the body is %q, want %q", got, test.sent)
			}
			// net/http sends a request again if it can restore the body, or if it has no body.
			if once := sent.GetBody == nil && sent.Body != nil && sent.Body != http.NoBody; once != (test.method != http.MethodGet) {
				t.Errorf("it is sent once: %t", once)
			}
		})
	}
}

// recording keeps the request.
type recording struct{ request **http.Request }

func (r recording) RoundTrip(request *http.Request) (*http.Response, error) {
	*r.request = request
	return http.DefaultTransport.RoundTrip(request)
}
