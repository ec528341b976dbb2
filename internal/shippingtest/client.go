package shippingtest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
)

// The key of all clients, and the addresses of the service.
const (
	Key     = "sk_test_8mK3vQ9rT2xW7yZ4bN6c"
	BaseURL = "https://api.service.test"
	// PlainBaseURL is for transports that connect.
	PlainBaseURL = "http://api.service.test"
)

// NewClient returns a client whose requests go to transport.
func NewClient(t testing.TB, transport http.RoundTripper, options ...shipping.Option) *shipping.Client {
	t.Helper()
	client, err := shipping.NewClient(Key, append([]shipping.Option{
		shipping.WithBaseURL(BaseURL), shipping.WithHTTPClient(&http.Client{Transport: transport}),
	}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// NewPlainClient returns a client that reaches s through a plain *http.Transport, with one connection for each
// request. If dial is not nil and returns an error for the nth connection, the connection fails with it, and a
// request that has only a method is recorded. If s returns an error, the connection closes after the request.
func NewPlainClient(t testing.TB, s *Service, dial func(n int) error, options ...shipping.Option) *shipping.Client {
	t.Helper()
	type operationKey struct{}
	observer := shipping.Observer{Start: func(ctx context.Context, operation string) context.Context {
		return context.WithValue(ctx, operationKey{}, operation)
	}}
	n := 0
	connect := func(ctx context.Context, _, _ string) (net.Conn, error) {
		n++
		if dial != nil {
			if err := dial(n); err != nil {
				s.record(Request{Method: Operation(ctx.Value(operationKey{}).(string)).Method, At: time.Now()})
				return nil, err
			}
		}
		here, there := net.Pipe()
		go s.serve(there)
		return here, nil
	}
	transport := &http.Transport{DialContext: connect, DisableKeepAlives: true}
	return NewClient(t, transport, append([]shipping.Option{shipping.WithBaseURL(PlainBaseURL), shipping.WithObserver(observer)}, options...)...)
}

// serve reads a request from conn and sends the response, unless the client closes conn before.
func (s *Service) serve(conn net.Conn) {
	defer conn.Close()
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	request.URL.Scheme, request.URL.Host = "http", request.Host
	body, err := readBody(request)
	if err != nil {
		return
	}
	request = request.WithContext(ctx)
	request.Body = io.NopCloser(bytes.NewReader(body))
	go func() {
		_, _ = conn.Read(make([]byte, 1))
		cancel()
	}()
	response, err := s.RoundTrip(request)
	if err != nil {
		return
	}
	defer response.Body.Close()
	response.ProtoMajor, response.ProtoMinor = 1, 1
	_ = response.Write(conn)
}

// FastRetries is a retry policy almost without waits, for tests that are not about the waits.
func FastRetries() shipping.Option {
	return shipping.WithRetryPolicy(shipping.RetryPolicy{MinWait: time.Microsecond, MaxWait: time.Microsecond})
}

// Limiter is a limiter for shipping.WithLimiter, made of a function.
type Limiter func(ctx context.Context) error

// Wait calls the function.
func (l Limiter) Wait(ctx context.Context) error { return l(ctx) }

// DraftRecord returns the record of a draft that shows nothing else.
func DraftRecord(requestID string) *shipping.RegulatoryRequest {
	return &shipping.RegulatoryRequest{RequestID: requestID, Status: shipping.StatusDraft}
}

// Purchase purchases FDA on the draft RD-1.
func Purchase(ctx context.Context, client *shipping.Client, sole bool) (*shipping.PurchaseResult, error) {
	return client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{
		RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}, Draft: DraftRecord("RD-1"), Sole: sole,
	})
}

// Outcome returns the outcome of a purchase, be it in the result or in the error.
func Outcome(result *shipping.PurchaseResult, err error) shipping.PurchaseOutcome {
	if err == nil {
		return shipping.OutcomeCharged
	}
	if failure, ok := errors.AsType[*shipping.PurchaseError](err); ok {
		return failure.Outcome
	}
	return ""
}
