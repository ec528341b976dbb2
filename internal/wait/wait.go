// Package wait sleeps within a context, and decides when a request is polled and when no more.
package wait

import (
	"context"
	"time"
)

// Sleep waits for d. It returns the cause of ctx if ctx ends first, and context.DeadlineExceeded at once if the
// deadline of ctx would pass before d.
func Sleep(ctx context.Context, d time.Duration) error {
	if deadline, bounded := ctx.Deadline(); bounded && time.Until(deadline) <= d {
		return context.DeadlineExceeded
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
