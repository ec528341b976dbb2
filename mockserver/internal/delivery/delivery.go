// Package delivery sends webhook notifications for real: queued, signed, retried, and logged with the
// payload, so that each one can be sent once more byte for byte.
//
// Deliveries to one webhook form a lane. Lanes do not wait for each other, so a slow receiver delays
// nobody else. What a delivery still needs (when its next attempt is due, in which order it goes out) is
// in the log, so whoever restores a log continues where it was taken.
package delivery

import (
	"slices"
	"time"
)

// State is how far a delivery has come.
type State string

// The states of a delivery. Every one but Queued is final.
const (
	Queued    State = "queued"    // waiting for its first or its next attempt
	Delivered State = "delivered" // the receiver answered 2xx
	Failed    State = "failed"    // no attempt was answered with 2xx, or another world has to send it
	Refused   State = "refused"   // the target is not allowed; nothing was sent
)

// Delivery is one notification on its way to one webhook.
type Delivery struct {
	ID         string
	EventID    string
	WebhookID  string
	Event      string
	ShipmentID string
	URL        string
	State      State
	Reason     string // why it was refused or has failed
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
	StatusCode int // 0 when no answer came
	Error      string
}

// clone keeps the log's own record out of the hands of readers.
func (d *Delivery) clone() Delivery {
	out := *d
	out.Attempts = slices.Clone(d.Attempts)
	if out.Attempts == nil {
		out.Attempts = []Attempt{}
	}
	return out
}

// Policy says how often and how patiently a delivery is tried.
//
// Assumption: the whole policy; the specification does not show the service's.
type Policy struct {
	Attempts int           // tries in all, at least 1
	Backoff  time.Duration // wait before the second try; it doubles before each further one
	Timeout  time.Duration // of one try
	Accept   func(statusCode int) bool
}

// DefaultPolicy is three attempts, half a second and a second apart, ten seconds each, done at 2xx.
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
