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

	"github.com/shipping-go/shipping/mockserver/internal/clock"
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
	Bytes     int               // of payloads kept there, likewise; zero: 32 MiB
	Clock     *clock.Clock      // times the attempts; required
}

// Dispatcher delivers notifications and logs them. It is safe for concurrent use. Close it.
type Dispatcher struct {
	config   Config
	client   *http.Client
	inFlight chan struct{}
	ctx      context.Context
	cancel   context.CancelFunc

	ownTransport bool

	mu      sync.Mutex
	log     []*Delivery // oldest first; what it points to never changes, an attempt puts in a new one
	bytes   int         // of payloads in the log
	flights map[string]*flight
	orders  map[string]*gathering // by webhook; those that have one
	retries *clock.Scope
	running sync.WaitGroup
	trying  int       // attempts that run
	settled sync.Cond // none runs any more; on mu
}

// flight is a delivery that has not ended.
type flight struct {
	id     string
	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{}
}

// New returns a dispatcher with an empty log.
func New(config Config) *Dispatcher {
	if config.Policy.Attempts < 1 || config.Policy.Accept == nil {
		config.Policy = DefaultPolicy()
	}
	if config.Limit < 1 {
		config.Limit = 10_000
	}
	if config.Bytes < 1 {
		config.Bytes = 32 << 20
	}
	own := config.Transport == nil
	if own {
		config.Transport = NewTransport(config.Anywhere)
	}
	ctx, cancel := context.WithCancel(context.Background())
	d := &Dispatcher{
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
		flights:  map[string]*flight{},
		retries:  config.Clock.Scope(),

		ownTransport: own,
	}
	d.settled.L = &d.mu
	return d
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
	d.add(&past)
}

// Send queues a new delivery and returns at once with what the log says of it. Its state, attempts
// and times are the dispatcher's to fill in.
func (d *Dispatcher) Send(out Delivery) Delivery {
	out.State, out.Reason, out.Attempts, out.CreatedAt = Queued, "", nil, d.config.Clock.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := CheckTarget(out.URL, d.config.Anywhere); err != nil {
		out.State, out.Reason = Refused, err.Error()
		d.add(&out)
	} else {
		d.add(&out)
		d.launch(out.ID)
	}
	return out.clone()
}

// Log returns the log as it stands now, oldest first, for [Dispatcher.Restore]. What it points to
// never changes.
func (d *Dispatcher) Log() []*Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.log)
}

// Restore replaces the log by one that [Dispatcher.Log] gave, of this dispatcher or another. What was
// on its way here is called back; what is queued in the new log is tried at once.
func (d *Dispatcher) Restore(log []*Delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.retries.Stop()
	d.retries = d.config.Clock.Scope()
	for _, f := range d.flights {
		f.cancel()
		close(f.ended)
	}
	clear(d.flights)
	for _, g := range d.orders {
		g.waiting = nil
	}
	d.log, d.bytes = slices.Clone(log), 0
	for _, delivery := range d.log {
		d.bytes += len(delivery.Payload)
		if delivery.State == Queued {
			d.launch(delivery.ID)
		}
	}
}

// add logs a delivery and drops the oldest ones beyond the limits. The caller holds mu.
func (d *Dispatcher) add(delivery *Delivery) {
	d.log = append(d.log, delivery)
	d.bytes += len(delivery.Payload)
	for len(d.log) > d.config.Limit || d.bytes > d.config.Bytes && len(d.log) > 1 {
		d.bytes -= len(d.log[0].Payload)
		d.log[0] = nil
		d.log = d.log[1:]
	}
}

// launch starts delivering what the log has queued. The caller holds mu.
func (d *Dispatcher) launch(id string) {
	ctx, cancel := context.WithCancel(d.ctx)
	f := &flight{id: id, ctx: ctx, cancel: cancel, ended: make(chan struct{})}
	d.flights[id] = f
	if !d.gather(f) {
		d.start(f)
	}
}

// start makes the next attempt in the background. The caller holds mu.
func (d *Dispatcher) start(f *flight) {
	if f.ctx.Err() != nil {
		return
	}
	d.trying++
	d.running.Go(func() {
		d.try(f)
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.trying--; d.trying == 0 {
			d.settled.Broadcast()
		}
	})
}

// Settle returns when no attempt is on the wire any more. An attempt ends at the latest when the
// receiver has used up the policy's timeout.
func (d *Dispatcher) Settle() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.trying > 0 {
		d.settled.Wait()
	}
}

func (d *Dispatcher) try(f *flight) {
	select {
	case d.inFlight <- struct{}{}:
		defer func() { <-d.inFlight }()
	case <-f.ctx.Done():
		return
	}
	out, known := d.Find(f.id)
	if !known { // so many came after it that the log has no room for it any more
		d.mu.Lock()
		defer d.mu.Unlock()
		d.land(f)
		return
	}
	attempt := Attempt{At: d.config.Clock.Now()}
	status, err := d.post(f.ctx, &out)
	attempt.StatusCode = status
	if err != nil {
		attempt.Error = err.Error()
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	if d.flights[f.id] != f {
		return // called back
	}
	out.Attempts = append(out.Attempts, attempt)
	switch tries := len(out.Attempts); {
	case err == nil && d.config.Policy.Accept(status):
		out.State = Delivered
	case tries >= d.config.Policy.Attempts:
		out.State, out.Reason = Failed, fmt.Sprintf("not accepted in %d attempts", tries)
	default:
		d.retries.After(d.config.Policy.wait(tries), "webhook delivery "+f.id+" is tried again", func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.start(f)
		})
	}
	if at := d.place(f.id); at >= 0 {
		d.log[at] = &out
	}
	if out.State != Queued {
		d.land(f)
	}
}

// land ends a flight. The caller holds mu.
func (d *Dispatcher) land(f *flight) {
	if d.flights[f.id] == f {
		delete(d.flights, f.id)
		f.cancel()
		close(f.ended)
	}
}

// place returns where in the log a delivery stands, or -1. The caller holds mu. It is mostly asked for
// a late one, and so looks from the end.
func (d *Dispatcher) place(id string) int {
	for i, delivery := range slices.Backward(d.log) {
		if delivery.ID == id {
			return i
		}
	}
	return -1
}

// post sends the payload once.
func (d *Dispatcher) post(ctx context.Context, out *Delivery) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, out.URL, bytes.NewReader(out.Payload))
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
	at := d.place(id)
	if at < 0 {
		return Delivery{}, false
	}
	return d.log[at].clone(), true
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
	f := d.flights[id]
	d.mu.Unlock()
	if f != nil {
		select {
		case <-f.ended:
		case <-ctx.Done():
			return Delivery{}, fmt.Errorf("delivery %s has not ended: %w", id, ctx.Err())
		}
	}
	ended, known := d.Find(id)
	if !known {
		return Delivery{}, fmt.Errorf("%w: %s", ErrUnknown, id)
	}
	return ended, nil
}

// Close stops delivering and returns when nothing is on the wire any more.
func (d *Dispatcher) Close() {
	d.mu.Lock()
	d.cancel()
	d.mu.Unlock()
	d.running.Wait()
	if d.ownTransport {
		d.client.CloseIdleConnections()
	}
}
