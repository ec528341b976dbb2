package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/shipping-go/shipping/internal/signature"
	"github.com/shipping-go/shipping/mockserver/internal/clock"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// Maximum numbers of concurrent attempts.
const (
	maxInFlight = 16  // to one webhook
	MaxAttempts = 256 // of all worlds of a server
)

// ErrUnknown is returned for an unknown delivery.
var ErrUnknown = errors.New("unknown delivery_id")

// ErrClosed is returned by [Dispatcher.Wait] for a delivery that did not end before Close.
var ErrClosed = errors.New("the world is closed")

type Config struct {
	Scheme    signature.Scheme
	Attempts  int    // of a delivery
	Anywhere  bool   // targets on other machines are allowed
	Secret    string // signs the payloads
	Transport http.RoundTripper
	Running   chan struct{} // holds an element for each running attempt of all dispatchers
	Limit     int           // maximum number of deliveries in the log, the oldest are dropped; zero: 10,000
	Bytes     int           // maximum bytes of the log; zero: 32 MiB
	Clock     *clock.Clock  // times the attempts; required

	// Strike returns the fault of a new delivery.
	Strike func(notify.Delivery) Strike
}

// Dispatcher delivers notifications and logs them. It is safe for concurrent use. Call Close when done.
type Dispatcher struct {
	config Config
	client *http.Client
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex         // taken while the world's lock is held; never take the world's lock under mu
	log     []*notify.Delivery // oldest first; entries are immutable, an attempt replaces the entry
	changes uint32             // number of changes of the log
	bytes   int                // of the log
	initial int                // bytes of the deliveries of the last Reset, which the worlds of a plan share
	pending map[string]*pending
	queues  map[string]*queue // by webhook; only those with work
	waiting []waiting
	timers  *clock.Scope
	trying  int       // running attempts
	changed sync.Cond // signals that an attempt or a delivery has ended; uses mu
}

type pending struct {
	id      string
	webhook string
	strike  Strike
	turn    clock.Turn // the order among attempts that are due at the same time
	ctx     context.Context
	cancel  context.CancelFunc
}

func New(config Config) *Dispatcher {
	config.Limit, config.Bytes = cmp.Or(config.Limit, 10_000), cmp.Or(config.Bytes, 32<<20)
	ctx, cancel := context.WithCancel(context.Background())
	d := &Dispatcher{
		config: config,
		client: &http.Client{
			Transport: config.Transport,
			// A redirect is a failure; following it could leave this machine.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		ctx:     ctx,
		cancel:  cancel,
		pending: map[string]*pending{},
		queues:  map[string]*queue{},
		timers:  config.Clock.Scope(),
	}
	d.changed.L = &d.mu
	return d
}

// Send queues a new delivery and returns its log entry at once. The dispatcher sets state, attempts
// and times.
func (d *Dispatcher) Send(out notify.Delivery) notify.Delivery {
	now := d.config.Clock.Now()
	out.State, out.Reason, out.Attempts, out.CreatedAt, out.Due = notify.Queued, "", nil, now, now
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := CheckTarget(out.URL, d.config.Anywhere); err != nil {
		out.State, out.Reason, out.Due = notify.Refused, err.Error(), time.Time{}
		d.add(&out)
		return clone(&out)
	}
	strike := d.strike(&out)
	d.add(&out)
	if out.State == notify.Queued {
		d.schedule(&out, strike, now)
	}
	return clone(&out)
}

// Reset replaces the log by deliveries that have ended, and cancels pending ones.
func (d *Dispatcher) Reset(log []*notify.Delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.timers.Stop()
	d.timers = d.config.Clock.Scope()
	for _, p := range d.pending {
		p.cancel()
	}
	clear(d.pending)
	clear(d.queues)
	d.waiting = nil
	d.log, d.bytes = slices.Clone(log), 0
	d.changes++
	for _, delivery := range d.log {
		d.bytes += size(delivery)
	}
	d.initial = d.bytes
	d.changed.Broadcast()
}

// Bytes estimates how many bytes the log has taken since the last Reset.
func (d *Dispatcher) Bytes() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return max(0, d.bytes-d.initial)
}

// schedule schedules the first attempt of a queued log entry. The caller holds mu.
func (d *Dispatcher) schedule(out *notify.Delivery, strike Strike, now time.Time) {
	ctx, cancel := context.WithCancel(context.WithValue(d.ctx, deliveryID{}, out.ID))
	p := &pending{id: out.ID, webhook: out.WebhookID, strike: strike, turn: d.config.Clock.Turn(), ctx: ctx,
		cancel: cancel}
	d.pending[p.id] = p
	wait := out.Due.Sub(now)
	if wait <= 0 {
		d.enqueue(p)
		return
	}
	limit := d.after(p, wait, "is sent")
	if out.Fault == "" {
		d.waiting = append(d.waiting, waiting{p, limit})
	}
}

// Settle returns when no attempt is running. An attempt ends after its timeout at the latest.
func (d *Dispatcher) Settle() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.trying > 0 {
		d.changed.Wait()
	}
}

// Wait returns a delivery once it has ended, or [ErrUnknown], [ErrClosed] or the context's error.
func (d *Dispatcher) Wait(ctx context.Context, id string) (notify.Delivery, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.wait(ctx, func() bool { return d.pending[id] == nil }); err != nil {
		return notify.Delivery{}, fmt.Errorf("delivery %s has not ended: %w", id, err)
	}
	at := d.place(id)
	if at < 0 {
		return notify.Delivery{}, fmt.Errorf("%w: %s", ErrUnknown, id)
	}
	return clone(d.log[at]), nil
}

// IsWaiting reports whether a delivery is queued.
func (d *Dispatcher) IsWaiting() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.pending) > 0
}

// WaitAll returns nil when no delivery is queued. Otherwise it returns [ErrClosed] or the error of the context.
func (d *Dispatcher) WaitAll(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.wait(ctx, func() bool { return len(d.pending) == 0 })
	if err == nil || errors.Is(err, ErrClosed) {
		return err
	}
	return fmt.Errorf("deliveries still queued: %d; a retry is sent as the clock of the world advances: %w",
		len(d.pending), err)
}

// wait is like await, and ends with the dispatcher. The caller holds mu.
func (d *Dispatcher) wait(ctx context.Context, done func() bool) error {
	err := await(ctx, &d.changed, func() bool { return done() || d.ctx.Err() != nil })
	if err == nil && !done() {
		return ErrClosed
	}
	return err
}

// await returns nil as soon as done returns true, or the cause of the context's end. It calls done at each signal. The
// caller holds the lock of changed, which await releases while it waits.
func await(ctx context.Context, changed *sync.Cond, done func() bool) error {
	stop := context.AfterFunc(ctx, func() {
		changed.L.Lock()
		defer changed.L.Unlock()
		changed.Broadcast()
	})
	defer stop()
	for !done() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		changed.Wait()
	}
	return nil
}

// Close cancels pending deliveries and returns when no attempt is running.
func (d *Dispatcher) Close() {
	d.mu.Lock()
	d.cancel() // no attempt starts from now on
	d.changed.Broadcast()
	d.mu.Unlock()
	d.Settle()
}

// Changes returns a number that changes if a delivery is queued, attempted or dropped.
func (d *Dispatcher) Changes() uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changes
}

// size estimates how many bytes a delivery takes.
func size(d *notify.Delivery) int { return 256 + len(d.Payload) }

// add logs a delivery and drops the oldest ones beyond the limits. The caller holds mu.
func (d *Dispatcher) add(delivery *notify.Delivery) {
	d.changes++
	d.log = append(d.log, delivery)
	d.bytes += size(delivery)
	for len(d.log) > d.config.Limit || d.bytes > d.config.Bytes && len(d.log) > 1 {
		d.bytes -= size(d.log[0])
		d.log[0] = nil // the array keeps this place until append needs room
		d.log = d.log[1:]
	}
}

// place returns the index of a delivery in the log, or -1. The caller holds mu. It searches from the end, because most
// calls are for recent deliveries.
func (d *Dispatcher) place(id string) int {
	for i, delivery := range slices.Backward(d.log) {
		if delivery.ID == id {
			return i
		}
	}
	return -1
}

func (d *Dispatcher) Find(id string) (notify.Delivery, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.place(id)
	if at < 0 {
		return notify.Delivery{}, false
	}
	return clone(d.log[at]), true
}

// Latest returns the newest delivery of an event of a shipment.
func (d *Dispatcher) Latest(shipmentID, event string) (notify.Delivery, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, delivery := range slices.Backward(d.log) {
		if delivery.ShipmentID == shipmentID && delivery.Event == event {
			return clone(delivery), true
		}
	}
	return notify.Delivery{}, false
}

// Deliveries returns the current log, newest first.
func (d *Dispatcher) Deliveries() []notify.Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]notify.Delivery, 0, len(d.log))
	for _, delivery := range slices.Backward(d.log) {
		out = append(out, clone(delivery))
	}
	return out
}
