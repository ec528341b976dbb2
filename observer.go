package shipping

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"
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

// callState is what one call knows about itself while it goes through the handlers.
type callState struct {
	operation  Operation
	requestID  string
	attempts   []Attempt
	wait       time.Duration
	failure    *Error      // the last answer before a repeat
	header     http.Header // of the last answer that is not handed out whole
	notRetried string
}

type stateKey struct{}

// stateOf returns the state of the call that ctx belongs to. Requests of this package always have
// one; an empty one keeps a foreign request from panicking.
func stateOf(ctx context.Context) *callState {
	if state, ok := ctx.Value(stateKey{}).(*callState); ok {
		return state
	}
	return &callState{}
}

// recorder notes each attempt and tells the observer and the log.
type recorder struct {
	next http.RoundTripper
	core *core
}

func (r recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	state := stateOf(ctx)
	started := time.Now()
	response, err := r.next.RoundTrip(request)
	attempt := Attempt{Duration: time.Since(started), Err: err}
	if response != nil {
		attempt.StatusCode = response.StatusCode
	} else if partial, ok := errors.AsType[*bodyError](err); ok {
		attempt.StatusCode = partial.status
	}
	state.attempts = append(state.attempts, attempt)
	if r.core.observer.Attempt != nil {
		r.core.observer.Attempt(ctx, state.operation, attempt)
	}
	if r.core.logger.Enabled(ctx, slog.LevelDebug) {
		r.core.logger.LogAttrs(ctx, slog.LevelDebug, "shipping attempt", attemptAttrs(state, attempt)...)
	}
	return response, err
}

// beforeRepeat notes the wait that follows the last attempt.
func (c *core) beforeRepeat(ctx context.Context, state *callState, wait time.Duration) {
	last := &state.attempts[len(state.attempts)-1]
	last.Wait = wait
	if c.observer.Retry != nil {
		c.observer.Retry(ctx, state.operation, *last)
	}
	c.logger.LogAttrs(ctx, slog.LevelWarn, "shipping retry", append(attemptAttrs(state, *last), slog.Duration("wait", wait))...)
}

func attemptAttrs(state *callState, attempt Attempt) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("operation", state.operation.Name),
		slog.Int("attempt", len(state.attempts)),
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
