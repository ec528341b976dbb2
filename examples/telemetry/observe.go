package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/shipping-go/shipping"
)

const scope = "github.com/shipping-go/shipping/examples/telemetry"

// observer returns the observer that makes a span and a measurement of each call. Attributes are names of
// operations, counts and kinds of failure: few values each, so that they can label a metric.
func observer(traces trace.TracerProvider, meters metric.MeterProvider) (shipping.Observer, error) {
	tracer := traces.Tracer(scope)
	took, err := meters.Meter(scope).Float64Histogram("shipping.call.duration", metric.WithUnit("s"),
		metric.WithDescription("A call from start to end, including retries and waits."),
		metric.WithExplicitBucketBoundaries(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60))
	return shipping.Observer{
		Start: func(ctx context.Context, operation string) context.Context {
			ctx, _ = tracer.Start(ctx, operation)
			return ctx // attempts find the span in it, and become its children
		},
		Retry: func(ctx context.Context, _ string, failed shipping.Attempt) {
			trace.SpanFromContext(ctx).AddEvent("retry", trace.WithAttributes(
				attribute.Int("http.response.status_code", failed.StatusCode),
				attribute.Float64("wait.seconds", failed.Wait.Seconds())))
		},
		Done: func(ctx context.Context, operation string, attempts []shipping.Attempt, d time.Duration, err error) {
			span := trace.SpanFromContext(ctx)
			defer span.End()
			attributes := []attribute.KeyValue{attribute.String("shipping.operation", operation)}
			if err != nil {
				attributes = append(attributes, attribute.String("error.type", kind(err)))
				span.SetStatus(codes.Error, err.Error()) // errors of the client hold no key
			}
			span.SetAttributes(append(attributes, attribute.Int("shipping.attempts", len(attempts)))...)
			took.Record(ctx, d.Seconds(), metric.WithAttributes(attributes...))
		},
	}, err
}

// kind returns the kind of a failure, one of few, so that it can label a metric.
func kind(err error) string {
	for _, known := range []struct {
		err  error
		name string
	}{
		{context.Canceled, "canceled"},
		{context.DeadlineExceeded, "deadline"},
		{shipping.ErrUnauthorized, "unauthorized"},
		{shipping.ErrNotFound, "not_found"},
		{shipping.ErrRateLimited, "rate_limited"},
		{shipping.ErrInvalidRequest, "invalid_request"},
		{shipping.ErrServer, "server"},
		{shipping.ErrConnection, "connection"},
	} {
		if errors.Is(err, known.err) {
			return known.name
		}
	}
	return "_OTHER" // as the semantic conventions have it
}

// queryless removes the query from the address on the span of otelhttp, because it may name a wallet.
type queryless struct{ next http.RoundTripper }

func (q queryless) RoundTrip(r *http.Request) (*http.Response, error) {
	address := *r.URL
	address.RawQuery = ""
	trace.SpanFromContext(r.Context()).SetAttributes(attribute.String("url.full", address.String()))
	return q.next.RoundTrip(r)
}
