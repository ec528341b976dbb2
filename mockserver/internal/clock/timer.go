package clock

import (
	"cmp"
	"time"
)

// Timer is a pending function.
type Timer struct {
	clock *Clock
	due   time.Time
	turn  Turn // among those that are due at the same time
	label string
	fn    func()
	real  *time.Timer // of a real clock
	scope *Scope      // nil: of the clock
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

// compare compares timers by due time, then by turn.
func (t *Timer) compare(other *Timer) int {
	return cmp.Or(t.due.Compare(other.due), cmp.Compare(t.turn, other.turn))
}

// queue is a heap of timers for [container/heap]. The first is due next.
type queue []*Timer

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].compare(q[j]) < 0 }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(timer any)    { *q = append(*q, timer.(*Timer)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return t
}
