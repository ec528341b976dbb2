package clock

import (
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/journal"
)

var start = time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC)

// Advance calls the functions that fall due in the order of their times, also those that are added on the way. If the
// clock moved to its end first, every record of the time would have that of the end.
func TestAdvance_CallsInDueOrderAtTheirTime(t *testing.T) {
	t.Parallel()
	c := Virtual(start)
	var seen []time.Duration
	note := func() { seen = append(seen, c.Now().Sub(start)) }
	c.After(3*time.Second, "third", note)
	c.After(time.Second, "first", func() {
		note()
		c.After(time.Second, "added on the way", note)
	})
	c.After(time.Second, "same time, later made", note)
	c.After(time.Hour, "not yet", note)

	fired := shippingtest.Must(c.Advance(10 * time.Second))(t)
	want := []journal.Fired{
		{Due: start.Add(time.Second), Label: "first"},
		{Due: start.Add(time.Second), Label: "same time, later made"},
		{Due: start.Add(2 * time.Second), Label: "added on the way"},
		{Due: start.Add(3 * time.Second), Label: "third"},
	}
	shippingtest.Diff(t, "fired", want, fired)
	wantSeen := []time.Duration{time.Second, time.Second, 2 * time.Second, 3 * time.Second}
	shippingtest.Diff(t, "the time each function saw", wantSeen, seen)
	if got := c.Now(); !got.Equal(start.Add(10 * time.Second)) {
		t.Errorf("after Advance it is %v, want 10 s after the start", got)
	}
}

// Advance neither goes back nor reaches times that cannot be written.
func TestAdvance_StaysInItsLimits(t *testing.T) {
	t.Parallel()
	c := Virtual(Last.Add(-time.Hour))
	shippingtest.WantError(t, "beyond the last time", shippingtest.Err(c.Advance(time.Hour+1)), ErrLast)
	if _, err := c.Advance(-time.Hour); err != nil || !c.Now().Equal(Last.Add(-time.Hour)) {
		t.Errorf("it is %v (%v), want the start", c.Now(), err)
	}
	if _, err := c.Advance(time.Hour); err != nil || !c.Now().Equal(Last) {
		t.Errorf("it is %v (%v), want %v", c.Now(), err, Last)
	}
}

// After Stop a clock and a scope call nothing. A timer of a closed world that still ran would change it, or notify a
// receiver.
func TestStop_DropsWhatWaitsForARealClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := Real(start)
		scope := c.Scope()
		var calls atomic.Int32
		count := func() { calls.Add(1) }
		scope.After(time.Second, "dropped with the scope", count)
		scope.Stop()
		shippingtest.Diff(t, "functions that wait after the scope was stopped", 0, c.Waiting())
		c.After(time.Second, "dropped", count)
		c.Stop()
		c.After(time.Second, "refused", count)
		<-time.After(time.Minute)
		shippingtest.Diff(t, "functions that are called, and that wait", [2]int{}, [2]int{int(calls.Load()), c.Waiting()})
	})
}

// A function that was running did not count as waiting. Whoever waits until nothing is left, as sweep does, then read a
// request before its last document was complete.
func TestWaiting_CountsAFunctionUntilItReturns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []*Clock{Real(start), Virtual(start)} {
			finish := make(chan struct{})
			c.After(time.Second, "takes a while", func() { <-finish })
			if c.IsVirtual() {
				go func() { _, _ = c.Advance(time.Second) }()
			} else {
				time.Sleep(time.Second)
			}
			synctest.Wait()
			shippingtest.Diff(t, "functions while one runs", 1, c.Waiting())
			close(finish)
			synctest.Wait()
			shippingtest.Diff(t, "functions after it", 0, c.Waiting())
		}
	})
}

// Whatever timers are added and stopped, the remaining ones are called in due order, and those that are due at the same
// time in the order in which they were scheduled. A timer that is removed from the middle of the heap can leave it out
// of order.
func TestAdvance_CallsManyInOrderWhateverWasStopped(t *testing.T) {
	t.Parallel()
	random := randomtest.Random(t)
	c := Virtual(start)
	dropped := c.Scope()
	var got, want []string
	type planned struct {
		due   int
		label string
	}
	var left []planned
	for i := range 2_000 {
		due, label := random.IntN(50), strconv.Itoa(i)
		note := func() { got = append(got, label) }
		switch random.IntN(3) {
		case 0:
			if !c.After(time.Duration(due)*time.Second, label, note).Stop() {
				t.Error("what waited was stopped too late")
			}
		case 1:
			dropped.After(time.Duration(due)*time.Second, label, note)
		default:
			c.After(time.Duration(due)*time.Second, label, note)
			left = append(left, planned{due, label})
		}
	}
	dropped.Stop()
	dropped.After(time.Second, "too late", func() { got = append(got, "too late") })
	slices.SortStableFunc(left, func(a, b planned) int { return a.due - b.due })
	for _, p := range left {
		want = append(want, p.label)
	}
	if pending := c.Pending(1); len(pending) != 1 || pending[0].Label != want[0] {
		t.Errorf("the first pending is %v, want %s", pending, want[0])
	}
	shippingtest.Must(c.Advance(time.Hour))(t)
	shippingtest.Diff(t, "called", want, got)
	shippingtest.Diff(t, "functions that wait", 0, c.Waiting())
}

// Stop reports whether the function will not run. If it were wrong, a delay would end twice, or never.
func TestTimer_StopReportsWhetherItWasInTime(t *testing.T) {
	t.Parallel()
	c := Virtual(start)
	ran := c.After(time.Second, "runs", func() {})
	if _, err := c.Advance(time.Second); err != nil || ran.Stop() {
		t.Errorf("a function that has run was stopped (%v)", err)
	}
	dropped := c.After(time.Second, "dropped by the clock", func() {})
	c.Stop()
	if late := c.After(time.Second, "too late", func() {}); !dropped.Stop() || !late.Stop() {
		t.Error("functions of a stopped clock may still run")
	}
}

// Functions that are due at the same time are called in the order of their turns, whichever was scheduled first:
// retries are scheduled when responses arrive, whose order differs between runs.
func TestAfterAt_CallsInTheOrderOfTheTurns(t *testing.T) {
	t.Parallel()
	c := Virtual(start)
	first, second := c.Turn(), c.Turn()
	var got []string
	note := func(what string) func() { return func() { got = append(got, what) } }
	scope := c.Scope()
	scope.After(time.Second, "third", note("third"))
	scope.AfterAt(second, time.Second, "second", note("second"))
	scope.AfterAt(first, time.Second, "first", note("first"))
	shippingtest.Must(c.Advance(time.Second))(t)
	shippingtest.Diff(t, "called", []string{"first", "second", "third"}, got)
}
