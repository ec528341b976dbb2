package sweep

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/byname"
)

// Fault is a fault that a sweep tries.
type Fault struct {
	// Name is the name in schedules, such as "lost-after".
	Name string `json:"name"`
	// Summary describes the fault in a line.
	Summary string `json:"summary"`

	to   func(operation string) bool // the operations on which it can have an effect
	rule fault.Rule                  // its name is the effect; empty if no other fault has this effect
}

// Names of faults.
const (
	// Kill kills the program as soon as the request is answered, or the program has answered the notification; see
	// [Config.Restart].
	Kill = "killed"

	failed     = "failed"       // makes a document fail
	outOfOrder = "out-of-order" // needs a later notification
)

// retryAfter is how long the responses with a Retry-After ask to wait.
const retryAfter = time.Second

// A request that arrives late takes effect a while after the program has stopped waiting for a response, but before
// [shipping.PurchaseOptions.QuietFor] has passed: a program that waits that long before it decides is right. Behind a
// gateway the service can take longer, because the program has a response.
const (
	lateBy         = 15 * time.Second
	latestArrival  = 45 * time.Second
	gatewayArrival = 2 * time.Minute
)

// Faults returns every fault that a sweep can try. The caller may change the slice.
func Faults() []Fault { return faults(defaultPatience) }

// faults returns the faults for a program that waits for a response as long as its patience. An unknown patience is
// negative, and so is then the duration of a fault that outlasts it.
func faults(patience time.Duration) []Fault {
	rule := func(f fault.Fault) fault.Rule { return fault.Rule{Fault: f} }
	before := func(f fault.Fault) fault.Rule { return fault.Rule{Name: "no effect", Fault: f} }
	after := func(f fault.Fault) fault.Rule { return fault.Rule{Name: "effect", Committed: true, Fault: f} }
	later := func(f fault.Fault) fault.Rule { return fault.Rule{Name: "later effect", Fault: f} }
	unavailable := http.Header{"Retry-After": {fmt.Sprint(int(retryAfter.Seconds()))}}
	late, arrivesLate := fault.Latency(patience+patience/5), fault.ArriveLate(min(max(0, patience)+lateBy, latestArrival))
	refusal := fault.Respond(200, http.Header{"Content-Type": {"application/json"}},
		`{"status":false,"message":"not performed","data":{"error_code":"injected"}}`)
	return []Fault{
		{"lost-before", "the connection closes before the request takes effect", requests, before(fault.Drop())},
		{"lost-after", "the request takes effect and the connection closes without a response",
			changing, after(fault.Drop())},
		{"reset", "the request takes effect and the connection is reset", requests, after(fault.Reset())},
		{"truncated", "the request takes effect and the response breaks off", requests, after(fault.Truncate(20))},
		{"empty", "the request takes effect and the response is 200 without a body", requests, after(fault.Empty())},
		{"html", "the request takes effect and the response is an HTML page with 200", requests, after(fault.HTML(200))},
		{"empty-before", "the response is 200 without a body, and the request does not take effect",
			changing, before(fault.Empty())},
		{"html-before", "the response is an HTML page with 200, and the request does not take effect",
			changing, before(fault.HTML(200))},
		{"refused", "the response is 200 with status false, and the request does not take effect", requests, before(refusal)},
		{"404", "404 although the record exists, as from an outdated copy of the data",
			reading, before(fault.Status(404, nil))},
		{"500", "500 before the request takes effect", requests, before(fault.Status(500, nil))},
		{"500-after", "500 after the request took effect", changing, after(fault.Status(500, nil))},
		{"503", "503 with Retry-After before the request takes effect", requests, before(fault.Status(503, unavailable))},
		{"503-after", "503 after the request took effect, as from a proxy that lost the connection to the service",
			changing, after(fault.Status(503, nil))},
		{"429", "429 with Retry-After before the request takes effect",
			requests, before(fault.RateLimit(fault.RetryAfterSeconds, retryAfter))},
		{"late", "the request is delayed past the program's wait, and takes effect only if it still waits",
			requests, before(late)},
		{"late-after", "the request takes effect at once and the response comes after the program stopped waiting",
			changing, after(late)},
		{"arrives-late", "the connection closes at once, and the request takes effect 15 to 45 seconds later, or when " +
			"the program has ended", changing, later(arrivesLate)},
		{"504", "a gateway responds with 504 at once, and the request takes effect two minutes later, or when the " +
			"program has ended", changing, later(fault.GatewayTimeout(gatewayArrival))},
		{"repeated", "a proxy sends the request again after it took effect, and the response is the refusal of the second",
			charging, rule(fault.Repeat())},
		{failed, "a document of the first purchase fails to generate, and the status of the request becomes failed",
			charging, fault.Rule{Point: fault.Generation, First: 1}},
		{"inserted", "three records appear at the head of the list before the page is read", list, rule(fault.InsertRows(3))},
		{"removed", "the three newest records vanish from the list before the page is read",
			removable, rule(fault.RemoveRows(3))},
		{"twice", "the response to the notification is lost, so it is sent again",
			notified, rule(fault.RepeatNotification())},
		{"replayed", "the notification is sent again after it was accepted, with other ids, as a replay does",
			notified, rule(fault.ReplayNotification())},
		{"delayed", "the notification comes two seconds late", notified, rule(fault.DelayNotification(2 * time.Second))},
		{outOfOrder, "the notification comes after the next one",
			notified, rule(fault.ReorderNotification(10 * time.Second))},
		{"forged", "a notification about another shipment comes first, with a wrong signature",
			notified, rule(fault.ForgeNotification())},
		{Kill, "the request takes effect, or the notification was accepted, and the program is killed and started again",
			func(string) bool { return true }, fault.Rule{Committed: true, Fault: fault.SlowBody(time.Hour)}},
	}
}

func requests(operation string) bool { return operation != Notification }
func notified(operation string) bool { return operation == Notification }

// changing reports whether an operation changes something, so that it matters whether it took effect.
func changing(operation string) bool { return byname.Has(operation, byname.Changes) }
func charging(operation string) bool { return byname.Has(operation, byname.Charges) }

// reading reports whether an operation reads a record by its id.
func reading(operation string) bool {
	return byname.Has(operation, func(op operations.Operation) bool {
		return !byname.Changes(op) && strings.Contains(op.Route, "{")
	})
}

func list(operation string) bool { return byname.Has(operation, byname.Pages) }

// removable reports whether an operation reads a list whose records can vanish without changing what the goal expects:
// neither transactions, which stay, nor webhooks, which receive notifications.
func removable(operation string) bool {
	return list(operation) && operation != shipping.OpListTransactions && operation != shipping.OpListWebhooks
}
