package shipping_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// A cookie is sent once with each attempt, also after a retry.
func TestRetry_SendsACookieOnce(t *testing.T) {
	t.Parallel()
	var cookies []string
	client, err := shipping.NewClient(shippingtest.Key, shipping.WithBaseURL(shippingtest.BaseURL), shippingtest.FastRetries(), shipping.WithHTTPClient(&http.Client{
		Jar: fixedJar{}, CheckRedirect: func(*http.Request, []*http.Request) error { panic("no redirect is followed") },
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			cookies = append(cookies, strings.Join(r.Header["Cookie"], "; "))
			return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Body: http.NoBody}, nil
		}),
	}))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = client.Rates.List(t.Context(), nil, shipping.WithHeader("Cookie", "own=2"))
	for _, cookie := range cookies {
		if cookie != "own=2; session=1" {
			t.Errorf("%q", cookies)
			break
		}
	}
	if len(cookies) < 2 {
		t.Errorf("%d attempts", len(cookies))
	}
}

// fixedJar is a cookie jar with one cookie.
type fixedJar struct{}

func (fixedJar) SetCookies(*url.URL, []*http.Cookie) {}
func (fixedJar) Cookies(*url.URL) []*http.Cookie {
	return []*http.Cookie{{Name: "session", Value: "1"}}
}

// A transport can return what none should. A purchase is then neither sent again nor taken for unsent, and nothing
// panics.
func TestPurchase_OverATransportThatBreaksItsContract(t *testing.T) {
	t.Parallel()
	whole := func() *http.Response {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"status":true,"message":"","data":{"request_id":"RD-1","status":"processing"}}`))}
	}
	for name, respond := range map[string]func() (*http.Response, error){
		"a response and an error": func() (*http.Response, error) { return whole(), errors.New("and an error") },
		"neither":                 func() (*http.Response, error) { return nil, nil },
		"no body, no header":      func() (*http.Response, error) { return &http.Response{StatusCode: 200}, nil },
		"no status":               func() (*http.Response, error) { return &http.Response{Body: http.NoBody}, nil },
		"a negative status":       func() (*http.Response, error) { return &http.Response{StatusCode: -200, Body: http.NoBody}, nil },
		"the error of a dial":     func() (*http.Response, error) { return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED} },
		"a context that ended":    func() (*http.Response, error) { return nil, context.Canceled },
		"a deadline of somewhere": func() (*http.Response, error) { return nil, context.DeadlineExceeded },
		"a purchase's own failure": func() (*http.Response, error) {
			return nil, &shipping.PurchaseError{Outcome: shipping.OutcomeNotCharged}
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			purchases := 0
			client := shippingtest.NewClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost {
					purchases++
					return respond()
				}
				return nil, errors.New("unreachable")
			}))
			_, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}, Draft: shippingtest.DraftRecord("RD-1")})
			failed, ok := err.(*shipping.PurchaseError)
			if !ok || failed.Outcome != shipping.OutcomeUnknown || purchases != 1 {
				t.Errorf("%s: %v after %d purchases", name, err, purchases)
			}
		})
	}
}

// A nil *http.Transport counts as not given: the client's default is used.
func TestWithHTTPClient_ANilTransportIsTheDefault(t *testing.T) {
	t.Parallel()
	var none *http.Transport
	client := shippingtest.NewClient(t, none, shipping.WithBaseURL("http://127.0.0.1:1"), shippingtest.FastRetries())
	_, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}, Draft: shippingtest.DraftRecord("RD-1")})
	if failed, ok := errors.AsType[*shipping.PurchaseError](err); !ok || failed.Outcome != shipping.OutcomeNotCharged {
		t.Errorf("%v", err)
	}
}

// A panic after the charge reaches the caller with its value, and the client works on.
func TestPurchase_APanicAfterTheChargeReachesTheCaller(t *testing.T) {
	t.Parallel()
	purchases := 0
	panics := true
	client := shippingtest.NewClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPost {
			purchases++
		}
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(
			`{"status":true,"message":"","data":{"request_id":"RD-1","status":"processing","documents":["FDA"]}}`))}, nil
	}), shipping.WithObserver(shipping.Observer{Done: func(context.Context, string, []shipping.Attempt, time.Duration, error) {
		if panics {
			panic("Done")
		}
	}}))
	func() {
		defer func() {
			if got := recover(); got != "Done" {
				t.Errorf("recovered %v", got)
			}
		}()
		_, _ = client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}, Draft: shippingtest.DraftRecord("RD-1")})
	}()
	panics = false
	settled, err := client.Regulatory.SettlePurchase(t.Context(), &shipping.PurchaseRequest{
		RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}, Draft: shippingtest.DraftRecord("RD-1"),
	})
	if err != nil || !settled.ReadBack || purchases != 1 {
		t.Errorf("%+v, %v after %d purchases", settled, err, purchases)
	}
}
