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
	settings := d.settings.Load()
	accepted := d.attempt(p.ctx, settings, &out)

	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pending[p.id] != p {
		return // cancelled
	}
	out.Due = time.Time{}
	switch tries := len(out.Attempts); {
	case accepted:
		out.State = Delivered
	case tries >= settings.Policy.Attempts:
		out.State, out.Reason = Failed, fmt.Sprintf("not accepted in %d attempts", tries)
	default:
		wait := settings.Policy.wait(tries)
		out.Due = d.config.Clock.Now().Add(wait)
		d.retry(p, wait)
	}
	if at := p.number - d.dropped; at >= 0 {
		d.log[at] = &out
		d.changes++
	}
	if out.State != Queued {
		d.finish(p)
	}
}

// current returns the log entry of a pending delivery, or false if it was cancelled or the log has dropped
// it, which ends the delivery.
func (d *Dispatcher) current(p *pending) (Delivery, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pending[p.id] != p {
		return Delivery{}, false
	}
	at := p.number - d.dropped
	if at < 0 {
		d.finish(p)
		return Delivery{}, false
	}
	return d.log[at].clone(), true
}

// finish ends a pending delivery. The caller holds mu.
func (d *Dispatcher) finish(p *pending) {
	delete(d.pending, p.id)
	p.cancel()
	close(p.ended)
}

// attempt sends a delivery once, adds the attempt to it, and reports whether the receiver accepted it.
func (d *Dispatcher) attempt(ctx context.Context, settings *Settings, out *Delivery) (accepted bool) {
	attempt := Attempt{At: d.config.Clock.Now()}
	status, err := d.post(ctx, settings, out)
	attempt.StatusCode = status
	if err != nil {
		attempt.Error = err.Error()
	}
	out.Attempts = append(out.Attempts, attempt)
	return err == nil && settings.Policy.Accept(status)
}

// post sends the payload once.
func (d *Dispatcher) post(ctx context.Context, settings *Settings, out *Delivery) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, out.URL, bytes.NewReader(out.Payload))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	if settings.SHA256 {
		req.Header.Set(HeaderSHA256, SignSHA256(d.config.Secret, out.Payload))
	} else {
		req.Header.Set(HeaderSignature, Sign(d.config.Secret, out.Payload))
	}
	if !settings.NoIDs {
		req.Header.Set(HeaderDeliveryID, out.ID)
		req.Header.Set(HeaderEventID, out.EventID)
		req.Header.Set(HeaderWebhookID, out.WebhookID)
	}
	client := *d.client
	client.Timeout = settings.Policy.Timeout
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

// Once makes one attempt at a delivery without retries, and returns its log entry.
func (d *Dispatcher) Once(out Delivery) Delivery {
	out.State, out.Reason, out.CreatedAt, out.Due, out.Attempts = Delivered, "", d.config.Clock.Now(), time.Time{}, nil
	if err := CheckTarget(out.URL, d.config.Anywhere); err != nil {
		out.State, out.Reason = Refused, err.Error()
	} else if !d.attempt(d.ctx, d.settings.Load(), &out) {
		out.State, out.Reason = Failed, "not accepted in its only attempt"
	}
	d.Record(out)
	return out.clone()
}
