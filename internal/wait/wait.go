// Package wait sleeps within a context, and decides whether and when a request is polled again.
package wait

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/shipping-go/shipping/internal/status"
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

// WithReason adds the end of the context and its cause to err, unless err contains them.
func WithReason(ctx context.Context, err error) error {
	for _, reason := range []error{ctx.Err(), context.Cause(ctx)} {
		if !errors.Is(err, reason) {
			err = fmt.Errorf("%w (%w)", reason, err)
		}
	}
	return err
}

// QuietFor is how long a request has to read as a draft until a purchase whose response was lost counts as not charged:
// gateways give up after 29 to 100 s, and the service behind a gateway may continue.
const QuietFor = 5 * time.Minute

// Intervals bound the polls of a wait. The fields are those of shipping.PollOptions, which describes them.
type Intervals struct {
	MinInterval, MaxInterval time.Duration
	MaxFailures              int
	DraftFor                 time.Duration
}

// longest bounds times, so that their sums do not overflow.
const longest = 365 * 24 * time.Hour

func (i Intervals) WithDefaults() (Intervals, error) {
	if i.MinInterval < 0 || i.MaxInterval < 0 || i.MaxFailures < 0 || i.DraftFor < 0 {
		return i, errors.New("has a negative field: leave it 0 for the default")
	}
	if i.MaxInterval > 0 && i.MaxInterval < i.MinInterval {
		return i, fmt.Errorf("has a MinInterval (%s) above MaxInterval (%s): lower MinInterval or raise MaxInterval",
			i.MinInterval, i.MaxInterval)
	}
	i.MinInterval = cmp.Or(i.MinInterval, min(time.Second, cmp.Or(i.MaxInterval, time.Second)))
	i.MaxInterval = cmp.Or(i.MaxInterval, max(30*time.Second, i.MinInterval))
	i.MinInterval, i.MaxInterval = min(i.MinInterval, longest), min(i.MaxInterval, longest)
	i.MaxFailures = cmp.Or(i.MaxFailures, 10)
	i.DraftFor = cmp.Or(i.DraftFor, time.Minute)
	return i, nil
}

// Next returns the time to the next poll: interval, varied at random by a fifth. It then makes interval longer by half,
// within the bounds. The first interval is 0.
func (i Intervals) Next(interval *time.Duration) time.Duration {
	*interval = cmp.Or(*interval, i.MinInterval)
	next := time.Duration(float64(*interval) * (0.8 + 0.4*rand.Float64()))
	*interval = min(*interval+*interval/2, i.MaxInterval)
	return next
}

// State is what the status of a request means for a wait.
type State uint8

const (
	// Underway: the status will change.
	Underway State = iota
	// Draft: the request is a draft, or its analysis has not finished.
	Draft
	// Unlisted: neither the specification nor the dialect lists the status.
	Unlisted
	// Final: the status will not change.
	Final
)

// StateOf returns the state for a status. declared is the meaning that the dialect declares for it, or "".
func StateOf(name, declared string) State {
	switch known := status.Of(name); {
	case known.Final, declared == "expired":
		return Final
	case known.State != status.Other && !known.Purchased:
		return Draft
	case known.State == status.Other && declared == "" && name != "":
		return Unlisted
	}
	return Underway
}

// End is the way in which a wait ended, or NotYet.
type End uint8

const (
	// NotYet: poll again.
	NotYet End = iota
	// AtEnd: the request has reached a final state, which need not be a success.
	AtEnd
	// StillDraft: the request has stayed a draft for DraftFor.
	StillDraft
	// StillUnlisted: for an hour, the request has had statuses that are not listed.
	StillUnlisted
	// Broken: polls have failed, and none follows.
	Broken
)

// ErrStale is the error of a wait for a request that was purchased but stays a draft.
var ErrStale = errors.New("the purchase succeeded, but the request still reads as a draft, perhaps from an old " +
	"copy; do not purchase again: wait for it later, and compare it with the wallet's transactions")

// ErrUnlisted is the error of a wait for a request whose status neither the specification nor the dialect lists.
var ErrUnlisted = errors.New("the status is not known")

// unlistedFor is how long a request may have an unlisted status, which may be final.
const unlistedFor = time.Hour

// Polls decides after each poll of a request whether and when another follows.
type Polls struct {
	Intervals // with their defaults
	started   time.Time
	state     State // found by each successful poll since that time
	since     time.Time
	interval  time.Duration
	polls     int
	failures  int
}

// Poll is a poll and what follows it.
type Poll struct {
	End End
	// Next is the time until the next poll; 0 if none follows.
	Next time.Duration
	// Number counts polls so far, Elapsed the time since the first one was begun.
	Number  int
	Elapsed time.Duration
}

// Begin is called before each poll.
func (p *Polls) Begin() {
	if p.polls == 0 {
		p.started = time.Now()
	}
	p.polls++
}

// Found returns what follows a poll that found the request in a state.
func (p *Polls) Found(ctx context.Context, state State) Poll {
	p.failures = 0
	if state != p.state || p.since.IsZero() {
		p.state, p.since = state, time.Now()
	}
	next, lasted := p.next(ctx), time.Since(p.since)
	switch {
	case state == Final:
		return p.poll(AtEnd, 0)
	case state == Draft && lasted >= p.DraftFor:
		return p.poll(StillDraft, 0)
	case state == Unlisted && lasted >= unlistedFor:
		return p.poll(StillUnlisted, 0)
	}
	return p.poll(NotYet, next)
}

// Failed returns what follows a failed poll. If mayGoWell, after is the shortest time until the next one.
func (p *Polls) Failed(ctx context.Context, mayGoWell bool, after time.Duration) Poll {
	p.failures++
	next := max(p.next(ctx), after)
	if !mayGoWell || p.failures > p.MaxFailures || ctx.Err() != nil {
		return p.poll(Broken, 0)
	}
	return p.poll(NotYet, next)
}

func (p *Polls) poll(end End, next time.Duration) Poll {
	return Poll{End: end, Next: next, Number: p.polls, Elapsed: time.Since(p.started)}
}

// next is the time until the next poll. Near a deadline, it is half of the time left, if that is more than
// the shortest interval.
func (p *Polls) next(ctx context.Context) time.Duration {
	next := p.Next(&p.interval)
	deadline, bounded := ctx.Deadline()
	if left := time.Until(deadline); bounded && left <= next && left > p.MinInterval {
		return left / 2
	}
	return next
}

// The steps of a regulatory request, in order, as the events of package shipping name them.
const (
	StepAnalyzed   = "analyzed"
	StepEdited     = "edited"
	StepSelected   = "selected"
	StepPurchased  = "purchased"
	StepPolled     = "polled"
	StepPollFailed = "poll failed"
	StepEnded      = "ended"
	StepSettling   = "settling" // of a batch
	StepTaken      = "taken"    // of a batch
)
