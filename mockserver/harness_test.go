package mockserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// start returns a server that is sound and closes with the test.
func start(t *testing.T, opts ...mockserver.Option) *mockserver.Server {
	t.Helper()
	srv := mockserver.New(opts...)
	t.Cleanup(srv.Close)
	shippingtest.NoError(t, srv.Err())
	return srv
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

func get(t *testing.T, srv *mockserver.Server, path string) answer {
	t.Helper()
	return do(t, srv, http.MethodGet, path, "")
}

func post(t *testing.T, srv *mockserver.Server, path, body string) answer {
	t.Helper()
	return do(t, srv, http.MethodPost, path, body)
}

// do sends a request with the server's key over its transport in memory or over its socket. Headers are given as name
// and value in turn; one with an empty value is not sent.
func do(t *testing.T, srv *mockserver.Server, method, path, body string, headers ...string) answer {
	t.Helper()
	transport := srv.Transport()
	if strings.HasPrefix(srv.URL, "http://127.") {
		transport = &http.Transport{DisableKeepAlives: true}
	}
	req := newRequest(t, srv, method, path, body)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	got := shippingtest.Must(attempt(transport, req))(t)
	return got
}

// send is do of a request in one text: the method, the path, the body, and then a header in each line. {docs} is
// [regulatoryPath].
func send(t *testing.T, srv *mockserver.Server, text string) answer {
	t.Helper()
	lines := strings.Split(strings.ReplaceAll(text, "{docs}", regulatoryPath), "\n")
	var headers []string
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		headers = append(headers, name, value)
	}
	parts := append(strings.SplitN(lines[0], " ", 3), "")
	return do(t, srv, parts[0], parts[1], parts[2], headers...)
}

// attempt sends a request that may get no response, or a part of one.
func attempt(transport http.RoundTripper, req *http.Request) (answer, error) {
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, body}, err
}

// newRequest returns a request with the server's key, for a transport.
func newRequest(t *testing.T, srv *mockserver.Server, method, path, body string) *http.Request {
	t.Helper()
	req := shippingtest.Must(http.NewRequestWithContext(t.Context(), method, srv.URL+path, strings.NewReader(body)))(t)
	req.Header.Set("Authorization", "Bearer "+srv.SecretKey)
	return req
}

// ask sends a request to a world without a connection, and decodes the response into a value unless that is nil. It
// waits for nothing.
func ask(tb testing.TB, srv *mockserver.Server, w *mockserver.World, method, target, body string,
	into any) *httptest.ResponseRecorder {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := httptest.NewRequestWithContext(ctx, method, "http://127.0.0.1"+target, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:9" // other machines have no access to the control surface
	r.Header.Set("Authorization", "Bearer "+w.SecretKey)
	recorder := httptest.NewRecorder()
	srv.ServeHTTP(recorder, r)
	if into != nil {
		if err := json.Unmarshal(recorder.Body.Bytes(), into); err != nil {
			tb.Fatalf("%s %s: %v: %s", method, target, err, recorder.Body)
		}
	}
	return recorder
}

func (a answer) want(t *testing.T, status int) answer {
	t.Helper()
	if a.status != status {
		t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

// refusal fails the test unless the answer is a refusal of the expected status whose message holds a
// text.
func (a answer) refusal(t *testing.T, status int, text string) answer {
	t.Helper()
	a.want(t, status)
	var envelope struct {
		Status  *bool
		Message string
	}
	if err := json.Unmarshal(a.body, &envelope); err != nil || envelope.Status == nil || *envelope.Status {
		t.Fatalf("no failure envelope (%v): %s", err, a.body)
	}
	shippingtest.Contains(t, "message", envelope.Message, text)
	return a
}

func (a answer) data(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal(a.body, &struct{ Data any }{into}); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
}

// text returns one text of the data.
func (a answer) text(t *testing.T, name string) string {
	t.Helper()
	text, _ := a.at(t, "data."+name).(string)
	return text
}

// has compares values of the response, such as "status=true, data.items.0.type=CUSTOMS". A path with .* has the names
// of the members.
func (a answer) has(t *testing.T, facts string) answer {
	t.Helper()
	for fact := range strings.SplitSeq(facts, ", ") {
		path, want, _ := strings.Cut(fact, "=")
		got := fmt.Sprint(a.at(t, path))
		if object, names := strings.CutSuffix(path, ".*"); names {
			got = a.names(t, object)
		}
		if got != want {
			t.Errorf("%s is %q, want %q in %s", path, got, want, a.body)
		}
	}
	return a
}

// at returns the value at a path such as data.request.items.0, or nil.
func (a answer) at(t *testing.T, path string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(a.body, &value); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	for name := range strings.SplitSeq(path, ".") {
		switch inner := value.(type) {
		case map[string]any:
			value = inner[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(inner) {
				return nil
			}
			value = inner[i]
		default:
			return nil
		}
	}
	return value
}

// names returns the member names of the object at a path, sorted.
func (a answer) names(t *testing.T, path string) string {
	t.Helper()
	object, _ := a.at(t, path).(map[string]any)
	var names []string
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
