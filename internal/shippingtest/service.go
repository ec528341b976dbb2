// Package shippingtest contains helpers of the client's tests: a mock of the service that records the requests that it
// receives, clients of it, the table of all calls, and the golden responses. Only tests outside of the package
// shipping import it. It does not hold the reference server, which is the package mockserver.
package shippingtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping/internal/status"
)

// Service is a mock transport that records the requests it receives.
type Service struct {
	*httpmock.MockTransport

	mu       sync.Mutex
	requests []Request
}

// Request is a request as the service received it.
type Request struct {
	Method, Origin, Path string
	Query                url.Values
	Header               http.Header
	Body                 string
	At                   time.Time
}

// NewService returns a service that sends responses in turn to requests of any route. The last one is sent again
// and again.
func NewService(responders ...httpmock.Responder) *Service {
	s := &Service{MockTransport: httpmock.NewMockTransport()}
	s.RegisterNoResponder(InTurn(responders...))
	return s
}

// NewRequestService returns a service with one regulatory request: purchases receive the first list of responses
// in turn, reads of any request the second.
func NewRequestService(purchases, reads []httpmock.Responder) *Service {
	s := &Service{MockTransport: httpmock.NewMockTransport()}
	s.RegisterResponder(http.MethodPost, BaseURL+"/v1/regulatory-documents/purchase", InTurn(purchases...))
	s.RegisterResponder(http.MethodGet, "=~^"+BaseURL+"/v1/regulatory-documents/request/", InTurn(reads...))
	return s
}

// RoundTrip records a request and responds to it. A responder can read the body of the request.
func (s *Service) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
	}
	s.mu.Lock()
	s.requests = append(s.requests, Request{
		Method: r.Method, Origin: r.URL.Scheme + "://" + r.URL.Host, Path: r.URL.EscapedPath(),
		Query: r.URL.Query(), Header: r.Header.Clone(), Body: string(body), At: time.Now(),
	})
	s.mu.Unlock()
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	return s.MockTransport.RoundTrip(r)
}

// Requests returns the requests so far.
func (s *Service) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Count returns the number of requests of a method; "" counts all.
func (s *Service) Count(method string) int {
	return len(slices.DeleteFunc(s.Requests(), func(r Request) bool { return method != "" && r.Method != method }))
}

// CountPath returns the number of requests whose path ends with a text.
func (s *Service) CountPath(end string) int {
	return len(slices.DeleteFunc(s.Requests(), func(r Request) bool { return !strings.HasSuffix(r.Path, end) }))
}

// InTurn returns a responder that calls each of others in turn, and the last one again and again. Unlike
// [httpmock.Responder.Then], it can respond to several requests at the same time.
func InTurn(others ...httpmock.Responder) httpmock.Responder {
	var mu sync.Mutex
	n := 0
	return func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		n++
		next := others[min(n, len(others))-1]
		mu.Unlock()
		return next(r)
	}
}

// Envelope returns the body of a success that carries data.
func Envelope(data string) string { return `{"status":true,"message":"done","data":` + data + `}` }

// OK returns a responder of successes that carry data.
func OK(data string) httpmock.Responder {
	return httpmock.NewStringResponder(http.StatusOK, Envelope(data)).SetContentLength()
}

func RefusalBody(message string) string { return `{"status":false,"message":"` + message + `"}` }

// Refusal returns a responder of failures in the envelope of the specification.
func Refusal(status int, message string) httpmock.Responder {
	return httpmock.NewStringResponder(status, RefusalBody(message)).SetContentLength()
}

// Record returns a responder of successes that carry the request RD-1 in a status, and more members.
func Record(status string, members ...string) httpmock.Responder {
	return OK(`{` + strings.Join(append([]string{`"request_id":"RD-1"`, `"status":"` + status + `"`}, members...), ",") +
		`}`)
}

// Failures returns the statuses of a request that has failed.
func Failures() (names []string) {
	for _, row := range status.All() {
		if row.Failed {
			names = append(names, row.Name)
		}
	}
	return names
}

// Confirmation returns a responder of confirmed purchases of RD-1.
func Confirmation() httpmock.Responder {
	return Record("processing", `"charged_amount":5`, `"currency":"NGN"`, `"transaction_id":"TR-1"`)
}

// NoResponse returns a responder that closes the connection instead.
func NoResponse() httpmock.Responder { return httpmock.NewErrorResponder(io.ErrUnexpectedEOF) }

// Sent returns the status and the body that a responder sends.
func Sent(t testing.TB, responder httpmock.Responder) (status int, body string) {
	t.Helper()
	response, err := responder(&http.Request{})
	if err != nil {
		return 0, ""
	}
	data, err := io.ReadAll(response.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return response.StatusCode, string(data)
}

// Unreachable returns a transport whose connections are refused.
func Unreachable() *http.Transport {
	refuse := func(context.Context, string, string) (net.Conn, error) { return nil, ErrRefused() }
	return &http.Transport{DialContext: refuse, DialTLSContext: refuse}
}

// ErrRefused returns the error of a connection that was refused.
func ErrRefused() *net.OpError {
	return &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
}
