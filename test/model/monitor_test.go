package model

import "slices"

// monitor follows a run of the code through the table. It holds every state in which the model can be after what was
// observed: time that passes, and decisions that show only later, are not.
type monitor struct {
	rules    []rule
	internal []int          // rows that are not observed
	rows     map[string]int // by event
	states   map[State]bool
}

func newMonitor(size int) *monitor {
	m := &monitor{rules: table(), rows: map[string]int{}, states: map[State]bool{initial(size, 1): true}}
	for n, rule := range m.rules {
		m.rows[rule.event] = n
		if slices.Contains(unobserved(), rule.event) {
			m.internal = append(m.internal, n)
		}
	}
	return m
}

// unobserved returns the events that a run does not show.
func unobserved() []string {
	return []string{
		"half of the claim passes", "the claim ends", "the claim of the dead ends", "leaves a lost claim",
		"leaves a late claim", "looks again",
		"has no room", "documents are generated", "gives up on a draft", "gives up",
	}
}

// observe returns those of the events that the model allows, for a process and an item.
func (m *monitor) observe(p, i int, events ...string) (allowed []string) {
	m.close()
	next := map[State]bool{}
	for s := range m.states {
		for _, event := range events {
			after := s
			if v, rule := after.view(p, i), m.rules[m.rows[event]]; rule.when(v) {
				rule.then(v)
				next[after] = true
				if !slices.Contains(allowed, event) {
					allowed = append(allowed, event)
				}
			}
		}
	}
	m.states = next
	return allowed
}

// close adds the states that follow by events that are not observed.
func (m *monitor) close() {
	queue := make([]State, 0, 2*len(m.states))
	for s := range m.states {
		queue = append(queue, s)
	}
	for len(queue) > 0 {
		s := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, row := range m.internal {
			for p := range processes {
				for i := range items {
					after := s
					if v := after.view(p, i); m.rules[row].when(v) {
						m.rules[row].then(v)
						if !m.states[after] {
							m.states[after] = true
							queue = append(queue, after)
						}
					}
				}
			}
		}
	}
}
