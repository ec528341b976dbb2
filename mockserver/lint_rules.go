package mockserver

import (
	"slices"
	"testing"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// advice says why a careful client does not do it and what it does instead.
func advice(r journal.LintRule) string {
	switch r {
	case journal.LintRepeatedRefusal:
		return "the same request was refused before and nothing has changed since: correct it instead of sending it again"
	case journal.LintIgnoredRetryAfter:
		return "the answer before said in Retry-After how long to wait: wait that long"
	case journal.LintPolledTooFast:
		return "a request was looked up several times in a row within 100 ms each: generation takes seconds, so wait longer from time to time"
	case journal.LintUnknownParameter:
		return "the specification does not list this query parameter for the operation: it may be ignored"
	case journal.LintUnknownField:
		return "the specification does not list this body field for the operation: it may be ignored"
	case journal.LintNoContentType:
		return `a body came without Content-Type: send application/json ("Authentication")`
	case journal.LintRepeatedPurchase:
		return "a purchase was sent again before the request was read: the first may have charged the wallet, so look first"
	case journal.LintIdempotencyKey:
		return "the service knows no such header, and net/http sends a request that has it again by itself"
	case journal.LintFollowedRedirect:
		return "the documented operations never redirect: following one may carry the key to somebody else"
	case journal.LintSecretInQuery:
		return "a secret key stands in the address, which logs keep: send it in Authorization only"
	default:
		return ""
	}
}

// Findings returns what the client has done so far that a careful one would not, first found first.
func (w *World) Findings() []journal.Finding { return w.conduct.all() }

// Lint fails the test for each finding, but those of the rules that are allowed.
func (w *World) Lint(tb testing.TB, allowed ...journal.LintRule) {
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
