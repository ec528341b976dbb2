package delivery

// queue holds the pending deliveries to one webhook.
type queue struct {
	webhook string
	ready   []*pending // deliveries whose attempt is due, in order
	busy    int        // running attempts
}

// ready queues the next attempt of a delivery in its queue. The caller holds mu.
func (d *Dispatcher) ready(p *pending) {
	q := d.queues[p.webhook]
	if q == nil {
		q = &queue{webhook: p.webhook}
		d.queues[p.webhook] = q
	}
	q.ready = append(q.ready, p)
	d.advance(q)
}

// advance starts attempts up to the width of a queue. The caller holds mu.
func (d *Dispatcher) advance(q *queue) {
	for len(q.ready) > 0 {
		p := q.ready[0]
		live := p.ctx.Err() == nil // neither cancelled nor closed
		if live && q.busy >= d.width() {
			return
		}
		q.ready[0] = nil
		q.ready = q.ready[1:]
		if live {
			d.start(q, p)
		}
	}
	if q.busy == 0 && d.queues[q.webhook] == q {
		delete(d.queues, q.webhook)
	}
}

// width returns the number of concurrent attempts to a webhook. On a virtual clock it is one, so that
// the outcome is reproducible; waiting takes no time of that clock.
func (d *Dispatcher) width() int {
	if d.config.Clock.IsVirtual() {
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
