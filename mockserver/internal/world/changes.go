package world

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Changes are the assumptions of a world that differ from those of its server and scenario: a preset, then values.
type Changes struct {
	Preset string                     `json:"preset,omitempty"`
	Values map[string]json.RawMessage `json:"values,omitempty"`
}

// IsZero reports whether nothing is changed.
func (c Changes) IsZero() bool { return c.Preset == "" && len(c.Values) == 0 }

func (c Changes) equal(other Changes) bool {
	return c.Preset == other.Preset && maps.EqualFunc(c.Values, other.Values, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}

// with returns the changes followed by others. A preset replaces all that was changed before, and null undoes a change.
func (c Changes) with(others Changes) Changes {
	next := Changes{Preset: c.Preset, Values: maps.Clone(c.Values)}
	if others.Preset != "" {
		next = Changes{Preset: others.Preset}
	}
	if next.Values == nil {
		next.Values = map[string]json.RawMessage{}
	}
	for name, value := range others.Values {
		if string(value) == "null" {
			delete(next.Values, name)
		} else {
			next.Values[name] = value
		}
	}
	return next
}

func (a *Assumptions) change(c Changes) error {
	return errors.Join(a.apply(c.Preset), a.setAll(c.Values), a.Check())
}

// openingAssumptions returns the fields that apply only when a world opens.
func openingAssumptions() []string { return []string{"ObjectBreakdown"} }

// Scopes of an assumption.
const (
	ScopeServer  = "server"  // set when the server starts
	ScopeOpening = "opening" // or when a world opens
	ScopeWorld   = "world"   // or at any time
)

// ScopeOf returns the scope of the assumption of a name.
func ScopeOf(name string) string {
	switch {
	case slices.Contains(serverAssumptions(), name), !slices.Contains(AssumptionNames(), name):
		return ScopeServer
	case slices.Contains(openingAssumptions(), name):
		return ScopeOpening
	default:
		return ScopeWorld
	}
}

// ChangeAssumptions changes assumptions of the world for what happens from now on. If one of the changes is invalid, it
// changes nothing.
func (w *World) ChangeAssumptions(c Changes) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name := range c.Values {
		if !slices.Contains(AssumptionNames(), name) { // also for null
			var a Assumptions
			return a.Set(name, "")
		}
	}
	if c.Preset != "" {
		c = Changes{Preset: c.Preset, Values: maps.Clone(c.Values)}
		for _, name := range openingAssumptions() { // as they are
			if _, given := c.Values[name]; !given {
				if c.Values == nil {
					c.Values = map[string]json.RawMessage{}
				}
				c.Values[name] = settingJSON(reflect.ValueOf(w.Assume()).Elem().FieldByName(name))
			}
		}
	}
	return w.become(w.changes.with(c))
}

// adopt replaces the changes of the assumptions.
func (w *World) adopt(c Changes) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.changes.equal(c) {
		return nil
	}
	return w.become(c)
}

// become applies changes to the assumptions of the server and the scenario. The caller holds the lock.
func (w *World) become(c Changes) error {
	next := w.Plan.server
	if err := next.change(c); err != nil {
		return fmt.Errorf("mockserver: no assumption was changed: %w", err)
	}
	if err := w.checkOpening(&next); err != nil {
		return err
	}
	w.apply(next, c)
	return nil
}

// checkOpening returns an error if an assumption differs that applies only when a world opens.
func (w *World) checkOpening(next *Assumptions) error {
	for _, name := range openingAssumptions() {
		if differs(w.Assume(), next, name) {
			return fmt.Errorf("mockserver: %w with other assumptions: %s applies when a world opens; open another world with it", ErrWorldExists, name)
		}
	}
	return nil
}

// SetAssumptions sets the assumptions of the world for what happens from now on.
func (w *World) SetAssumptions(next Assumptions) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := errors.Join(next.Check(), w.checkOpening(&next)); err != nil {
		return err
	}
	changed := map[string]json.RawMessage{}
	for _, name := range AssumptionNames() {
		if !differs(w.Assume(), &next, name) {
			continue
		}
		if slices.Contains(serverAssumptions(), name) {
			return fmt.Errorf("mockserver: no assumption was changed: %w", errServerAssumption(name))
		}
		changed[name] = settingJSON(reflect.ValueOf(next).FieldByName(name))
	}
	w.Plan.server.DeliveryAccept = next.DeliveryAccept // a function is in no JSON
	w.apply(next, w.changes.with(Changes{Values: changed}))
	return nil
}

func errServerAssumption(name string) error {
	return fmt.Errorf("assumption %s applies to the whole server: start it with -assume %s=… (in Go: WithAssumptions)", name, name)
}

// differs reports whether two sets of assumptions have other values of a name.
func differs(a, b *Assumptions, name string) bool {
	field := func(of *Assumptions) any { return reflect.ValueOf(of).Elem().FieldByName(name).Interface() }
	return !reflect.DeepEqual(field(a), field(b))
}

// settingJSON returns the value of a field in the format of [Changes].
func settingJSON(field reflect.Value) json.RawMessage {
	var value any
	switch of := field.Interface().(type) {
	case time.Duration:
		value = of.String()
	case []string:
		value = strings.Join(of, ",")
	default:
		value = of
	}
	encoded, err := json.Marshal(value)
	if err != nil { // a number that is not finite
		return json.RawMessage("0")
	}
	return encoded
}

// apply makes assumptions those of the world. The caller holds the lock.
func (w *World) apply(next Assumptions, changes Changes) {
	w.assume.Store(&next)
	w.changes = changes
	w.Replaced++
	w.Regulatory.Configure(next.settings())
	w.Dispatcher.Configure(next.deliverySettings())
}
