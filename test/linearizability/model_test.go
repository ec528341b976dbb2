package linearizability

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
)

// The size of an account: regulatory requests, and purchases that its wallet can pay.
const (
	maxRequests = 4
	funds       = 3
)

// account is the state of the sequential model.
type account struct {
	requests   [maxRequests]request
	deliveries int
}

type request struct {
	exists, purchased bool
	quantity          int // of its line item
}

// operation is a call of a client.
type operation struct {
	kind     string
	request  int
	quantity int // of an edit
}

// The kinds of operations.
const (
	analyze  = "analyze"
	edit     = "edit"
	purchase = "purchase"
	get      = "get"
	list     = "list"
	settle   = "settle"
	replay   = "replay"
	count    = "count"
)

// result is the result of a call.
type result struct {
	outcome   string
	purchased bool              // of get
	quantity  int               // of get
	paid      [maxRequests]bool // of list
	count     int
}

// The outcomes of operations.
const (
	ok           = "ok"           // of a purchase: this purchase charged
	open         = "open"         // it may have happened, or happen later
	charged      = "charged"      // a purchase of the request charged, this one or another
	notCharged   = "not charged"  // this purchase did not
	insufficient = "insufficient" // it did not, because the wallet holds too little
	refused      = "refused"
)

func (a account) paid() int {
	n := 0
	for _, r := range a.requests {
		if r.purchased {
			n++
		}
	}
	return n
}

// after returns the account after an operation with a result, and whether that is possible.
func (a account) after(op operation, got result) (account, bool) {
	r := &a.requests[op.request]
	switch op.kind {
	case analyze:
		possible := !r.exists
		*r = request{exists: true, quantity: got.quantity}
		return a, possible
	case edit:
		possible := got.outcome == open || (got.outcome == ok) == !r.purchased
		if !r.purchased {
			r.quantity = op.quantity
		}
		return a, possible
	case purchase, settle:
		return a.purchase(op.request, got)
	case get:
		return a, got.purchased == r.purchased && got.quantity == r.quantity
	case list:
		for i, r := range a.requests {
			if got.paid[i] != r.purchased {
				return a, false
			}
		}
		return a, true
	case replay:
		if got.outcome != refused {
			a.deliveries++
		}
		return a, true
	}
	return a, got.count == a.deliveries
}

func (a account) purchase(n int, got result) (account, bool) {
	r := &a.requests[n]
	affordable := a.paid() < funds
	switch got.outcome {
	case ok:
		possible := !r.purchased && affordable
		r.purchased = true
		return a, possible
	case charged:
		possible := r.purchased || affordable
		r.purchased = true
		return a, possible
	case open:
		r.purchased = r.purchased || affordable
		return a, true
	case insufficient:
		return a, !affordable
	}
	return a, true // not charged
}

func model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return account{} },
		Step: func(state, input, output any) (bool, any) {
			next, possible := state.(account).after(input.(operation), output.(result))
			return possible, next
		},
		DescribeOperation: func(input, output any) string { return describe(input.(operation), output.(result)) },
	}
}

// describe shows an operation and its result, such as "purchase 2: ok".
func describe(op operation, got result) string {
	switch op.kind {
	case analyze:
		return fmt.Sprintf("analyze → %d", op.request+1)
	case edit:
		return fmt.Sprintf("edit %d, quantity %d: %s", op.request+1, op.quantity, got.outcome)
	case get:
		state := "draft"
		if got.purchased {
			state = "purchased"
		}
		return fmt.Sprintf("get %d: %s, quantity %d", op.request+1, state, got.quantity)
	case list:
		var paid []string
		for i, is := range got.paid {
			if is {
				paid = append(paid, fmt.Sprint(i+1))
			}
		}
		return fmt.Sprintf("list: debits [%s]", strings.Join(paid, " "))
	case replay:
		return "replay: " + got.outcome
	case count:
		return fmt.Sprintf("deliveries: %d", got.count)
	}
	return fmt.Sprintf("%s %d: %s", op.kind, op.request+1, got.outcome)
}

// TestModel_FindsWrongHistories shows that the model can fail: no order of any of these histories is possible.
func TestModel_FindsWrongHistories(t *testing.T) {
	t.Parallel()
	made := event(operation{kind: analyze}, result{outcome: ok, quantity: 1})
	bought := event(operation{kind: purchase}, result{outcome: ok})
	for name, history := range map[string][]porcupine.Operation{
		"two purchases charge for one request":               {made, bought, bought},
		"a request that was purchased reads as a draft":      {made, bought, event(operation{kind: get}, result{quantity: 1})},
		"a request that nobody purchased reads as purchased": {made, event(operation{kind: get}, result{quantity: 1, purchased: true})},
		"a purchase that was not charged is debited": {
			made, event(operation{kind: purchase}, result{outcome: notCharged}), event(operation{kind: list}, result{paid: [maxRequests]bool{true}}),
		},
		"a debit is missing":                {made, bought, event(operation{kind: list}, result{})},
		"an edit is lost":                   {made, event(operation{kind: edit, quantity: 2}, result{outcome: ok}), event(operation{kind: get}, result{quantity: 1})},
		"an edit of a purchase is accepted": {made, bought, event(operation{kind: edit, quantity: 2}, result{outcome: ok})},
		"a purchase without enough money":   {made, event(operation{kind: purchase}, result{outcome: insufficient})},
		"a replay without a delivery":       {event(operation{kind: replay}, result{outcome: ok}), event(operation{kind: count}, result{})},
		"a delivery without a replay":       {event(operation{kind: count}, result{count: 1})},
	} {
		for n := range history {
			history[n].Call, history[n].Return = int64(2*n), int64(2*n+1)
		}
		if porcupine.CheckOperations(model(), history) {
			t.Errorf("%s: an order was found", name)
		}
	}
}

func event(op operation, got result) porcupine.Operation {
	return porcupine.Operation{Input: op, Output: got}
}
