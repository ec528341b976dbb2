// Package gatewaytest passes requests to a service in process, for tests that change its responses.
package gatewaytest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"

	"github.com/shipping-go/shipping/internal/shippingtest"
)

// Response is the response of the service, or of the gateway in its place.
type Response struct {
	Status      int
	ContentType string
	Body        []byte
}

// Ask sends the service a request with the headers of another.
func Ask(service http.Handler, from *http.Request, method, path string, body []byte) Response {
	r := httptest.NewRequest(method, path, bytes.NewReader(body))
	r.Header = from.Header.Clone()
	w := httptest.NewRecorder()
	service.ServeHTTP(w, r)
	return Response{w.Code, w.Header().Get("Content-Type"), w.Body.Bytes()}
}

// JSON returns a response with a body in JSON.
func JSON(status int, body string) Response {
	return Response{status, "application/json", []byte(body)}
}

// Accepted returns a success with data.
func Accepted(data string) Response { return JSON(http.StatusOK, shippingtest.Envelope(data)) }

// Refused returns a refusal with data.
func Refused(status int, data string) Response {
	return JSON(status, `{"status":false,"message":"the gateway is not sure","data":`+data+`}`)
}

// Page returns a page of HTML.
func Page(status int) Response {
	return Response{status, "text/html", []byte("<html><body><h1>Gateway</h1></body></html>")}
}

// Problem returns problem details.
func Problem() Response {
	return Response{http.StatusBadRequest, "application/problem+json", []byte(`{"title":"not sure","status":400}`)}
}

// Data returns the data of the envelope, or nil.
func (r *Response) Data() map[string]any {
	var envelope struct {
		Data map[string]any `json:"data"`
	}
	_ = json.Unmarshal(r.Body, &envelope)
	return envelope.Data
}

// Text returns a member of the data.
func (r *Response) Text(member string) string {
	text, _ := r.Data()[member].(string)
	return text
}

// Edit changes the data, if there is any and change returns true, and reports whether it did.
func (r *Response) Edit(change func(data map[string]any) bool) bool {
	data := r.Data()
	if data == nil || !change(data) {
		return false
	}
	text, err := json.Marshal(data)
	*r = Accepted(string(text))
	return err == nil
}
