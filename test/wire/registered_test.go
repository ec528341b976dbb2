package wire

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
)

// unreachable cannot be dialled: no program listens on port 0.
const unreachable = "127.0.0.1:0"

// standby sends a request to a service and, if the connection breaks, to an address that cannot be dialled.
type standby struct {
	first string
	next  *http.Transport
}

func (s standby) RoundTrip(r *http.Request) (*http.Response, error) {
	first := r.Clone(r.Context())
	first.URL.Host = s.first
	if response, err := s.next.RoundTrip(first); err == nil {
		return response, nil
	}
	second := r.Clone(r.Context())
	second.URL.Host = unreachable
	if r.GetBody != nil {
		second.Body, _ = r.GetBody()
	}
	return s.next.RoundTrip(second)
}

// A RoundTripper that is registered with a plain *http.Transport has sent the request to one address before it
// cannot dial another. The error was evidence that nothing was sent: a purchase was reported as not charged, and the service
// read every other request once an attempt.
func TestRegistered_ItsErrorsProveNothing(t *testing.T) {
	t.Parallel()
	for _, op := range operations() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			s := listen(t, nil, serveHTTP1)
			defer s.close()
			s.play = func(*connection) bool { return false }
			transport := &http.Transport{}
			transport.RegisterProtocol("http", standby{s.address(), &http.Transport{DisableKeepAlives: true}})
			c := newCaller(t, "http://service.test", transport)
			c.keep(t)
			err := op.call(t.Context(), c.Client)
			c.checkAttempts(t, err, len(s.seen()))
			if failed, ok := errors.AsType[*shipping.Error](err); ok && failed.NotSent() {
				t.Errorf("the service read the request: %v", err)
			}
			if err != nil && strings.Contains(err.Error(), string(shipping.OutcomeNotCharged)) {
				t.Errorf("the service read the purchase: %v", err)
			}
		})
	}
}

// The RoundTripper that golang.org/x/net/http2 registers for https takes no evidence away.
func TestRegistered_HTTP2(t *testing.T) {
	t.Parallel()
	c := newCaller(t, "https://"+unreachable, configured(t, nil))
	_, err := c.Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-1"})
	failed, ok := errors.AsType[*shipping.Error](err)
	if !ok || !failed.NotSent() || c.attempts.Load() < 2 {
		t.Errorf("%v after %d attempts", err, c.attempts.Load())
	}
}
