package fault

import "time"

// Rule is a fault and the requests that it strikes. A rule without limits strikes every request.
//
// Rules do not draw from a stream of random numbers, so what strikes does not depend on the order in which requests
// happen to arrive. A probability is decided from the seed of the world, the rule, the operation, the request and how
// often this same request was made before. Two requests are the same if their path, query and body are; a request_id
// in them counts as what was analyzed to get it. The same requests with the same seed therefore meet the same faults,
// from one goroutine or from many.
type Rule struct {
	// Operation is a name such as shipping.OpPurchase, which is "regulatory.purchase". Empty: every operation that the
	// fault can happen to, which for [RepeatPage], [CapPage] and [InsertRows] are the lists with pages.
	Operation string `json:"operation,omitempty"`
	// Nth strikes only the nth request since the rule was injected, counted from 1.
	Nth int `json:"nth,omitempty"`
	// First strikes only that many requests.
	First int `json:"first,omitempty"`
	// EachRequest counts Nth and First for each different request by itself: First 1 makes every page of a list fail
	// once, in whatever order pages are fetched.
	EachRequest bool `json:"each_request,omitempty"`
	// Probability strikes with a probability between 0 and 1. 0: always.
	Probability float64 `json:"probability,omitempty"`
	// From and Until bound the time, by the world's clock, in which requests are struck and counted: from From, and
	// before Until. Zero: no bound.
	From  time.Time `json:"from,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// Committed lets the operation do its work first: what it changes is changed, and only the response suffers. An
	// operation that was interrupted at a [Point] is not struck. A rule that is not committed strikes before the
	// operation.
	Committed bool `json:"committed,omitempty"`
	// Point strikes in the middle of the operation instead.
	Point Point `json:"point,omitempty"`
	// Fault is what happens. At a point the zero Fault is [Drop].
	Fault Fault `json:"fault,omitzero"`
}

// Point is a place inside an operation at which a rule can strike. A request counts for the rule when it reaches the
// place.
type Point string

// The points. The first three are inside a purchase: there the operation is interrupted as if the service died, and
// the rule's fault is what the caller gets to see.
const (
	// BeforeCharge: every check has passed but that of the funds. Nothing has happened and the request is still a
	// draft.
	BeforeCharge Point = "before-charge"
	// AfterCharge: the wallet is charged and the request is purchasing. The service recovers by itself: the request
	// goes on to processing later.
	AfterCharge Point = "after-charge"
	// BeforeReply: the purchase is done; only the response is lost.
	BeforeReply Point = "before-reply"
	// Generation: a document fails to generate, as the request then shows. There is no caller, so the rule has no
	// fault.
	Generation Point = "generation"
)

// Points returns every point, in the order in which a purchase reaches them. The slice is the caller's own.
func Points() []Point { return []Point{BeforeCharge, AfterCharge, BeforeReply, Generation} }
