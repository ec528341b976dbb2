package sweep

import (
	"fmt"
	"slices"
	"strings"
	"time"

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

	same   string    // equal for requests with the same method, target and body
	at     time.Time // when the response was ready, or the notification was sent, by the world's clock
	sent   time.Time // when the request arrived, or the notification was sent
	effect string    // of the fault that struck it; see the field rule of [Fault]
}

// learn returns the requests of a run in the order of the journal. Requests that name no operation are left out:
// no fault strikes them.
func learn(calls []journal.Entry) []Request {
	var requests []Request
	nth := map[string]int{}
	for _, c := range calls {
		if c.Operation == "" {
			continue
		}
		nth[c.Operation]++
		target := c.Path
		if c.Query != "" {
			target += "?" + c.Query
		}
		requests = append(requests, Request{
			Operation: c.Operation, Nth: nth[c.Operation], Method: c.Method, Target: target, Status: c.Status, Fault: c.Fault,
			same: c.Method + " " + target + " " + c.RequestBody, at: c.At,
			sent: c.At.Add(-time.Duration(c.Duration)),
		})
	}
	return requests
}

// at returns the place of the request that a strike names, or -1.
func (s Strike) at(requests []Request) int {
	return slices.IndexFunc(requests, func(r Request) bool { return r.Operation == s.Operation && r.Nth == s.Nth })
}

// requestsSent describes how many requests the program sent, and the last ones with the reasons of refusals. It
// includes requests without an operation or a secret key of the world.
func (r *run) requestsSent() string {
	const most = 5
	byTime := func(a, b journal.Entry) int { return a.At.Compare(b.At) }
	calls := slices.SortedStableFunc(slices.Values(slices.Concat(r.unknown, r.calls)), byTime)
	text := "It sent " + spelling.Counted(len(calls), "request", "requests")
	switch {
	case len(calls) > most:
		text += ", the last:"
	case len(calls) > 0:
		text += ":"
	default:
		text = "It sent no request"
	}
	for _, call := range calls[max(0, len(calls)-most):] {
		line := fmt.Sprintf("%s %s %d %s", call.Method, call.Path, call.Status, call.ErrorCode)
		if call.ErrorCode != "" {
			line += ": " + call.Message
		}
		text += "\n  " + strings.Join(strings.Fields(line), " ")
	}
	return text
}

// thinned returns the requests to strike: of equal requests, such as polls, only the first two and the last.
func thinned(requests []Request) []Request {
	total, seen := map[string]int{}, map[string]int{}
	for _, r := range requests {
		total[r.same]++
	}
	var chosen []Request
	for _, r := range requests {
		seen[r.same]++
		if seen[r.same] <= 2 || seen[r.same] == total[r.same] {
			chosen = append(chosen, r)
		}
	}
	return chosen
}
