package clock

import "slices"

// Pending returns at most that many pending functions, in due order.
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
