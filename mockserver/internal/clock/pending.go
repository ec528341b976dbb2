package clock

import "slices"

// Pending returns the functions that wait for their time, those that are due first, and at most so many.
func (c *Clock) Pending(most int) []Fired {
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting := slices.SortedFunc(slices.Values(c.waiting), (*Timer).order)
	pending := make([]Fired, min(max(0, most), len(waiting)))
	for i := range pending {
		pending[i] = Fired{Due: waiting[i].due, Label: waiting[i].label}
	}
	return pending
}
