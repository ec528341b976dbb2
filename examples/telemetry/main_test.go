package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// exported returns what the program exports.
func exported(ctx context.Context) (spans tracetest.SpanStubs, metrics metricdata.ResourceMetrics, err error) {
	exporter := tracetest.NewInMemoryExporter()
	metrics, err = observed(ctx, exporter)
	return exporter.GetSpans(), metrics, err
}

// A call is a span, and its attempts are its children.
func TestTheTableShowsCallsAndTheirAttempts(t *testing.T) {
	t.Setenv("SHIPPING_BASE_URL", "")
	t.Setenv("SHIPPING_SECRET_KEY", "")
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`nightly job .*\n  rates.list .* ok, 2 attempts *\n    rates.list attempt .* 503 *\n` +
			`    rates.list attempt .* 200 *\n  regulatory.get .* not_found *\n    regulatory.get attempt .* 404\n`,
		`shipping.attempt.duration +rates.list 200 .* 1 *\nshipping.attempt.duration +rates.list 503`,
		`shipping.call.duration +rates.list .* 1 *\n`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("no %s in\n%s", want, &out)
		}
	}
}

// Each attempt sends its own span as traceparent. The evidence that nothing was sent stays, which a RoundTripper for
// tracing would end.
func TestTheServiceGetsTheSpanOfEachAttempt(t *testing.T) {
	var received []string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		received = append(received, r.Header.Get("Traceparent"))
		w.Header().Set("Connection", "close") // so that nothing is written to a connection that Close ends
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	spans := tracetest.NewInMemoryExporter()
	calls, err := observer(trace.NewTracerProvider(trace.WithSyncer(spans)), metric.NewMeterProvider())
	if err != nil {
		t.Fatal(err)
	}
	client, err := shipping.NewClient("sk_test_1", shipping.WithBaseURL(service.URL), shipping.WithObserver(calls),
		shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 2, MinWait: 1, MaxWait: 1}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Rates.List(t.Context(), nil); err == nil {
		t.Error("no error")
	}
	var sent []string
	for _, span := range spans.GetSpans() {
		if span.SpanKind == oteltrace.SpanKindClient {
			sent = append(sent, fmt.Sprintf("00-%s-%s-01", span.SpanContext.TraceID(), span.SpanContext.SpanID()))
			if want := strings.Repeat("1", len(sent)-1); values(span.Attributes, "http.request.resend_count") != want {
				t.Errorf("attempt %d: %v, want a resend count of %q", len(sent), span.Attributes, want)
			}
		}
	}
	if len(sent) != 2 || !slices.Equal(sent, received) {
		t.Errorf("spans %q, received %q", sent, received)
	}
	service.Close()
	_, err = client.Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-1"})
	if failure, ok := errors.AsType[*shipping.Error](err); !ok || !failure.NotSent() || len(failure.Attempts) != 2 {
		t.Errorf("no evidence that nothing was sent: %v", err)
	}
}

func TestNoKeyNoQueryAndNoBodyIsExported(t *testing.T) {
	for name, injected := range map[string]fault.Fault{
		"all is well":          {},
		"the key is refused":   fault.Status(http.StatusUnauthorized, nil),
		"a page of a gateway":  fault.HTML(http.StatusOK),
		"the connection ended": fault.Truncate(40),
	} {
		t.Run(name, func(t *testing.T) {
			server := mockserver.New()
			defer server.Close()
			t.Setenv("SHIPPING_BASE_URL", server.URL)
			t.Setenv("SHIPPING_SECRET_KEY", server.SecretKey)
			if !injected.IsZero() {
				if err := server.Inject(fault.Rule{Operation: shipping.OpListRates, Nth: 1, Fault: injected}); err != nil {
					t.Fatal(err)
				}
			}
			spans, metrics, _ := exported(t.Context()) // a failed run exports too
			if len(spans) < 3 || len(metrics.ScopeMetrics) == 0 {
				t.Errorf("%d spans, metrics %+v", len(spans), metrics)
			}
			all := fmt.Sprintf("%+v %+v", spans, metrics)
			for _, secret := range []string{server.SecretKey[:len(server.SecretKey)/2], "Bearer", "Authorization", "perPage"} {
				if strings.Contains(all, secret) {
					t.Errorf("%q is in\n%s", secret, all)
				}
			}
		})
	}
}
