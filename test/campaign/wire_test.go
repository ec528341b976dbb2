package campaign

import (
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/test/internal/tcptest"
)

// patience is how long a client of the campaign waits for one attempt while the proxy strikes.
const patience = 150 * time.Millisecond

// A wire is a protocol between client and proxy. A response that is broken off ends an HTTP/1.1 connection, and an
// HTTP/2 stream. test/wire ends streams and connections of HTTP/2 in every other way.
type wire struct {
	name   string
	weight int
	http2  bool
	dead   bool // nobody listens
}

func (w wire) share() int { return w.weight }

func wires() []wire {
	return []wire{
		{name: "HTTP/1.1", weight: 47},
		{name: "HTTP/2", weight: 46, http2: true},
		{name: "connection refused", weight: 7, dead: true},
	}
}

// open serves the handler on the wire and returns a client of it, which waits so long for one attempt.
func (w wire) open(t *testing.T, handler http.Handler, key string, timeout time.Duration) *shipping.Client {
	t.Helper()
	serving, trusting := tcptest.Certificate()
	server := tcptest.Start(serving, func(conn net.Conn) { tcptest.ServeHTTP(conn, handler) })
	t.Cleanup(server.Close)
	address := server.URL
	if w.dead {
		address = "https://127.0.0.1:1" // a port that was closed could be another test's by now
	}
	transport := &http.Transport{TLSClientConfig: trusting, ForceAttemptHTTP2: w.http2, MaxIdleConnsPerHost: 64}
	return shippingtest.Must(shipping.NewClient(key, shipping.WithBaseURL(address),
		shipping.WithHTTPClient(&http.Client{Transport: transport}),
		shipping.WithRetryPolicy(shipping.RetryPolicy{
			MaxAttempts: 2, MinWait: time.Millisecond, MaxWait: 4 * time.Millisecond, MaxRetryAfter: time.Millisecond,
			AttemptTimeout: timeout, ExtraLoad: -1,
		})))(t)
}
