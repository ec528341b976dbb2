package workflow_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/internal/workflow"
)

var (
	errBusy = errors.New("busy")
	errGone = errors.New("gone")
)

type state string

const (
	draft     state = "draft"
	completed state = "completed"
	failed    state = "failed"
)

// read is what one poll finds.
type read struct {
	state state
	err   error
}

// waitFor returns a wait that finds these in turn, and then always the last one.
func waitFor(t *testing.T, intervals workflow.Intervals, finds ...read) (*workflow.Wait[state], *[]workflow.Poll[state]) {
	t.Helper()
	intervals, err := intervals.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	polls, reported := 0, []workflow.Poll[state]{}
	return &workflow.Wait[state]{
		Intervals: intervals,
		Read: func(context.Context) (state, error) {
			found := finds[min(polls, len(finds)-1)]
			polls++
			return found.state, found.err
		},
		Draft:  func(found state) bool { return found == draft },
		Final:  func(found state) bool { return found == completed || found == failed },
		Retry:  func(err error) (time.Duration, bool) { return 20 * time.Second, errors.Is(err, errBusy) },
		Report: func(poll workflow.Poll[state]) { reported = append(reported, poll) },
	}, &reported
}

func TestWait_Ends(t *testing.T) {
	t.Parallel()
	pending, drafted, busy := read{state: "processing"}, read{state: draft}, read{err: errBusy}
	for name, test := range map[string]struct {
		finds    []read
		polls    int
		end      workflow.End
		err      error
		reported int
	}{
		"completed":               {[]read{pending, pending, {state: completed}}, 3, workflow.AtEnd, nil, 3},
		"failed":                  {[]read{{state: failed}}, 1, workflow.AtEnd, nil, 1},
		"a draft for a while":     {[]read{drafted, drafted, {state: completed}}, 3, workflow.AtEnd, nil, 3},
		"always a draft":          {[]read{drafted}, 0, workflow.StillDraft, nil, -1},
		"a failure that passes":   {[]read{busy, busy, pending, busy, {state: completed}}, 5, workflow.AtEnd, nil, 5},
		"two failures tolerated":  {[]read{busy}, 3, workflow.Broken, errBusy, 2},
		"a failure without retry": {[]read{pending, {err: errGone}}, 2, workflow.Broken, errGone, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				wait, reported := waitFor(t, workflow.Intervals{MaxFailures: 2}, test.finds...)
				started := time.Now()
				for polls := 1; ; polls++ {
					if polls > 1_000 {
						t.Fatal("it never ends")
					}
					_, next, end, err := wait.Poll(t.Context())
					if end == workflow.NotYet {
						if got := (*reported)[len(*reported)-1]; got.Next != next || got.Polls != polls || got.AtEnd || got.Elapsed != time.Since(started) {
							t.Errorf("poll %d reports %+v", polls, got)
						}
						if err != nil && next < 20*time.Second {
							t.Errorf("the service asked for 20 s and is polled after %s", next)
						}
						time.Sleep(next)
						continue
					}
					if end != test.end || !errors.Is(err, test.err) || test.polls > 0 && polls != test.polls || next != 0 {
						t.Errorf("%d, %v after %d polls", end, err, polls)
					}
					break
				}
				if test.reported >= 0 && len(*reported) != test.reported {
					t.Errorf("%d polls are reported", len(*reported))
				}
				if took := time.Since(started); test.end == workflow.StillDraft && (took < time.Minute || took > 2*time.Minute) {
					t.Errorf("it waited %s for the draft", took)
				}
			})
		})
	}
}

// A draft is waited for until DraftFor has passed, not longer.
func TestWait_ForADraft(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		after time.Duration
		end   workflow.End
	}{
		"a moment before": {time.Minute - 1, workflow.NotYet},
		"exactly then":    {time.Minute, workflow.StillDraft},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				wait, _ := waitFor(t, workflow.Intervals{DraftFor: time.Minute}, read{state: draft})
				_, _, first, _ := wait.Poll(t.Context())
				time.Sleep(test.after)
				if _, _, end, err := wait.Poll(t.Context()); first != workflow.NotYet || end != test.end || err != nil {
					t.Errorf("%d, then %d, %v", first, end, err)
				}
			})
		})
	}
}

// Once the context has ended, a failed poll is the last one.
func TestWait_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	wait, reported := waitFor(t, workflow.Intervals{}, read{err: errBusy})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, next, end, err := wait.Poll(ctx); end != workflow.Broken || !errors.Is(err, errBusy) || next != 0 || len(*reported) != 0 {
		t.Errorf("%d after %s, %v, %d reported", end, next, err, len(*reported))
	}
}

// The interval grows by half from MinInterval to MaxInterval, and is spread by a fifth.
func TestIntervals_GrowWithinTheirBounds(t *testing.T) {
	t.Parallel()
	intervals, err := workflow.Intervals{MinInterval: 2 * time.Second, MaxInterval: 7 * time.Second}.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	shortest, longest := time.Hour, time.Duration(0)
	for range 1_000 {
		var first time.Duration
		next := intervals.Next(&first)
		shortest, longest = min(shortest, next), max(longest, next)
	}
	if shortest < 1600*time.Millisecond || shortest > 1640*time.Millisecond || longest > 2400*time.Millisecond || longest < 2360*time.Millisecond {
		t.Errorf("the first interval is spread from %s to %s, want 1.6 s to 2.4 s", shortest, longest)
	}
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
	for given, want := range map[workflow.Intervals]workflow.Intervals{
		{}:                                    {MinInterval: time.Second, MaxInterval: 30 * time.Second, MaxFailures: 10, DraftFor: time.Minute},
		{MinInterval: time.Hour, DraftFor: 1}: {MinInterval: time.Hour, MaxInterval: time.Hour, MaxFailures: 10, DraftFor: 1},
		{MinInterval: 1 << 62, MaxInterval: 1 << 62, MaxFailures: 1}: {
			MinInterval: 365 * 24 * time.Hour, MaxInterval: 365 * 24 * time.Hour, MaxFailures: 1, DraftFor: time.Minute,
		},
	} {
		if got, err := given.WithDefaults(); err != nil || got != want {
			t.Errorf("%+v: %+v, %v", given, got, err)
		}
	}
	for _, negative := range []workflow.Intervals{{MinInterval: -1}, {MaxInterval: -1}, {MaxFailures: -1}, {DraftFor: -1}} {
		if _, err := negative.WithDefaults(); err == nil {
			t.Errorf("%+v is accepted", negative)
		}
	}
}

// A deadline within the next interval halves the time left, unless that is no longer than the shortest interval.
func TestWait_BeforeADeadline(t *testing.T) {
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
					wait, _ := waitFor(t, workflow.Intervals{MinInterval: 10 * time.Second}, read{})
					_, next, _, _ := wait.Poll(ctx)
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

// Of the time before a deadline that no whole interval fits into, half is waited.
func TestWait_UsesTheTimeBeforeADeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wait, _ := waitFor(t, workflow.Intervals{MinInterval: time.Second, MaxInterval: 20 * time.Second}, read{})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		polls := 0
		for ctx.Err() == nil {
			_, next, _, _ := wait.Poll(ctx)
			if polls++; polls > 100 {
				t.Fatal("it never stops polling")
			}
			if deadline, _ := ctx.Deadline(); time.Until(deadline) < 2*time.Second {
				return
			}
			time.Sleep(next)
		}
		t.Error("the last poll was more than 2 s before the deadline")
	})
}
