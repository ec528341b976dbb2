package world

import (
	"errors"
	"fmt"

	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// Inject adds rules. If one of them can never strike, it adds none, and returns the reason.
func (w *World) Inject(rules ...fault.Rule) error {
	if err := w.Faults.Add(rules, w.Clock.Now()); err != nil {
		return fmt.Errorf("mockserver: no rule was added: %w", err)
	}
	return nil
}

// RemoveFault removes the rule of a number.
func (w *World) RemoveFault(number int) error {
	if !w.Faults.Remove(number) {
		return noFault(number)
	}
	return nil
}

// ErrNoFault is returned for a number that no rule has.
var ErrNoFault = errors.New("no such fault rule")

func noFault(number int) error {
	return fmt.Errorf("mockserver: %w: %d; GET %sfaults lists them (in Go: World.Faults)", ErrNoFault, number, wire.ControlPrefix)
}

// ClearFaults removes every rule, and performs the operations of arriving requests.
func (w *World) ClearFaults() {
	w.Faults.Clear()
	w.arriveAll()
}
