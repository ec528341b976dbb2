package world

import (
	"errors"

	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// contents are the initial contents of a world. They are immutable.
type contents struct {
	account    account.Account
	deliveries []*notify.Delivery // oldest first
	records    int                // stored in the account
}

// Check returns an error that names every violated invariant of the world.
func (w *World) Check() error {
	w.Lock()
	defer w.Unlock()
	return errors.Join(w.Account.Ledger.Check(), w.Regulatory.Check(w.Account.Ledger))
}

// Reset restores the initial contents of the world, clears its faults and stubs, and empties its
// journal, its findings and its inbox.
func (w *World) Reset() {
	w.Faults.Reset()
	w.RemoveStubs("")
	w.Inbox.Clear()
	w.fill()
	w.Log.Clear()
	w.Lint.Clear()
}

// fill gives the world its initial contents.
func (w *World) fill() {
	w.Lock()
	defer w.Unlock()
	w.timers.Stop()
	w.timers = w.Clock.Scope()
	w.Account = w.base.account.Copy()
	w.Replaced++
	w.openRequests()
	w.arriving = nil
	w.bodies = 0
	w.Dispatcher.Reset(w.base.deliveries)
	w.count()
}
