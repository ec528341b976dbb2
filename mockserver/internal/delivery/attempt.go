package delivery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/clock"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// after schedules the next attempt. The caller holds mu.
func (d *Dispatcher) after(p *pending, wait time.Duration, event string) *clock.Timer {
	return d.timers.AfterAt(p.turn, wait, "webhook delivery "+p.id+" "+event, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.enqueue(p)
	})
}

// try makes one attempt and logs it, unless the delivery was cancelled. A delivery that the log has dropped ends. The
// caller holds mu, which try releases while it sends.
func (d *Dispatcher) try(p *pending) {
	at := d.place(p.id)
	switch {
	case d.pending[p.id] != p:
		return
	case at < 0:
		d.finish(p)
		return
	}
	out := clone(d.log[at])
	d.mu.Unlock()
	admitted, accepted := d.admitted(p.ctx), false
	if admitted {
		accepted = d.attempt(p, &out)
		<-d.config.Running
	}
	d.mu.Lock()
	if !admitted || d.pending[p.id] != p {
		return
	}
	out.Due = time.Time{}
	switch tries := len(out.Attempts); {
	case accepted:
		out.State = notify.Delivered
	case lostResponse(&out):
		d.enqueue(p)
	case tries >= d.config.Attempts:
		out.State, out.Reason = notify.Failed, fmt.Sprintf("not accepted in %d attempts", tries)
	default:
		wait := backoff(tries)
		out.Due = d.config.Clock.Now().Add(wait)
		d.after(p, wait, "is retried")
	}
	if at := d.place(p.id); at >= 0 {
		d.log[at] = &out
		d.changes++
	}
	if out.State != notify.Queued {
		d.finish(p)
	}
	if out.Attempts[len(out.Attempts)-1].StatusCode != 0 {
		d.release(p)
	}
}

// admitted waits until the attempt of a delivery may run, and reports false if the delivery is cancelled first.
func (d *Dispatcher) admitted(ctx context.Context) bool {
	select {
	case d.config.Running <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// finish ends a pending delivery. The caller holds mu.
func (d *Dispatcher) finish(p *pending) {
	delete(d.pending, p.id)
	p.cancel()
}

// attempt sends a delivery once, adds the attempt to it, and reports whether the receiver accepted it.
func (d *Dispatcher) attempt(p *pending, out *notify.Delivery) (accepted bool) {
	attempt := notify.DeliveryAttempt{At: d.config.Clock.Now()}
	var status int
	var err error
	if len(out.Attempts) == 0 {
		status, err = d.postFirst(p.ctx, p.strike, out)
	} else {
		status, err = d.post(p.ctx, out, out.Payload)
	}
	attempt.StatusCode = status
	if err != nil {
		attempt.Error = err.Error()
	}
	out.Attempts = append(out.Attempts, attempt)
	accepted = err == nil && accepts(status)
	if accepted && p.strike.Kind == "replay-notification" {
		d.replay(p.ctx, p.strike, out)
	}
	return accepted
}

// post sends a payload once, with the headers of a delivery.
func (d *Dispatcher) post(ctx context.Context, out *notify.Delivery, payload []byte) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, out.URL, bytes.NewReader(payload))
	if err != nil {
		return 0, err
	}
	req.Header = headers(d.config.Scheme, d.config.Secret, out)
	client := *d.client
	client.Timeout = attemptTimeout
	resp, err := client.Do(req)
	if err != nil {
		// The log has the URL already.
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err
		}
		return 0, err
	}
	defer resp.Body.Close()
	// Read a short response, so that the connection can be reused; ignore the rest of a long one.
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	return resp.StatusCode, nil
}

type queue struct {
	webhook string
	ready   []*pending // deliveries whose attempt is due, in order
	busy    int        // running attempts
}

// enqueue adds the next attempt of a delivery to its queue. The caller holds mu.
func (d *Dispatcher) enqueue(p *pending) {
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
		d.mu.Lock()
		defer d.mu.Unlock()
		d.try(p)
		q.busy--
		d.trying--
		d.advance(q)
		d.changed.Broadcast()
	}()
}
