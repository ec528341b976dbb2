package clock

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// Timer is a function that waits for its time.
type Timer struct {
	clock *Clock
	due   time.Time
	turn  Turn // among those that are due at the same time
	label string
	fn    func()
	real  *time.Timer // of a real clock
	scope *Scope      // nil: the clock's own
	place int         // in the queue, or notWaiting
	fired bool        // it runs, or has run
}

const notWaiting = -1

// Stop drops the function if it still waits, and reports whether it will never run. It does not wait for
// one that already runs.
func (t *Timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	t.clock.waiting.remove(t)
	return !t.fired
}

// order compares timers by when they are due, then by their turns.
func (t *Timer) order(other *Timer) int {
	return cmp.Or(t.due.Compare(other.due), cmp.Compare(t.turn, other.turn))
}

// queue is a heap of timers, for [container/heap]. The first is the next that is due.
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

// remove takes a timer out of the queue, and reports whether it was in it.
func (q *queue) remove(t *Timer) bool {
	if t.place == notWaiting {
		return false
	}
	heap.Remove(q, t.place)
	return true
}

// removeAll takes out the timers that drop returns true for.
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
