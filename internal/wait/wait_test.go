package wait_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/internal/wait"
)

// A sleep that ignores the deadline or a cancellation would return too late.
func TestSleep(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped")
	for name, test := range map[string]struct {
		deadline, stop time.Duration
		want           error
		after          time.Duration
	}{
		"to its end":             {time.Hour, time.Hour, nil, time.Minute},
		"a deadline too early":   {time.Minute, time.Hour, context.DeadlineExceeded, 0},
		"cancelled with a cause": {time.Hour, time.Second, stopped, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			ctx, stop := context.WithTimeout(ctx, test.deadline)
			defer stop()
			time.AfterFunc(test.stop, func() { cancel(stopped) })
			started := time.Now()
			err := wait.Sleep(ctx, time.Minute)
			if !errors.Is(err, test.want) || time.Since(started) != test.after {
				t.Errorf("%s: %v after %s, want %v after %s", name, err, time.Since(started), test.want, test.after)
			}
		})
	}
}

// found is the result of a poll.
type found string

const (
	processing found = "processing"
	draft      found = "draft"
	completed  found = "completed"
	unlisted   found = "a status that is not listed"
	busy       found = "a failure that may pass, in 20 s"
	gone       found = "another failure"
)

func begin(t *testing.T, intervals wait.Intervals) *wait.Polls {
	t.Helper()
	intervals, err := intervals.WithDefaults()
	shippingtest.NoError(t, err)
	return &wait.Polls{Intervals: intervals}
}

func poll(ctx context.Context, polls *wait.Polls, f found) wait.Poll {
	polls.Begin()
	if f == busy || f == gone {
		return polls.Failed(ctx, f == busy, 20*time.Second)
	}
	return polls.Found(ctx, map[found]wait.State{draft: wait.Draft, unlisted: wait.Unlisted, completed: wait.Final}[f])
}

// The state of a request follows from the table of statuses and from what the dialect declares.
func TestStateOf(t *testing.T) {
	t.Parallel()
	for status, want := range map[[2]string]wait.State{
		{"draft"}: wait.Draft, {"processing"}: wait.Underway, {"purchasing"}: wait.Underway, {""}: wait.Underway,
		{"completed"}: wait.Final, {"failed"}: wait.Final, {"new"}: wait.Unlisted, {"gone", "expired"}: wait.Final,
		{"queued", "generating"}: wait.Underway,
	} {
		shippingtest.Diff(t, fmt.Sprintf("%q", status), want, wait.StateOf(status[0], status[1]))
	}
}

// A wait ends with its last state, with a failure that is not retried or one more than MaxFailures in a row, or if the
// request has been a draft for DraftFor, or has had unlisted statuses for an hour. An old copy of a request can read as
// a draft between newer ones, however long the wait has taken.
func TestPolls_End(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		every time.Duration // 0 is the time that the last poll returned
		finds []found
		end   wait.End
	}{
		{0, []found{completed}, wait.AtEnd},
		{0, []found{processing, draft, completed}, wait.AtEnd},
		{0, []found{busy, busy, processing, busy, busy, completed}, wait.AtEnd},
		{0, []found{busy, busy, busy}, wait.Broken},
		{0, []found{processing, gone}, wait.Broken},
		{30 * time.Second, []found{processing, draft, busy, draft}, wait.StillDraft},
		{30 * time.Second, append(slices.Repeat([]found{draft, processing}, 10), completed), wait.AtEnd},
		{30 * time.Minute, []found{unlisted, unlisted, unlisted}, wait.StillUnlisted},
	} {
		synctest.Test(t, func(t *testing.T) {
			polls, started := begin(t, wait.Intervals{MaxFailures: 2, DraftFor: time.Minute}), time.Now()
			for i, found := range test.finds {
				got, want, least := poll(t.Context(), polls, found), wait.NotYet, time.Duration(1)
				switch {
				case i == len(test.finds)-1:
					want, least = test.end, 0
				case found == busy:
					least = 20 * time.Second
				}
				if got.End != want || got.Number != i+1 || got.Elapsed != time.Since(started) || got.Next < least ||
					least == 0 && got.Next != 0 {
					t.Errorf("%q, poll %d: %+v", test.finds, i+1, got)
				}
				time.Sleep(cmp.Or(test.every, got.Next))
			}
		})
	}
}

// The interval grows by half from MinInterval to MaxInterval, and is spread by a fifth.
func TestIntervals_GrowWithinTheirBounds(t *testing.T) {
	t.Parallel()
	intervals := begin(t, wait.Intervals{MinInterval: 2 * time.Second, MaxInterval: 7 * time.Second}).Intervals
	var interval time.Duration
	for poll, want := range []time.Duration{2000, 3000, 4500, 6750, 7000, 7000} {
		want *= time.Millisecond
		if next := intervals.Next(&interval); next < want*4/5 || next > want*6/5 {
			t.Errorf("poll %d follows after %s, want about %s", poll, next, want)
		}
	}
}

func TestIntervals_Defaults(t *testing.T) {
	t.Parallel()
	for given, want := range map[wait.Intervals]wait.Intervals{
		{}: {MinInterval: time.Second, MaxInterval: 30 * time.Second, MaxFailures: 10,
			DraftFor: time.Minute},
		{MinInterval: time.Hour, DraftFor: 1}: {MinInterval: time.Hour, MaxInterval: time.Hour, MaxFailures: 10, DraftFor: 1},
		{MinInterval: 1 << 62, MaxInterval: 1 << 62, MaxFailures: 1}: {
			MinInterval: 365 * 24 * time.Hour, MaxInterval: 365 * 24 * time.Hour, MaxFailures: 1, DraftFor: time.Minute,
		},
	} {
		if got, err := given.WithDefaults(); err != nil || got != want {
			t.Errorf("%+v: %+v, %v", given, got, err)
		}
	}
	for _, negative := range []wait.Intervals{{MinInterval: -1}, {MaxInterval: -1}, {MaxFailures: -1}, {DraftFor: -1}} {
		if _, err := negative.WithDefaults(); err == nil {
			t.Errorf("%+v is accepted", negative)
		}
	}
}

// A deadline within the next interval halves the time left, unless that is no longer than the shortest interval.
// Otherwise the last poll could come a whole interval before the deadline, and miss what happens after it.
func TestPolls_BeforeADeadline(t *testing.T) {
	t.Parallel()
	type within struct{ from, to time.Duration } // in milliseconds
	usual := []within{{8000, 10000}, {10000, 12000}}
	for left, nexts := range map[time.Duration][]within{
		time.Hour: usual, 12001 * time.Millisecond: usual, 10 * time.Second: usual, 7 * time.Second: usual,
		11 * time.Second: {{5500, 5500}, {8000, 11000}},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), left)
			defer cancel()
			seen := map[int]bool{}
			for range 1_000 {
				next := poll(ctx, begin(t, wait.Intervals{MinInterval: 10 * time.Second}), processing).Next
				seen[slices.IndexFunc(nexts, func(w within) bool {
					return next >= w.from*time.Millisecond && next <= w.to*time.Millisecond
				})] = true
			}
			if len(seen) != len(nexts) || seen[-1] {
				t.Errorf("%s left: the intervals are in %v of %v", left, seen, nexts)
			}
		})
	}
}
