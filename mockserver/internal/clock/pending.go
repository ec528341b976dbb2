package clock

// Pending returns the functions that wait for their time, those that are due first, and at most so many.
func (c *Clock) Pending(most int) []Fired {
	c.mu.Lock()
	defer c.mu.Unlock()
	pending := make([]Fired, min(max(0, most), len(c.waiting)))
	for i := range pending {
		pending[i] = Fired{Due: c.waiting[i].due, Label: c.waiting[i].label}
	}
	return pending
}
