// Package status is the table of the statuses of a regulatory request. What the client, the dialect and the server
// conclude from a status follows from its row.
package status

// State is a set of statuses; each constant is a set of one. Unite several with "|".
type State uint16

const (
	// Unread: the request could not be read, or the response was about another request, or its record is unclear.
	Unread State = 1 << iota
	Draft
	Purchasing
	Processing
	Completed
	Failed
	// Other is a status that the specification does not list.
	Other
)

// Status is a row of the table.
type Status struct {
	Name  string
	State State
	// Purchased: by the specification, only a purchase leads to the status from a draft.
	Purchased bool
	// Final: the status does not change without another request. Only completed is a success.
	Final bool
	// Failed: the generation or the analysis has failed.
	Failed bool
}

// All returns the statuses that the specification lists, in its order.
func All() []Status {
	return []Status{
		{Name: "draft", State: Draft},
		{Name: "purchasing", State: Purchasing, Purchased: true},
		{Name: "processing", State: Processing, Purchased: true},
		{Name: "completed", State: Completed, Purchased: true, Final: true},
		{Name: "failed", State: Failed, Purchased: true, Final: true, Failed: true},
	}
}

// Of returns the row of a name; its State is Other if the specification does not list it.
func Of(name string) Status {
	for _, status := range All() {
		if status.Name == name {
			return status
		}
	}
	return Status{Name: name, State: Other}
}

var (
	// PurchasedStates are the states to which only a purchase leads.
	PurchasedStates = set(func(s Status) bool { return s.Purchased })
	final           = set(func(s Status) bool { return s.Final })
)

// set returns the states for which a condition holds.
func set(holds func(Status) bool) (states State) {
	for _, status := range All() {
		if holds(status) {
			states |= status.State
		}
	}
	return states
}

// Final reports whether no later reading finds another state.
func (s State) Final() bool { return s&final != 0 }
