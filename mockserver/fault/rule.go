package fault

import (
	"time"
)

// Notification is the operation of rules that strike notifications instead of requests. A notification to one webhook
// is counted once, when it is queued, however many attempts it takes. It is not counted if its target is refused.
const Notification = "notification"

// Rule is a fault and the conditions of the requests, or of the notifications, that it strikes. A rule without limits
// strikes every one that the fault can happen to. The fields count notifications as they count requests.
//
// The order in which requests arrive does not matter: whether a probability strikes is computed from the seed of the
// world, the rule, the operation, the request and how
// often the same request was made before. Two requests are the same if their path, query and body are the same; a
// request_id in them counts as the shipment or invoice that was analyzed. The same requests with the same seed
// therefore meet the same faults, from one goroutine or from several.
type Rule struct {
	// Name is a label for reports. It has no effect.
	Name string `json:"name,omitempty" doc:"A label for reports, without effect."`
	// Operation is a name such as shipping.OpPurchase, which is "regulatory.purchase", or a method and path, such as
	// "POST /v1/shipments/{id}" of a stub. Faults of notifications have the operation [Notification] or none. Empty:
	// every operation that the fault can happen to:
	//
	//   - for [RepeatPage], [CapPage] and [InsertRows], the lists with pages
	//   - for [RemoveRows], those except transactions
	//   - for [Repeat], those that change something
	Operation string `json:"operation,omitempty" doc:"The operation that is struck, such as regulatory.purchase, or the method and path of a stub, such as POST /v1/shipments. GET /_mock/faults lists them. Default: every one that the fault can happen to."`
	// Event selects notifications of one kind of event, such as "shipment.updated".
	Event string `json:"event,omitempty" doc:"Strike only notifications of this kind of event, such as shipment.updated."`
	// Nth strikes only the nth request since the rule was injected, counted from 1.
	Nth int `json:"nth,omitempty" doc:"Strike only the nth request since the rule was added, counted from 1."`
	// First strikes only that many requests.
	First int `json:"first,omitempty" doc:"Strike only that many requests."`
	// EachRequest counts Nth and First separately for each different request: First 1 makes every page of a list fail
	// once, in whatever order pages are fetched.
	EachRequest bool `json:"each_request,omitempty" doc:"Count nth and first separately for each different request, so that first 1 makes every page of a list fail once."`
	// Probability strikes with a probability between 0 and 1. 0: always.
	Probability float64 `json:"probability,omitempty" doc:"Strike with a probability between 0 and 1. Default: always."`
	// From and Until bound the time, by the world's clock, in which requests are struck and counted: From included,
	// Until excluded. Zero: no bound.
	From  time.Time `json:"from,omitzero" doc:"Strike and count only requests from this time of the world."`
	Until time.Time `json:"until,omitzero" doc:"Strike and count only requests before this time of the world."`
	// Committed strikes after the operation: its changes are made, and only the response is affected. An operation
	// that was interrupted at a [Point] is not struck. A rule that is not committed strikes before the operation,
	// which then does not happen: a fault that changes the response, such as [Truncate], changes an empty success,
	// even for a list.
	Committed bool `json:"committed,omitempty" doc:"Strike after the operation has taken effect, so that only the response is affected. Default: before the operation."`
	// Point strikes inside the operation instead.
	Point Point `json:"point,omitempty" doc:"Strike inside the operation instead. The first three points are those of a purchase: the operation is interrupted there. At generation, a document fails."`
	// Fault is what happens. At a point the zero Fault is [Drop].
	Fault Fault `json:"fault,omitzero" doc:"What happens. Default at a point: the connection is closed."`
}

// Injected is a rule of a world, and its counts.
type Injected struct {
	// Number identifies the rule, counted from 1 in the order of injection.
	Number int `json:"number"`
	Rule
	// Seen is how many requests the rule has counted, and Struck how many it has struck.
	Seen   int   `json:"seen,omitempty"`
	Struck int64 `json:"struck,omitempty"`
}

// Point is a place inside an operation at which a rule can strike. A rule counts a request when it reaches the
// point.
type Point string

// The points of an operation. The first three are inside a purchase: the operation is interrupted as if the service
// died, and the caller receives the rule's fault.
const (
	// BeforeCharge: every check except the funds has passed. Nothing has changed, and the request is still a draft.
	BeforeCharge Point = "before-charge"
	// AfterCharge: the wallet is charged and the request is purchasing. The service recovers later: the request then
	// becomes processing.
	AfterCharge Point = "after-charge"
	// BeforeReply: the purchase is done; only the response is lost.
	BeforeReply Point = "before-reply"
	// Generation: the generation of a document fails, as the regulatory request then shows. No HTTP request is
	// involved, so the rule has no fault.
	Generation Point = "generation"
)

// Points returns every point, in the order in which a purchase reaches them. The caller may change the slice.
func Points() []Point { return []Point{BeforeCharge, AfterCharge, BeforeReply, Generation} }

// RetryAfter is a form of a Retry-After header.
type RetryAfter string

// The forms. RFC 9110 allows seconds and a date, and requires recipients to read all three formats of a date.
const (
	RetryAfterSeconds  RetryAfter = "seconds"  // whole seconds
	RetryAfterIMF      RetryAfter = "imf-date" // Mon, 02 Jan 2006 15:04:05 GMT
	RetryAfterRFC850   RetryAfter = "rfc850-date"
	RetryAfterASCTime  RetryAfter = "asctime-date"
	RetryAfterNegative RetryAfter = "negative" // -1
	RetryAfterHuge     RetryAfter = "huge"     // more seconds than 64 bits hold
	RetryAfterRubbish  RetryAfter = "rubbish"  // not a number or a date
	RetryAfterAbsent   RetryAfter = "absent"   // no header
)

// RetryAfters returns every form. The slice is the caller's own.
func RetryAfters() []RetryAfter {
	return []RetryAfter{
		RetryAfterSeconds, RetryAfterIMF, RetryAfterRFC850, RetryAfterASCTime,
		RetryAfterNegative, RetryAfterHuge, RetryAfterRubbish, RetryAfterAbsent,
	}
}
