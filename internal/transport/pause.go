package transport

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// pause is the pause of a client after a 429. Every attempt of every call waits for its end, so that all
// calls honour a Retry-After.
type pause struct {
	mu    sync.Mutex
	until time.Time
}

// extend pauses for d from now, unless the pause lasts longer already.
func (p *pause) extend(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); until.After(p.until) {
		p.until = until
	}
}

func (p *pause) left() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.until.IsZero() {
		return 0
	}
	return time.Until(p.until)
}

// wait returns after the pause, at random times so that the waiting calls do not start at once. A pause that
// would outlast the deadline of ctx is a [PausedError] at once.
func (p *pause) wait(ctx context.Context, policy Policy) error {
	for {
		left := p.left()
		if left <= 0 {
			return nil
		}
		err := Sleep(ctx, left+rand.N(policy.MinWait/4+1))
		switch {
		case err == nil: // an attempt may have extended the pause
		case ctx.Err() != nil:
			return context.Cause(ctx)
		default:
			return &PausedError{left}
		}
	}
}

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
