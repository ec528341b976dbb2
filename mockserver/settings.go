package mockserver

import (
	"errors"
	"reflect"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// Assumptions by their names, for flags and for the control surface.

// WithAssumption sets the assumption of a name, a field of [Assumptions], to a value that is written as text: true,
// 2, 1.5, 90s, or names with commas between them. [Server.Err] returns what is wrong with either. Functions cannot be
// set this way.
func WithAssumption(name, value string) Option {
	return func(c *config) { c.problem = errors.Join(c.problem, c.Assume.Set(name, value)) }
}

// AssumptionNames returns the assumptions that [WithAssumption] sets.
func AssumptionNames() []string { return world.AssumptionNames() }

// assumptionView is an [Assumption] of a world with its value.
type assumptionView struct {
	Assumption
	Value any `json:"value"`
}

func viewAssumptions(w *world.World) []assumptionView {
	chosen := reflect.ValueOf(w.Assume)
	return list.Map(assumptionTable(), func(row Assumption) assumptionView {
		field := chosen.FieldByName(row.Field)
		row.Changed = !field.IsZero()
		v := assumptionView{Assumption: row}
		switch value := field.Interface().(type) {
		case time.Duration:
			v.Value = value.String()
		default:
			if field.Kind() != reflect.Func {
				v.Value = value
			}
		}
		return v
	})
}
