package mockserver

import (
	"github.com/shipping-go/shipping/mockserver/fault"
)

// Faults returns the fault rules, in the order in which they strike.
func (w *World) Faults() []fault.Injected { return w.core.Faults.Rules() }

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

// ReplaceFault replaces the rule of a number. The new rule keeps the number and the place among the others, stays
// disabled if the old one was, and counts from zero. ReplaceFault returns an error, and changes nothing, if the number
// does not exist, or if the rule, or a later one because of it, could never strike.
func (w *World) ReplaceFault(number int, rule fault.Rule) error {
	return w.core.ReplaceFault(number, rule)
}

// DisableFault disables the rule of a number, which keeps its counts, or enables it again. It returns an error if the number
// does not exist.
func (w *World) DisableFault(number int, disabled bool) error {
	return w.core.SwitchFault(number, !disabled)
}

// RemoveFault removes the rule of a number. It returns an error if the number does not exist.
func (w *World) RemoveFault(number int) error { return w.core.RemoveFault(number) }
