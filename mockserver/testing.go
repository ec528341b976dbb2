package mockserver

import (
	"net/http"
	"slices"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Lint reports an error to the test for every finding whose rule is not in allowed.
func (w *World) Lint(tb testing.TB, allowed ...journal.LintRule) {
	tb.Helper()
	for _, f := range w.Findings() {
		if !slices.Contains(allowed, f.Rule) {
			tb.Errorf("mockserver: %s", f)
		}
	}
}

// CheckInvariants reports the error of [World.Check] to the test.
func (w *World) CheckInvariants(tb testing.TB) {
	tb.Helper()
	if err := w.Check(); err != nil {
		tb.Errorf("mockserver: the world is not consistent: %v", err)
	}
}

// Client returns a client of the world with additional options, through the listener if there is one, else in
// memory. Its connections close when the test ends. If the server could not start, the test fails.
//
// The client has the dialect of the world, with the routes of [dialect.Reference] if the world sets none. A test
// with this client does not show whether a program works without the file of the dialect. Without a dialect:
//
//	client, err := shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL))
//
// If the server has no listener, add shipping.WithHTTPClient(&http.Client{Transport: server.Transport()}).
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
		shipping.WithDialect(w.Dialect()),
	}, opts...)...)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}
