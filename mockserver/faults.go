package mockserver

import (
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/inject"
	"github.com/shipping-go/shipping/mockserver/internal/list"
)

// FaultRule is a rule of a world, with its counts.
type FaultRule struct {
	// Number identifies the rule, counted from 1 in the order of injection.
	Number int `json:"number"`
	fault.Rule
	// Seen is how many requests the rule has counted.
	Seen int `json:"seen,omitempty"`
	// Struck is how many requests it has struck.
	Struck int64 `json:"struck,omitempty"`
}

// Faults returns the fault rules, in the order in which they strike.
func (w *World) Faults() []FaultRule {
	return list.Map(w.core.Faults.Rules(), func(r inject.Listed) FaultRule { return FaultRule(r) })
}

// Inject adds fault rules. Several rules can strike one request, in the order in which they were injected; if
// two of them exclude each other, the first one strikes. Requests below /_mock/ are never struck.
//
// Inject returns an error, and adds none of the rules, if one of them can never strike: its operation or point
// is unknown, its numbers contradict each other, its time has passed, its fault does not apply to the
// operation, or an earlier rule strikes every such request and excludes it.
func (w *World) Inject(rules ...fault.Rule) error { return w.core.Inject(rules...) }

// ClearFaults removes every rule. The requests that [fault.ArriveLate] has struck, and that are still on their way, take effect
// at once.
func (w *World) ClearFaults() { w.core.ClearFaults() }

// RemoveFault removes the rule of a number. It returns an error if the number does not exist.
func (w *World) RemoveFault(number int) error { return w.core.RemoveFault(number) }
