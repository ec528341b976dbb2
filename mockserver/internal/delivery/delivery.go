// Package delivery sends webhook notifications: they are queued, signed, retried, and logged with the
// payload, so that each can be replayed byte for byte.
//
// Each webhook has a queue. Queues do not wait for each other, so a slow receiver delays no other receiver. The data of pending deliveries (the time of the next attempt, the order) is
// part of the log, so a restored log continues from the same point.
package delivery

import (
	"slices"
	"time"
)

// State is the state of a delivery.
type State string

// States of a delivery. All except Queued are final.
const (
	Queued    State = "queued"    // waiting for its first or its next attempt
	Delivered State = "delivered" // the receiver responded with 2xx
	Failed    State = "failed"    // no attempt succeeded, or another world sends it
	Refused   State = "refused"   // the target is not allowed; nothing was sent
)

// Delivery is one notification to one webhook.
type Delivery struct {
	ID         string
	EventID    string
	WebhookID  string
	Event      string
	ShipmentID string
	URL        string
	State      State
	Reason     string // the reason of a refusal or failure
	CreatedAt  time.Time
	Attempts   []Attempt
	Payload    []byte // the body as sent; treat as read-only
	// Order is the order in which the webhook received its notifications when this one was queued.
	Order Order `json:",omitempty"`
	// Due is when the next attempt is due; zero unless the delivery is queued.
	Due time.Time `json:",omitzero"`
}

// Attempt is one POST to the webhook's URL.
type Attempt struct {
	At         time.Time
	StatusCode int // 0 if there was no response
	Error      string
}

// clone returns a copy for readers of the log.
func (d *Delivery) clone() Delivery {
	out := *d
	out.Attempts = slices.Clone(d.Attempts)
	if out.Attempts == nil {
		out.Attempts = []Attempt{}
	}
	return out
}

// Policy configures the attempts of a delivery.
//
// Assumption: the whole policy; the specification does not show one.
type Policy struct {
	Attempts int           // maximum number of attempts, at least 1
	Backoff  time.Duration // wait before the second attempt; it doubles before each further one
	Timeout  time.Duration // of one attempt
	Accept   func(statusCode int) bool
}

// DefaultPolicy returns three attempts, half a second and a second apart, with a timeout of ten seconds; 2xx is a success.
func DefaultPolicy() Policy {
	return Policy{
		Attempts: 3,
		Backoff:  500 * time.Millisecond,
		Timeout:  10 * time.Second,
		Accept:   func(statusCode int) bool { return statusCode >= 200 && statusCode <= 299 },
	}
}

// wait returns the time between an attempt, counted from 1, and the next one.
func (p Policy) wait(attempt int) time.Duration {
	return p.Backoff << min(attempt-1, 10)
}
