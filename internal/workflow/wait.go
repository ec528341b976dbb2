package workflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Intervals bound the polls of a wait. Zero fields take the defaults.
type Intervals struct {
	// MinInterval and MaxInterval bound the time between polls. Defaults 1 s and 30 s.
	MinInterval, MaxInterval time.Duration
	// MaxFailures is how many failed polls in a row are tolerated. Default 10.
	MaxFailures int
	// DraftFor is how long a request may stay a draft. Default 1 min.
	DraftFor time.Duration
}

// longest keeps sums of times within their type.
const longest = 365 * 24 * time.Hour

// WithDefaults returns the intervals with the defaults filled in.
func (i Intervals) WithDefaults() (Intervals, error) {
	if i.MinInterval < 0 || i.MaxInterval < 0 || i.MaxFailures < 0 || i.DraftFor < 0 {
		return i, errors.New("has a negative field: leave it 0 for the default")
	}
	if i.MaxInterval > 0 && i.MaxInterval < i.MinInterval {
		return i, fmt.Errorf("has a MinInterval of %s above the MaxInterval of %s", i.MinInterval, i.MaxInterval)
	}
	setDefault(&i.MinInterval, min(time.Second, cmp.Or(i.MaxInterval, time.Second)))
	setDefault(&i.MaxInterval, max(30*time.Second, i.MinInterval))
	i.MinInterval, i.MaxInterval = min(i.MinInterval, longest), min(i.MaxInterval, longest)
	setDefault(&i.MaxFailures, 10)
	setDefault(&i.DraftFor, time.Minute)
	return i, nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Next returns the time to wait before the next poll, spread at random by a fifth, and makes interval the one
// after it: half longer, within the bounds. An interval of 0 is the first.
func (i Intervals) Next(interval *time.Duration) time.Duration {
	setDefault(interval, i.MinInterval)
	next := time.Duration(float64(*interval) * (0.8 + 0.4*rand.Float64()))
	*interval = min(*interval+*interval/2, i.MaxInterval)
	return next
}

// End is how a wait ended, or that it has not.
type End uint8

const (
	// NotYet: poll again.
	NotYet End = iota
	// AtEnd: the request has reached a final state, which need not be a success.
	AtEnd
	// StillDraft: the request has stayed a draft for DraftFor.
	StillDraft
	// Broken: a poll failed and another is of no use.
	Broken
)

// Wait polls a request. Record is how the service describes it.
type Wait[Record any] struct {
	Intervals
	// Read reads the request.
	Read func(context.Context) (Record, error)
	// Draft reports whether the request is a draft, and Final whether its state is final.
	Draft, Final func(Record) bool
	// Retry reports whether a failed poll is worth another, and the shortest time before it.
	Retry func(error) (after time.Duration, retry bool)
	// Report is called after each poll, except one that ends the wait as StillDraft or Broken.
	Report func(Poll[Record])

	started  time.Time
	interval time.Duration
	polls    int
	failures int
}

// Poll is the result of one poll.
type Poll[Record any] struct {
	// Record is the record that was read, and Err the reason why none was.
	Record Record
	Err    error
	// AtEnd: the wait is over. Otherwise the next poll follows after Next.
	AtEnd bool
	Next  time.Duration
	// Polls counts polls so far, Elapsed the time since the first one was begun.
	Polls   int
	Elapsed time.Duration
}

// Poll reads the request once. Unless the wait has ended, the next poll is due after next; an error may pass
// then.
func (w *Wait[Record]) Poll(ctx context.Context) (record Record, next time.Duration, end End, err error) {
	if w.polls == 0 {
		w.started = time.Now()
	}
	record, err = w.Read(ctx)
	w.polls++
	next = w.beforeDeadline(ctx, w.Next(&w.interval))
	if err != nil {
		w.failures++
		after, retry := w.Retry(err)
		if !retry || w.failures > w.MaxFailures || ctx.Err() != nil {
			return record, 0, Broken, err
		}
		next = max(next, after)
		w.report(Poll[Record]{Record: record, Err: err, Next: next})
		return record, next, NotYet, err
	}
	w.failures = 0
	switch {
	case w.Final(record):
		w.report(Poll[Record]{Record: record, AtEnd: true})
		return record, 0, AtEnd, nil
	case w.Draft(record) && time.Since(w.started) >= w.DraftFor:
		return record, 0, StillDraft, nil
	}
	w.report(Poll[Record]{Record: record, Next: next})
	return record, next, NotYet, nil
}

// beforeDeadline shortens the time to the next poll so that the time left is used for polls, down to
// the shortest interval.
func (w *Wait[Record]) beforeDeadline(ctx context.Context, next time.Duration) time.Duration {
	deadline, bounded := ctx.Deadline()
	if left := time.Until(deadline); bounded && left <= next && left > w.MinInterval {
		return left / 2
	}
	return next
}

func (w *Wait[Record]) report(poll Poll[Record]) {
	if w.Report != nil {
		poll.Polls, poll.Elapsed = w.polls, time.Since(w.started)
		w.Report(poll)
	}
}
