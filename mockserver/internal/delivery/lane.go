package delivery

import (
	"fmt"
	"time"
)

// lane is what is on its way to one webhook.
type lane struct {
	webhook   string
	gathering *batch    // what is gathered now; nil if nothing is
	ready     []*flight // whose next attempt is due, in the order of their attempts
	busy      int       // attempts on the wire
}

// batch is deliveries that are gathered to go out in an order.
type batch struct {
	webhook string
	order   Order
	due     time.Time
	flights []*flight
	overdue bool // it was restored after its time
}

// lane returns the lane of a webhook. The caller holds mu.
func (d *Dispatcher) lane(webhook string) *lane {
	l := d.lanes[webhook]
	if l == nil {
		l = &lane{webhook: webhook}
		d.lanes[webhook] = l
	}
	return l
}

// gatheredUntil returns when a delivery that is queued now goes out.
func (l *lane) gatheredUntil(order Order, now time.Time) time.Time {
	if l.gathering != nil && l.gathering.order == order {
		return l.gathering.due
	}
	return now.Add(GatherFor)
}

// gather adds a delivery to those that go out at a time, which is wait from now. If that time has passed,
// flush sends them once all are gathered. The caller holds mu.
func (d *Dispatcher) gather(f *flight, due time.Time, wait time.Duration) {
	l := d.lane(f.webhook)
	if b := l.gathering; b != nil && b.order == f.order && b.due.Equal(due) {
		b.flights = append(b.flights, f)
		return
	}
	d.flush(l)
	b := &batch{webhook: f.webhook, order: f.order, due: due, flights: []*flight{f}, overdue: wait <= 0}
	d.lane(f.webhook).gathering = b
	if b.overdue {
		return
	}
	d.timers.AfterAt(f.turn, wait, fmt.Sprintf("webhook deliveries to %s go out: %s", b.webhook, b.order), func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.release(b)
	})
}

// flush sends what has been gathered and is overdue. The caller holds mu.
func (d *Dispatcher) flush(l *lane) {
	if b := l.gathering; b != nil && b.overdue {
		d.release(b)
	}
}

// release sends a batch. The caller holds mu.
func (d *Dispatcher) release(b *batch) {
	l := d.lane(b.webhook)
	if l.gathering == b {
		l.gathering = nil
	}
	b.order.arrange(b.flights, d.config.Seed)
	l.ready = append(l.ready, b.flights...)
	d.advance(l)
}

// ready makes the next attempt at a delivery as soon as its lane has room. The caller holds mu.
func (d *Dispatcher) ready(f *flight) {
	l := d.lane(f.webhook)
	l.ready = append(l.ready, f)
	d.advance(l)
}

// advance starts the attempts that a lane has room for. The caller holds mu.
func (d *Dispatcher) advance(l *lane) {
	for len(l.ready) > 0 {
		f := l.ready[0]
		live := f.ctx.Err() == nil // neither called back nor closed
		if live && l.busy >= d.width(f.order) {
			return
		}
		l.ready[0] = nil
		l.ready = l.ready[1:]
		if live {
			d.start(l, f)
		}
	}
	if l.busy == 0 && l.gathering == nil && d.lanes[l.webhook] == l {
		delete(d.lanes, l.webhook)
	}
}

// width returns how many attempts to a webhook run at once. On a virtual clock it is one, because there
// the same steps have the same outcome each time they are taken, and waiting takes no time.
func (d *Dispatcher) width(order Order) int {
	if order != Together || d.config.Clock.IsVirtual() {
		return 1
	}
	return maxInFlight
}

// start makes an attempt in the background. The caller holds mu.
func (d *Dispatcher) start(l *lane, f *flight) {
	l.busy++
	d.trying++
	d.running.Go(func() {
		d.try(f)
		d.mu.Lock()
		defer d.mu.Unlock()
		l.busy--
		d.advance(l)
		if d.trying--; d.trying == 0 {
			d.settled.Broadcast()
		}
	})
}
