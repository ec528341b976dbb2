package delivery

import (
	"fmt"
	"time"

	"github.com/shipping-go/shipping/mockserver/notify"
)

// lane holds the pending deliveries to one webhook.
type lane struct {
	webhook   string
	gathering *batch    // the current batch, or nil
	ready     []*flight // deliveries whose attempt is due, in order
	busy      int       // running attempts
}

// batch holds deliveries that are gathered and sent in an order.
type batch struct {
	webhook string
	order   notify.Order
	due     time.Time
	flights []*flight
	overdue bool // it was restored after its due time
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

// gatheredUntil returns when a delivery that is queued now is sent.
func (l *lane) gatheredUntil(order notify.Order, now time.Time) time.Time {
	if l.gathering != nil && l.gathering.order == order {
		return l.gathering.due
	}
	return now.Add(GatherFor)
}

// gather adds a delivery to the batch that is sent at due, which is wait from now. If that time has passed,
// flush sends the batch once all are gathered. The caller holds mu.
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
	d.timers.AfterAt(f.turn, wait, fmt.Sprintf("webhook deliveries to %s are sent: %s", b.webhook, b.order), func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.release(b)
	})
}

// flush sends the batch if it is overdue. The caller holds mu.
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
	arrange(b.order, b.flights, d.config.Seed)
	l.ready = append(l.ready, b.flights...)
	d.advance(l)
}

// ready queues the next attempt of a delivery in its lane. The caller holds mu.
func (d *Dispatcher) ready(f *flight) {
	l := d.lane(f.webhook)
	l.ready = append(l.ready, f)
	d.advance(l)
}

// advance starts attempts up to the width of a lane. The caller holds mu.
func (d *Dispatcher) advance(l *lane) {
	for len(l.ready) > 0 {
		f := l.ready[0]
		live := f.ctx.Err() == nil // neither cancelled nor closed
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

// width returns the number of concurrent attempts to a webhook. On a virtual clock it is one, so that
// the outcome is reproducible; waiting takes no time of that clock.
func (d *Dispatcher) width(order notify.Order) int {
	if order != notify.Together || d.config.Clock.IsVirtual() {
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
