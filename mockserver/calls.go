package mockserver

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/watch"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// WithJournal sets how many calls a world remembers, and how many bytes of their bodies. The default
// is 1,024 calls with 2 KiB of each body; 0 calls remembers none.
func WithJournal(calls, bodyBytes int) Option {
	return func(c *config) { c.journal, c.journalBody = max(0, calls), max(0, bodyBytes) }
}

// Calls returns how many requests named an operation, such as shipping.OpPurchase, since the start.
func (w *core) Calls(operation string) int { return w.calls.Count(operation) }

// Journal returns the latest calls, oldest first: up to 1,024, or what WithJournal says.
func (w *core) Journal() []journal.Call { return w.Find(journal.Query{}) }

// fingerprint returns that of a request's key. The world's own is known beforehand.
func fingerprint(w *core, r *http.Request) string {
	_, key := bearer(r)
	if key == w.SecretKey {
		return w.keyPrint
	}
	return wire.Fingerprint(key)
}

// Find returns the remembered calls that a query chooses, oldest first.
func (w *core) Find(q journal.Query) []journal.Call {
	choice, err := w.calls.Choice(q)
	if err != nil {
		return []journal.Call{}
	}
	choice.Bodies = true
	return w.calls.Choose(choice)
}

// Await returns the oldest remembered call that a query chooses, as soon as there is one: a test's way to wait for
// what other goroutines or processes do, without sleeping.
func (w *core) Await(ctx context.Context, q journal.Query, timeout time.Duration) (journal.Call, error) {
	choice, err := w.calls.Choice(q)
	if err != nil {
		return journal.Call{}, fmt.Errorf("mockserver: %w", err)
	}
	return w.await(ctx, choice, timeout)
}

func (w *core) await(ctx context.Context, choice watch.Choice, timeout time.Duration) (journal.Call, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(w.closed, func() { cancel(errClosed) })()
	return w.calls.Await(ctx, choice, timeout)
}
