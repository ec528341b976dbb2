package world

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/clock"
	"github.com/shipping-go/shipping/mockserver/internal/watch"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Calls returns how many requests named an operation, such as shipping.OpPurchase, since the start.
func (w *World) Calls(operation string) int { return w.Log.Count(operation) }

// Journal returns the latest entries, oldest first: up to 1,024, or the number set with WithJournal.
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

// errClosed is returned to everything that waits in a world that is closed.
var errClosed = errors.New("the world is closed")

// Delay delays an exchange by d. After the delay [World.Advance] waits until the exchange calls Leave.
func (w *World) Delay(x *wire.Exchange, d time.Duration, label string) error {
	passed := make(chan struct{})
	timer := w.Clock.After(d, label, func() {
		w.working.add()
		x.Release = w.working.done
		close(passed)
	})
	var early error
	select {
	case <-passed:
		return nil
	case <-x.Context().Done():
		early = x.Context().Err()
	case <-w.closed.Done():
		early = errClosed
	}
	if timer.Stop() {
		return early
	}
	<-passed
	return nil
}

// pending counts work in progress. The zero value means none.
type pending struct {
	mu    sync.Mutex
	count int
	none  chan struct{} // closed when the count is 0; nil if no goroutine waits
}

func (p *pending) add() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
}

func (p *pending) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count--; p.count == 0 && p.none != nil {
		close(p.none)
		p.none = nil
	}
}

// wait returns when the count is 0.
func (p *pending) wait() {
	p.mu.Lock()
	none := p.none
	if p.count > 0 && none == nil {
		none = make(chan struct{})
		p.none = none
	}
	p.mu.Unlock()
	if none != nil {
		<-none
	}
}

// ticker produces ticks on the clock of a world.
type ticker struct {
	world  *World
	timers *clock.Scope
	passed chan struct{} // one for each tick
}

// Ticks returns a ticker of count ticks. Each tick is scheduled relative to the previous one, not to the call of Wait,
// so that ticks are due on time.
func (w *World) Ticks(each time.Duration, count int, label string) *ticker {
	t := &ticker{world: w, timers: w.Clock.Scope(), passed: make(chan struct{}, max(0, count))}
	var next func(left int)
	next = func(left int) {
		if left == 0 {
			return
		}
		t.timers.After(each, label, func() {
			t.passed <- struct{}{}
			next(left - 1)
		})
	}
	next(max(0, count))
	return t
}

// Wait returns nil when the next tick has passed, or the error that ended the wait.
func (t *ticker) Wait(ctx context.Context) error {
	select {
	case <-t.passed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-t.world.closed.Done():
		return errClosed
	}
}

// Stop cancels the remaining ticks.
func (t *ticker) Stop() { t.timers.Stop() }
