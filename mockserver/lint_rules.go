package mockserver

import (
	"slices"
	"testing"

	"github.com/shipping-go/shipping/mockserver/journal"
)

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
