package promises_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/test/internal/tcptest"
)

// state is a place in a call where the caller's context may end.
type state struct {
	transport http.RoundTripper
	options   []shipping.Option
	before    func(ctx context.Context, c *shipping.Client) // earlier calls
	do        func(ctx context.Context, c *shipping.Client) error
	api       error // the service's error before the deadline; nil without one
}

var (
	errShutdown = errors.New("shutting down")
	silent      = httpmock.NewStringResponder(http.StatusOK, "").Delay(24 * time.Hour)
	limited     = shippingtest.Refusal(http.StatusTooManyRequests,
		"slow down").HeaderSet(http.Header{"Retry-After": {"50"}})
	busy = shippingtest.Refusal(http.StatusServiceUnavailable, "busy").HeaderSet(http.Header{"Retry-After": {"50"}})
)

// wire is net/http's transport to somebody at the other end of a pipe.
func wire(t *testing.T, there func(net.Conn)) http.RoundTripper {
	return wireTo(t, func(context.Context) (net.Conn, error) {
		here, far := net.Pipe()
		t.Cleanup(func() { _ = far.Close() })
		go there(far)
		return here, nil
	})
}

func wireTo(t *testing.T, dial func(context.Context) (net.Conn, error)) http.RoundTripper {
	connect := func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
	transport := &http.Transport{DialContext: connect, DialTLSContext: connect}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// respondOnce reads a request, responds with a text and stops.
func respondOnce(text string) func(net.Conn) {
	return func(conn net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			_, _ = io.WriteString(conn, text)
		}
		_, _ = io.Copy(io.Discard, conn)
	}
}

func listRates(ctx context.Context, c *shipping.Client) error {
	_, err := c.Rates.List(ctx, nil)
	return err
}

func waitFor(ctx context.Context, c *shipping.Client) error {
	_, err := c.Regulatory.Wait(ctx, "RD-1", nil)
	return err
}

func analyzeAndPoll(ctx context.Context, c *shipping.Client) error {
	_, err := c.Regulatory.AnalyzeAndPoll(ctx, &shipping.AnalyzeRequest{ShipmentID: "SH-1"},
		&shipping.AnalyzeAndPollOptions{Select: everything})
	return err
}

func runBatch(ctx context.Context, c *shipping.Client) error {
	items := []batch.Item{{Key: "a"}, {Key: "b"}, {Key: "c"}}
	for i := range items {
		items[i].Analyze.ShipmentID = "SH-" + items[i].Key
	}
	_, err := batch.Run(ctx, c, items, &batch.Options{Select: everything, Concurrency: 2})
	return err
}

func everything(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
	return []shipping.DocumentType{"FDA"}, nil
}

// walking goes through a list, fetching so many pages ahead.
func walking(window int) func(context.Context, *shipping.Client) error {
	return func(ctx context.Context, c *shipping.Client) error {
		for _, err := range c.Rates.All(ctx, &shipping.RateListOptions{PerPage: 1, Walk: shipping.Walk{Window: window}}) {
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// stages answers a draft to an analysis, and a purchase and a read each in its own way.
func stages(analysis, purchase, read httpmock.Responder) *shippingtest.Service {
	service := shippingtest.NewRequestService([]httpmock.Responder{purchase}, []httpmock.Responder{read})
	service.RegisterResponder(http.MethodPost, shippingtest.BaseURL+"/v1/regulatory-documents/analyze", analysis)
	return service
}

// states is every state in which a call waits.
func states(t *testing.T) map[string]state {
	once := shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1})
	draft := shippingtest.OK(`{"request_id":"RD-1","status":"draft","available_documents":[` +
		`{"document_type":"FDA","mode":"automated","amount":5,"currency":"NGN"}]}`)
	page := shippingtest.OK(`{"rates":[{"rate_id":"RT-1"}],` +
		`"pagination":{"page":1,"perPage":1,"total":20,"pageCount":20,"nextPage":2}}`)
	const start = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n" + `{"status":true,`
	purchase := func(ctx context.Context, c *shipping.Client) error {
		_, err := c.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{RequestID: "RD-1",
			DocumentTypes: []shipping.DocumentType{"FDA"}, Draft: shippingtest.DraftRecord("RD-1")})
		return err
	}
	return map[string]state{
		"dialling": {transport: wireTo(t, func(ctx context.Context) (net.Conn, error) {
			<-ctx.Done()
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: ctx.Err()}
		}), do: listRates},
		"waiting for the header":      {transport: wire(t, respondOnce("")), do: listRates},
		"in the middle of the header": {transport: wire(t, respondOnce("HTTP/1.1 200 OK\r\nContent-")), do: listRates},
		"reading the body":            {transport: wire(t, respondOnce(start)), do: listRates},
		"backing off":                 {transport: shippingtest.NewService(busy), do: listRates, api: shipping.ErrServer},
		"backing off after a 429": {
			transport: shippingtest.NewService(limited), do: listRates, api: shipping.ErrRateLimited,
		},
		"on the shared pause": {
			transport: shippingtest.NewService(limited, silent),
			options:   []shipping.Option{once}, do: listRates,
			before: func(ctx context.Context, c *shipping.Client) { _ = listRates(ctx, c) },
		},
		"in the limiter": {
			transport: shippingtest.NewService(silent), do: listRates,
			options: []shipping.Option{shipping.WithLimiter(shippingtest.Limiter(func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			}))},
		},
		"purchasing": {transport: stages(draft, silent, silent), do: purchase},
		"reading a purchase back": {transport: stages(draft, shippingtest.NoResponse(), shippingtest.Record("draft")),
			do: purchase},
		"settling a purchase": {transport: stages(draft, shippingtest.NoResponse(), shippingtest.Record("draft")),
			do: func(ctx context.Context, c *shipping.Client) error {
				_, err := c.Regulatory.SettlePurchase(ctx, &shipping.PurchaseRequest{RequestID: "RD-1"})
				return err
			}},
		"polling in Wait": {transport: shippingtest.NewService(shippingtest.Record("processing")), do: waitFor},
		"polling in Wait, no response": {transport: shippingtest.NewService(shippingtest.Record("processing"), silent),
			do: waitFor},
		"polling a service in trouble": {transport: shippingtest.NewService(shippingtest.Record("processing"), busy),
			options: []shipping.Option{once}, do: waitFor, api: shipping.ErrServer},
		"AnalyzeAndPoll, analyzing":  {transport: stages(silent, silent, silent), do: analyzeAndPoll},
		"AnalyzeAndPoll, purchasing": {transport: stages(draft, silent, silent), do: analyzeAndPoll},
		"AnalyzeAndPoll, polling": {transport: stages(draft, shippingtest.Confirmation(),
			shippingtest.Record("processing")), do: analyzeAndPoll},
		"iterating, the first page": {transport: shippingtest.NewService(silent), do: walking(1)},
		"iterating, a later page":   {transport: shippingtest.NewService(page, silent), do: walking(1)},
		"iterating, backing off": {transport: shippingtest.NewService(page, busy), do: walking(1),
			api: shipping.ErrServer},
		"prefetching": {transport: shippingtest.NewService(page, silent), do: walking(20)},
		"prefetching, backing off": {
			transport: shippingtest.NewService(page, busy), do: walking(20), api: shipping.ErrServer,
			options: []shipping.Option{shipping.WithRetryPolicy(shipping.RetryPolicy{ExtraLoad: -1})}, // all pages are retried
		},
		"batch, analyzing":  {transport: stages(silent, silent, silent), do: runBatch},
		"batch, purchasing": {transport: stages(draft, silent, silent), do: runBatch},
		"batch, polling": {transport: stages(draft, shippingtest.Confirmation(), shippingtest.Record("processing")),
			do: runBatch},
		"replaying many": {transport: shippingtest.NewService(silent),
			do: func(ctx context.Context, c *shipping.Client) error {
				_, err := batch.Replay(ctx, c, []shipping.ReplayRequest{{DeliveryID: "WD-1"}, {DeliveryID: "WD-2"},
					{DeliveryID: "WD-3"}}, nil)
				return err
			}},
	}
}

// TestDeadlines_EveryWaitEndsWithItsContext: in whatever state a call is when its context ends, it
// returns within 50 ms with the context's error and, if the service had responded, with that error too. A
// call may return before a deadline that it cannot meet; the error then reports it. A wait that does not select on its
// context would hold a program that stops for minutes.
func TestDeadlines_EveryWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	const ends, prompt = 7 * time.Second, 50 * time.Millisecond
	contexts := map[string]struct {
		bound func(context.Context) (context.Context, context.CancelFunc)
		want  []error
	}{
		"cancelled": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(ends, func() { cancel(errShutdown) })
			return ctx, func() { cancel(nil) }
		}, []error{context.Canceled, errShutdown}},
		"a deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, ends)
		}, []error{context.DeadlineExceeded}},
		"a deadline out of sight": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithTimeout(ctx, ends)
			return hiddenDeadline{ctx}, cancel
		}, []error{context.DeadlineExceeded}},
	}
	for name := range states(t) {
		for kind, end := range contexts {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					state := states(t)[name]
					client := shippingtest.NewClient(t, state.transport, state.options...)
					if state.before != nil {
						state.before(t.Context(), client)
					}
					ctx, cancel := end.bound(t.Context())
					defer cancel()
					started := time.Now()
					err := state.do(ctx, client)
					took := time.Since(started)
					if took > ends+prompt {
						t.Errorf("it returned %s after the end of its context", took-ends)
					}
					if early := took < ends; early && kind != "a deadline" {
						t.Errorf("it returned after %s, before the context ended: %v", took, err)
					} else if !early {
						shippingtest.WantError(t, name, err, end.want...)
					}
					if err == nil {
						t.Error("it returned no error")
					}
					if state.api != nil {
						shippingtest.WantError(t, name, err, state.api)
					}
				})
			})
		}
	}
}

// hiddenDeadline is a context that ends when its parent does and does not report when.
type hiddenDeadline struct{ context.Context }

func (hiddenDeadline) Deadline() (time.Time, bool) { return time.Time{}, false }

// cut is where a connection ends: after so many bytes of the request or of the response.
type cut struct {
	request  bool
	after    int
	response string
}

// serve reads and writes until the connection ends.
func (c cut) serve(conn net.Conn) {
	if c.request {
		_, _ = io.CopyN(io.Discard, conn, int64(c.after))
	} else {
		_, _ = tcptest.ReadRequest(bufio.NewReader(conn))
		_, _ = io.WriteString(conn, c.response[:c.after])
	}
	_ = conn.Close()
}

func (c cut) inBody() bool {
	return !c.request && c.after >= strings.Index(c.response, "\r\n\r\n")+len("\r\n\r\n")
}

// want is the error of the call.
func (c cut) want() error {
	if c.inBody() {
		return shipping.ErrTruncated
	}
	return shipping.ErrConnection
}

// TestCuts_AConnectionThatEndsAtAnyByte: the connection ends at each byte of the request and of the header of the
// response, and at every 13th byte of its body, for a read, a purchase and another change; for other calls at every
// 13th byte. The call returns a typed error, and only a read is sent again. Nobody knows whether such a purchase was
// charged.
func TestCuts_AConnectionThatEndsAtAnyByte(t *testing.T) {
	t.Parallel()
	eachByte := []string{shipping.OpListRates, shipping.OpPurchase, shipping.OpAnalyze}
	var connections atomic.Int64
	t.Run("of", func(t *testing.T) {
		for _, call := range hostileCalls() {
			t.Run(call.Operation, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					response := wireAnswer("200 OK", call.Body())
					size := requestSize(t, call, response)
					for at := range size + len(response) {
						c := cut{at < size, at, response}
						if !c.request {
							c.after -= size
						}
						if at%13 == 0 || !c.inBody() && slices.Contains(eachByte, call.Operation) {
							connections.Add(checkCut(t, call, c))
						}
					}
				})
			})
		}
	})
	t.Attr("cases", fmt.Sprintf("%d connections", connections.Load()))
}

// requestSize returns the number of bytes that a call sends.
func requestSize(t *testing.T, call shippingtest.Call, response string) int {
	var sent bytes.Buffer
	transport := wire(t, func(conn net.Conn) {
		_, _ = tcptest.ReadRequest(bufio.NewReader(io.TeeReader(conn, &sent)))
		_, _ = io.WriteString(conn, response)
	})
	shippingtest.Must(call.Do(t.Context(), shippingtest.NewClient(t, transport, shippingtest.WithRoutes())))(t)
	return sent.Len()
}

// checkCut makes a call whose connections all end at one place, and returns their number.
func checkCut(t *testing.T, call shippingtest.Call, c cut) (connections int64) {
	transport := wire(t, func(conn net.Conn) {
		connections++
		c.serve(conn)
	})
	_, err := call.Do(t.Context(),
		shippingtest.NewClient(t, transport, shippingtest.WithRoutes(), hostilePolicy(hostileAnswer{})))
	attempts := 1
	if shippingtest.Operation(call.Operation).Retry == operations.Safe {
		attempts = 2
	}
	failure, typed := errors.AsType[*shipping.Error](err)
	switch text := fmt.Sprint(err); {
	case !typed || !errors.Is(err, c.want()) || len(failure.Attempts) != attempts:
		t.Errorf("%+v: %d attempts: %v", c, attempts, err)
	case leaks(text) || strings.ContainsAny(text, "\r\n"):
		t.Errorf("%+v: the error does not read well: %q", c, text)
	case c.inBody() && failure.StatusCode != http.StatusOK:
		t.Errorf("%+v: status %d", c, failure.StatusCode)
	case call.Operation == shipping.OpPurchase && shippingtest.Outcome(nil, err) != shipping.OutcomeUnknown:
		t.Errorf("%+v: %v", c, err)
	}
	return connections
}
