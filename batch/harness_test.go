package batch_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
)

const (
	testKey  = "sk_test_8mK3vQ9rT2xW7yZ4bN6c"
	testBase = "https://api.service.test"
)

func mustAmount(t testing.TB, text string) shipping.Amount {
	t.Helper()
	amount, err := shipping.ParseAmount(text)
	if err != nil {
		t.Fatal(err)
	}
	return amount
}

func diff(t testing.TB, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b shipping.Amount) bool { return a == b })); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// canned is a response: after a while, a status and the data of the envelope, or an error instead. Without data
// it is a refusal.
type canned struct {
	after  time.Duration
	status int
	data   string
	err    error
}

// service responds to requests from a script, and records their bodies.
type service struct {
	script func(n int, body string) canned // n counts from 1

	mu     sync.Mutex
	bodies []string
}

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.bodies = append(s.bodies, string(body))
	n := len(s.bodies)
	s.mu.Unlock()
	response := s.script(n, string(body))
	if response.after > 0 {
		time.Sleep(response.after)
	}
	if response.err != nil {
		return nil, response.err
	}
	return reply(response.status, response.data)
}

// requests returns the bodies of the requests so far.
func (s *service) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.bodies...)
}

// answering is a service that gives its responses in turn, and the last one for ever.
func answering(responses ...canned) *service {
	return &service{script: func(n int, _ string) canned { return responses[min(n, len(responses))-1] }}
}

// unreachable is a transport whose connections are refused.
func unreachable() http.RoundTripper {
	return &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}}
}
