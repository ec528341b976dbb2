package regulatory

import (
	"slices"

	"github.com/shipping-go/shipping/internal/status"
)

// States returns every state, in the order of the specification.
func States() (all []State) {
	for _, row := range status.All() {
		all = append(all, State(row.Name))
	}
	return all
}

// Ended reports whether a request stays in this state unless the user retries.
func (s State) Ended() bool { return slices.Contains(States(), s) && s != StateDraft && !s.Working() }

// Transition is a row of the state machine for one state.
type Transition struct {
	From, To State
	Trigger  Trigger
	Code     Code
	Reason   string
	Rule     string
}

// Transitions is the state machine, a row for each state and trigger.
var Transitions = func() (rows []Transition) {
	for _, t := range transitions {
		for _, from := range t.from {
			rows = append(rows, Transition{From: from, To: t.to, Trigger: t.trigger, Code: t.code, Reason: t.reason,
				Rule: t.rule})
		}
	}
	return rows
}()
