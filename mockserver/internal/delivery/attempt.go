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
func (d *Dispatcher) retry(f *flight, wait time.Duration) {
	d.timers.AfterAt(f.turn, wait, "webhook delivery "+f.id+" is retried", func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.ready(f)
	})
}

// try makes one attempt and logs it.
func (d *Dispatcher) try(f *flight) {
	out, known := d.current(f)
	if !known {
		return
	}
	attempt := notify.Attempt{At: d.config.Clock.Now()}
	policy := d.policy()
	status, err := d.post(f.ctx, policy, &out)
	attempt.StatusCode = status
	if err != nil {
		attempt.Error = err.Error()
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	if d.flights[f.id] != f {
		return // cancelled
	}
	out.Attempts, out.Due = append(out.Attempts, attempt), time.Time{}
	switch tries := len(out.Attempts); {
	case err == nil && policy.accepts(status):
		out.State = notify.Delivered
	case tries >= policy.attempts():
		out.State, out.Reason = notify.Failed, fmt.Sprintf("not accepted in %d attempts", tries)
	default:
		wait := policy.wait(tries)
		out.Due = d.config.Clock.Now().Add(wait)
		d.retry(f, wait)
	}
	if at := f.number - d.dropped; at >= 0 {
		d.log[at] = &out
	}
	if out.State != notify.Queued {
		d.land(f)
	}
}

// current returns the log entry of a flight, or false if it was cancelled or the log has dropped
// it, which ends the flight.
func (d *Dispatcher) current(f *flight) (notify.Delivery, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.flights[f.id] != f {
		return notify.Delivery{}, false
	}
	at := f.number - d.dropped
	if at < 0 {
		d.land(f)
		return notify.Delivery{}, false
	}
	return clone(d.log[at]), true
}

// land ends a flight. The caller holds mu.
func (d *Dispatcher) land(f *flight) {
	delete(d.flights, f.id)
	f.cancel()
	close(f.ended)
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

// Once makes one attempt at a delivery without retries, and returns its log entry.
func (d *Dispatcher) Once(out notify.Delivery) notify.Delivery {
	now, policy := d.config.Clock.Now(), d.policy()
	out.State, out.Reason, out.CreatedAt, out.Due = notify.Failed, "", now, time.Time{}
	if err := CheckTarget(out.URL, d.config.Assume.DeliverAnywhere); err != nil {
		out.State, out.Reason, out.Attempts = notify.Refused, err.Error(), nil
	} else {
		attempt := notify.Attempt{At: now}
		if attempt.StatusCode, err = d.post(d.ctx, policy, &out); err != nil {
			attempt.Error = err.Error()
		}
		if err == nil && policy.accepts(attempt.StatusCode) {
			out.State = notify.Delivered
		} else {
			out.Reason = "not accepted in its only attempt"
		}
		out.Attempts = []notify.Attempt{attempt}
	}
	d.Record(out)
	return clone(&out)
}
