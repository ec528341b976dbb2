package shipping

import (
	"context"
	"log/slog"
	"time"

	"github.com/shipping-go/shipping/internal/transport"
)

// Observer is called as a call goes on; nil fields are skipped. The context that Start returns is
// used for the rest of the call, so that a span can travel in it. Callbacks must be safe for
// concurrent use. No callback sees a key, a query or a body.
type Observer struct {
	// Start is called when a call begins.
	Start func(ctx context.Context, operation Operation) context.Context
	// Attempt is called after each attempt.
	Attempt func(ctx context.Context, operation Operation, attempt Attempt)
	// Retry is called before the client waits to retry; attempt is the one that failed, with Wait
	// set.
	Retry func(ctx context.Context, operation Operation, attempt Attempt)
	// Done is called when the call ends. err is what the caller receives.
	Done func(ctx context.Context, operation Operation, attempts []Attempt, took time.Duration, err error)
}

// begin calls Start, and returns the context of the rest of the call.
func (o Observer) begin(ctx context.Context, operation Operation) context.Context {
	if o.Start != nil {
		if started := o.Start(ctx, operation); started != nil {
			return started
		}
	}
	return ctx
}

// Attempted records an attempt, and reports it to the observer and the log.
func (x *exchange) Attempted(ctx context.Context, a transport.Attempt) {
	attempt := Attempt{StatusCode: a.StatusCode, Duration: a.Duration, Err: a.Err}
	x.attempts = append(x.attempts, attempt)
	if x.core.observer.Attempt != nil {
		x.core.observer.Attempt(ctx, x.operation, attempt)
	}
	if x.core.logger.Enabled(ctx, slog.LevelDebug) {
		x.core.logger.LogAttrs(ctx, slog.LevelDebug, "shipping attempt", x.attrs(attempt)...)
	}
}

// Retrying records the wait that follows the last attempt, and reports it to the observer and the log.
func (x *exchange) Retrying(ctx context.Context, wait time.Duration) {
	last := &x.attempts[len(x.attempts)-1]
	last.Wait = wait
	if x.core.observer.Retry != nil {
		x.core.observer.Retry(ctx, x.operation, *last)
	}
	x.core.logger.LogAttrs(ctx, slog.LevelWarn, "shipping retry", append(x.attrs(*last), slog.Duration("wait", wait))...)
}

// NotRetried records why the last attempt is not retried.
func (x *exchange) NotRetried(reason string) { x.notRetried = reason }

func (x *exchange) attrs(attempt Attempt) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("operation", x.operation.Name),
		slog.Int("attempt", len(x.attempts)),
		slog.Duration("took", attempt.Duration),
	}
	if attempt.StatusCode != 0 {
		attrs = append(attrs, slog.Int("status", attempt.StatusCode))
	}
	if attempt.Err != nil {
		attrs = append(attrs, slog.String("error", attempt.Err.Error()))
	}
	return attrs
}
