package inject

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/operations"
)

// problem returns why a rule can never strike given the rules before it, or "".
func (r *armed) problem(all []*armed, now time.Time) string {
	checks := []struct {
		broken bool
		text   string
	}{
		{r.Fault.IsZero() && r.Point == "", "it has no fault: set one, such as a status or a drop"},
		{r.Operation != "" && !operations.Exists(r.Operation), fmt.Sprintf("unknown operation %q: use a name from shipping.Operations or GET /_mock/faults", r.Operation)},
		{r.Nth < 0 || r.First < 0, "nth and first count from 1; 0 is every call"},
		{r.Nth > 0 && r.First > 0 && r.Nth > r.First, fmt.Sprintf("call %d is not among the first %d: leave one of them out", r.Nth, r.First)},
		{r.EachRequest && r.Nth == 0 && r.First == 0, "each_request counts nth or first for each request: set one of them"},
		{math.IsNaN(r.Probability) || r.Probability < 0 || r.Probability > 1, fmt.Sprintf("probability %v is not between 0 and 1", r.Probability)},
		{!r.Until.IsZero() && !r.Until.After(r.From), "until is not after from"},
		{!r.Until.IsZero() && !r.Until.After(now), fmt.Sprintf("until %s has passed: the time of this world is %s", r.Until.Format(time.RFC3339), now.Format(time.RFC3339))},
	}
	for _, check := range checks {
		if check.broken {
			return check.text
		}
	}
	for _, problem := range []func() string{r.pointProblem, r.faultProblem, r.listProblem} {
		if text := problem(); text != "" {
			return text
		}
	}
	for _, earlier := range all {
		if reason := earlier.alwaysExcludes(r); reason != "" {
			return fmt.Sprintf("rule %d strikes every such call first, and %s: remove that one, or limit it", earlier.number, reason)
		}
	}
	return ""
}

func (r *armed) faultProblem() string {
	if r.Fault.IsZero() {
		return ""
	}
	if err := r.Fault.Check(); err != nil {
		return err.Error()
	}
	if r.effect.defers && (r.Committed || r.Point != "") {
		return fmt.Sprintf("a fault of kind %s determines when the operation is performed: leave committed and point out", r.Fault.Kind)
	}
	return ""
}

func (r *armed) listProblem() string {
	switch {
	case r.effect.lists == nil:
		return ""
	case r.Point != "":
		return "a fault of lists cannot happen at a point"
	case r.Committed:
		return "a fault of lists changes the request, so it cannot strike after the operation: leave committed out"
	case r.Operation == "" || slices.Contains(r.effect.lists, r.Operation):
		return ""
	case operations.Has(r.Operation, operations.Pages):
		return fmt.Sprintf("a fault of kind %s cannot happen to %s: use one of %v", r.Fault.Kind, r.Operation, r.effect.lists)
	default:
		return fmt.Sprintf("%s is not a list with pages: use the operation of one, such as %s", r.Operation, shipping.OpListRates)
	}
}

// operations returns the operations that a rule matches, or nil for all: the operation in the rule, or those to which
// its point or its fault applies.
func (r *armed) operations() []string {
	switch {
	case r.Operation != "":
		return []string{r.Operation}
	case r.effect.lists != nil:
		return r.effect.lists
	case r.Point != "" && r.Point != fault.Generation:
		return operations.Names(operations.Charges)
	default:
		return nil
	}
}

// alwaysExcludes returns a reason if a rule strikes every request of a later one and excludes it, so that the later one can
// never strike; otherwise "".
func (r *armed) alwaysExcludes(later *armed) string {
	every := (r.on == nil || containsAll(r.on, later.on)) &&
		r.Nth == 0 && r.First == 0 && (r.Probability == 0 || r.Probability == 1) &&
		!r.From.After(later.From) && (r.Until.IsZero() || !later.Until.IsZero() && !r.Until.Before(later.Until))
	if !every {
		return ""
	}
	return r.excludes(later)
}

// containsAll reports whether a list contains all of some names. An empty list of names means all names.
func containsAll(list, some []string) bool {
	return some != nil && !slices.ContainsFunc(some, func(name string) bool { return !slices.Contains(list, name) })
}
