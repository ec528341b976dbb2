package inject

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// problem returns why the rule can never strike, or "".
func (r *rule) problem(now time.Time) string {
	lists, generation := r.effect.lists != nil, r.Point == fault.Generation
	for _, check := range []struct {
		broken bool
		text   string
	}{
		{r.Fault.IsZero() && r.Point == "", "it has no fault: set one, such as a status or a drop"},
		{r.Operation != "" && !operations.Exists(r.Operation), fmt.Sprintf("unknown operation %q: use a constant such as shipping.OpListRates, or a name of GET /_mock/faults", r.Operation)},
		{r.Nth < 0 || r.First < 0, "nth and first count from 1; 0 is every call"},
		{r.Nth > 0 && r.First > 0 && r.Nth > r.First, fmt.Sprintf("call %d is not among the first %d: leave one of them out", r.Nth, r.First)},
		{r.EachRequest && r.Nth == 0 && r.First == 0, "each_request counts nth or first for each request: set one of them"},
		{math.IsNaN(r.Probability) || r.Probability < 0 || r.Probability > 1, fmt.Sprintf("probability %v is not between 0 and 1", r.Probability)},
		{!r.Until.IsZero() && !r.Until.After(r.From), "until is not after from"},
		{!r.Until.IsZero() && !r.Until.After(now), fmt.Sprintf("until %s has passed: the time of this world is %s", r.Until.Format(time.RFC3339), now.Format(time.RFC3339))},
		{r.Point != "" && !slices.Contains(fault.Points(), r.Point), fmt.Sprintf("unknown point %q: use one of %v", string(r.Point), fault.Points())},
		{r.Point != "" && r.Committed, "a point determines when the fault strikes: leave committed out"},
		{generation && (!r.Fault.IsZero() || r.Operation != ""), "no request generates documents, so no response can have a fault: leave operation and fault out"},
		{r.Point != "" && !generation && r.Operation != "" && !operations.Has(r.Operation, operations.Charges),
			fmt.Sprintf("point %s is inside %v and never reached by %s", r.Point, operations.Names(operations.Charges), r.Operation)},
		{r.effect.defers && (r.Committed || r.Point != ""), fmt.Sprintf("a fault of kind %s determines when the operation is performed: leave committed and point out", r.Fault.Kind)},
		{lists && (r.Committed || r.Point != ""), "a fault of lists changes the request before the operation: leave committed and point out"},
		{lists && r.Operation != "" && !operations.Has(r.Operation, operations.Pages),
			fmt.Sprintf("%s is not a list with pages: use the operation of one, such as %s", r.Operation, shipping.OpListRates)},
		{lists && r.Operation != "" && !slices.Contains(r.effect.lists, r.Operation),
			fmt.Sprintf("a fault of kind %s cannot happen to %s: use one of %v", r.Fault.Kind, r.Operation, r.effect.lists)},
	} {
		if check.broken {
			return check.text
		}
	}
	if r.Fault.IsZero() {
		return ""
	}
	if err := r.Fault.Check(); err != nil {
		return err.Error()
	}
	return ""
}
