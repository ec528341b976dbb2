package sweep

import (
	"slices"
	"time"

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
	at   time.Time // when the response was ready, or the notification was sent, by the world's clock
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
		})
	}
	return requests
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
