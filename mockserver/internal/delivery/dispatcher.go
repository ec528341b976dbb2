package delivery

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// maxInFlight bounds how many notifications are on the wire at once.
const maxInFlight = 16

// Names of the headers of a notification.
//
// Assumption: all four; the specification does not show delivery headers.
const (
	HeaderSignature  = "X-Webhook-Signature"
	HeaderDeliveryID = "X-Webhook-Delivery-Id"
	HeaderEventID    = "X-Webhook-Event-Id"
	HeaderWebhookID  = "X-Webhook-Id"
)

// ErrUnknown is returned for a delivery that the log does not hold.
var ErrUnknown = errors.New("the delivery log holds no such delivery_id")

// Config is what a [Dispatcher] needs.
type Config struct {
	Secret    string            // signs the payloads
	Policy    Policy            // zero: [DefaultPolicy]
	Anywhere  bool              // deliver to targets off this machine too
	Transport http.RoundTripper // nil: one that refuses to leave this machine unless Anywhere
	Limit     int               // deliveries kept in the log, the oldest go first; zero: 10,000
	Now       func() time.Time
	After     func(d time.Duration, label string, fn func())
}

// Dispatcher delivers notifications and logs them. It is safe for concurrent use. Close it.
type Dispatcher struct {
	config   Config
	client   *http.Client
	inFlight chan struct{}
	ctx      context.Context
	cancel   context.CancelFunc

	mu      sync.Mutex
	log     []*Delivery // oldest first
	byID    map[string]*entry
	running sync.WaitGroup
}

// entry is a delivery and what those who wait for its end wait on.
type entry struct {
	delivery *Delivery
	ended    chan struct{}
}

// New returns a dispatcher with an empty log.
func New(config Config) *Dispatcher {
	if config.Policy.Attempts < 1 || config.Policy.Accept == nil {
		config.Policy = DefaultPolicy()
	}
	if config.Limit < 1 {
		config.Limit = 10_000
	}
	if config.Transport == nil {
		config.Transport = newTransport(config.Anywhere)
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Dispatcher{
		config: config,
		client: &http.Client{
			Transport: config.Transport,
			Timeout:   config.Policy.Timeout,
			// A redirect is an answer that is not 2xx; following it could leave this machine.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		inFlight: make(chan struct{}, maxInFlight),
		ctx:      ctx,
		cancel:   cancel,
		byID:     map[string]*entry{},
	}
}

// Sign returns the signature of a payload: the hex form of HMAC-SHA512 over its bytes.
func Sign(secret string, payload []byte) string {
	mac := hmac.New(sha512.New, []byte(secret))
	mac.Write(payload)
	return hex.EncodeToString(mac.Sum(nil))
}

// Record puts a delivery that has already ended into the log, such as one of a seeded history.
func (d *Dispatcher) Record(past Delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.add(&past).ended)
}

// Send queues a new delivery and returns at once with what the log says of it. Its state, attempts
// and times are the dispatcher's to fill in.
func (d *Dispatcher) Send(out Delivery) Delivery {
	out.State, out.Reason, out.Attempts, out.CreatedAt = Queued, "", nil, d.config.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.add(&out)
	if err := CheckTarget(out.URL, d.config.Anywhere); err != nil {
		d.end(e, Refused, err.Error())
	} else {
		d.start(e)
	}
	return e.delivery.clone()
}

// add logs a delivery and drops the oldest one beyond the limit. The caller holds mu.
func (d *Dispatcher) add(delivery *Delivery) *entry {
	e := &entry{delivery: delivery, ended: make(chan struct{})}
	d.log = append(d.log, delivery)
	d.byID[delivery.ID] = e
	if len(d.log) > d.config.Limit {
		delete(d.byID, d.log[0].ID)
		d.log[0] = nil
		d.log = d.log[1:]
	}
	return e
}

// start makes the next attempt in the background. The caller holds mu.
func (d *Dispatcher) start(e *entry) {
	if d.ctx.Err() == nil {
		d.running.Go(func() { d.try(e) })
	}
}

func (d *Dispatcher) try(e *entry) {
	select {
	case d.inFlight <- struct{}{}:
		defer func() { <-d.inFlight }()
	case <-d.ctx.Done():
		return
	}
	attempt := Attempt{At: d.config.Now()}
	status, err := d.post(e.delivery)
	attempt.StatusCode = status
	if err != nil {
		attempt.Error = err.Error()
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	e.delivery.Attempts = append(e.delivery.Attempts, attempt)
	tries := len(e.delivery.Attempts)
	switch {
	case err == nil && d.config.Policy.Accept(status):
		d.end(e, Delivered, "")
	case tries >= d.config.Policy.Attempts:
		d.end(e, Failed, fmt.Sprintf("not accepted in %d attempts", tries))
	default:
		d.config.After(d.config.Policy.wait(tries), "webhook delivery "+e.delivery.ID+" is tried again", func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.start(e)
		})
	}
}

func (d *Dispatcher) end(e *entry, state State, reason string) {
	e.delivery.State, e.delivery.Reason = state, reason
	close(e.ended)
}

// post sends the payload once. What it reads of the delivery never changes after Send.
func (d *Dispatcher) post(out *Delivery) (int, error) {
	req, err := http.NewRequestWithContext(d.ctx, http.MethodPost, out.URL, bytes.NewReader(out.Payload))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(HeaderSignature, Sign(d.config.Secret, out.Payload))
	req.Header.Set(HeaderDeliveryID, out.ID)
	req.Header.Set(HeaderEventID, out.EventID)
	req.Header.Set(HeaderWebhookID, out.WebhookID)
	resp, err := d.client.Do(req)
	if err != nil {
		// The URL stands in the log already; the cause is what the reader wants.
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err
		}
		return 0, err
	}
	defer resp.Body.Close()
	// Reading a little lets the connection be used again; the rest of a long answer is nobody's.
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	return resp.StatusCode, nil
}

// Find returns a delivery as it stands now.
func (d *Dispatcher) Find(id string) (Delivery, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, ok := d.byID[id]
	if !ok {
		return Delivery{}, false
	}
	return e.delivery.clone(), true
}

// Latest returns the newest delivery of an event of a shipment.
func (d *Dispatcher) Latest(shipmentID, event string) (Delivery, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, delivery := range slices.Backward(d.log) {
		if delivery.ShipmentID == shipmentID && delivery.Event == event {
			return delivery.clone(), true
		}
	}
	return Delivery{}, false
}

// Deliveries returns the log as it stands now, newest first.
func (d *Dispatcher) Deliveries() []Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]Delivery, 0, len(d.log))
	for _, delivery := range slices.Backward(d.log) {
		out = append(out, delivery.clone())
	}
	return out
}

// Wait returns a delivery once it has ended, [ErrUnknown], or the context's error.
func (d *Dispatcher) Wait(ctx context.Context, id string) (Delivery, error) {
	d.mu.Lock()
	e, ok := d.byID[id]
	d.mu.Unlock()
	if !ok {
		return Delivery{}, fmt.Errorf("%w: %s", ErrUnknown, id)
	}
	select {
	case <-e.ended:
		d.mu.Lock()
		defer d.mu.Unlock()
		return e.delivery.clone(), nil
	case <-ctx.Done():
		return Delivery{}, fmt.Errorf("delivery %s has not ended: %w", id, ctx.Err())
	}
}

// Close stops delivering and returns when nothing is on the wire any more.
func (d *Dispatcher) Close() {
	d.mu.Lock()
	d.cancel()
	d.mu.Unlock()
	d.running.Wait()
	d.client.CloseIdleConnections()
}
