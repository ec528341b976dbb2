package campaign

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
)

// patience is how long a client of the campaign waits for one attempt while the proxy strikes.
const patience = 150 * time.Millisecond

// A wire is a protocol between client and proxy. An exchange that the proxy aborts closes an HTTP/1.1 connection, and
// resets an HTTP/2 stream. test/wire breaks streams and connections in every other way.
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
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = w.http2
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	web, address := server.Client(), server.URL
	web.Transport.(*http.Transport).MaxIdleConnsPerHost = 64
	if w.dead {
		address = "https://127.0.0.1:1" // a port that was closed could be another test's by now
	}
	client, err := shipping.NewClient(key, shipping.WithBaseURL(address), shipping.WithHTTPClient(web),
		shipping.WithRetryPolicy(shipping.RetryPolicy{
			MaxAttempts: 2, MinWait: time.Millisecond, MaxWait: 4 * time.Millisecond, MaxRetryAfter: time.Millisecond,
			AttemptTimeout: timeout, ExtraLoad: -1,
		}))
	if err != nil {
		t.Fatal(err)
	}
	return client
}
