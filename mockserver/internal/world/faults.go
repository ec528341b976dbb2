package world

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/clock"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/inject"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// Inject adds rules. If one of them can never strike, it adds none, and returns the reason.
func (w *World) Inject(rules ...fault.Rule) error {
	rules = slices.Clone(rules)
	for i := range rules {
		rules[i].Operation = w.operationOf(rules[i].Operation)
	}
	w.Lock()
	err := w.Room(inject.Size(rules))
	w.Unlock()
	if err == nil {
		err = w.Faults.Add(rules, w.Clock.Now(), w.Operations()...)
	}
	if err != nil {
		return fmt.Errorf("mockserver: no rule was added: %w", err)
	}
	return nil
}

// strike returns the fault of a new notification. The caller holds the lock.
func (w *World) strike(d notify.Delivery) delivery.Strike {
	request := inject.Request{
		Operation: fault.Notification, Event: d.Event, Target: d.WebhookID, Body: d.Payload, Now: w.Clock.Now(),
	}
	f, count := w.Faults.Match(request).Notification()
	another := slices.IndexFunc(w.Account.ShipmentIDs, func(id string) bool { return id != d.ShipmentID })
	if another < 0 {
		return delivery.Strike{Fault: f, Count: count, Shipment: d.ShipmentID}
	}
	return delivery.Strike{Fault: f, Count: count, Shipment: w.Account.ShipmentIDs[another]}
}

func (w *World) RemoveFault(number int) error {
	if !w.Faults.Remove(number) {
		return fmt.Errorf("mockserver: %w: %d; GET %sfaults lists them (in Go: World.Faults)", ErrNoFault, number,
			wire.ControlPrefix)
	}
	return nil
}

// ErrNoFault is returned for a number that no rule has.
var ErrNoFault = errors.New("no such fault rule")

// ClearFaults removes every rule, and performs the operations of arriving requests.
func (w *World) ClearFaults() {
	w.Faults.Clear()
	w.arriveAll()
}

// Arriving is a request whose exchange has ended before its operation was performed; see [fault.ArriveLate].
type Arriving struct {
	Due       time.Time
	Operation string
	Size      int // of the body, in bytes
	// Perform performs the operation, and describes its result for the journal, such as "took effect".
	Perform func() string

	entry string // the id of its entry in the journal
	timer *clock.Timer
}

const maxArriving = 1000

// Expect performs the operation of a request when it is due, and then amends the entry of the journal. It returns an
// error if the world has no room for the request.
func (w *World) Expect(a Arriving, entry string) error {
	w.Lock()
	defer w.Unlock()
	if len(w.arriving) >= maxArriving {
		return fmt.Errorf("%d requests are on their way, which is the limit: advance the clock, or clear the faults",
			maxArriving)
	}
	if err := w.Room(a.Size); err != nil {
		return err
	}
	a.entry = entry
	w.arriving = append(w.arriving, &a)
	a.timer = w.timers.After(a.Due.Sub(w.Clock.Now()), a.Operation+" arrives late", func() { w.arrive(&a) })
	return nil
}

// arrive performs the operation of an arriving request, unless that has happened already or the world was reset.
func (w *World) arrive(a *Arriving) {
	w.performing.Lock()
	defer w.performing.Unlock()
	w.Lock()
	at := slices.Index(w.arriving, a)
	if at >= 0 {
		w.arriving = slices.Delete(w.arriving, at, at+1)
		a.timer.Stop()
	}
	w.Unlock()
	if at < 0 {
		return
	}
	w.Log.Amend(a.entry, a.Perform()+" at "+w.Clock.Now().Format(time.RFC3339))
}

// arriveAll performs the operations of all arriving requests, the first due first, and waits for one that is being
// performed.
func (w *World) arriveAll() {
	w.Lock()
	all := slices.SortedStableFunc(slices.Values(w.arriving), func(a, b *Arriving) int { return a.Due.Compare(b.Due) })
	w.Unlock()
	for _, a := range all {
		w.arrive(a)
	}
	w.performing.Lock() // waits for an operation that a timer performs
	defer w.performing.Unlock()
}
