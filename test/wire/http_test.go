package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/test/internal/tcptest"
)

// fault is the reaction of a service to a request that it has read completely.
type fault struct {
	name string
	play func(c *connection) (open bool)
}

// faults is every way to end a stream or a connection, at every point of a response.
func faults() []fault {
	var endings []fault
	for code := http2.ErrCodeNo; code <= http2.ErrCodeHTTP11Required; code++ {
		endings = append(endings, fault{"RST_STREAM " + code.String(), func(c *connection) bool {
			_ = c.framer.WriteRSTStream(c.stream, code)
			return true
		}})
	}
	for _, code := range []http2.ErrCode{http2.ErrCodeNo, http2.ErrCodeInternal} {
		goAway := func(name string, last func(stream uint32) uint32, open bool) {
			endings = append(endings, fault{fmt.Sprintf("GOAWAY %s %s", code, name), func(c *connection) bool {
				_ = c.framer.WriteGoAway(last(c.stream), code, nil)
				return open
			}})
		}
		goAway("below", func(stream uint32) uint32 { return max(stream, 2) - 2 }, true)
		goAway("below, closed", func(stream uint32) uint32 { return max(stream, 2) - 2 }, false)
		goAway("equal, closed", func(stream uint32) uint32 { return stream }, false)
		goAway("above, closed", func(stream uint32) uint32 { return stream + 2 }, false)
	}
	endings = append(endings,
		fault{"closed", func(*connection) bool { return false }},
		fault{"reset", func(c *connection) bool {
			tcptest.Reset(c.net)
			return false
		}},
	)
	points := []fault{
		{"before the header", func(*connection) bool { return true }},
		{"after the header", func(c *connection) bool { c.header("200", "100", false); return true }},
		{"in the body", func(c *connection) bool {
			c.header("200", "100", false)
			return c.framer.WriteData(c.stream, false, []byte(record[:20])) == nil
		}},
	}
	all := []fault{
		{"response", (*connection).respond},
		{"GOAWAY equal, response", func(c *connection) bool {
			_ = c.framer.WriteGoAway(c.stream, http2.ErrCodeNo, nil)
			return c.respond()
		}},
	}
	for _, point := range points {
		for _, ending := range endings {
			all = append(all, fault{ending.name + " " + point.name, func(c *connection) bool {
				point.play(c)
				return ending.play(c)
			}})
		}
	}
	return all
}

// interim writes an interim response before each fault. Status 0 writes none.
func interim(status int, faults []fault) []fault {
	if status == 0 {
		return faults
	}
	var all []fault
	for _, f := range faults {
		all = append(all, fault{fmt.Sprintf("%d, %s", status, f.name), func(c *connection) bool {
			c.header(fmt.Sprint(status), "", false)
			return f.play(c)
		}})
	}
	return all
}

// http2Transports returns transports that send requests over HTTP/2, each of another kind.
func http2Transports(t *testing.T, trusting *tls.Config) map[string]transport {
	t.Helper()
	plain := func() *http.Transport {
		return &http.Transport{TLSClientConfig: trusting.Clone(), ForceAttemptHTTP2: true}
	}
	return map[string]transport{
		"unencrypted":         unencrypted(),
		"TLS":                 plain(),
		"wrapped":             sending(plain(), func(r *http.Request) *http.Request { return r }),
		"detached":            sending(plain(), detached),
		"configured by x/net": configured(t, trusting.Clone()),
		//lint:ignore SA1019 programs use it
		"x/net": &http2.Transport{TLSClientConfig: trusting.Clone()},
	}
}

func unencrypted() *http.Transport {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	return transport
}

// configured returns a transport for which golang.org/x/net/http2 implements HTTP/2.
func configured(t *testing.T, trusting *tls.Config) *http.Transport {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: trusting}
	//lint:ignore SA1019 programs use it
	shippingtest.NoError(t, http2.ConfigureTransport(transport))
	return transport
}

// The service reads one request per attempt, whatever it does to the stream and the connection. net/http would send it
// again after GOAWAY, REFUSED_STREAM and PROTOCOL_ERROR, although the service has read it.
func TestHTTP2_OneRequestAnAttempt(t *testing.T) {
	t.Parallel()
	serving, trusting := tcptest.Certificate()
	for kind := range http2Transports(t, trusting) {
		config, called, before := serving, operations(), []int{0}
		if kind == "unencrypted" { // no handshake: time for all
			config, before = nil, []int{0, 100, 103}
		} else {
			called = slices.DeleteFunc(called, func(o operation) bool {
				return o.name != shipping.OpPurchase && o.name != shipping.OpReplayWebhook &&
					(o.name != "DELETE without a body" || kind == "detached")
			})
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for _, op := range called {
				for kept := range 2 {
					for _, status := range before {
						for _, f := range interim(status, faults()) {
							t.Run(fmt.Sprintf("%s/kept=%d/%s", op.name, kept, f.name), func(t *testing.T) {
								s := listen(config, serveHTTP2)
								s.play = f.play
								_ = s.attempt(t, op, http2Transports(t, trusting)[kind], kept)
							})
						}
					}
				}
			}
		})
	}
}

// A request that was written over HTTP/2 is not sent again over HTTP/1.1 if the service changes the protocol in
// between.
func TestHTTP2_NotRepeatedOverHTTP1(t *testing.T) {
	t.Parallel()
	serving, trusting := tcptest.Certificate()
	for _, op := range operations() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			for range 20 { // net/http chooses between a ready connection and the end of the context at random
				var connections atomic.Int32
				config := serving.Clone()
				config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
					chosen := serving.Clone()
					chosen.NextProtos = []string{"h2"}
					if connections.Add(1) > 1 {
						chosen.NextProtos = []string{"http/1.1"}
					}
					return chosen, nil
				}
				s := listen(config, func(s *service, conn net.Conn) {
					serve := serveHTTP1
					if err := conn.(*tls.Conn).Handshake(); err != nil {
						return
					}
					if conn.(*tls.Conn).ConnectionState().NegotiatedProtocol == "h2" {
						serve = serveHTTP2
					}
					serve(s, conn)
				})
				s.play, s.drains = func(c *connection) bool {
					if c.framer != nil {
						_ = c.framer.WriteGoAway(0, http2.ErrCodeNo, nil)
					}
					return false
				}, true
				_ = s.attempt(t, op, &http.Transport{TLSClientConfig: trusting.Clone(), ForceAttemptHTTP2: true}, 0)
			}
		})
	}
}

// A transport that reads the body before the request is sent can restore it.
func TestDetached_ABodyThatWasReadBeforeIsSent(t *testing.T) {
	t.Parallel()
	for _, op := range operations() {
		s := listen(nil, serveHTTP2)
		s.play = (*connection).respond
		if err := s.attempt(t, op, sending(unencrypted(), restored), 0); err != nil {
			t.Errorf("%s: %v", op.name, err)
		}
	}
}

// The RoundTripper that golang.org/x/net/http2 registers for https takes no evidence away. No program listens on port
// 0.
func TestHTTP2_ConfiguredByXNetSentNothing(t *testing.T) {
	t.Parallel()
	c := newCaller(t, "https://127.0.0.1:0", configured(t, nil))
	_, err := c.Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-1"})
	failed, ok := errors.AsType[*shipping.Error](err)
	if !ok || !failed.NotSent() || c.attempts.Load() < 2 {
		t.Errorf("%v after %d attempts", err, c.attempts.Load())
	}
}

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
	type row struct {
		close  func(net.Conn)
		notice bool // before the purchase
	}
	shippingtest.EachRow(t, map[string]row{
		"reset":  {tcptest.Reset, false},
		"closed": {func(conn net.Conn) { _ = conn.Close() }, true},
	}, func(t *testing.T, test row) {
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
