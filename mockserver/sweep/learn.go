package sweep

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Request is a request of a run, or a notification that it has received.
type Request struct {
	Operation string `json:"operation"`
	Nth       int    `json:"nth"` // of the operation, from 1; [Notification] counts as one
	Method    string `json:"method"`
	Target    string `json:"target"` // path and query
	Status    int    `json:"status"` // 0 if there was no response
	Fault     string `json:"fault,omitempty"`

	same string    // equal for requests with the same method, target and body
	what string    // like same, with shipments and invoices in place of request ids, which differ between runs
	at   time.Time // when the response was ready, or the notification was sent, by the world's clock
}

// learn returns the requests of a run in the order of the journal. Requests that name no operation are left out:
// no fault strikes them.
func learn(calls []journal.Entry) []Request {
	var requests []Request
	nth := map[string]int{}
	subjects := subjectsOf(calls)
	for _, c := range calls {
		if c.Operation == "" {
			continue
		}
		nth[c.Operation]++
		target := c.Path
		if c.Query != "" {
			target += "?" + c.Query
		}
		same := c.Method + " " + target + " " + c.RequestBody
		requests = append(requests, Request{
			Operation: c.Operation, Nth: nth[c.Operation], Method: c.Method, Target: target, Status: c.Status, Fault: c.Fault,
			same: same, what: subjects.Replace(same), at: c.At,
		})
	}
	return requests
}

// requestsSent describes how many requests the program sent, and the last ones with the reasons of refusals: also those
// that name no operation or have no secret key of the world. output is the output of a program that failed.
func (r *run) requestsSent(output string) string {
	const most = 5
	byTime := func(a, b journal.Entry) int { return a.At.Compare(b.At) }
	calls := slices.SortedStableFunc(slices.Values(slices.Concat(r.unknown, r.calls)), byTime)
	var text strings.Builder
	switch n := len(calls); {
	case n > most:
		fmt.Fprintf(&text, "sent %d requests, the last:", n)
	case n > 0:
		fmt.Fprintf(&text, "sent %s:", spelling.Counted(n, "request", "requests"))
	case r.config.inMemory:
		text.WriteString("sent no request")
	default:
		text.WriteString("sent no request: it must read SHIPPING_BASE_URL and SHIPPING_SECRET_KEY")
	}
	for _, call := range calls[max(0, len(calls)-most):] {
		line := fmt.Sprintf("%s %s %d %s", call.Method, call.Path, call.Status, call.ErrorCode)
		if call.ErrorCode != "" {
			line += ": " + call.Message
		}
		fmt.Fprintf(&text, "\n  %s", strings.Join(strings.Fields(line), " "))
	}
	if lines := strings.Split(strings.TrimSpace(output), "\n"); output != "" {
		fmt.Fprintf(&text, "\nthe last line that it printed is %.300q", lines[len(lines)-1])
	}
	return text.String()
}

// thinned returns the requests that are struck: of equal ones, such as polls, the first two and the last, unless every
// request is to be struck.
func thinned(c *Config, requests []Request) []Request {
	total, seen := map[string]int{}, map[string]int{}
	for _, r := range requests {
		total[r.same]++
	}
	var chosen []Request
	for _, r := range requests {
		if len(c.Operations) > 0 && !slices.Contains(c.Operations, r.Operation) {
			continue
		}
		seen[r.same]++
		if c.EveryRequest || seen[r.same] <= 2 || seen[r.same] == total[r.same] {
			chosen = append(chosen, r)
		}
	}
	return chosen
}

// subjectsOf returns a replacer of request ids by the shipment or invoice that was analyzed.
func subjectsOf(calls []journal.Entry) *strings.Replacer {
	var pairs []string
	for _, c := range calls {
		if id := recordOf(c.ResponseBody).RequestID; c.Operation == shipping.OpAnalyze && id != "" {
			pairs = append(pairs, id, c.RequestBody)
		}
	}
	return strings.NewReplacer(pairs...)
}

// recordOf returns the regulatory request of a response: the data, the only element of its list, or one of its members.
func recordOf(body string) (found shipping.RegulatoryRequest) {
	var response struct{ Data json.RawMessage }
	_ = json.Unmarshal([]byte(body), &response) // the journal may have only a part
	var elements []json.RawMessage
	if json.Unmarshal(response.Data, &elements) != nil {
		elements = []json.RawMessage{response.Data}
	}
	var members map[string]json.RawMessage
	if len(elements) == 1 && json.Unmarshal(elements[0], &members) == nil && members["request_id"] == nil {
		elements = slices.Collect(maps.Values(members))
	}
	for _, text := range elements {
		var record struct {
			ID     string                 `json:"request_id"`
			Status shipping.RequestStatus `json:"status"`
		}
		if json.Unmarshal(text, &record) == nil && record.ID != "" {
			found.RequestID, found.Status = record.ID, record.Status
		}
	}
	return found
}

// moved reports whether the first fault of a schedule struck another request than the one with that number without
// faults.
func (s Schedule) moved(normal, requests []Request) bool {
	if len(s) == 0 || s[0].Operation == Notification {
		return false
	}
	expected := slices.IndexFunc(normal, func(r Request) bool {
		return r.Operation == s[0].Operation &&
			r.Nth == s[0].Nth
	})
	struck := slices.IndexFunc(requests, func(r Request) bool { return r.Operation == s[0].Operation && r.Fault != "" })
	return expected >= 0 && struck >= 0 && normal[expected].what != requests[struck].what
}
