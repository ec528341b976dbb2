package regulatory

import (
	"slices"
)

// State is the status of a request. The values and their meanings are the specification's
// ("Regulatory document request states").
type State string

// States of a request. Another one needs a row in [states], and rows in the table of transitions.
const (
	// StateDraft means analyzed, not yet purchased, editable.
	StateDraft State = "draft"
	// StatePurchasing means that a purchase is in progress; transient.
	StatePurchasing State = "purchasing"
	// StateProcessing means purchased; generation in progress.
	StateProcessing State = "processing"
	// StateCompleted means that all purchased documents are generated.
	StateCompleted State = "completed"
	// StateFailed means that analysis or generation failed.
	StateFailed State = "failed"
)

// stage is who changes a request in a state.
type stage int

const (
	editing stage = iota // the user
	working              // the service, without the user
	ended                // nobody, unless the user retries
)

// states is the table of states, in the order of the specification.
var states = []struct {
	state State
	stage stage
}{
	{StateDraft, editing},
	{StatePurchasing, working},
	{StateProcessing, working},
	{StateCompleted, ended},
	{StateFailed, ended},
}

// States returns every state, in the order of the specification.
func States() []State {
	all := make([]State, len(states))
	for i, row := range states {
		all[i] = row.state
	}
	return all
}

// Working reports whether the service changes a request in this state without the user.
func (s State) Working() bool { return s.is(working) }

// Ended reports whether a request stays in this state unless the user changes it.
func (s State) Ended() bool { return s.is(ended) }

func (s State) is(stage stage) bool {
	for _, row := range states {
		if row.state == s {
			return row.stage == stage
		}
	}
	return false
}

// known reports whether the table has the state.
func (s State) known() bool { return slices.Contains(States(), s) }
