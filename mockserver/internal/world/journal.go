package world

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/watch"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/journal"
)

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
	choice.Bodies, choice.First = true, 1
	found, err := w.AwaitChoice(ctx, choice, 1, timeout)
	if err != nil {
		return journal.Entry{}, err
	}
	return found[0], nil
}

// AwaitChoice returns the entries of a choice as soon as there are count of them.
func (w *World) AwaitChoice(ctx context.Context, choice watch.Choice, count int,
	timeout time.Duration) ([]journal.Entry, error) {
	ctx, cancel := w.waiting(ctx, timeout)
	defer cancel()
	return w.Log.Await(ctx, choice, count)
}

// waiting returns a context that also ends when the timeout passes, unless it is 0, or when the world is closed.
func (w *World) waiting(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	stop := context.AfterFunc(w.closed, func() { end(errClosed) })
	cancel := context.CancelFunc(func() {})
	if timeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, timeout)
	}
	return ctx, func() { stop(); cancel(); end(nil) }
}

// errClosed is returned to all waits when their world is closed.
var errClosed = errors.New("the world is closed")

// Delay delays an exchange by d. If [World.Advance] ends the delay, it then waits until the exchange calls Leave.
func (w *World) Delay(x *wire.Exchange, d time.Duration, label string) error {
	passed := make(chan struct{})
	earlier := x.Release
	x.Release = nil
	timer := w.Clock.After(d, label, func() {
		w.working.Add(1)
		x.Release = w.working.Done
		close(passed)
	})
	if earlier != nil { // Advance can end this delay, too
		earlier()
	}
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

// Ticks schedules count ticks on the clock of the world. Each is scheduled relative to the previous one, not to the call
// of next, so that ticks are due on time. next returns nil when the next tick has passed, or the error that ended the
// wait.
func (w *World) Ticks(ctx context.Context, each time.Duration, count int,
	label string) (next func() error, stop func()) {
	timers, passed := w.Clock.Scope(), make(chan struct{}, max(0, count))
	var schedule func(left int)
	schedule = func(left int) {
		if left <= 0 {
			return
		}
		timers.After(each, label, func() {
			passed <- struct{}{}
			schedule(left - 1)
		})
	}
	schedule(count)
	return func() error {
		select {
		case <-passed:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-w.closed.Done():
			return errClosed
		}
	}, timers.Stop
}
