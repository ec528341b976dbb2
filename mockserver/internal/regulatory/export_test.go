package regulatory

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
