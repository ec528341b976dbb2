package wire

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/test/internal/tcptest"
)

// serveHTTP1 reads requests. It responds to every GET and lets play respond to the rest.
func serveHTTP1(s *service, conn net.Conn) {
	reader := bufio.NewReader(conn)
	for {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return
		}
		c := &connection{net: conn}
		if request.Method == http.MethodGet {
			if s.beforeGet != nil {
				s.beforeGet()
			}
			_, _ = io.WriteString(conn, whole)
		} else {
			s.requests.Add(1)
			if !s.play(c) {
				return
			}
		}
	}
}

var (
	statusLine = "HTTP/1.1 200 OK\r\n"
	header     = fmt.Sprintf("Content-Length: %d\r\n\r\n", len(record))
	whole      = statusLine + header + record
)

// http1Faults is every way to break off a response.
func http1Faults() []fault {
	written := map[string]string{
		"nothing": "", "half a status line": statusLine[:12], "a status line": statusLine, "half a header": statusLine +
			header[:9],
		"a header": statusLine + header, "half a body": statusLine + header + record[:20], "a response": whole,
	}
	var all []fault
	for name, text := range written {
		for _, interim := range []string{"", "HTTP/1.1 100 Continue\r\n\r\n",
			"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"} {
			for ending, end := range map[string]func(net.Conn){"closed": func(net.Conn) {}, "reset": tcptest.Reset} {
				all = append(all, fault{fmt.Sprintf("%q, %s, %s", strings.TrimSpace(interim), name, ending),
					func(c *connection) bool {
						_, _ = io.WriteString(c.net, interim+text)
						end(c.net)
						return false
					}})
			}
		}
	}
	return all
}

// The service reads one request per attempt, wherever the connection breaks, even if the method or a header allows
// net/http to repeat the request. If nothing above the transport learns how much was written, a body is read once.
func TestHTTP1_OneRequestAnAttempt(t *testing.T) {
	t.Parallel()
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
				for kept := range 2 {
					for _, f := range http1Faults() {
						t.Run(fmt.Sprintf("kept=%d/%s", kept, f.name), func(t *testing.T) {
							s := listen(t, nil, serveHTTP1)
							s.play, s.drains = f.play, true
							_ = s.attempt(t, op, sending(&http.Transport{}, change), kept)
						})
					}
				}
			})
		}
	}
}

// A request is not repeated even if other idle connections are available, on which net/http could repeat it at once.
func TestHTTP1_NotRepeatedOnAnotherIdleConnection(t *testing.T) {
	t.Parallel()
	const idle = 4
	for _, op := range operations() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			for range 10 { // net/http chooses between a ready connection and the end of the context at random
				s := listen(t, nil, serveHTTP1)
				var gets atomic.Int32
				together := make(chan struct{})
				s.beforeGet = func() {
					if gets.Add(1) == idle {
						close(together)
					}
					<-together
				}
				s.play, s.drains = func(*connection) bool { return false }, true
				_ = s.attempt(t, op, &http.Transport{MaxIdleConnsPerHost: idle}, idle)
			}
		})
	}
}

// noticing reports on its channel that net/http closes the connection, which it uses no more.
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
// finds an idle connection that the service has closed.
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
			s := listen(t, nil, serveHTTP1)
			defer s.Close()
			s.play = func(c *connection) bool {
				_, err := io.WriteString(c.net, whole)
				return err == nil
			}
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
				result, err := c.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{
					RequestID: requestID, DocumentTypes: []shipping.DocumentType{"FDA"},
					Draft: &shipping.RegulatoryRequest{RequestID: requestID, Status: shipping.StatusDraft}, Sole: true,
				})
				if err != nil || result.ReadBack {
					t.Fatalf("%+v, %v", result, err)
				}
			}
			if s.seen() != purchases || c.attempts.Load() != purchases {
				t.Errorf("the service read %d purchases in %d attempts, want %d", s.seen(), c.attempts.Load(), purchases)
			}
		})
	}
}
