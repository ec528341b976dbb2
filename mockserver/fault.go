package mockserver

import (
	"fmt"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// Fault is one thing that can go wrong with an exchange; the Fault… functions make them.
type Fault interface {
	// strike spoils an exchange: before a handler was asked, or after it with the reply at hand.
	strike(x *wire.Exchange, w *core)
	// form is the fault as the control surface reads and writes it.
	form() FaultForm
}

// FaultRule says when a fault strikes. A rule with no limit strikes every call.
//
// Rules do not draw from a stream of random numbers, so what strikes does not depend on the order in
// which calls happen to arrive. A chance is decided from the seed of the world, the rule, the
// operation, the request and how often this same request was made before. Two requests are the same
// when path, query and body are; a request_id in them counts as what was analyzed to get it. The same
// calls with the same seed therefore meet the same faults, from one goroutine or from many.
type FaultRule struct {
	// Operation is a name such as [shipping.OpPurchase]. Empty: every operation that the fault can happen to,
	// which for [FaultRepeatPage], [FaultCapPage] and [FaultInsertRows] are the lists with pages.
	Operation string
	// Nth strikes only the nth call since the rule was injected, counted from 1.
	Nth int
	// First strikes only that many calls.
	First int
	// EachRequest counts Nth and First for each different request by itself: First 1 makes every page
	// of a list fail once, in whatever order pages are fetched.
	EachRequest bool
	// Probability strikes with a chance between 0 and 1. 0: always.
	Probability float64
	// From and Until bound the time, by the world's clock, in which calls are struck and counted:
	// from From, and before Until. Zero: no bound.
	From, Until time.Time
	// Committed lets the operation do its work first: what it changes is changed, and only the answer
	// suffers. Without it the operation never happens.
	Committed bool
	// Point strikes in the middle of the operation instead; see [Failpoint].
	Point Failpoint
	// Fault is what happens. At a failpoint nil is [FaultDrop].
	Fault Fault
}

// Inject adds rules.
func (w *core) Inject(rules ...FaultRule) error {
	if err := w.faults.add(rules, w.clock.Now()); err != nil {
		return fmt.Errorf("mockserver: no rule was added: %w", err)
	}
	return nil
}

// ClearFaults removes every rule.
func (w *core) ClearFaults() { w.faults.clear() }

// FaultForm is a fault as the control surface reads and writes it: its kind, and what the kind needs.
type FaultForm struct {
	// Kind is one of those that GET /_mock/faults lists.
	Kind        string            `json:"kind"`
	Status      int               `json:"status,omitempty"`
	Header      map[string]string `json:"header,omitempty"`
	Duration    duration          `json:"duration,omitempty"` // such as "90s"
	Bytes       int               `json:"bytes,omitempty"`
	ContentType string            `json:"content_type,omitempty"`
	Location    string            `json:"location,omitempty"`
	RetryAfter  RetryAfter        `json:"retry_after,omitempty"`
	PerPage     int               `json:"per_page,omitempty"`
	Rows        int               `json:"rows,omitempty"`
}
