package shipping_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

type spanKey struct{}

// observed notes the sequence of callbacks, and that the context of Start reaches the others.
func observed(events *[]string) shipping.Observer {
	in := func(ctx context.Context) string {
		if ctx.Value(spanKey{}) == nil {
			return " without the context of Start"
		}
		return ""
	}
	return shipping.Observer{
		Start: func(ctx context.Context, o shipping.Operation) context.Context {
			*events = append(*events, "start "+o.Name+" "+o.Method+" "+o.Route)
			return context.WithValue(ctx, spanKey{}, true)
		},
		Attempt: func(ctx context.Context, o shipping.Operation, a shipping.Attempt) {
			*events = append(*events, fmt.Sprintf("attempt %s %d %v%s", o.Name, a.StatusCode, a.Err, in(ctx)))
		},
		Retry: func(ctx context.Context, o shipping.Operation, a shipping.Attempt) {
			*events = append(*events, fmt.Sprintf("retry %s after %d%s", o.Name, a.StatusCode, in(ctx)))
		},
		Done: func(ctx context.Context, o shipping.Operation, attempts []shipping.Attempt, took time.Duration, err error) {
			*events = append(*events, fmt.Sprintf("done %s after %d, failed: %t%s", o.Name, len(attempts), err != nil, in(ctx)))
		},
	}
}

func TestObserver_SequenceOfACallThatRepeats(t *testing.T) {
	t.Parallel()
	var events []string
	service := shippingtest.NewService(shippingtest.Refusal(503, "busy"), httpmock.NewErrorResponder(errors.New("broken")), shippingtest.OK(`{}`))
	if _, err := shippingtest.NewClient(t, service, shippingtest.FastRetries(), shipping.WithObserver(observed(&events))).Rates.List(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	shippingtest.Diff(t, "events", []string{
		"start rates.list GET /v1/rates",
		"attempt rates.list 503 <nil>", "retry rates.list after 503",
		"attempt rates.list 0 broken", "retry rates.list after 0",
		"attempt rates.list 200 <nil>",
		"done rates.list after 3, failed: false",
	}, events)
}

func TestObserver_LabelsAreRoutesAndNotPaths(t *testing.T) {
	t.Parallel()
	for _, call := range shippingtest.Calls() {
		var events []string
		client := shippingtest.NewClient(t, shippingtest.NewService(call.Success()), shipping.WithProvisionalRoutes(), shipping.WithObserver(observed(&events)))
		if err := call.Do(t.Context(), client); err != nil {
			t.Fatal(err)
		}
		if len(events) != 3 || strings.Contains(strings.Join(events, ""), shippingtest.RequestID) {
			t.Errorf("%s: %q", call.Operation, events)
		}
	}
}

func TestObserver_SeesALostPurchaseAndItsReadBack(t *testing.T) {
	t.Parallel()
	var events []string
	service := shippingtest.NewService(shippingtest.Refusal(500, "oops"), shippingtest.OK(`{"request_id":"RD-1","status":"processing"}`))
	if _, err := shippingtest.NewClient(t, service, shipping.WithObserver(observed(&events))).Regulatory.Purchase(t.Context(), "RD-1", shipping.DocumentFDA); err != nil {
		t.Fatal(err)
	}
	shippingtest.Diff(t, "events", []string{
		"start regulatory.purchase POST /v1/regulatory-documents/purchase",
		"attempt regulatory.purchase 500 <nil>",
		"done regulatory.purchase after 1, failed: true",
		"start regulatory.get GET /v1/regulatory-documents/request/{request_id}",
		"attempt regulatory.get 200 <nil>",
		"done regulatory.get after 1, failed: false",
	}, events)
}

func TestObserver_DoneIsToldWhatTheCallerReceives(t *testing.T) {
	t.Parallel()
	var told error
	observer := shipping.Observer{Done: func(_ context.Context, _ shipping.Operation, _ []shipping.Attempt, _ time.Duration, err error) {
		told = err
	}}
	_, err := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.Refusal(404, "no")), shipping.WithObserver(observer)).Rates.List(t.Context(), nil)
	if err == nil || told != err {
		t.Errorf("told %v, received %v", told, err)
	}
}

func TestObserver_StartMayReturnNoContext(t *testing.T) {
	t.Parallel()
	observer := shipping.Observer{Start: func(context.Context, shipping.Operation) context.Context { return nil }}
	if _, err := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.OK(`{}`)), shipping.WithObserver(observer)).Rates.List(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

func TestLogger_TellsAttemptsAndRepeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		withoutTimes := &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "wait" {
				return slog.Attr{}
			}
			return a
		}}
		client := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.Refusal(503, "busy"), shippingtest.OK(`{}`)), shipping.WithLogger(slog.New(slog.NewTextHandler(&log, withoutTimes))))
		if _, err := client.Transactions.List(t.Context(), &shipping.TransactionListOptions{Wallet: "VA-1"}); err != nil {
			t.Fatal(err)
		}
		shippingtest.Diff(t, "log", []string{
			`level=DEBUG msg="shipping attempt" operation=transactions.list attempt=1 took=0s status=503`,
			`level=WARN msg="shipping retry" operation=transactions.list attempt=1 took=0s status=503`,
			`level=DEBUG msg="shipping attempt" operation=transactions.list attempt=2 took=0s status=200`,
		}, strings.Split(strings.TrimSpace(log.String()), "\n"))
	})
}
