package clock

import (
	"slices"

	"github.com/shipping-go/shipping/mockserver/journal"
)

// Pending returns at most that many pending functions, in due order.
func (c *Clock) Pending(most int) []journal.Fired {
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting := slices.SortedFunc(slices.Values(c.waiting), (*Timer).order)
	pending := make([]journal.Fired, min(max(0, most), len(waiting)))
	for i := range pending {
		pending[i] = journal.Fired{Due: waiting[i].due, Label: waiting[i].label}
	}
	return pending
}
