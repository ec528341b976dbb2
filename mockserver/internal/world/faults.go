package world

import (
	"fmt"

	"github.com/shipping-go/shipping/mockserver/fault"
)

// Inject adds rules. If one of them can never strike, it adds none, and returns the reason.
func (w *World) Inject(rules ...fault.Rule) error {
	if err := w.Faults.Add(rules, w.Clock.Now()); err != nil {
		return fmt.Errorf("mockserver: no rule was added: %w", err)
	}
	return nil
}

// ClearFaults removes every rule.
func (w *World) ClearFaults() { w.Faults.Clear() }
