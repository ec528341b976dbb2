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

	to      func(operation string) bool // the operations that it can make a difference to
	rule    fault.Rule
	patient bool // it lasts longer than the patience of the program
	socket  bool // only on sockets, it differs from other faults
	kill    bool // the program is killed as soon as the request is answered, or it has answered the notification
}

// Kill is the name of the fault that kills the program; see [Config.Restart].
const Kill = "killed"

// Names of faults that are not tried at every request.
const (
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

// faults returns the faults for a program that waits for a response as long as its patience.
func faults(patience time.Duration) []Fault {
	before := func(f fault.Fault) fault.Rule { return fault.Rule{Fault: f} }
	after := func(f fault.Fault) fault.Rule { return fault.Rule{Committed: true, Fault: f} }
	unavailable := http.Header{"Retry-After": {fmt.Sprint(int(retryAfter.Seconds()))}}
	late, arrivesLate := fault.Latency(patience+patience/5), fault.ArriveLate(min(max(0, patience)+lateBy, latestArrival))
	refusal := fault.Respond(http.StatusOK, http.Header{"Content-Type": {"application/json"}},
		`{"status":false,"message":"not performed","data":{"error_code":"injected"}}`)
	generation := fault.Rule{Point: fault.Generation, First: 1} // no request is involved, so the rule names none
	return []Fault{
		{Name: "lost-before", Summary: "the connection closes before the request takes effect", to: requests,
			rule: before(fault.Drop())},
		{Name: "lost-after", Summary: "the request takes effect and the connection closes without a response", to: changing,
			rule: after(fault.Drop())},
		{Name: "reset", Summary: "the request takes effect and the connection is reset", to: requests,
			rule: after(fault.Reset()), socket: true},
		{Name: "truncated", Summary: "the request takes effect and the response breaks off", to: requests,
			rule: after(fault.Truncate(20))},
		{Name: "empty", Summary: "the request takes effect and the response is 200 without a body", to: requests,
			rule: after(fault.Empty())},
		{Name: "html", Summary: "the request takes effect and the response is an HTML page with 200", to: requests,
			rule: after(fault.HTML(http.StatusOK))},
		{Name: "empty-before", Summary: "the response is 200 without a body, and the request does not take effect",
			to: changing, rule: before(fault.Empty())},
		{Name: "html-before", Summary: "the response is an HTML page with 200, and the request does not take effect",
			to: changing, rule: before(fault.HTML(http.StatusOK))},
		{Name: "refused", Summary: "the response is 200 with status false, and the request does not take effect",
			to: requests, rule: before(refusal)},
		{Name: "404", Summary: "404 although the record exists, as from a copy of the data that is behind", to: reading,
			rule: before(fault.Status(http.StatusNotFound, nil))},
		{Name: "500", Summary: "500 before the request takes effect", to: requests,
			rule: before(fault.Status(http.StatusInternalServerError, nil))},
		{Name: "500-after", Summary: "500 after the request took effect", to: changing,
			rule: after(fault.Status(http.StatusInternalServerError, nil))},
		{Name: "503", Summary: "503 with Retry-After before the request takes effect", to: requests,
			rule: before(fault.Status(http.StatusServiceUnavailable, unavailable))},
		{Name: "503-after", Summary: "503 after the request took effect, as from a proxy that lost the connection to the " +
			"service", to: changing, rule: after(fault.Status(http.StatusServiceUnavailable, nil))},
		{Name: "429", Summary: "429 with Retry-After before the request takes effect", to: requests,
			rule: before(fault.RateLimit(fault.RetryAfterSeconds, retryAfter))},
		{Name: "late", Summary: "the request waits longer than the program, and takes effect only if the program still waits",
			to: requests, rule: before(late), patient: true},
		{Name: "late-after", Summary: "the request takes effect at once and the response comes after the program stopped " +
			"waiting", to: changing, rule: after(late), patient: true},
		{Name: "arrives-late", Summary: "the connection closes at once, and the request takes effect 15 to 45 seconds " +
			"later, or when the program has ended", to: changing, rule: before(arrivesLate)},
		{Name: "504", Summary: "a gateway responds with 504 at once, and the request takes effect two minutes later, or " +
			"when the program has ended", to: changing, rule: before(fault.GatewayTimeout(gatewayArrival))},
		{Name: "repeated", Summary: "a proxy sends the request again after it took effect, and the response is the " +
			"refusal of the second", to: charging, rule: before(fault.Repeat())},
		{Name: failed, Summary: "a document of the first purchase fails to generate, and the status of the request " +
			"becomes failed", to: charging, rule: generation},
		{Name: "inserted", Summary: "three records appear at the head of the list before the page is read", to: list,
			rule: before(fault.InsertRows(3))},
		{Name: "removed", Summary: "the three newest records vanish from the list before the page is read", to: removable,
			rule: before(fault.RemoveRows(3))},
		{Name: "twice", Summary: "the response to the notification is lost, so it is sent again",
			to: notified, rule: before(fault.RepeatNotification())},
		{Name: "replayed", Summary: "the notification is sent again after it was accepted, with other ids, as a replay does",
			to: notified, rule: before(fault.ReplayNotification())},
		{Name: "delayed", Summary: "the notification comes two seconds late",
			to: notified, rule: before(fault.DelayNotification(2 * time.Second))},
		{Name: outOfOrder, Summary: "the notification comes after the next one",
			to: notified, rule: before(fault.ReorderNotification(10 * time.Second))},
		{Name: "forged", Summary: "a notification about another shipment comes first, with a wrong signature",
			to: notified, rule: before(fault.ForgeNotification())},
		{Name: Kill, Summary: "the request takes effect, or the notification was accepted, and the program is killed and " +
			"started again", to: everything, rule: after(fault.SlowBody(time.Hour)), kill: true},
	}
}

func everything(string) bool { return true }

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
// transactions stay, and a webhook that vanishes receives no notifications.
func removable(operation string) bool {
	return list(operation) && operation != shipping.OpListTransactions && operation != shipping.OpListWebhooks
}
