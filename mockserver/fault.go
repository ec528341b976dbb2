package mockserver

import (
	"fmt"
	"net/url"

	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/inject"
)

// Inject adds rules. If one of them can never strike, it adds none, and returns the reason.
func (w *core) Inject(rules ...fault.Rule) error {
	if err := w.faults.Add(rules, w.clock.Now()); err != nil {
		return fmt.Errorf("mockserver: no rule was added: %w", err)
	}
	return nil
}

// ClearFaults removes every rule.
func (w *core) ClearFaults() { w.faults.Clear() }

// forFaults returns what faults need of the world.
func (w *core) forFaults() inject.World {
	return inject.World{
		Now:   w.clock.Now,
		Delay: w.delay,
		Page: func(query url.Values) (page, perPage int) {
			p := w.assume.paging(query)
			return p.page, p.perPage
		},
		InsertRows: w.insertRows,
	}
}
