package shipping_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// roundTrip is an http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// silent sends no response until the context of the request ends; if it is a status, a response that does not end.
func silent(status int) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if status == 0 {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		body, end := io.Pipe()
		go func() {
			_, _ = io.WriteString(end, `{"status":true,`)
			<-r.Context().Done()
			end.CloseWithError(r.Context().Err())
		}()
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: body, Request: r}, nil
	})
}

// Errors of lost responses did not report whether the request may have been performed, or what to do about it.
func TestError_OfALostResponseNamesWhatToDo(t *testing.T) {
	t.Parallel()
	analyze := func(ctx context.Context, c *shipping.Client) error {
		_, err := c.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: "SH-1"})
		return err
	}
	replay := func(ctx context.Context, c *shipping.Client) error {
		_, err := c.Webhooks.Replay(ctx, &shipping.ReplayRequest{DeliveryID: "WD-1"})
		return err
	}
	get := func(ctx context.Context, c *shipping.Client) error {
		_, err := c.Regulatory.Get(ctx, "RD-1")
		return err
	}
	broken := roundTrip(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })
	for name, tc := range map[string]struct {
		transport http.RoundTripper
		call      func(context.Context, *shipping.Client) error
		want      string
	}{
		"an analysis, lost":      {broken, analyze, "no response: unexpected EOF; the service may have performed it: an analysis charges nothing, so analyze again"},
		"an analysis, no time":   {silent(0), analyze, "no response: context deadline exceeded; the service may have performed it: an analysis charges nothing, so analyze again"},
		"a replay, lost":         {broken, replay, "no response: unexpected EOF; the service may have performed it"},
		"a replay, no time":      {silent(0), replay, "no response: context deadline exceeded; the service may have performed it"},
		"a read, no time":        {silent(0), get, "no response (request RD-1): context deadline exceeded; a read changes nothing: give it more time"},
		"a read, cut off":        {silent(200), get, "200 OK: truncated body (request RD-1): the context ended while the response was read: context deadline exceeded; a read changes nothing: give it more time"},
		"an analysis, cut off":   {silent(200), analyze, "200 OK: truncated body: the context ended while the response was read: context deadline exceeded; the service may have performed it: an analysis"},
		"an analysis, a gateway": {shippingtest.NewService(shippingtest.Refusal(502, "bad gateway")), analyze, "502 Bad Gateway: bad gateway; the service may have performed it: an analysis charges nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				err := tc.call(ctx, shippingtest.NewClient(t, tc.transport))
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%v, want %q", err, tc.want)
				}
			})
		})
	}
}

// A nil context panicked in net/http.
func TestClient_ANilContextIsAnError(t *testing.T) {
	t.Parallel()
	var none context.Context
	for _, call := range shippingtest.Calls() {
		service := shippingtest.NewService(call.Success())
		err := call.Do(none, shippingtest.NewClient(t, service, shipping.WithProvisionalRoutes()))
		if !errors.Is(err, shipping.ErrInvalidRequest) || !strings.Contains(err.Error(), "context is nil: pass context.Background()") || len(service.Requests()) != 0 {
			t.Errorf("%s: %v, %d requests", call.Operation, err, len(service.Requests()))
		}
	}
	client := shippingtest.NewClient(t, shippingtest.NewService())
	analysis := &shipping.AnalyzeRequest{ShipmentID: "SH-1"}
	for name, call := range map[string]func() error{
		"Wait": func() error { _, err := client.Regulatory.Wait(none, "RD-1", nil); return err },
		"SettlePurchase": func() error {
			_, err := client.Regulatory.SettlePurchase(none, &shipping.PurchaseRequest{RequestID: "RD-1"})
			return err
		},
		"Resume":         func() error { _, err := client.Regulatory.Resume(none, "RD-1", nil); return err },
		"AnalyzeAndPoll": func() error { _, err := client.Regulatory.AnalyzeAndPoll(none, analysis, nil); return err },
	} {
		if err := call(); !errors.Is(err, shipping.ErrInvalidRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, list := range shippingtest.Lists() {
		for _, err := range list.All(none, client, "VA-1") {
			if !errors.Is(err, shipping.ErrInvalidRequest) {
				t.Errorf("all of %s: %v", list.Name, err)
			}
		}
	}
}
