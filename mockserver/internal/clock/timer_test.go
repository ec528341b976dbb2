package clock

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// Whatever timers are added and stopped, the remaining ones are called in due order, and those that are due at the same
// time in the order in which they were scheduled. A timer that is removed from the middle of the heap can leave it out of
// order.
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

// Functions that are due at the same time are called in the order of their turns, whichever was scheduled first: retries
// are scheduled when responses arrive, whose order differs between runs.
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
