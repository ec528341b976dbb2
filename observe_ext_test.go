package shipping_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

type spanKey struct{}

// The callbacks follow the attempts in their order, with the context of Start. A Retry before its Attempt would end a
// span that has not begun.
func TestObserver_SequenceOfACallThatRepeats(t *testing.T) {
	t.Parallel()
	var events []string
	note := func(ctx context.Context, format string, args ...any) {
		if ctx.Value(spanKey{}) == nil {
			format += " without the context of Start"
		}
		events = append(events, fmt.Sprintf(format, args...))
	}
	observed := shipping.WithObserver(shipping.Observer{
		Start: func(ctx context.Context, o string) context.Context {
			events = append(events, "start "+o)
			return context.WithValue(ctx, spanKey{}, true)
		},
		Attempt: func(ctx context.Context, o string, a shipping.Attempt) {
			note(ctx, "attempt %s %d %v", o, a.StatusCode, a.Err)
		},
		Retry: func(ctx context.Context, o string, a shipping.Attempt) {
			note(ctx, "retry %s after %d", o, a.StatusCode)
		},
		Done: func(ctx context.Context, o string, attempts []shipping.Attempt, took time.Duration, err error) {
			note(ctx, "done %s after %d, failed: %t", o, len(attempts), err != nil)
		},
	})
	service := shippingtest.NewService(shippingtest.Refusal(503, "busy"), httpmock.NewErrorResponder(errors.New("broken")),
		shippingtest.OK(`{"rates":[]}`))
	client := shippingtest.NewClient(t, service, shippingtest.FastRetries(), observed)
	shippingtest.Must(client.Rates.List(t.Context(), nil))(t)
	shippingtest.Diff(t, "events", []string{
		"start rates.list",
		"attempt rates.list 503 <nil>", "retry rates.list after 503",
		"attempt rates.list 0 broken", "retry rates.list after 0",
		"attempt rates.list 200 <nil>",
		"done rates.list after 3, failed: false",
	}, events)
}

// Headers for tracing needed a RoundTripper, which ends the evidence that nothing was sent.
func TestObserver_HeaderOfEachAttempt(t *testing.T) {
	t.Parallel()
	traced := shipping.WithObserver(shipping.Observer{
		Header: func(_ context.Context, operation string, attempt int) http.Header {
			return http.Header{"traceparent": {fmt.Sprint(operation, " ", attempt)}, "Tracestate": nil,
				"tenant": nil}
		},
	})
	service := shippingtest.NewService(shippingtest.Refusal(503, "busy"), shippingtest.Refusal(503, "busy"),
		shippingtest.OK(`{"rates":[]}`))
	client := shippingtest.NewClient(t, service, shippingtest.FastRetries(), traced)
	shippingtest.Must(client.Rates.List(t.Context(), nil, shipping.WithHeader("Tenant", "acme")))(t)
	for i, r := range service.Requests() {
		want := []string{fmt.Sprint("rates.list ", i+1), "acme", "Bearer " + shippingtest.Key}
		got := []string{r.Header.Get("Traceparent"), r.Header.Get("Tenant"), r.Header.Get("Authorization")}
		shippingtest.Diff(t, fmt.Sprintf("attempt %d", i+1), want, got)
	}
	client = shippingtest.NewClient(t, shippingtest.Unreachable(), shippingtest.FastRetries(), traced)
	_, err := client.Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-1"})
	if failure := shippingtest.ErrorIn(t, err); !failure.NotSent() || len(failure.Attempts) != 4 {
		t.Errorf("no evidence that nothing was sent: %d attempts, %v", len(failure.Attempts), err)
	}
	_, err = shippingtest.Purchase(t.Context(), client, true)
	shippingtest.Diff(t, fmt.Sprint("the outcome of ", err), shipping.OutcomeNotCharged, shippingtest.Outcome(nil, err))
}

// A name without values removed the header: a request without Authorization was sent.
func TestObserver_HeaderRefusesWhatWithHeaderRefuses(t *testing.T) {
	t.Parallel()
	for _, header := range []http.Header{{"x-idempotency-key": {"1"}}, {"Authorization": nil}, {"authorization": {}}} {
		service := shippingtest.NewService(shippingtest.Confirmation())
		client := shippingtest.NewClient(t, service, shipping.WithObserver(shipping.Observer{
			Header: func(context.Context, string, int) http.Header { return header },
		}))
		_, err := shippingtest.Purchase(t.Context(), client, true)
		if shippingtest.Outcome(nil, err) != not || !errors.Is(err, shipping.ErrInvalidRequest) || service.Count("") != 0 {
			t.Errorf("%v: %d requests, %v", header, service.Count(""), err)
		}
	}
}

func TestLogger_AttemptsAndRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		withoutTimes := &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "wait" {
				return slog.Attr{}
			}
			return a
		}}
		client := shippingtest.NewClient(t, shippingtest.NewService(
			shippingtest.Refusal(503, "busy").HeaderSet(http.Header{"X-Request-Id": {"7"}}),
			shippingtest.OK(`{"transactions":[]}`)), shipping.WithLogger(slog.New(slog.NewTextHandler(&log, withoutTimes))))
		shippingtest.Must(client.Transactions.List(t.Context(), &shipping.TransactionListOptions{Wallet: "VA-1"}))(t)
		shippingtest.Diff(t, "log", []string{
			`level=DEBUG msg="shipping attempt" operation=transactions.list attempt=1 took=0s status=503 response_id=7`,
			`level=WARN msg="shipping retry" operation=transactions.list attempt=1 took=0s status=503 response_id=7`,
			`level=DEBUG msg="shipping attempt" operation=transactions.list attempt=2 took=0s status=200`,
		}, strings.Split(strings.TrimSpace(log.String()), "\n"))
	})
}

// WithLogger did not log that a call failed, and Done got no error if the data of the response was not what the
// operation returns.
func TestLogger_AFailedCallOnce(t *testing.T) {
	t.Parallel()
	get := func(ctx context.Context, c *shipping.Client) error {
		return shippingtest.Err(c.Regulatory.Get(ctx, "RD-1"))
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	type row struct {
		ctx    context.Context
		call   func(context.Context, *shipping.Client) error
		answer httpmock.Responder
		want   string // in each line of a failure; empty if none fails
	}
	shippingtest.EachInBubble(t, map[string]row{
		"nothing failed": {context.Background(), get, record("draft"), ""},
		"a refusal":      {context.Background(), get, refusal(404, "no"), "WARN regulatory.get attempt=1 status=404"},
		"after retries":  {context.Background(), get, refusal(503, "no"), "WARN regulatory.get attempt=4 status=503"},
		"another record": {context.Background(), get, success(`{}`), "WARN regulatory.get attempt=1 status=200"},
		"another PDF": {context.Background(), func(ctx context.Context, c *shipping.Client) error {
			return shippingtest.Err(c.Regulatory.PDF(ctx, "RD-1", "FDA"))
		}, body(200, "<html>"), "WARN regulatory.pdf attempt=1 status=200"},
		"other data": {context.Background(), func(ctx context.Context, c *shipping.Client) error {
			return c.Do(ctx, http.MethodGet, "/v1/a", nil, nil, new(int))
		}, success(`{}`), "WARN do attempt=1 status=200"},
		"other countries": {context.Background(), func(ctx context.Context, c *shipping.Client) error {
			return shippingtest.Err(c.Countries.List(ctx))
		}, success(`[{}]`), "WARN countries.list attempt=1 status=200"},
		"another list": {context.Background(), func(ctx context.Context, c *shipping.Client) error {
			return shippingtest.Err(c.Rates.List(ctx, nil))
		}, success(`{}`), "WARN rates.list attempt=1 status=200"},
		"a confirmation of another request": {context.Background(), func(ctx context.Context, c *shipping.Client) error {
			return shippingtest.Err(shippingtest.Purchase(ctx, c, true))
		}, success(`{"request_id":"RD-2"}`), "WARN regulatory. attempt=1 status=200"}, // the purchase, and readings
		"not sent": {cancelled, get, record("draft"), "DEBUG regulatory.get attempt=0"},
	}, func(t *testing.T, test row) {
		var log bytes.Buffer
		var failures []error
		client := shippingtest.NewClient(t, shippingtest.NewService(test.answer), shippingtest.WithRoutes(),
			shipping.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))),
			shipping.WithObserver(shipping.Observer{
				Done: func(_ context.Context, _ string, _ []shipping.Attempt, _ time.Duration, err error) {
					if err != nil {
						failures = append(failures, err)
					}
				}}))
		err := test.call(test.ctx, client)
		if (err != nil) != (test.want != "") || (err != nil) != (len(failures) > 0) {
			t.Fatalf("error %v, and %q for Done", err, failures)
		}
		var lines []string
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "call failed") {
				lines = append(lines, line)
			}
		}
		shippingtest.Diff(t, "lines", len(failures), len(lines))
		for i, line := range lines {
			shippingtest.Contains(t, "log", line, append(strings.Fields(test.want), strconv.Quote(failures[i].Error()))...)
		}
	})
}

// drifts notes the reports of a client.
type drifts []string

func (d *drifts) option() shipping.Option {
	return shipping.WithDriftReport(func(operation string, found []shipping.Drift) {
		for _, drift := range found {
			*d = append(*d, operation+": "+drift.String())
		}
	})
}

func TestDrift_NamesWhatIsUnknownMissingOrOfAnotherType(t *testing.T) {
	t.Parallel()
	rates := strings.NewReplacer(
		`"amount": 18450.55`, `"amount": "18450.55"`,
		`"used": true`, `"used": 1`,
		`"user": "USER-4455667788"`, `"domain": "eu", "domains": {"a": 1}`,
		`"pageCount": 68`, `"pages": 68`, `"total": 203`, `"total": 1.5`,
		`"message": "Rates retrieved successfully"`, `"msg": null, "Message": "another name"`,
	).Replace(shippingtest.Golden(t, "rates.json"))
	var found drifts
	page, err := shippingtest.NewClient(t, shippingtest.NewService(httpmock.NewStringResponder(200, rates)),
		found.option()).Rates.List(t.Context(), nil)
	if err != nil || len(page.Items) != 3 {
		t.Fatalf("page %+v, error %v", page, err)
	}
	shippingtest.Diff(t, "findings", []string{
		"rates.list: unknown Message: string",
		"rates.list: missing data.pagination.pageCount",
		"rates.list: unknown data.pagination.pages: number",
		"rates.list: type data.pagination.total: number instead of int",
		"rates.list: type data.rates[].amount: string instead of number",
		"rates.list: unknown data.rates[].domain: string (2 times)",
		"rates.list: unknown data.rates[].domains: object (2 times)",
		"rates.list: type data.rates[].used: number instead of boolean",
		"rates.list: missing data.rates[].user (2 times)",
		"rates.list: missing message",
		"rates.list: unknown msg: null",
	}, []string(found))
}

func TestDrift_OfARegulatoryRecordIsUnderDataToo(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][]string{
		`{"request_id":"RD-1","status":"draft","available_documents":["FDA",{"type":"MSDS","amount":1}],"tier":"gold",` +
			`"line_items":{}}`: {
			"regulatory.get: type data.available_documents[]: string instead of object",
			"regulatory.get: missing data.available_documents[].document_type",
			"regulatory.get: type data.line_items: object instead of array",
			"regulatory.get: missing data.source",
			"regulatory.get: unknown data.tier: string",
		},
		`{"request":{"request_id":"RD-1","status":"draft","available_documents":[],"source":"shipment","tier":"gold"}}`: {
			"regulatory.get: unknown data.request.tier: string",
		},
	} {
		var found drifts
		shippingtest.Must(regulatory(t, shippingtest.NewService(shippingtest.OK(body)),
			found.option()).Get(t.Context(), "RD-1"))(t)
		shippingtest.Diff(t, "findings", want, []string(found))
	}
}
