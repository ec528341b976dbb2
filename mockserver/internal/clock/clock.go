// Package clock is the time of a world: the real time, or a virtual one that only moves when told.
package clock

import (
	"container/heap"
	"errors"
	"sync"
	"time"
)

// ErrReal is returned by [Clock.Advance] on a clock that follows the real time.
var ErrReal = errors.New("the clock follows the real time and cannot be advanced; start the server with a virtual clock")

// Last is as far as a clock can be moved. No time after the year 9999 can be written as JSON, and what is
// scheduled needs room before it.
var Last = time.Date(9000, time.January, 1, 0, 0, 0, 0, time.UTC)

// ErrLast is returned by [Clock.Advance] for a time after [Last].
var ErrLast = errors.New("the clock cannot be moved beyond the year 9000: advance it by less")

// Clock tells the time and calls functions later. It is safe for concurrent use, and holds no lock
// of its own while a function runs.
type Clock struct {
	virtual bool
	shift   time.Duration // of a real clock, added to the machine's time
	settle  func()        // called by Advance before time moves

	advancing sync.Mutex // one Advance at a time, so that functions run in due order

	mu      sync.Mutex
	now     time.Time // of a virtual clock
	waiting queue
	turns   Turn // given out so far
	stopped bool
	running sync.WaitGroup
}

// Fired is a function that [Clock.Advance] called.
type Fired struct {
	Due   time.Time
	Label string
}

// Real returns a clock that runs with the real time, and inside a testing/synctest bubble with the
// bubble's. A machine whose time is before notBefore gets a clock that starts there, so that what
// happens now is never older than a history that ended then.
func Real(notBefore time.Time) *Clock {
	return &Clock{shift: max(0, time.Until(notBefore))}
}

// Virtual returns a clock that stands at start until [Clock.Advance] moves it.
func Virtual(start time.Time) *Clock {
	return &Clock{virtual: true, now: start.UTC()}
}

// Settle makes every later Advance call wait before it lets time pass, so that what was begun at a moment
// and needs no time of the clock is over by the next. Call it before the clock is used.
func (c *Clock) Settle(wait func()) { c.settle = wait }

// IsVirtual reports whether the clock only moves when told.
func (c *Clock) IsVirtual() bool { return c.virtual }

// Now returns the time, in UTC.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

func (c *Clock) read() time.Time {
	if c.virtual {
		return c.now
	}
	return time.Now().Add(c.shift).UTC()
}

// Turn is a place among functions that are due at the same time: the lowest is called first.
type Turn uint64

// Turn returns the next place. Code that schedules functions from several goroutines takes its turns
// beforehand, so that the order of the calls does not depend on which goroutine was faster.
func (c *Clock) Turn() Turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.turn()
}

func (c *Clock) turn() Turn {
	c.turns++
	return c.turns
}

// After calls fn once, when d has passed; a negative d counts as 0. On a virtual clock that is during
// a later Advance, never before After returns. Of functions that are due at the same time, the one that
// was scheduled first is called first. The label names the function in lists. After Stop it does nothing.
func (c *Clock) After(d time.Duration, label string, fn func()) *Timer {
	return c.after(d, &Timer{label: label, fn: fn})
}

func (c *Clock) after(d time.Duration, t *Timer) *Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.clock, t.place = c, notWaiting
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

// ring runs a timer of a real clock, unless Stop was faster.
func (c *Clock) ring(t *Timer) {
	c.mu.Lock()
	if !c.waiting.remove(t) {
		c.mu.Unlock()
		return
	}
	t.fired = true
	c.running.Add(1)
	c.mu.Unlock()
	defer c.running.Done()
	t.fn()
}

// Advance moves a virtual clock forward and calls, one after the other and in due order, every
// function that falls due on the way, also those that such a function added. It returns what it
// called. A negative d counts as 0: the clock never goes back. One that leads beyond [Last] is refused.
func (c *Clock) Advance(d time.Duration) ([]Fired, error) {
	if !c.virtual {
		return nil, ErrReal
	}
	c.advancing.Lock()
	defer c.advancing.Unlock()
	until := c.Now().Add(max(0, d))
	if until.After(Last) {
		return nil, ErrLast
	}
	fired := []Fired{}
	for {
		if c.settle != nil {
			c.settle()
		}
		t := c.next(until)
		if t == nil {
			return fired, nil
		}
		t.fn()
		fired = append(fired, Fired{Due: t.due, Label: t.label})
	}
}

// next takes the first timer due by until and moves the clock there; with none left, to until.
func (c *Clock) next(until time.Time) *Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 || c.waiting[0].due.After(until) {
		c.now = until
		return nil
	}
	t := heap.Pop(&c.waiting).(*Timer)
	t.fired = true
	if t.due.After(c.now) { // it is not where the clock was moved past it by Reach
		c.now = t.due
	}
	return t
}

// Reach moves a clock that is before t forward to t, and calls nothing: what has fallen due on a virtual
// clock is called by the next Advance. A clock that is past t stays as it is.
func (c *Clock) Reach(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	behind := t.Sub(c.read())
	switch {
	case behind <= 0:
	case c.virtual:
		c.now = t.UTC()
	default:
		c.shift += behind
	}
}

// Waiting returns how many functions wait for their time.
func (c *Clock) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting)
}

// Scope is a part of a clock whose functions can be dropped together, such as those of a state that a
// world has left behind.
type Scope struct {
	clock   *Clock
	stopped bool // guarded by the clock's mu
}

// Scope returns a new scope of the clock.
func (c *Clock) Scope() *Scope { return &Scope{clock: c} }

// After is [Clock.After] within the scope.
func (s *Scope) After(d time.Duration, label string, fn func()) *Timer {
	return s.clock.after(d, &Timer{label: label, fn: fn, scope: s})
}

// AfterAt is After with a place among functions that are due at the same time.
func (s *Scope) AfterAt(turn Turn, d time.Duration, label string, fn func()) *Timer {
	return s.clock.after(d, &Timer{label: label, fn: fn, scope: s, turn: turn})
}

// Stop drops every function of the scope that still waits, and every one that is added later. It does
// not wait for one that already runs.
func (s *Scope) Stop() {
	c := s.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	s.stopped = true
	c.waiting.removeAll(func(t *Timer) bool { return t.scope == s })
}

// Stop drops every function that still waits, and returns when none runs any more.
func (c *Clock) Stop() {
	c.mu.Lock()
	c.stopped = true
	c.waiting.removeAll(func(*Timer) bool { return true })
	c.mu.Unlock()
	c.running.Wait()
}
