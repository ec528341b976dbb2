package delivery

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Order is in which order deliveries to one webhook go out.
type Order string

// The orders. In all but Together deliveries are gathered for [GatherFor] and their first attempts go
// out one after the other, each when the one before has been answered.
const (
	Together Order = ""        // each at once, several at a time: no order is promised
	FIFO     Order = "fifo"    // as they were queued
	Reverse  Order = "reverse" // the latest first
	Shuffle  Order = "shuffle" // in an order that follows from the seed
)

// Orders returns every order by name.
func Orders() []Order { return []Order{FIFO, Reverse, Shuffle} }

// GatherFor is how long deliveries are gathered, by the world's clock, from the first one on.
const GatherFor = 100 * time.Millisecond

// gathering is what waits to go out to a webhook with an order of its own.
type gathering struct {
	order   Order
	random  *rand.Rand
	waiting []*flight
}

// SetOrder says in which order deliveries to a webhook go out from now on.
func (d *Dispatcher) SetOrder(webhookID string, order Order, seed uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.orders == nil {
		d.orders = map[string]*gathering{}
	}
	g := d.orders[webhookID]
	if g == nil {
		g = &gathering{}
		d.orders[webhookID] = g
	}
	g.order, g.random = order, rand.New(rand.NewPCG(seed, 0x6f72646572))
}

// OrderOf returns the order of a webhook.
func (d *Dispatcher) OrderOf(webhookID string) Order {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.orders[webhookID]; g != nil {
		return g.order
	}
	return Together
}

// gather keeps a new delivery back where its webhook has an order, and reports whether it does. The
// caller holds mu.
func (d *Dispatcher) gather(f *flight) bool {
	at := d.place(f.id)
	if at < 0 {
		return false
	}
	id := d.log[at].WebhookID
	g := d.orders[id]
	if g == nil || g.order == Together {
		return false
	}
	g.waiting = append(g.waiting, f)
	if len(g.waiting) == 1 {
		d.retries.After(GatherFor, fmt.Sprintf("webhook deliveries to %s go out: %s", id, g.order), func() { d.release(g) })
	}
	return true
}

// release sends what was gathered, one delivery after the other.
func (d *Dispatcher) release(g *gathering) {
	d.mu.Lock()
	defer d.mu.Unlock()
	leaving := g.waiting
	g.waiting = nil
	switch g.order {
	case Reverse:
		slices.Reverse(leaving)
	case Shuffle:
		g.random.Shuffle(len(leaving), func(i, j int) { leaving[i], leaving[j] = leaving[j], leaving[i] })
	}
	if d.ctx.Err() == nil {
		d.running.Go(func() {
			for _, f := range leaving {
				d.try(f)
			}
		})
	}
}

// Once makes one attempt at a delivery now, tries no second time, and returns what the log says of it.
func (d *Dispatcher) Once(out Delivery) Delivery {
	now := d.config.Clock.Now()
	out.State, out.Reason, out.CreatedAt = Failed, "", now
	if err := CheckTarget(out.URL, d.config.Anywhere); err != nil {
		out.State, out.Reason, out.Attempts = Refused, err.Error(), nil
	} else {
		attempt := Attempt{At: now}
		if attempt.StatusCode, err = d.post(d.ctx, &out); err != nil {
			attempt.Error = err.Error()
		}
		if err == nil && d.config.Policy.Accept(attempt.StatusCode) {
			out.State = Delivered
		} else {
			out.Reason = "not accepted in its only attempt"
		}
		out.Attempts = []Attempt{attempt}
	}
	d.Record(out)
	return out.clone()
}
