// Package clock provides the clock of a world: the real time, or a virtual time that moves only with Advance.
package clock

import (
	"cmp"
	"container/heap"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/shipping-go/shipping/mockserver/journal"
)

var ErrReal = errors.New("the clock follows the real time and cannot be advanced; start the server with -clock virtual")

// Last is the latest time of a clock. It leaves time until the year 9999, the last in JSON, to schedule functions
// after it.
var Last = time.Date(9000, time.January, 1, 0, 0, 0, 0, time.UTC)

// ErrLast is returned by [Clock.Advance] for a time after [Last].
var ErrLast = errors.New("the clock cannot move beyond the year 9000: advance it by less")

// Clock returns the time and calls functions later. It is safe for concurrent use, and holds no lock
// while a function runs.
type Clock struct {
	virtual bool
	shift   time.Duration // of a real clock, added to the machine's time
	settle  func()        // called by Advance before time moves

	advancing sync.Mutex // one Advance at a time, so that functions run in due order

	mu      sync.Mutex
	now     time.Time // of a virtual clock
	waiting queue
	turns   Turn // used so far
	calling int  // functions that run
	stopped bool
	running sync.WaitGroup
}

// Real returns a clock that follows the real time, and inside a testing/synctest bubble the time of the bubble. If the
// time of the machine is before notBefore, the clock starts there, so that the present is never before the end of the
// seeded history.
func Real(notBefore time.Time) *Clock {
	return &Clock{shift: max(0, time.Until(notBefore))}
}

func Virtual(start time.Time) *Clock {
	return &Clock{virtual: true, now: start.UTC()}
}

// Settle sets a function that Advance calls before it moves the time, to wait for work that takes no time of the
// clock. Call it before the clock is used.
func (c *Clock) Settle(wait func()) { c.settle = wait }

func (c *Clock) IsVirtual() bool { return c.virtual }

// Now returns the time, in UTC.
func (c *Clock) Now() time.Time { return c.At(time.Now()) }

// At returns the time of the clock at a time of the machine, which is the present or shortly before. A virtual clock
// returns its present.
func (c *Clock) At(machine time.Time) time.Time {
	if !c.virtual {
		return machine.Add(c.shift).UTC()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *Clock) read() time.Time {
	if c.virtual {
		return c.now
	}
	return time.Now().Add(c.shift).UTC()
}

// Turn is a place among functions that are due at the same time: the lowest is called first.
type Turn uint64

// Turn returns the next place. Code that schedules functions from several goroutines takes the turns
// first, so that the order of the calls does not depend on the goroutines.
func (c *Clock) Turn() Turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.turn()
}

func (c *Clock) turn() Turn {
	c.turns++
	return c.turns
}

// After calls fn once, after d; a negative d counts as 0. On a virtual clock Advance calls it, never before After
// returns. Functions that are due at the same time are called in the order in which they were scheduled. The label
// describes the function in lists. Once the clock is stopped, After does nothing.
func (c *Clock) After(d time.Duration, label string, fn func()) *Timer {
	return c.after(d, &Timer{label: label, fn: fn})
}

func (c *Clock) after(d time.Duration, t *Timer) *Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.clock = c
	if c.stopped || (t.scope != nil && t.scope.stopped) {
		return t
	}
	if t.turn == 0 {
		t.turn = c.turn()
	}
	t.due = c.read().Add(max(0, d))
	heap.Push(&c.waiting, t)
	if !c.virtual {
		t.real = time.AfterFunc(max(0, d), func() { c.ring(t) })
	}
	return t
}

// remove removes a timer, and reports whether it was waiting. The caller holds mu.
func (c *Clock) remove(t *Timer) bool {
	if t.place == 0 {
		return false
	}
	heap.Remove(&c.waiting, t.place-1)
	if t.real != nil {
		t.real.Stop()
	}
	return true
}

// removeAll removes the timers for which drop returns true. The caller holds mu.
func (c *Clock) removeAll(drop func(*Timer) bool) {
	for _, t := range slices.Clone(c.waiting) {
		if drop(t) {
			c.remove(t)
		}
	}
}

// ring runs a timer of a real clock, unless it was stopped.
func (c *Clock) ring(t *Timer) {
	c.mu.Lock()
	if !c.remove(t) {
		c.mu.Unlock()
		return
	}
	t.fired = true
	c.calling++
	c.running.Add(1)
	c.mu.Unlock()
	defer c.running.Done()
	c.call(t)
}

// call calls the function of a timer that was removed.
func (c *Clock) call(t *Timer) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.calling--
	}()
	t.fn()
}

// Advance moves a virtual clock forward and calls every function that falls due, one after the other and in due order,
// including functions that the called functions have added. It returns the functions that it called. A negative d
// counts as 0. A time after [Last] is an error.
func (c *Clock) Advance(d time.Duration) ([]journal.Fired, error) {
	if !c.virtual {
		return nil, ErrReal
	}
	c.advancing.Lock()
	defer c.advancing.Unlock()
	until := c.Now().Add(max(0, d))
	if until.After(Last) {
		return nil, ErrLast
	}
	fired := []journal.Fired{}
	for {
		if c.settle != nil {
			c.settle()
		}
		t := c.next(until)
		if t == nil {
			return fired, nil
		}
		c.call(t)
		fired = append(fired, journal.Fired{Due: t.due, Label: t.label})
	}
}

// next removes the first timer that is due by until and moves the clock to its time. Without one it moves the clock to
// until and returns nil.
func (c *Clock) next(until time.Time) *Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 || c.waiting[0].due.After(until) {
		c.now = until
		return nil
	}
	t := c.waiting[0]
	c.remove(t)
	t.fired = true
	c.calling++
	c.now = t.due
	return t
}

// Waiting returns the number of functions that have not returned: those that are due later, and those that run.
func (c *Clock) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting) + c.calling
}

// Pending returns at most that many pending functions, in due order.
func (c *Clock) Pending(most int) []journal.Fired {
	c.mu.Lock()
	defer c.mu.Unlock()
	pending := []journal.Fired{}
	for _, t := range slices.SortedFunc(slices.Values(c.waiting), (*Timer).compare) {
		if len(pending) < most {
			pending = append(pending, journal.Fired{Due: t.due, Label: t.label})
		}
	}
	return pending
}

// Scope is a group of functions of a clock that can be cancelled together, such as those of a replaced state of a
// world.
type Scope struct {
	clock   *Clock
	stopped bool // guarded by the clock's mu
}

func (c *Clock) Scope() *Scope { return &Scope{clock: c} }

// After is like [Clock.After], within the scope.
func (s *Scope) After(d time.Duration, label string, fn func()) *Timer {
	return s.clock.after(d, &Timer{label: label, fn: fn, scope: s})
}

// AfterAt is like After, with a place among functions that are due at the same time.
func (s *Scope) AfterAt(turn Turn, d time.Duration, label string, fn func()) *Timer {
	return s.clock.after(d, &Timer{label: label, fn: fn, scope: s, turn: turn})
}

// Stop cancels every pending function of the scope, and every one that is added later. It does
// not wait for a running function.
func (s *Scope) Stop() {
	c := s.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	s.stopped = true
	c.removeAll(func(t *Timer) bool { return t.scope == s })
}

// Stop cancels every pending function, and returns when none is running.
func (c *Clock) Stop() {
	c.mu.Lock()
	c.stopped = true
	c.removeAll(func(*Timer) bool { return true })
	c.mu.Unlock()
	c.running.Wait()
}

type Timer struct {
	clock *Clock
	due   time.Time
	turn  Turn // among those that are due at the same time
	label string
	fn    func()
	real  *time.Timer // of a real clock
	scope *Scope      // nil: of the clock
	place int         // in the queue, counted from 1; 0 if it does not wait
	fired bool        // it is running, or has run
}

// Stop cancels the function if it is pending, and reports whether it will never run. It does not wait for
// a running function.
func (t *Timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	t.clock.remove(t)
	return !t.fired
}

func (t *Timer) compare(other *Timer) int {
	return cmp.Or(t.due.Compare(other.due), cmp.Compare(t.turn, other.turn))
}

// queue is a heap of timers for [container/heap]. The first is due next.
type queue []*Timer

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].compare(q[j]) < 0 }
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i+1, j+1
}

func (q *queue) Push(timer any) {
	*q = append(*q, timer.(*Timer))
	(*q)[len(*q)-1].place = len(*q)
}

func (q *queue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	t.place, (*q)[last] = 0, nil
	*q = (*q)[:last]
	return t
}
