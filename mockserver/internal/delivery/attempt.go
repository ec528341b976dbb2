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

	"github.com/shipping-go/shipping/mockserver/notify"
)

// retry schedules the next attempt. The caller holds mu.
func (d *Dispatcher) retry(p *pending, wait time.Duration) {
	d.timers.AfterAt(p.turn, wait, "webhook delivery "+p.id+" is retried", func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.ready(p)
	})
}

// try makes one attempt and logs it.
func (d *Dispatcher) try(p *pending) {
	out, known := d.current(p)
	if !known {
		return
	}
	policy := d.policy()
	accepted := d.attempt(p.ctx, policy, &out)

	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pending[p.id] != p {
		return // cancelled
	}
	out.Due = time.Time{}
	switch tries := len(out.Attempts); {
	case accepted:
		out.State = notify.Delivered
	case tries >= policy.attempts():
		out.State, out.Reason = notify.Failed, fmt.Sprintf("not accepted in %d attempts", tries)
	default:
		wait := policy.wait(tries)
		out.Due = d.config.Clock.Now().Add(wait)
		d.retry(p, wait)
	}
	if at := p.number - d.dropped; at >= 0 {
		d.log[at] = &out
		d.changes++
	}
	if out.State != notify.Queued {
		d.finish(p)
	}
}

// current returns the log entry of a pending delivery, or false if it was cancelled or the log has dropped
// it, which ends the delivery.
func (d *Dispatcher) current(p *pending) (notify.Delivery, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pending[p.id] != p {
		return notify.Delivery{}, false
	}
	at := p.number - d.dropped
	if at < 0 {
		d.finish(p)
		return notify.Delivery{}, false
	}
	return clone(d.log[at]), true
}

// finish ends a pending delivery. The caller holds mu.
func (d *Dispatcher) finish(p *pending) {
	delete(d.pending, p.id)
	p.cancel()
	close(p.ended)
}

// attempt sends a delivery once, adds the attempt to it, and reports whether the receiver accepted it.
func (d *Dispatcher) attempt(ctx context.Context, policy policy, out *notify.Delivery) (accepted bool) {
	attempt := notify.Attempt{At: d.config.Clock.Now()}
	status, err := d.post(ctx, policy, out)
	attempt.StatusCode = status
	if err != nil {
		attempt.Error = err.Error()
	}
	out.Attempts = append(out.Attempts, attempt)
	return err == nil && policy.accepts(status)
}

// post sends the payload once.
func (d *Dispatcher) post(ctx context.Context, policy policy, out *notify.Delivery) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, out.URL, bytes.NewReader(out.Payload))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	if policy.SHA256Signature {
		req.Header.Set(HeaderSHA256, SignSHA256(d.config.Secret, out.Payload))
	} else {
		req.Header.Set(HeaderSignature, Sign(d.config.Secret, out.Payload))
	}
	if !policy.NoDeliveryHeaders {
		req.Header.Set(HeaderDeliveryID, out.ID)
		req.Header.Set(HeaderEventID, out.EventID)
		req.Header.Set(HeaderWebhookID, out.WebhookID)
	}
	client := *d.client
	client.Timeout = policy.timeout()
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
