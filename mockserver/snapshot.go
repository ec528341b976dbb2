package mockserver

import (
	"errors"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// check returns which invariants do not hold.
func (s *snapshot) check() error {
	return errors.Join(s.state.Ledger.Check(), s.desk(s.state.Ledger).Check())
}

// Snapshot returns what the world holds now: its data, its money, its requests with what is still to happen to them,
// and its delivery log.
func (w *core) Snapshot() *snapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &snapshot{world: w.name, state: w.account.Copy(), requests: w.desk.Snapshot(), deliveries: w.deliveries.Log(), at: w.clock.Now()}
}

// Restore makes the world hold what a snapshot does.
func (w *core) Restore(s *snapshot) { w.restore(s) }

// Reset makes the world hold what it began with, clears its faults and empties its journal and its lint.
func (w *core) Reset() {
	w.faults.Reset()
	w.restore(w.base)
	w.calls.Clear()
	w.conduct.Clear()
}

func (w *core) restore(s *snapshot) {
	w.clock.Reach(s.at)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timers.Stop()
	w.timers = w.clock.Scope()
	w.account = s.state.Copy()
	w.openDesk()
	stood := w.clock.Now().Sub(s.at) // how long time stood still
	w.desk.Resume(s.requests, stood)
	w.deliveries.Restore(s.deliveries, stood, s.world == "" || s.world == w.name)
}

// snapshot is what a world held at one moment. It never changes.
type snapshot struct {
	world      string // the name of the one that it was taken of; empty if that is not known
	state      account.Account
	requests   regulatory.Requests
	deliveries []*delivery.Delivery // oldest first
	at         time.Time            // by the world's clock
}

// At returns when the snapshot was taken, by the world's clock.
func (s *snapshot) At() time.Time { return s.at }
