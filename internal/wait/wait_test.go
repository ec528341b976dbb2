package wait_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/internal/wait"
)

func TestSleep(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped")
	tests := []struct {
		name     string
		deadline time.Duration // 0: none
		stop     time.Duration // 0: never
		want     error
		after    time.Duration
	}{
		{name: "to its end", after: time.Minute},
		{name: "with a later deadline", deadline: time.Hour, after: time.Minute},
		{name: "beyond the deadline", deadline: time.Minute, want: context.DeadlineExceeded},
		{name: "cancelled", stop: time.Second, want: stopped, after: time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if test.deadline > 0 {
					var stop context.CancelFunc
					ctx, stop = context.WithTimeout(ctx, test.deadline)
					defer stop()
				}
				if test.stop > 0 {
					time.AfterFunc(test.stop, func() { cancel(stopped) })
				}
				started := time.Now()
				err := wait.Sleep(ctx, time.Minute)
				if !errors.Is(err, test.want) || time.Since(started) != test.after {
					t.Errorf("%v after %s, want %v after %s", err, time.Since(started), test.want, test.after)
				}
			})
		})
	}
}

// found is what a poll finds.
type found string

const (
	processing found = "processing"
	draft      found = "draft"
	completed  found = "completed"
	busy       found = "a failure that may pass, in 20 s"
	gone       found = "another failure"
)

func begin(t *testing.T, intervals wait.Intervals) *wait.Polls {
	t.Helper()
	intervals, err := intervals.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	return &wait.Polls{Intervals: intervals}
}

func poll(ctx context.Context, polls *wait.Polls, f found) wait.Poll {
	polls.Begin()
	if f == busy || f == gone {
		return polls.Failed(ctx, f == busy, 20*time.Second)
	}
	return polls.Found(ctx, f == draft, f == completed)
}

func TestPolls_End(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		finds []found // the last one again and again
		polls int     // 0: any number
		end   wait.End
	}{
		"at once":                 {[]found{completed}, 1, wait.AtEnd},
		"completed":               {[]found{processing, processing, completed}, 3, wait.AtEnd},
		"a draft for a while":     {[]found{draft, draft, completed}, 3, wait.AtEnd},
		"always a draft":          {[]found{draft}, 0, wait.StillDraft},
		"a failure that passes":   {[]found{busy, busy, processing, busy, completed}, 5, wait.AtEnd},
		"two failures tolerated":  {[]found{busy}, 3, wait.Broken},
		"a failure without retry": {[]found{processing, gone}, 2, wait.Broken},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				polls, started := begin(t, wait.Intervals{MaxFailures: 2}), time.Now()
				for number := 1; number < 1_000; number++ {
					finds := test.finds[min(number, len(test.finds))-1]
					got := poll(t.Context(), polls, finds)
					if got.Number != number || got.Elapsed != time.Since(started) || (got.End == wait.NotYet) != (got.Next > 0) {
						t.Errorf("poll %d: %+v", number, got)
					}
					if got.End == wait.NotYet {
						if finds == busy && got.Next < 20*time.Second {
							t.Errorf("the service asked for 20 s and is polled after %s", got.Next)
						}
						time.Sleep(got.Next)
						continue
					}
					if got.End != test.end || test.polls > 0 && number != test.polls {
						t.Errorf("%d after %d polls", got.End, number)
					}
					if took := time.Since(started); got.End == wait.StillDraft && (took < time.Minute || took > 2*time.Minute) {
						t.Errorf("it waited %s for the draft", took)
					}
					return
				}
				t.Error("it never ends")
			})
		})
	}
}

// A draft is waited for until DraftFor has passed, not longer.
func TestPolls_ForADraft(t *testing.T) {
	t.Parallel()
	for after, end := range map[time.Duration]wait.End{time.Minute - 1: wait.NotYet, time.Minute: wait.StillDraft} {
		synctest.Test(t, func(t *testing.T) {
			polls := begin(t, wait.Intervals{DraftFor: time.Minute})
			first := poll(t.Context(), polls, draft)
			time.Sleep(after)
			if second := poll(t.Context(), polls, draft); first.End != wait.NotYet || second.End != end {
				t.Errorf("after %s: %d, then %d", after, first.End, second.End)
			}
		})
	}
}

// An old copy of a request can read as a draft between newer ones, however long the wait has taken.
func TestPolls_ForADraftAmongOtherReadings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		polls := begin(t, wait.Intervals{DraftFor: time.Minute})
		for range 10 {
			for _, found := range []found{draft, processing} {
				time.Sleep(30 * time.Second)
				if got := poll(t.Context(), polls, found); got.End != wait.NotYet {
					t.Fatalf("it ended with %d after %s", got.End, got.Elapsed)
				}
			}
		}
	})
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
func TestPolls_BeforeADeadline(t *testing.T) {
	t.Parallel()
	type within struct{ from, to time.Duration }
	for name, test := range map[string]struct {
		left  time.Duration // 0: no deadline
		nexts []within      // each of them is seen, and nothing else
	}{
		"none":                  {0, []within{{8000, 10000}, {10000, 12000}}},
		"after any interval":    {12001, []within{{8000, 10000}, {10000, 12000}}},
		"after some intervals":  {11000, []within{{5500, 5500}, {8000, 11000}}},
		"the shortest interval": {10000, []within{{8000, 10000}, {10000, 12000}}},
		"sooner":                {7000, []within{{8000, 10000}, {10000, 12000}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if test.left > 0 {
					bounded, cancel := context.WithTimeout(ctx, test.left*time.Millisecond)
					defer cancel()
					ctx = bounded
				}
				seen := map[within]int{}
				for range 1_000 {
					next := poll(ctx, begin(t, wait.Intervals{MinInterval: 10 * time.Second}), processing).Next
					for _, one := range test.nexts {
						if next >= one.from*time.Millisecond && next <= one.to*time.Millisecond {
							seen[one]++
						}
					}
					if len(seen) == 0 {
						t.Fatalf("the next poll follows after %s", next)
					}
				}
				total := 0
				for _, n := range seen {
					total += n
				}
				if len(seen) != len(test.nexts) || total != 1_000 {
					t.Errorf("of 1000 intervals %d are expected ones: %v", total, seen)
				}
			})
		})
	}
}
