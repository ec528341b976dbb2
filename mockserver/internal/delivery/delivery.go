// Package delivery sends webhook notifications: they are queued, signed, retried, and logged with the
// payload, so that each can be replayed byte for byte.
//
// Each webhook has a queue. Queues do not wait for each other, so a slow receiver delays no other receiver.
package delivery

import (
	"cmp"
	"slices"
	"time"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// clone returns a copy for readers of the log.
func clone(d *notify.Delivery) notify.Delivery {
	out := *d
	out.Attempts = slices.Clone(d.Attempts)
	if out.Attempts == nil {
		out.Attempts = []notify.DeliveryAttempt{}
	}
	return out
}

// policy is how often and how long a delivery is attempted, and what accepts it.
//
// Assumption: the whole policy; the specification does not show one.
type policy struct{ dialect.Notification }

func (p policy) attempts() int { return cmp.Or(p.Attempts, 3) }

func (p policy) timeout() time.Duration { return cmp.Or(time.Duration(p.Timeout), 10*time.Second) }

// wait returns the time between an attempt, counted from 1, and the next one. It doubles with each.
func (p policy) wait(attempt int) time.Duration {
	return cmp.Or(time.Duration(p.Backoff), 500*time.Millisecond) << min(attempt-1, 10)
}

func (p policy) accepts(status int) bool {
	return status == p.Accept || p.Accept == 0 && status >= 200 && status <= 299
}
