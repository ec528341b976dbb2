package mockserver

import (
	"net/http"
	"slices"
	"testing"

	"github.com/shipping-go/shipping"
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

// Client returns a client of the world with further options, through the listener if there is one, else in
// memory. Its connections close when the test ends. A server that could not start fails the test.
func (w *World) Client(tb testing.TB, opts ...shipping.Option) *shipping.Client {
	tb.Helper()
	if w.server.err != nil {
		tb.Fatal(w.server.err)
	}
	transport := w.server.inMemory.Clone()
	if w.server.config.listen {
		transport = w.server.dialled()
	}
	tb.Cleanup(transport.CloseIdleConnections)
	c, err := shipping.NewClient(w.SecretKey, append([]shipping.Option{
		shipping.WithBaseURL(w.URL), shipping.WithHTTPClient(&http.Client{Transport: transport}),
	}, opts...)...)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}
