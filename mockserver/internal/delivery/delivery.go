// Package delivery sends webhook notifications: they are queued, signed, retried, and logged with the
// payload, so that each can be replayed byte for byte.
//
// Each webhook has a queue. Queues do not wait for each other, so a slow receiver delays no other receiver.
package delivery

import (
	"slices"
	"time"

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

// attemptTimeout limits an attempt.
//
// Assumption: the limit, the backoff, and what accepts a delivery; the specification shows none.
const attemptTimeout = 10 * time.Second

// backoff returns the time between an attempt, counted from 1, and the next one. It doubles with each.
func backoff(attempt int) time.Duration { return 500 * time.Millisecond << min(attempt-1, 10) }

// accepts reports whether a receiver accepts a delivery with a status.
func accepts(status int) bool { return status/100 == 2 }
