package world

import (
	"errors"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// Check returns which invariants do not hold.
func (s *Snapshot) Check() error {
	return errors.Join(s.State.Ledger.Check(), s.desk(s.State.Ledger).Check())
}

// Snapshot returns what the world holds now: its data, its money, its requests with what is still to happen to them,
// and its delivery log.
func (w *World) Snapshot() *Snapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &Snapshot{OpenKey: w.name, State: w.Account.Copy(), requests: w.Desk.Snapshot(), deliveries: w.Dispatcher.Log(), at: w.Clock.Now()}
}

// Restore makes the world hold what a snapshot does.
func (w *World) Restore(s *Snapshot) { w.restore(s) }

// Reset makes the world hold what it began with, clears its faults and empties its journal and its lint.
func (w *World) Reset() {
	w.Faults.Reset()
	w.restore(w.base)
	w.Log.Clear()
	w.Lint.Clear()
}

func (w *World) restore(s *Snapshot) {
	w.Clock.Reach(s.at)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timers.Stop()
	w.timers = w.Clock.Scope()
	w.Account = s.State.Copy()
	w.openDesk()
	stood := w.Clock.Now().Sub(s.at) // how long time stood still
	w.Desk.Resume(s.requests, stood)
	w.Dispatcher.Restore(s.deliveries, stood, s.OpenKey == "" || s.OpenKey == w.name)
}

// Snapshot is what a world held at one moment. It never changes.
type Snapshot struct {
	OpenKey    string // the name of the one that it was taken of; empty if that is not known
	State      account.Account
	requests   regulatory.Requests
	deliveries []*delivery.Delivery // oldest first
	at         time.Time            // by the world's clock
}

// At returns when the snapshot was taken, by the world's clock.
func (s *Snapshot) At() time.Time { return s.at }
