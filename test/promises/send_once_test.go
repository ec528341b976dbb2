package promises_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// Frames of HTTP/2, and flags of theirs.
const (
	frameData, frameHeaders, frameReset, frameSettings, frameGoAway = 0, 1, 3, 4, 7

	flagEndStream, flagAck = 1, 1
	streamOfGoAway         = 0
)

// serveHTTP2 reads HTTP/2 frames and writes end for each request that it has read whole. It returns the
// number of requests, and the transport that reaches it.
func serveHTTP2(end func(stream uint32) []byte) (*atomic.Int32, *http.Transport) {
	requests := &atomic.Int32{}
	serve := func(conn net.Conn) {
		defer conn.Close()
		frames := bufio.NewReader(conn)
		_, _ = frames.Discard(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
		send := make(chan []byte, 100)
		defer close(send)
		go func() {
			for frame := range send {
				_, _ = conn.Write(frame)
			}
		}()
		send <- frame(frameSettings, 0, 0)
		var head [9]byte
		for {
			if _, err := io.ReadFull(frames, head[:]); err != nil {
				return
			}
			_, _ = frames.Discard(int(head[0])<<16 | int(head[1])<<8 | int(head[2]))
			kind, flags := head[3], head[4]
			switch {
			case kind == frameSettings && flags&flagAck == 0:
				send <- frame(frameSettings, flagAck, 0)
			case kind <= frameHeaders && flags&flagEndStream != 0:
				requests.Add(1)
				send <- end(binary.BigEndian.Uint32(head[5:]))
			}
		}
	}
	transport := &http.Transport{
		Protocols: new(http.Protocols),
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			go serve(there)
			return here, nil
		},
	}
	transport.Protocols.SetUnencryptedHTTP2(true)
	return requests, transport
}

// frame is an HTTP/2 frame whose payload is numbers of 32 bits.
func frame(kind, flags byte, stream uint32, payload ...uint32) []byte {
	data := []byte{0, 0, byte(4 * len(payload)), kind, flags}
	for _, number := range append([]uint32{stream}, payload...) {
		data = binary.BigEndian.AppendUint32(data, number)
	}
	return data
}

// After these frames, net/http repeats a request over HTTP/2 although the service has read it. The client sends it once.
// The module test/wire covers every other frame and point of a response.
func TestSendOnce_OverHTTP2(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(stream uint32) []byte{
		"PROTOCOL_ERROR": func(stream uint32) []byte { return frame(frameReset, 0, stream, 1) },
		"REFUSED_STREAM": func(stream uint32) []byte { return frame(frameReset, 0, stream, 7) },
		"GOAWAY":         func(uint32) []byte { return frame(frameGoAway, 0, streamOfGoAway, 0, 0) },
	} {
		for _, call := range append(shippingtest.Calls(), shippingtest.Call{Operation: "do", Do: func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
			return nil, c.Do(ctx, http.MethodDelete, "/v1/shipments/SH-1", nil, nil, nil, o...)
		}}) {
			if shippingtest.Operation(call.Operation).Retry == operations.Safe {
				continue
			}
			t.Run(name+" "+call.Operation, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					requests, transport := serveHTTP2(end)
					defer func() {
						synctest.Wait() // for the stream to end
						transport.CloseIdleConnections()
					}()
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					attempts := 0
					client := shippingtest.NewClient(t, transport, shippingtest.FastRetries(), shipping.WithProvisionalRoutes(), shipping.WithBaseURL(shippingtest.PlainBaseURL),
						shipping.WithObserver(shipping.Observer{Attempt: func(_ context.Context, o string, _ shipping.Attempt) {
							attempts++
							if o == shipping.OpPurchase {
								cancel() // a purchase is not read back
							}
						}}))
					_, err := call.Do(ctx, client)
					shippingtest.WantError(t, "call", err, shipping.ErrConnection)
					if sent := requests.Load(); attempts != 1 || sent != 1 {
						t.Errorf("%d requests in %d attempts: %v", sent, attempts, err)
					}
					// From Go 1.27 on, net/http does not repeat a request after PROTOCOL_ERROR.
					if name != "PROTOCOL_ERROR" && !strings.Contains(err.Error(), "it was not sent again") {
						t.Errorf("the error does not report it: %v", err)
					}
				})
			})
		}
	}
}

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
