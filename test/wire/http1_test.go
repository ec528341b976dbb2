package wire

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shipping-go/shipping/test/internal/tcptest"
)

// serveHTTP1 responds to every GET, and lets play respond to the rest.
func serveHTTP1(s *service, conn net.Conn) {
	tcptest.ServeHTTP(conn, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		if r.Method == http.MethodGet {
			if s.beforeGet != nil {
				s.beforeGet()
			}
		} else if s.requests.Add(1); !s.play(&connection{net: conn}) {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, record)
	}))
}

// A request is not repeated even if other idle connections are available, on which net/http could repeat it at once,
// and if its method or a header allows this. net/http chooses between a ready connection and the end of the context at
// random. If nothing above the transport learns how much was written, a body is read once.
func TestHTTP1_NotRepeatedOnAnotherIdleConnection(t *testing.T) {
	t.Parallel()
	const idle = 4
	detachedKey := func(r *http.Request) *http.Request { return withKey(detached(r)) }
	for name, change := range map[string]func(*http.Request) *http.Request{
		"plain": nil, "keyed": withKey, "keyed, detached": detachedKey,
	} {
		for _, op := range operations() {
			if name == "keyed, detached" && !op.body {
				continue
			}
			t.Run(name+"/"+op.name, func(t *testing.T) {
				t.Parallel()
				for round := range 10 {
					s := listen(nil, serveHTTP1)
					var gets atomic.Int32
					together := make(chan struct{})
					s.beforeGet = func() {
						if gets.Add(1) == idle {
							close(together)
						}
						<-together
					}
					s.play = func(c *connection) bool {
						if round%2 == 0 {
							tcptest.Reset(c.net)
						}
						return false
					}
					s.drains = true
					_ = s.attempt(t, op, sending(&http.Transport{MaxIdleConnsPerHost: idle}, change), idle)
				}
			})
		}
	}
}

// noticing reports on its channel that net/http closes the connection, which it does not use again.
type noticing struct {
	net.Conn
	ended chan struct{}
	once  sync.Once
}

func (n *noticing) Close() error {
	n.once.Do(func() { close(n.ended) })
	return n.Conn.Close()
}

// The retry of net/http on another connection after it wrote nothing is harmless, and keeps working. Each purchase
// finds an idle connection that the service has closed, before or after net/http notices. A client that counted this
// as a request that was sent would report unknown outcomes.
func TestHTTP1_StaleConnectionsLeaveNoUnknownPurchase(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		close  func(net.Conn)
		notice bool // before the purchase
	}{
		"reset":  {tcptest.Reset, false},
		"closed": {func(conn net.Conn) { _ = conn.Close() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const purchases = 600
			s := listen(nil, serveHTTP1)
			defer s.Close()
			s.play = func(*connection) bool { return true }
			var last *noticing
			transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, address)
				last = &noticing{Conn: conn, ended: make(chan struct{})}
				return last, err
			}}
			defer transport.CloseIdleConnections()
			c := newCaller(t, s.URL, transport)
			for range purchases {
				c.keep(t)
				s.CloseConnections(test.close)
				if test.notice {
					<-last.ended
				}
				result, err := purchase(t.Context(), c.Client)
				if err != nil || result.ReadBack {
					t.Fatalf("%+v, %v", result, err)
				}
			}
			if s.requests.Load() != purchases || c.attempts.Load() != purchases {
				t.Errorf("the service read %d purchases in %d attempts, want %d", s.requests.Load(), c.attempts.Load(), purchases)
			}
		})
	}
}
