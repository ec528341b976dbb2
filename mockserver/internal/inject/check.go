package inject

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// problem returns why a rule can never strike behind those that are armed, or "".
func (r *armed) problem(all []*armed, now time.Time) string {
	checks := []struct {
		broken bool
		text   string
	}{
		{r.Fault.IsZero() && r.Point == "", "it has no fault: give it one, such as a status or a drop"},
		{r.Operation != "" && !isOperation(r.Operation), fmt.Sprintf("no operation is called %q: take a name from shipping.Operations or GET /_mock/faults", r.Operation)},
		{r.Nth < 0 || r.First < 0, "nth and first count from 1; 0 is every call"},
		{r.Nth > 0 && r.First > 0 && r.Nth > r.First, fmt.Sprintf("call %d is not among the first %d: leave one of them out", r.Nth, r.First)},
		{r.EachRequest && r.Nth == 0 && r.First == 0, "each_request counts nth or first for each request: give one of them"},
		{math.IsNaN(r.Probability) || r.Probability < 0 || r.Probability > 1, fmt.Sprintf("probability %v is not between 0 and 1", r.Probability)},
		{!r.Until.IsZero() && !r.Until.After(r.From), "until is not after from"},
		{!r.Until.IsZero() && !r.Until.After(now), fmt.Sprintf("until %s is over: in this world it is %s", r.Until.Format(time.RFC3339), now.Format(time.RFC3339))},
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
		if reason := earlier.hides(r); reason != "" {
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
	return ""
}

func (r *armed) listProblem() string {
	switch {
	case !r.effect.lists:
		return ""
	case r.Point != "":
		return "a fault of lists cannot happen at a point"
	case r.Committed:
		return "a fault of lists changes what is asked for, so it is too late once the operation is done: leave committed out"
	case r.Operation != "" && !slices.Contains(pagedOperations(), r.Operation):
		return fmt.Sprintf("%s is no list with pages: name one of %v", r.Operation, pagedOperations())
	default:
		return ""
	}
}

// operations returns the operations that a rule sees, or nil for all: the one that it names, or else those that its
// point or its fault can happen to.
func (r *armed) operations() []string {
	switch {
	case r.Operation != "":
		return []string{r.Operation}
	case r.effect.lists:
		return pagedOperations()
	case r.Point != "" && r.Point != fault.Generation:
		return []string{shipping.OpPurchase}
	default:
		return nil
	}
}

// hides returns why a rule, which strikes every request that a later one would, leaves nothing for that one to
// strike; otherwise "".
func (r *armed) hides(later *armed) string {
	every := !r.off && (r.on == nil || containsAll(r.on, later.on)) &&
		r.Nth == 0 && r.First == 0 && (r.Probability == 0 || r.Probability == 1) &&
		!r.From.After(later.From) && (r.Until.IsZero() || !later.Until.IsZero() && !r.Until.Before(later.Until))
	if !every {
		return ""
	}
	return r.excludes(later)
}

// containsAll reports whether all of some names are in a list. No names stand for all that exist.
func containsAll(list, some []string) bool {
	return some != nil && !slices.ContainsFunc(some, func(name string) bool { return !slices.Contains(list, name) })
}

func isOperation(name string) bool {
	return slices.ContainsFunc(shipping.Operations(), func(op shipping.Operation) bool { return op.Name == name })
}

func pagedOperations() []string {
	return []string{shipping.OpListRates, shipping.OpListWebhooks, shipping.OpListTransactions}
}
