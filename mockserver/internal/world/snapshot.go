package world

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// Check returns an error that names every violated invariant.
func (s *Snapshot) Check() error {
	return errors.Join(s.State.Ledger.Check(), s.Requests.Check(s.State.Ledger))
}

// Snapshot returns the current contents of the world: its data, its ledger, its requests with their pending changes,
// and its delivery log.
func (w *World) Snapshot() *Snapshot {
	w.Lock()
	defer w.Unlock()
	return &Snapshot{
		World: w.name, At: w.Clock.Now(), Assumptions: w.changed(), State: w.Account.Copy(), Requests: w.Regulatory.Snapshot(),
		Deliveries: w.Dispatcher.Log(), arriving: slices.Clone(w.arriving), shared: w.base.shared,
	}
}

// Reset restores the initial contents of the world, undoes changes of its assumptions, clears its faults and empties its journal, its findings and its inbox.
func (w *World) Reset() {
	w.Faults.Reset()
	w.Restore(w.base)
	w.Log.Clear()
	w.Lint.Clear()
	w.Inbox.Clear()
	w.Lock()
	defer w.Unlock()
	w.apply(w.Plan.assume)
}

// Restore replaces the contents of the world by a snapshot.
func (w *World) Restore(s *Snapshot) {
	w.Clock.Reach(s.At)
	w.Lock()
	defer w.Unlock()
	w.timers.Stop()
	w.timers = w.Clock.Scope()
	w.Account = s.State.Copy()
	w.Replaced++
	w.openRequests()
	stood := w.Clock.Now().Sub(s.At) // how long the snapshot was stored
	w.Regulatory.Resume(s.Requests, stood)
	w.arriving = nil
	for _, pending := range s.arriving {
		a := *pending
		a.Due = a.Due.Add(stood)
		w.expect(a, "")
	}
	w.Dispatcher.Restore(s.Deliveries, stood, s.World == "" || s.World == w.name)
	w.count()
}

// Snapshot is the contents of a world at one moment. It is immutable. A state file has it as JSON, without the requests on
// their way.
type Snapshot struct {
	World       string                     `json:"world"`       // the name of the world; empty if unknown
	At          time.Time                  `json:"at"`          // by the world's clock
	Assumptions map[string]json.RawMessage `json:"assumptions"` // those that were changed
	State       account.Account            `json:"account"`
	Requests    regulatory.Requests        `json:"requests"`
	Deliveries  []*notify.Delivery         `json:"deliveries"` // oldest first

	arriving []*Arriving
	shared   int64 // bytes of memory of the template that the contents began with
}
