package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/shipping-go/shipping"
)

const scope = "github.com/shipping-go/shipping/examples/telemetry"

// attemptKey is the key of an *attempt in the context of a call.
type attemptKey struct{}

// attempt holds the span of a call's current attempt.
type attempt struct{ span trace.Span }

// observer returns the observer that makes a span and a measurement of each call and of each attempt, and sends the
// span of the attempt as traceparent. It needs no RoundTripper, so that a failed connection stays evidence that nothing
// was sent. Attributes are names of operations, counts and kinds of failure: few values each, so that they can label a
// metric.
func observer(traces trace.TracerProvider, meters metric.MeterProvider) (shipping.Observer, error) {
	tracer := traces.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL))
	meter := meters.Meter(scope, metric.WithSchemaURL(semconv.SchemaURL))
	calls, err := histogram(meter, "shipping.call.duration", "A call from start to end, including retries and waits.")
	if err != nil {
		return shipping.Observer{}, err
	}
	attempts, err := histogram(meter, "shipping.attempt.duration", "One attempt, including the body of the response.")
	if err != nil {
		return shipping.Observer{}, err
	}
	return shipping.Observer{
		Start: func(ctx context.Context, operation string) context.Context {
			ctx, _ = tracer.Start(ctx, operation)
			return context.WithValue(ctx, attemptKey{}, new(attempt))
		},
		Header: func(ctx context.Context, operation string, n int) http.Header {
			current := ctx.Value(attemptKey{}).(*attempt)
			ctx, current.span = tracer.Start(ctx, operation+" attempt", trace.WithSpanKind(trace.SpanKindClient))
			if n > 1 {
				current.span.SetAttributes(semconv.HTTPRequestResendCount(n - 1))
			}
			header := http.Header{}
			propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(header))
			return header
		},
		Attempt: func(ctx context.Context, operation string, done shipping.Attempt) {
			span := ctx.Value(attemptKey{}).(*attempt).span
			attributes := []attribute.KeyValue{attribute.String("shipping.operation", operation)}
			if done.StatusCode != 0 {
				attributes = append(attributes, semconv.HTTPResponseStatusCode(done.StatusCode))
			}
			if done.Err != nil {
				attributes = append(attributes, attribute.String("error.type", kind(done.Err)))
			}
			if done.Err != nil || done.StatusCode >= 400 {
				span.SetStatus(codes.Error, "")
			}
			span.SetAttributes(attributes...)
			span.End()
			attempts.Record(ctx, done.Duration.Seconds(), metric.WithAttributes(attributes...))
		},
		Retry: func(ctx context.Context, _ string, failed shipping.Attempt) {
			trace.SpanFromContext(ctx).AddEvent("retry", trace.WithAttributes(
				semconv.HTTPResponseStatusCode(failed.StatusCode),
				attribute.Float64("shipping.wait.seconds", failed.Wait.Seconds())))
		},
		Done: func(ctx context.Context, operation string, made []shipping.Attempt, d time.Duration, err error) {
			span := trace.SpanFromContext(ctx)
			defer span.End()
			attributes := []attribute.KeyValue{attribute.String("shipping.operation", operation)}
			if err != nil {
				attributes = append(attributes, attribute.String("error.type", kind(err)))
				span.SetStatus(codes.Error, err.Error()) // errors of the client hold no key
			}
			span.SetAttributes(append(attributes, attribute.Int("shipping.attempts", len(made)))...)
			calls.Record(ctx, d.Seconds(), metric.WithAttributes(attributes...))
		},
	}, nil
}

func histogram(meter metric.Meter, name, description string) (metric.Float64Histogram, error) {
	return meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60))
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
