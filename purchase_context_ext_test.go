package shipping_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// failedElsewhere returns the error of a call that was never sent.
func failedElsewhere(t *testing.T) error {
	t.Helper()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}}
	client := shippingtest.NewClient(t, transport, shipping.WithBaseURL(shippingtest.PlainBaseURL))
	_, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-other", DocumentTypes: []shipping.DocumentType{shipping.DocumentFDA}, Draft: shippingtest.DraftRecord("RD-other")})
	if failed, ok := errors.AsType[*shipping.PurchaseError](err); !ok || failed.Outcome != shipping.OutcomeNotCharged {
		t.Fatalf("the other purchase: %v", err)
	}
	return err
}

// The cause of a context is often the error of another call: errgroup cancels with it. What that error proves
// about its own call proves nothing about this one.
func TestPurchase_TheCauseOfAContextIsNoEvidence(t *testing.T) {
	t.Parallel()
	other := failedElsewhere(t)
	for name, transport := range map[string]func(http.RoundTripper) http.RoundTripper{
		"an own transport": func(next http.RoundTripper) http.RoundTripper { return next },
		"a transport that returns the cause": func(next http.RoundTripper) http.RoundTripper {
			return exchangeFunc(func(r *http.Request) (*http.Response, error) {
				response, err := next.RoundTrip(r)
				if err != nil {
					err = context.Cause(r.Context())
				}
				return response, err
			})
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			sent := 0
			client := shippingtest.NewClient(t, transport(exchangeFunc(func(r *http.Request) (*http.Response, error) {
				sent++
				cancel(other)
				<-r.Context().Done()
				return nil, r.Context().Err()
			})))
			_, err := client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{shipping.DocumentFDA}, Draft: shippingtest.DraftRecord("RD-1")})
			failed, ok := errors.AsType[*shipping.PurchaseError](err)
			if !ok || failed.Purchase.RequestID != "RD-1" || failed.Outcome != shipping.OutcomeUnknown || sent == 0 {
				t.Errorf("%s: %v after %d requests", name, err, sent)
			}
			if cause, ok := errors.AsType[*shipping.Error](failed.Err); !ok || cause.NotSent() || cause.StatusCode != 0 {
				t.Errorf("%s: %+v", name, cause)
			}
			if !errors.Is(err, other) || !errors.Is(err, context.Canceled) {
				t.Errorf("%s: the cause is lost: %v", name, err)
			}
		})
	}
}

// The status of a response that another call received is not one of this call.
func TestError_HasNoStatusOfTheCauseOfItsContext(t *testing.T) {
	t.Parallel()
	cut := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.Truncated(http.StatusTeapot, `{"st`)), shippingtest.FastRetries())
	_, other := cut.Rates.List(t.Context(), nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	client := shippingtest.NewClient(t, exchangeFunc(func(*http.Request) (*http.Response, error) {
		cancel(other)
		return nil, context.Cause(ctx)
	}), shippingtest.FastRetries())
	_, err := client.Rates.List(ctx, nil)
	failed := shippingtest.ErrorIn(t, err)
	if failed.StatusCode != 0 || len(failed.Attempts) != 1 || failed.Attempts[0].StatusCode != 0 || !errors.Is(err, shipping.ErrConnection) {
		t.Errorf("status %d, attempts %+v: %v", failed.StatusCode, failed.Attempts, err)
	}
}

// exchangeFunc is a transport.
type exchangeFunc func(*http.Request) (*http.Response, error)

func (f exchangeFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
