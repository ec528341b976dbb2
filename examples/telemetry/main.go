// Telemetry shows calls of the client as OpenTelemetry sees them: a span for each call, with a child for
// each attempt, and metrics of both. It prints them as a table or, with -json, as a collector receives them.
//
//	cd examples/telemetry && go run .
//
// It needs no set-up: it starts the reference server itself, and the first call fails once. With
// SHIPPING_BASE_URL and SHIPPING_SECRET_KEY set it uses that service instead; it only reads.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/exporters/stdout/stdoutmetric"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

const usage = `Telemetry shows calls of the client as OpenTelemetry sees them.

  go run .                      a demonstration, with a server of its own
  go run . -json | jq -c '[.Name, .Attributes]'

SHIPPING_BASE_URL and SHIPPING_SECRET_KEY select the service; it only reads.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "telemetry: interrupted")
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "telemetry:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("telemetry", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { fmt.Fprint(out, usage); flags.PrintDefaults() }
	wallet := flags.String("wallet", "", "`wallet` whose transactions to read too, such as VA-0123456789")
	asJSON := flags.Bool("json", false, "print a line of JSON for each span, and one for the metrics")
	if err := flags.Parse(args); err != nil {
		return err
	}
	to := toTable
	if *asJSON {
		to = toJSON
	}
	traces, meters, leave, err := to(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave(context.WithoutCancel(ctx))) }() // prints, even if ctx has ended

	calls, err := observe(traces, meters)
	if err != nil {
		return err
	}
	attempts := otelhttp.NewTransport(queryless{http.DefaultTransport},
		otelhttp.WithTracerProvider(traces), otelhttp.WithMeterProvider(meters))
	client, stop, err := connect(wallet,
		shipping.WithObserver(calls), shipping.WithHTTPClient(&http.Client{Transport: attempts}))
	defer stop()
	if err != nil {
		return err
	}
	ctx, job := traces.Tracer("nightly").Start(ctx, "nightly job") // all calls belong to one trace
	defer job.End()
	return read(ctx, client, *wallet)
}

// toTable returns the providers of spans and metrics, and a function that ends them and prints a table.
func toTable(out io.Writer) (*trace.TracerProvider, *metric.MeterProvider, func(context.Context) error, error) {
	spans, reader := &recorded{map[oteltrace.SpanID][]trace.ReadOnlySpan{}}, metric.NewManualReader()
	traces, meters := trace.NewTracerProvider(trace.WithSyncer(spans)), metric.NewMeterProvider(metric.WithReader(reader))
	return traces, meters, func(ctx context.Context) error {
		var metrics metricdata.ResourceMetrics
		err := reader.Collect(ctx, &metrics)
		return errors.Join(err, spans.write(out, metrics), traces.Shutdown(ctx), meters.Shutdown(ctx))
	}, nil
}

// toJSON does the same with the exporters that write JSON.
func toJSON(out io.Writer) (*trace.TracerProvider, *metric.MeterProvider, func(context.Context) error, error) {
	toTraces, err := stdouttrace.New(stdouttrace.WithWriter(out))
	if err != nil {
		return nil, nil, nil, err
	}
	toMetrics, err := stdoutmetric.New(stdoutmetric.WithWriter(out))
	if err != nil {
		return nil, nil, nil, err
	}
	traces := trace.NewTracerProvider(trace.WithSyncer(toTraces)) // trace.WithBatcher for a real collector
	meters := metric.NewMeterProvider(metric.WithReader(metric.NewPeriodicReader(toMetrics)))
	return traces, meters, func(ctx context.Context) error {
		return errors.Join(traces.Shutdown(ctx), meters.Shutdown(ctx))
	}, nil
}

// connect makes the client: of the service that the environment names, or of a reference server whose
// rates fail once.
func connect(wallet *string, options ...shipping.Option) (client *shipping.Client, leave func(), err error) {
	leave = func() {}
	if os.Getenv(shipping.EnvBaseURL) != "" {
		client, err = shipping.NewClientFromEnv(options...)
		return client, leave, err
	}
	server := mockserver.New()
	leave = server.Close
	unavailable := fault.Status(http.StatusServiceUnavailable, nil)
	if err := server.Inject(fault.Rule{Operation: shipping.OpListRates, First: 1, Fault: unavailable}); err != nil {
		return nil, leave, err
	}
	if *wallet == "" {
		*wallet = server.Wallets()[0]
	}
	client, err = shipping.NewClient(server.SecretKey, append(options, shipping.WithBaseURL(server.URL))...)
	return client, leave, err
}

// read makes three calls: one that may need a retry, one with something private in its query, and one
// that is refused.
func read(ctx context.Context, client *shipping.Client, wallet string) error {
	if _, err := client.Rates.List(ctx, nil); err != nil {
		return err
	}
	if wallet != "" {
		if _, err := client.Transactions.List(ctx, &shipping.TransactionListOptions{Wallet: wallet}); err != nil {
			return err
		}
	}
	_, err := client.Regulatory.Get(ctx, "RD-0000000000000000")
	if errors.Is(err, shipping.ErrNotFound) {
		return nil
	}
	return err
}
