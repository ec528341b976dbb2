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
	attempt := Attempt{At: d.config.Clock.Now()}
	settings := d.settings.Load()
	status, err := d.post(f.ctx, settings, &out)
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
	case err == nil && settings.Policy.Accept(status):
		out.State = Delivered
	case tries >= settings.Policy.Attempts:
		out.State, out.Reason = Failed, fmt.Sprintf("not accepted in %d attempts", tries)
	default:
		wait := settings.Policy.wait(tries)
		out.Due = d.config.Clock.Now().Add(wait)
		d.retry(f, wait)
	}
	if at := f.number - d.dropped; at >= 0 {
		d.log[at] = &out
	}
	if out.State != Queued {
		d.land(f)
	}
}

// current returns the log entry of a flight, or false if it was cancelled or the log has dropped
// it, which ends the flight.
func (d *Dispatcher) current(f *flight) (Delivery, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.flights[f.id] != f {
		return Delivery{}, false
	}
	at := f.number - d.dropped
	if at < 0 {
		d.land(f)
		return Delivery{}, false
	}
	return d.log[at].clone(), true
}

// land ends a flight. The caller holds mu.
func (d *Dispatcher) land(f *flight) {
	delete(d.flights, f.id)
	f.cancel()
	close(f.ended)
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
