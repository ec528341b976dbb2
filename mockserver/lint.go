package mockserver

import (
	"fmt"
	"slices"
	"testing"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// LintRule names something that a careful client does not do.
type LintRule string

// The rules. None of them makes the server refuse a request.
const (
	LintRepeatedRefusal   LintRule = "repeated-refusal"
	LintIgnoredRetryAfter LintRule = "ignored-retry-after"
	LintPolledTooFast     LintRule = "polled-too-fast"
	LintUnknownParameter  LintRule = "unknown-parameter"
	LintUnknownField      LintRule = "unknown-field"
	LintNoContentType     LintRule = "no-content-type"
	LintRepeatedPurchase  LintRule = "repeated-purchase"
	LintIdempotencyKey    LintRule = "idempotency-key"
	LintFollowedRedirect  LintRule = "followed-redirect"
	LintSecretInQuery     LintRule = "secret-in-query"
)

// advice says why a careful client does not do it and what it does instead.
func (r LintRule) advice() string {
	switch r {
	case LintRepeatedRefusal:
		return "the same request was refused before and nothing has changed since: correct it instead of sending it again"
	case LintIgnoredRetryAfter:
		return "the answer before said in Retry-After how long to wait: wait that long"
	case LintPolledTooFast:
		return "a request was looked up several times in a row within 100 ms each: generation takes seconds, so wait longer from time to time"
	case LintUnknownParameter:
		return "the specification does not list this query parameter for the operation: it may be ignored"
	case LintUnknownField:
		return "the specification does not list this body field for the operation: it may be ignored"
	case LintNoContentType:
		return `a body came without Content-Type: send application/json ("Authentication")`
	case LintRepeatedPurchase:
		return "a purchase was sent again before the request was read: the first may have charged the wallet, so look first"
	case LintIdempotencyKey:
		return "the service knows no such header, and net/http sends a request that has it again by itself"
	case LintFollowedRedirect:
		return "the documented operations never redirect: following one may carry the key to somebody else"
	case LintSecretInQuery:
		return "a secret key stands in the address, which logs keep: send it in Authorization only"
	default:
		return ""
	}
}

// Finding is something that the client did and a careful one would not.
type Finding struct {
	Rule      LintRule `json:"rule"`
	Operation string   `json:"operation"`
	Detail    string   `json:"detail,omitempty"`
	Times     int      `json:"times"`
	RequestID string   `json:"request_id"` // X-Request-Id of the latest answer to it
	Advice    string   `json:"advice"`
}

// String says it in a line.
func (f Finding) String() string {
	text := fmt.Sprintf("%s by %s", f.Rule, f.Operation)
	if f.Detail != "" {
		text += " (" + f.Detail + ")"
	}
	return fmt.Sprintf("%s, %d times, last as %s: %s", text, f.Times, f.RequestID, f.Advice)
}

// Findings returns what the client has done so far that a careful one would not, first found first.
func (w *World) Findings() []Finding { return w.conduct.all() }

// Lint fails the test for each finding, but those of the rules that are allowed.
func (w *World) Lint(tb testing.TB, allowed ...LintRule) {
	tb.Helper()
	for _, f := range w.Findings() {
		if !slices.Contains(allowed, f.Rule) {
			tb.Errorf("mockserver: %s", f)
		}
	}
}

// CheckInvariants fails the test for what [World.Check] finds.
func (w *World) CheckInvariants(tb testing.TB) {
	tb.Helper()
	if err := w.Check(); err != nil {
		tb.Errorf("mockserver: the world is not sound: %v", err)
	}
}

func (s *Server) adminLint(c *control) wire.Reply {
	findings := c.world.conduct.all()
	return wire.SucceedWith(nil, counted(len(findings), "finding", "findings"), findings)
}
