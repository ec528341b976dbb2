package world

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/clock"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

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
