package mockserver

import (
	"errors"
	"slices"

	"github.com/shipping-go/shipping/mockserver/assumption"
)

// WithAssumptions changes the choices that the server makes if the specification leaves a point open:
//
//	mockserver.New(mockserver.WithAssumptions(func(a *assumption.Set) { a.PerPageCap = 50 }))
//	mockserver.New(mockserver.WithAssumptions(assumption.Contrary))
func WithAssumptions(edit func(*assumption.Set)) Option { return func(c *config) { edit(&c.Assume) } }

// WithAssumption parses a value and sets the field of [assumption.Set] of the given name: true, 2, 1.5, 90s, or names
// separated by commas. [Server.Err] returns an error if either is invalid.
func WithAssumption(name, value string) Option {
	return func(c *config) { c.problem = errors.Join(c.problem, c.Assume.Assign(name, value)) }
}

// Assumptions returns every open point with the choice of the world, in the order of the fields of [assumption.Set].
func (w *World) Assumptions() []assumption.Row { return w.core.Assume().Rows() }

// SetAssumptions changes assumptions of the world for what happens from now on: requests, documents that are purchased,
// attempts of deliveries. It returns an error, and changes nothing, if edit changes one that applies to the whole
// server or when a world opens; see [assumption.Scope]. Reset undoes the changes.
func (w *World) SetAssumptions(edit func(*assumption.Set)) error {
	return w.core.SetAssumptions(func(a *assumption.Set) {
		a.OpenOperations = slices.Clone(a.OpenOperations)
		edit(a)
	})
}
