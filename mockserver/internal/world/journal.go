package world

import (
	"context"
	"fmt"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/watch"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Calls returns how many requests named an operation, such as shipping.OpPurchase, since the start.
func (w *World) Calls(operation string) int { return w.Log.Count(operation) }

// Journal returns the latest entries, oldest first: up to 1,024, or the number set with WithJournal, and before them failed
// requests.
func (w *World) Journal() []journal.Entry { return w.Find(journal.Query{}) }

// Find returns the entries of the journal that a query selects, oldest first.
func (w *World) Find(q journal.Query) []journal.Entry {
	choice, err := w.Log.Choice(q)
	if err != nil {
		return []journal.Entry{}
	}
	choice.Bodies = true
	return w.Log.Choose(choice)
}

// Await returns the oldest entry of the journal that a query selects, as soon as there is one.
func (w *World) Await(ctx context.Context, q journal.Query, timeout time.Duration) (journal.Entry, error) {
	choice, err := w.Log.Choice(q)
	if err != nil {
		return journal.Entry{}, fmt.Errorf("mockserver: %w", err)
	}
	return w.AwaitChoice(ctx, choice, 1, timeout)
}

func (w *World) AwaitChoice(ctx context.Context, choice watch.Choice, count int, timeout time.Duration) (journal.Entry, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(w.closed, func() { cancel(errClosed) })()
	return w.Log.Await(ctx, choice, count, timeout)
}

// Findings returns the findings of the linter so far, in the order in which they were found.
func (w *World) Findings() []journal.Finding { return w.Lint.All() }
