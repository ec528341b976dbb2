package world

import (
	"encoding/json"
	"fmt"

	"github.com/shipping-go/shipping/mockserver/assumption"
)

// Assume returns the current assumptions. The caller does not change them.
func (w *World) Assume() *assumption.Set { return w.assume.Load() }

// ChangeAssumptions changes assumptions of the world for what happens from now on. If one of the changes is invalid, it
// changes nothing.
func (w *World) ChangeAssumptions(c assumption.Change) error {
	return w.change(func(next *assumption.Set) error { return next.Apply(c, &w.Plan.server, assumption.ScopeWorld) })
}

// SetAssumptions edits the assumptions of the world for what happens from now on.
func (w *World) SetAssumptions(edit func(*assumption.Set)) error {
	return w.change(func(next *assumption.Set) error {
		edit(next)
		return next.Check()
	})
}

// adopt sets the assumptions to those of the server and the scenario, changed by the values of a state file.
func (w *World) adopt(values map[string]json.RawMessage) error {
	return w.change(func(next *assumption.Set) error {
		*next = w.Plan.server
		return next.Apply(assumption.Change{Assumptions: values}, &w.Plan.server)
	})
}

// change edits a copy of the assumptions, and makes it those of the world.
func (w *World) change(edit func(*assumption.Set) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := *w.Assume()
	if err := edit(&next); err != nil {
		return fmt.Errorf("mockserver: no assumption was changed: %w", err)
	}
	for _, row := range next.Differences(w.Assume()) {
		switch row.Scope {
		case assumption.ScopeServer:
			return errServerAssumption(row.Field)
		case assumption.ScopeOpening:
			return fmt.Errorf("mockserver: %w with other assumptions: %s applies when a world opens; open another world with it", ErrWorldExists, row.Field)
		}
	}
	w.apply(next)
	return nil
}

// changed returns the values of the assumptions that differ from those of the server and the scenario.
func (w *World) changed() map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	for _, row := range w.Assume().Differences(&w.Plan.server) {
		// A value of an assumption that is in its range always encodes.
		values[row.Field], _ = json.Marshal(row.Value)
	}
	return values
}

func errServerAssumption(name string) error {
	return fmt.Errorf("mockserver: no assumption was changed: assumption %s applies to the whole server: start it with -assume %s=… (in Go: WithAssumptions)", name, name)
}

// apply makes assumptions those of the world. The caller holds the lock.
func (w *World) apply(next assumption.Set) {
	w.assume.Store(&next)
	w.Replaced++
	w.Regulatory.Configure(next)
	w.Dispatcher.Configure(&next)
}
