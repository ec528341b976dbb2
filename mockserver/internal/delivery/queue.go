package delivery

import (
	"fmt"
	"time"

	"github.com/shipping-go/shipping/mockserver/notify"
)

// queue holds the pending deliveries to one webhook.
type queue struct {
	webhook   string
	gathering *batch     // the current batch, or nil
	ready     []*pending // deliveries whose attempt is due, in order
	busy      int        // running attempts
}

// batch holds deliveries that are gathered and sent in an order.
type batch struct {
	webhook string
	order   notify.Order
	due     time.Time
	pending []*pending
	overdue bool // it was restored after its due time
}

// queue returns the queue of a webhook. The caller holds mu.
func (d *Dispatcher) queue(webhook string) *queue {
	q := d.queues[webhook]
	if q == nil {
		q = &queue{webhook: webhook}
		d.queues[webhook] = q
	}
	return q
}

// gatheredUntil returns when a delivery that is queued now is sent.
func (q *queue) gatheredUntil(order notify.Order, now time.Time) time.Time {
	if q.gathering != nil && q.gathering.order == order {
		return q.gathering.due
	}
	return now.Add(GatherFor)
}

// gather adds a delivery to the batch that is sent at due, which is wait from now. If that time has passed,
// flush sends the batch once all are gathered. The caller holds mu.
func (d *Dispatcher) gather(p *pending, due time.Time, wait time.Duration) {
	q := d.queue(p.webhook)
	if b := q.gathering; b != nil && b.order == p.order && b.due.Equal(due) {
		b.pending = append(b.pending, p)
		return
	}
	d.flush(q)
	b := &batch{webhook: p.webhook, order: p.order, due: due, pending: []*pending{p}, overdue: wait <= 0}
	d.queue(p.webhook).gathering = b
	if b.overdue {
		return
	}
	d.timers.AfterAt(p.turn, wait, fmt.Sprintf("webhook deliveries to %s are sent: %s", b.webhook, b.order), func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.release(b)
	})
}

// flush sends the batch if it is overdue. The caller holds mu.
func (d *Dispatcher) flush(q *queue) {
	if b := q.gathering; b != nil && b.overdue {
		d.release(b)
	}
}

// release sends a batch. The caller holds mu.
func (d *Dispatcher) release(b *batch) {
	q := d.queue(b.webhook)
	if q.gathering == b {
		q.gathering = nil
	}
	arrange(b.order, b.pending, d.config.Seed)
	q.ready = append(q.ready, b.pending...)
	d.advance(q)
}

// ready queues the next attempt of a delivery in its queue. The caller holds mu.
func (d *Dispatcher) ready(p *pending) {
	q := d.queue(p.webhook)
	q.ready = append(q.ready, p)
	d.advance(q)
}

// advance starts attempts up to the width of a queue. The caller holds mu.
func (d *Dispatcher) advance(q *queue) {
	for len(q.ready) > 0 {
		p := q.ready[0]
		live := p.ctx.Err() == nil // neither cancelled nor closed
		if live && q.busy >= d.width(p.order) {
			return
		}
		q.ready[0] = nil
		q.ready = q.ready[1:]
		if live {
			d.start(q, p)
		}
	}
	if q.busy == 0 && q.gathering == nil && d.queues[q.webhook] == q {
		delete(d.queues, q.webhook)
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
func (d *Dispatcher) start(q *queue, p *pending) {
	q.busy++
	d.trying++
	go func() {
		d.try(p)
		d.mu.Lock()
		defer d.mu.Unlock()
		q.busy--
		d.advance(q)
		if d.trying--; d.trying == 0 {
			d.settled.Broadcast()
		}
	}()
}
