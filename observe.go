package shipping

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/redact"
	"github.com/shipping-go/shipping/internal/transport"
)

// Observer holds functions that are called during a call; nil ones are skipped. The context that Start returns is
// used for the rest of the call, so that it can carry a span. Callbacks must be safe for
// concurrent use. No callback gets a key, a query or a body.
type Observer struct {
	// Start is called when a call begins.
	Start func(ctx context.Context, operation Operation) context.Context
	// Attempt is called after each attempt.
	Attempt func(ctx context.Context, operation Operation, attempt Attempt)
	// Retry is called before the client waits to retry; attempt is the one that failed, with Wait
	// set.
	Retry func(ctx context.Context, operation Operation, attempt Attempt)
	// Done is called when the call ends. err is the error that the caller receives.
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

// Drift lists the differences between a response and the specification; see [WithDriftReport].
type Drift struct {
	// Operation is the name of the operation, such as "rates.list".
	Operation string
	// Findings are sorted by path.
	Findings []DriftFinding
}

// DriftFinding is one difference, however many records of the response show it.
type DriftFinding struct {
	// Path names the field, such as "data.rates[].amount".
	Path string
	Kind DriftKind
	// Detail describes the difference, such as "string instead of number".
	Detail string
	// Count is how often the response shows the difference.
	Count int
}

// DriftKind is the kind of a [DriftFinding].
type DriftKind string

const (
	// DriftUnknown is a field that the specification does not name.
	DriftUnknown DriftKind = "unknown"
	// DriftMissing is a field that the specification names and the response lacks.
	DriftMissing DriftKind = "missing"
	// DriftType is a value of another type than documented.
	DriftType DriftKind = "type"
)

// String writes a finding on one line.
func (f DriftFinding) String() string {
	text := string(f.Kind) + " " + f.Path
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	if f.Count > 1 {
		text += fmt.Sprintf(" (%d times)", f.Count)
	}
	return text
}

// redactedDrift returns report for a client with a key: a service may send the key as the name of a member.
func redactedDrift(key redact.Key, report func(Drift)) func(Drift) {
	if report == nil {
		return nil
	}
	return func(drift Drift) {
		for i, finding := range drift.Findings {
			drift.Findings[i].Path, drift.Findings[i].Detail = key.Text(finding.Path), key.Text(finding.Detail)
		}
		report(drift)
	}
}

// driftCounts counts the differences of a response, each under its finding without a count.
type driftCounts map[DriftFinding]int

func (c driftCounts) add(difference jsonread.Difference) {
	kind := [...]DriftKind{jsonread.Unknown: DriftUnknown, jsonread.Missing: DriftMissing, jsonread.Type: DriftType}[difference.Kind]
	c[DriftFinding{Path: difference.Path, Kind: kind, Detail: difference.Detail}]++
}

// dropMissing removes the members that are missing directly below a path.
func (c driftCounts) dropMissing(path string) {
	for finding := range c {
		if name, below := strings.CutPrefix(finding.Path, path); below && finding.Kind == DriftMissing && !strings.ContainsAny(name, ".[") {
			delete(c, finding)
		}
	}
}

// report reports the counted differences, if there are any.
func (c driftCounts) report(report func(Drift), operation string) {
	if len(c) == 0 {
		return
	}
	drift := Drift{Operation: operation}
	for finding, count := range c {
		finding.Count = count
		drift.Findings = append(drift.Findings, finding)
	}
	slices.SortFunc(drift.Findings, func(a, b DriftFinding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Detail, b.Detail))
	})
	report(drift)
}
