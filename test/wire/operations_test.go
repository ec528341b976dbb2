package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/shipping-go/shipping"
	table "github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/test/internal/tcptest"
)

const requestID = shippingtest.RequestID

// operation is a call that is not safe to repeat.
type operation struct {
	name string
	body bool
	call func(ctx context.Context, c *shipping.Client) error
}

func purchase(ctx context.Context, c *shipping.Client) (*shipping.PurchaseResult, error) {
	return c.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{
		Draft: shippingtest.DraftRecord(requestID), Sole: true, RequestID: requestID,
		DocumentTypes: []shipping.DocumentType{"FDA"}, PurchaseOptions: shipping.PurchaseOptions{SettleFor: time.Millisecond},
	})
}

func do(method string, body any) func(context.Context, *shipping.Client) error {
	return func(ctx context.Context, c *shipping.Client) error {
		return c.Do(ctx, method, "/v1/shipments", nil, body, nil)
	}
}

// operations returns each call of the client that is not safe to repeat. A purchase is read back for a millisecond.
func operations() (all []operation) {
	for _, call := range shippingtest.Calls() {
		row := shippingtest.Operation(call.Operation)
		if row.Retry == table.Safe {
			continue
		}
		op := operation{name: call.Operation, body: true, call: func(ctx context.Context, c *shipping.Client) error {
			_, err := call.Do(ctx, c)
			return err
		}}
		if row.Charges {
			op.call = func(ctx context.Context, c *shipping.Client) error { _, err := purchase(ctx, c); return err }
		}
		all = append(all, op)
	}
	return append(all, []operation{
		{"OPTIONS", true, do(http.MethodOptions, map[string]string{"parcel": "PC-1"})},
		{"POST without a body", false, do(http.MethodPost, nil)},
		{"PUT without a body", false, do(http.MethodPut, nil)},
		{"DELETE without a body", false, do(http.MethodDelete, nil)},
		{"OPTIONS without a body", false, do(http.MethodOptions, nil)},
	}...)
}

// record is the data of every response: it suits each of the operations.
const record = `{"status":true,"message":"done","data":{"request_id":"` + requestID + `","status":"processing"}}`

// caller is a client, and the number of attempts that its observer saw of operations that are not safe.
type caller struct {
	*shipping.Client
	attempts atomic.Int32
}

func newCaller(t *testing.T, base string, transport http.RoundTripper) *caller {
	t.Helper()
	c := &caller{}
	c.Client = shippingtest.NewClient(t, transport, shipping.WithBaseURL(base), shippingtest.WithRoutes(),
		shipping.WithRetryPolicy(shipping.RetryPolicy{MinWait: time.Microsecond, MaxWait: time.Microsecond,
			AttemptTimeout: 5 * time.Second, ExtraLoad: -1}),
		shipping.WithObserver(shipping.Observer{
			Attempt: func(_ context.Context, operation string, _ shipping.Attempt) {
				isSafe := func(o table.Operation) bool { return o.Name == operation && o.Retry == table.Safe }
				if !slices.ContainsFunc(table.All(), isSafe) {
					c.attempts.Add(1)
				}
			},
		}))
	return c
}

// transport is an *http.Transport, or one of its kind.
type transport interface {
	http.RoundTripper
	CloseIdleConnections()
}

// changing is a transport that changes requests.
type changing struct {
	*http.Transport
	change func(*http.Request) *http.Request
}

func (c changing) RoundTrip(r *http.Request) (*http.Response, error) {
	return c.Transport.RoundTrip(c.change(r))
}

// sending returns a transport that changes requests, unless change is nil.
func sending(through *http.Transport, change func(*http.Request) *http.Request) transport {
	if change == nil {
		return through
	}
	return changing{through, change}
}

// withKey adds the header that makes net/http repeat a POST over HTTP/1.1.
func withKey(r *http.Request) *http.Request {
	r = r.Clone(r.Context())
	r.Header.Set("Idempotency-Key", "1")
	return r
}

// detached replaces the context, so that nothing above the transport learns how much was written.
func detached(r *http.Request) *http.Request { return r.Clone(context.Background()) }

// restored reads the body before the request is sent, as a log of requests does.
func restored(r *http.Request) *http.Request {
	r = r.Clone(r.Context())
	if r.GetBody != nil {
		_, _ = io.ReadAll(r.Body)
		r.Body, _ = r.GetBody()
	}
	return r
}

// keep leaves a connection open for the next call.
func (c *caller) keep(t *testing.T) {
	t.Helper()
	shippingtest.Must(c.Regulatory.Get(t.Context(), requestID))(t)
}

// checkAttempts compares the attempts that the client reports with the requests that the service read.
func (c *caller) checkAttempts(t *testing.T, err error, seen int) {
	t.Helper()
	if got := int(c.attempts.Load()); got != 1 || seen != 1 {
		t.Errorf("the service read %d requests, the observer saw %d attempts, want 1 and 1 (%v)", seen, got, err)
	}
	if failure, ok := errors.AsType[*shipping.Error](err); ok && (len(failure.Attempts) != 1 || failure.NotSent()) {
		t.Errorf("the error lists %d attempts, want 1, or takes the request for unsent: %v", len(failure.Attempts), err)
	}
	if failure, ok := errors.AsType[*shipping.RegulatoryError](err); ok && failure.Outcome == shipping.OutcomeNotCharged {
		t.Errorf("the service read the purchase: %v", err)
	}
}

// service counts the requests, other than GET, that it has read whole.
type service struct {
	*tcptest.Server
	// play responds to a request that is not a GET, and reports whether the connection stays open.
	play func(c *connection) (open bool)
	// beforeGet, if set, is called before the response to a GET over HTTP/1.1.
	beforeGet func()
	// If drains is set, attempt waits for requests that the client still writes after the call.
	drains   bool
	requests atomic.Int32
}

// listen starts a service that reads each connection with serve.
func listen(config *tls.Config, serve func(*service, net.Conn)) *service {
	s := &service{}
	s.Server = tcptest.Start(config, func(conn net.Conn) { serve(s, conn) })
	return s
}

// attempt makes a call over kept connections, or a new one, and requires one request and one attempt.
func (s *service) attempt(t *testing.T, op operation, through transport, kept int) error {
	t.Helper()
	defer s.Close()
	defer through.CloseIdleConnections()
	c := newCaller(t, s.URL, through)
	var keeping sync.WaitGroup
	for range kept {
		keeping.Go(func() { c.keep(t) })
	}
	keeping.Wait()
	err := op.call(t.Context(), c.Client)
	if s.drains {
		through.CloseIdleConnections()
		s.Drain()
	}
	c.checkAttempts(t, err, int(s.requests.Load()))
	return err
}

// connection is one connection while the service responds to a request. HTTP/1.1 leaves framer nil.
type connection struct {
	net    net.Conn
	framer *http2.Framer
	stream uint32
}

// serveHTTP2 reads frames. It responds to every GET, and play responds to the rest.
func serveHTTP2(s *service, conn net.Conn) {
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	framer := http2.NewFramer(conn, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_ = framer.WriteSettings()
	methods := map[uint32]string{} // by stream
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		ended := false
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = framer.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !frame.IsAck() {
				_ = framer.WritePing(true, frame.Data)
			}
		case *http2.MetaHeadersFrame:
			methods[frame.StreamID] = frame.PseudoValue("method")
			ended = frame.StreamEnded()
		case *http2.DataFrame:
			ended = frame.StreamEnded()
		}
		if !ended {
			continue
		}
		c := &connection{conn, framer, frame.Header().StreamID}
		if methods[c.stream] == http.MethodGet {
			c.respond()
		} else if s.requests.Add(1) > 1 {
			c.respond() // otherwise net/http would never stop
		} else if !s.play(c) {
			return
		}
	}
}

func (c *connection) header(status, length string, end bool) {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	encoder.SetMaxDynamicTableSize(0)
	_ = encoder.WriteField(hpack.HeaderField{Name: ":status", Value: status})
	if length != "" {
		_ = encoder.WriteField(hpack.HeaderField{Name: "content-length", Value: length})
	}
	_ = c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: c.stream, BlockFragment: block.Bytes(), EndHeaders: true,
		EndStream: end})
}

func (c *connection) respond() bool {
	c.header("200", "", false)
	_ = c.framer.WriteData(c.stream, true, []byte(record))
	return true
}
