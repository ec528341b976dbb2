package shipping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/internal/itemkey"
	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/redact"
	"github.com/shipping-go/shipping/internal/transport"
)

// Observer holds functions that are called during a call; nil ones are skipped. The context that Start returns is
// used for the rest of the call, so that it can carry a span. Callbacks must be safe for
// concurrent use. No callback gets a key, a query or a body.
type Observer struct {
	// Start is called when a call begins.
	Start func(ctx context.Context, operation string) context.Context
	// Header is called before each attempt; attempt counts from 1. It returns headers to add to this attempt, such as
	// traceparent, or nil. It may add what [WithHeader] may; with any other header the call fails, and nothing is
	// sent. A name without values adds nothing. Unlike with a RoundTripper, [Error.NotSent] still detects failed
	// connections.
	Header func(ctx context.Context, operation string, attempt int) http.Header
	// Attempt is called after each attempt.
	Attempt func(ctx context.Context, operation string, attempt Attempt)
	// Retry is called before the client waits to retry; attempt is the one that failed, with Wait
	// set.
	Retry func(ctx context.Context, operation string, attempt Attempt)
	// Done is called when the call ends. err is the error that the caller receives. attempts is empty if nothing was
	// sent, for example because the context had ended.
	Done func(ctx context.Context, operation string, attempts []Attempt, took time.Duration, err error)
}

// begin calls Start, and returns the context of the rest of the call.
func (o Observer) begin(ctx context.Context, operation string) context.Context {
	if o.Start != nil {
		if started := o.Start(ctx, operation); started != nil {
			return started
		}
	}
	return ctx
}

// Header returns the headers that the observer adds to an attempt.
func (x *exchange) Header(ctx context.Context, attempt int) (http.Header, error) {
	if x.core.observer.Header == nil {
		return nil, nil
	}
	added := x.core.observer.Header(ctx, x.operation.Name, attempt)
	for name, values := range added {
		if problem := headerProblem(name, strings.Join(values, "")); problem != "" {
			return nil, invalidRequest("", "Observer.Header", problem)
		}
	}
	return added, nil
}

// Attempted records an attempt, and reports it to the observer and the log.
func (x *exchange) Attempted(ctx context.Context, a transport.Attempt) {
	attempt := Attempt{
		StatusCode: a.StatusCode, Duration: a.Duration, Err: a.Err,
		RequestID: x.core.key.Text(x.requestID), ResponseID: x.core.responseID(a.Header),
	}
	x.attempts = append(x.attempts, attempt)
	if x.core.observer.Attempt != nil {
		x.core.observer.Attempt(ctx, x.operation.Name, attempt)
	}
	if x.core.log != nil {
		x.core.log(ctx, x, slog.LevelDebug, "shipping attempt", attempt)
	}
}

// Retrying records the wait that follows the last attempt, and reports it to the observer and the log.
func (x *exchange) Retrying(ctx context.Context, wait time.Duration) {
	last := &x.attempts[len(x.attempts)-1]
	last.Wait = wait
	if x.core.observer.Retry != nil {
		x.core.observer.Retry(ctx, x.operation.Name, *last)
	}
	if x.core.log != nil {
		x.core.log(ctx, x, slog.LevelWarn, "shipping retry", *last)
	}
}

// NotRetried records why the last attempt is not retried.
func (x *exchange) NotRetried(reason string) { x.notRetried = reason }

// done reports the end of the call to the observer, and a failure to the log.
func (x *exchange) done(ctx context.Context, took time.Duration, err error) {
	if x.core.observer.Done != nil {
		x.core.observer.Done(ctx, x.operation.Name, x.attempts, took, err)
	}
	if err != nil && x.core.log != nil {
		last, level := Attempt{RequestID: x.core.key.Text(x.requestID)}, slog.LevelWarn
		if n := len(x.attempts); n > 0 {
			last = x.attempts[n-1]
		}
		last.Duration, last.Wait, last.Err = took, 0, err
		if errors.Is(err, context.Canceled) { // such as pages fetched ahead when a loop ends
			level = slog.LevelDebug
		}
		x.core.log(ctx, x, level, "shipping call failed", last)
	}
}

// callLog logs an attempt of a call, or its failure: the last attempt, with the time and the error of the call. It is a
// function so that a program without [WithLogger] does not link log/slog.
type callLog func(ctx context.Context, x *exchange, level slog.Level, message string, attempt Attempt)

func logTo(logger *slog.Logger) callLog {
	return func(ctx context.Context, x *exchange, level slog.Level, message string, attempt Attempt) {
		if logger.Enabled(ctx, level) {
			logger.LogAttrs(ctx, level, message, x.attrs(ctx, attempt)...)
		}
	}
}

func (x *exchange) attrs(ctx context.Context, attempt Attempt) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("operation", x.operation.Name),
		slog.Int("attempt", len(x.attempts)),
		slog.Duration("took", attempt.Duration),
	}
	if attempt.StatusCode != 0 {
		attrs = append(attrs, slog.Int("status", attempt.StatusCode))
	}
	for _, id := range [][2]string{
		{"item", x.core.key.Text(itemkey.Of(ctx))}, {"request_id", attempt.RequestID}, {"response_id", attempt.ResponseID},
	} {
		if id[1] != "" {
			attrs = append(attrs, slog.String(id[0], id[1]))
		}
	}
	if attempt.Err != nil {
		attrs = append(attrs, slog.String("error", attempt.Err.Error()))
	}
	if attempt.Wait > 0 { // before a retry
		attrs = append(attrs, slog.Duration("wait", attempt.Wait))
	}
	return attrs
}

// Drift is a difference between a response and the specification, however many records of the response show it; see
// [WithDriftReport].
type Drift struct {
	// Path names the field, such as "data.rates[].amount".
	Path string
	// Kind is "unknown" for a field that the specification does not name, "missing" for one that the response lacks, and
	// "type" for a value of another type than documented.
	Kind string
	// Detail describes the difference, such as "string instead of number".
	Detail string
	// Count is how often the response shows the difference.
	Count int
}

// String writes a difference on one line. Names that the service chose are truncated, and their control characters
// removed.
func (f Drift) String() string {
	text := f.Kind + " " + oneLine(f.Path, maxErrorMessage)
	if f.Detail != "" {
		text += ": " + oneLine(f.Detail, maxErrorMessage)
	}
	if f.Count > 1 {
		text += fmt.Sprintf(" (%d times)", f.Count)
	}
	return text
}

// driftCounts maps each difference of a response, with the Count 0, to its real count.
type driftCounts map[Drift]int

func (c driftCounts) add(difference jsonread.Difference) {
	c[Drift{Path: difference.Path, Kind: difference.Kind, Detail: difference.Detail}]++
}

// dropMissing removes the members that are missing directly below a path.
func (c driftCounts) dropMissing(path string) {
	for finding := range c {
		if name, below := strings.CutPrefix(finding.Path, path); below && finding.Kind == jsonread.Missing &&
			!strings.ContainsAny(name, ".[") {
			delete(c, finding)
		}
	}
}

// findings returns the differences with their counts, sorted. It redacts the secret key, which may be a member's name.
func (c driftCounts) findings(key redact.Key) []Drift {
	var sorted []*Drift // pointers, because sorting structs would add 13 KB to a program
	for finding, count := range c {
		finding.Count = count
		sorted = append(sorted, &finding)
	}
	slices.SortFunc(sorted, func(a, b *Drift) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Detail, b.Detail))
	})
	var findings []Drift
	for _, finding := range sorted {
		finding.Path, finding.Detail = key.Text(finding.Path), key.Text(finding.Detail)
		findings = append(findings, *finding)
	}
	return findings
}
