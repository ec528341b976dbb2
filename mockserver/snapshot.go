package mockserver

import (
	"errors"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// Snapshot is what a world held at one moment. It never changes, costs next to nothing as long as the
// world does not change either, and may be restored any number of times, into any world.
//
// In a snapshot time stands still: a document that needed three more seconds needs three seconds after it
// is restored, however long that took, and so does a notification that was to be retried in three seconds.
type Snapshot struct {
	world      string // the name of the one that it was taken of; empty if that is not known
	state      account.Account
	requests   regulatory.Requests
	deliveries []*delivery.Delivery // oldest first
	at         time.Time            // by the world's clock
}

// At returns when the snapshot was taken, by the world's clock.
func (s *Snapshot) At() time.Time { return s.at }

// check returns which invariants do not hold.
func (s *Snapshot) check() error {
	return errors.Join(s.state.Ledger.Check(), s.desk(s.state.Ledger).Check())
}

// Snapshot returns what the world holds now: its data, its money, its requests with what is still to
// happen to them, and its delivery log. Faults and journal are not in it.
func (w *World) Snapshot() *Snapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &Snapshot{world: w.name, state: w.account.Copy(), requests: w.desk.Snapshot(), deliveries: w.deliveries.Log(), at: w.clock.Now()}
}

// Restore makes the world hold what a snapshot does. Its key, faults, journal and settings stay as they
// are, and so does its time: a clock never goes back. Where the snapshot is of a later time than the
// world's, the clock moves forward to it.
//
// Notifications that were still to be sent are sent by the world that queued them. In another world, such
// as a fork, they have failed: the world that queued them sends them, signed with its own key.
func (w *World) Restore(s *Snapshot) { w.restore(s) }

// Reset makes the world hold what it began with, clears its faults and empties its journal and its lint.
// The time stays what it is.
func (w *World) Reset() {
	w.faults.reset()
	w.restore(w.base)
	w.calls.Clear()
	w.conduct.Clear()
}

func (w *World) restore(s *Snapshot) {
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
