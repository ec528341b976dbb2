// Telemetry shows calls of the client as OpenTelemetry sees them: a span for each call, with a child for
// each attempt, metrics of both, and a traceparent header for the service.
//
//	cd examples/telemetry && go run .
//
// It needs no set-up: it starts the reference server itself, and the first call fails once. If SHIPPING_BASE_URL and
// SHIPPING_SECRET_KEY are set, it uses that service instead; it only reads.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "telemetry:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	spans := tracetest.NewInMemoryExporter()
	metrics, err := observed(ctx, spans)
	if len(spans.GetSpans()) == 0 {
		return err
	}
	return errors.Join(err, write(out, spans.GetSpans(), metrics))
}

// observed makes a few calls, and returns their metrics, even if a call failed.
func observed(ctx context.Context, spans trace.SpanExporter) (metrics metricdata.ResourceMetrics, err error) {
	// For a collector: trace.WithBatcher and metric.NewPeriodicReader, with the exporters of otlptracehttp and
	// otlpmetrichttp.
	traces := trace.NewTracerProvider(trace.WithSyncer(spans))
	reader := metric.NewManualReader()
	meters := metric.NewMeterProvider(metric.WithReader(reader))

	calls, err := observer(traces, meters)
	if err != nil {
		return metrics, err
	}
	client, stop, err := connect(shipping.WithObserver(calls))
	defer stop()
	if err != nil {
		return metrics, err
	}
	job, span := traces.Tracer("nightly").Start(ctx, "nightly job") // all calls belong to one trace
	err = read(job, client)
	span.End()
	err = errors.Join(err, reader.Collect(context.WithoutCancel(ctx), &metrics))
	return metrics, err
}

// connect makes the client: of the service that the environment names, or of a reference server whose
// rates fail once.
func connect(options ...shipping.Option) (client *shipping.Client, stop func(), err error) {
	if os.Getenv("SHIPPING_BASE_URL") != "" || os.Getenv("SHIPPING_SECRET_KEY") != "" {
		client, err = shipping.NewClientFromEnv(options...)
		return client, func() {}, err
	}
	server := mockserver.New()
	unavailable := fault.Status(http.StatusServiceUnavailable, nil)
	if err := server.Inject(fault.Rule{Operation: shipping.OpListRates, First: 1, Fault: unavailable}); err != nil {
		return nil, server.Close, err
	}
	client, err = shipping.NewClient(server.SecretKey, append(options, shipping.WithBaseURL(server.URL))...)
	return client, server.Close, err
}

// read makes two calls: one that may need a retry, and one that is refused.
func read(ctx context.Context, client *shipping.Client) error {
	if _, err := client.Rates.List(ctx, &shipping.RateListOptions{PerPage: 5}); err != nil {
		return err
	}
	_, err := client.Regulatory.Get(ctx, "RD-0000000000000000")
	if errors.Is(err, shipping.ErrNotFound) {
		return nil
	}
	return err
}
