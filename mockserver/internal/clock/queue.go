package clock

import (
	"cmp"
	"container/heap"
	"slices"
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
	place int         // in the queue, or notWaiting
	fired bool        // it is running, or has run
}

const notWaiting = -1

// Stop cancels the function if it is pending, and reports whether it will never run. It does not wait for
// a running function.
func (t *Timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	t.clock.waiting.remove(t)
	return !t.fired
}

// order compares timers by due time, then by turn.
func (t *Timer) order(other *Timer) int {
	return cmp.Or(t.due.Compare(other.due), cmp.Compare(t.turn, other.turn))
}

// queue is a heap of timers, for [container/heap]. The first is due next.
type queue []*Timer

// Len implements [heap.Interface].
func (q queue) Len() int { return len(q) }

// Less implements [heap.Interface].
func (q queue) Less(i, j int) bool { return q[i].order(q[j]) < 0 }

// Swap implements [heap.Interface].
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push implements [heap.Interface].
func (q *queue) Push(timer any) {
	t := timer.(*Timer)
	t.place = len(*q)
	*q = append(*q, t)
}

// Pop implements [heap.Interface].
func (q *queue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	t.leave()
	return t
}

func (t *Timer) leave() {
	t.place = notWaiting
	if t.real != nil {
		t.real.Stop()
	}
}

// remove removes a timer from the queue, and reports whether it was queued.
func (q *queue) remove(t *Timer) bool {
	if t.place == notWaiting {
		return false
	}
	heap.Remove(q, t.place)
	return true
}

// removeAll removes the timers for which drop returns true.
func (q *queue) removeAll(drop func(*Timer) bool) {
	*q = slices.DeleteFunc(*q, func(t *Timer) bool {
		if !drop(t) {
			return false
		}
		t.leave()
		return true
	})
	for i, t := range *q {
		t.place = i
	}
	heap.Init(q)
}
