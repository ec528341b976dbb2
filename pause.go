package shipping

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// sharedPause is the one pause of a client after a 429: every attempt of every call waits for its
// end, so that a service that asks for quiet gets it.
type sharedPause struct {
	mu    sync.Mutex
	until time.Time
	asked time.Duration
}

// extend pauses for d from now, unless the pause already lasts longer.
func (p *sharedPause) extend(d, asked time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); until.After(p.until) {
		p.until, p.asked = until, asked
	}
}

func (p *sharedPause) remaining() (time.Duration, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Until(p.until), p.asked
}

// wait returns when the pause is over, spread a little so that the waiting calls don't start at once.
// A pause that cannot end before the context does is an error at once.
func (p *sharedPause) wait(ctx context.Context, policy RetryPolicy) error {
	for {
		left, asked := p.remaining()
		if left <= 0 {
			return nil
		}
		left += rand.N(policy.MinWait/4 + 1)
		if deadline, bounded := ctx.Deadline(); bounded && time.Until(deadline) <= left {
			return pausedError{left, asked}
		}
		timer := time.NewTimer(left)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// pausedError is the 429 that an earlier call received, told to one that would wait too long for it.
type pausedError struct{ left, asked time.Duration }

func (e pausedError) Error() string {
	return fmt.Sprintf("not sent: an earlier call was answered 429, and the pause of %s would outlast the deadline",
		e.left.Round(time.Millisecond))
}

func (e pausedError) Is(target error) bool { return target == ErrRateLimited }

// retryBudget bounds the repeats of a whole client to a share of its requests, so that a service in
// trouble is not met with a multiple of its load.
type retryBudget struct {
	mu     sync.Mutex
	tokens float64
	burst  float64
	ratio  float64
}

func newRetryBudget(policy RetryPolicy) *retryBudget {
	return &retryBudget{tokens: float64(policy.Burst), burst: float64(policy.Burst), ratio: policy.ExtraLoad}
}

// earn counts a first attempt.
func (b *retryBudget) earn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(b.tokens+b.ratio, b.burst)
}

// take spends one repeat, if one is left.
func (b *retryBudget) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ratio < 0 {
		return true
	}
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
