package shippingtest

import (
	"context"
	"errors"
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
	if failure, ok := errors.AsType[*shipping.RegulatoryError](err); ok {
		return failure.Outcome
	}
	return ""
}
