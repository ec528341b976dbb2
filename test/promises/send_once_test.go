package promises_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// net/http does not check the context before it writes to a connection of HTTP/1.1, so the client closes a connection
// that it must not use. A connection of HTTP/2 is shared with other requests and stays open.
func TestSendOnce_ClosesAConnectionThatItMustNotUse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		method, field string
		open          bool
	}{
		"HTTP/1.1": {http.MethodOptions, "Host", false},
		"HTTP/2":   {http.MethodDelete, ":authority", true},
	} {
		first, second := newPipe(t), newPipe(t)
		transport := roundTrip(func(r *http.Request) (*http.Response, error) {
			trace := httptrace.ContextClientTrace(r.Context())
			trace.GetConn("")
			trace.GotConn(httptrace.GotConnInfo{Conn: first})
			trace.WroteHeaderField(test.field, []string{"api.service.test"})
			if r.Context().Err() != nil {
				t.Errorf("%s: the context ended too early", name)
			}
			trace.GetConn("")
			trace.GotConn(httptrace.GotConnInfo{Conn: second})
			return nil, context.Cause(r.Context())
		})
		err := shippingtest.NewClient(t, transport).Do(t.Context(), test.method, "/v1/shipments", nil, nil, nil)
		if err == nil || !strings.Contains(err.Error(), "it was not sent again") {
			t.Errorf("%s: %v", name, err)
		}
		if closed := second.SetDeadline(time.Time{}) != nil; closed == test.open || first.SetDeadline(time.Time{}) != nil {
			t.Errorf("%s: the second connection is closed: %t", name, closed)
		}
	}
}

func newPipe(t *testing.T) net.Conn {
	t.Helper()
	here, there := net.Pipe()
	t.Cleanup(func() {
		_ = here.Close()
		_ = there.Close()
	})
	return here
}

// roundTrip is a transport that is not net/http's.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// pipeTo is a DialContext whose connections end in serve.
func pipeTo(serve func(net.Conn)) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() {
			defer there.Close()
			serve(there)
		}()
		return here, nil
	}
}

// readRequest reads one request.
func readRequest(conn net.Conn) {
	if request, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
		_, _ = io.Copy(io.Discard, request.Body)
	}
}

// A plain *http.Transport that never got a connection, also because of a proxy, proves that nothing was sent.
func TestEvidence_OfAPlainTransport(t *testing.T) {
	t.Parallel()
	answer := func(text string) func(net.Conn) {
		return func(conn net.Conn) {
			_, _ = conn.Read(make([]byte, 4096))
			_, _ = io.WriteString(conn, text)
		}
	}
	proxy := http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy.test:3128", User: url.UserPassword("user", "secret")})
	for name, test := range map[string]struct {
		base      string
		transport *http.Transport
		attempts  int // of an operation that is retried if unsent
		text      string
		lost      bool // nothing proves that it was not sent
	}{
		"connection refused": {shippingtest.PlainBaseURL, &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			return nil, shippingtest.ErrRefused()
		}}, 4, "no response: dial tcp: connection refused [4 attempts]; nothing was sent: check host, port and network", false},
		"no handshake in time": {shippingtest.BaseURL, &http.Transport{TLSHandshakeTimeout: time.Second, DialContext: pipeTo(func(conn net.Conn) {
			_, _ = io.Copy(io.Discard, conn)
		})}, 4, "net/http: TLS handshake timeout [4 attempts]; nothing was sent", false},
		"not TLS": {shippingtest.BaseURL, &http.Transport{DialContext: pipeTo(answer("HTTP/1.1 400 Bad Request\r\n\r\n"))}, 1, "the service expects http:// there", false},
		"the proxy wants a password": {shippingtest.BaseURL, &http.Transport{Proxy: proxy, DialContext: pipeTo(answer("HTTP/1.1 407 no\r\n\r\n"))}, 4,
			"proxy proxy.test:3128: no [4 attempts]; nothing was sent", false},
		"the proxy is not there": {shippingtest.BaseURL, &http.Transport{Proxy: proxy, DialContext: func(context.Context, string, string) (net.Conn, error) {
			return nil, shippingtest.ErrRefused()
		}}, 4, "proxy proxy.test:3128: proxyconnect tcp: dial tcp: connection refused [4 attempts]; nothing was sent", false},
		"the connection closes": {shippingtest.PlainBaseURL, &http.Transport{DialContext: pipeTo(readRequest)}, 1, "EOF", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := shippingtest.NewClient(t, test.transport, shippingtest.FastRetries(), shipping.WithBaseURL(test.base))
				_, err := client.Webhooks.Replay(t.Context(), &shipping.ReplayRequest{DeliveryID: "WD-1"})
				if got := len(shippingtest.ErrorIn(t, err).Attempts); got != test.attempts || !strings.Contains(err.Error(), test.text) {
					t.Errorf("%d attempts, want %d, and %q: %v", got, test.attempts, test.text, err)
				}
				want := shipping.OutcomeNotCharged
				if test.lost {
					want = shipping.OutcomeUnknown
				}
				result, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}, Draft: shippingtest.DraftRecord("RD-1"), Sole: true})
				if got := shippingtest.Outcome(result, err); got != want {
					t.Errorf("outcome %q, want %q: %v", got, want, err)
				}
			})
		})
	}
}
