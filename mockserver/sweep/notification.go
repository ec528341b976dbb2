package sweep

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/shipping-go/shipping/internal/wait"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
)

// Notification takes the place of an operation in a schedule: "notification#1:twice" sends the first notification of a run
// twice. Notifications to receivers on this machine are counted, each once, however many attempts its delivery takes.
const Notification = "notification"

const (
	holdFor   = 2 * time.Second       // how long a fault holds a notification back
	pollEvery = 20 * time.Millisecond // between two looks at something that happens elsewhere, such as a receiver that begins to listen
)

var errResponseLost = errors.New("the response was lost")

// notifier is the transport of the notifications of a run. It numbers them and strikes those that the schedule names.
type notifier struct {
	base    http.RoundTripper
	strikes map[int]Fault // by the number of the notification
	quiet   time.Duration // how long the program must be idle until it is asked to end
	ended   chan struct{} // closed when no program is left, which ends every wait

	mu      sync.Mutex
	world   *mockserver.World // nil until the server has started
	kill    func()            // ends the program; nil if none is running
	sent    []*Request        // the notifications in the order of their first attempts
	byID    map[string]*Request
	emitted map[string]bool // by id: notifications of the sweep, not because of the program
	idle    time.Duration   // the longest time without a request before one that came after the notifications
}

// newNotifier returns the notifier of a schedule. The default of the transport is connections to this machine.
func newNotifier(c *Config, schedule Schedule) *notifier {
	n := &notifier{base: c.Deliver, strikes: map[int]Fault{}, ended: make(chan struct{}), byID: map[string]*Request{}, emitted: map[string]bool{}}
	if n.base == nil {
		n.base = delivery.NewTransport(false)
	}
	for _, strike := range schedule {
		if f, err := c.fault(strike.Fault); err == nil && strike.Operation == Notification {
			n.strikes[strike.Nth] = f
		}
	}
	return n
}

// begin sets the world whose notifications these are.
func (n *notifier) begin(w *mockserver.World) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.world = w
}

// end ends every wait, because no program is left that could receive something.
func (n *notifier) end() {
	close(n.ended)
	if transport, ok := n.base.(*http.Transport); ok {
		transport.CloseIdleConnections()
	}
}

// killWith sets the function that ends the running program.
func (n *notifier) killWith(kill func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.kill = kill
}

// RoundTrip implements [http.RoundTripper].
func (n *notifier) RoundTrip(r *http.Request) (*http.Response, error) {
	out, strike := n.number(r)
	struck := strike.hold && n.hold(r.Context(), out, strike)
	if strike.forge {
		struck = n.forge(r)
	}
	resp, err := n.deliver(r)
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil {
		out.Status = resp.StatusCode
		if strike.kill && n.kill != nil {
			n.kill()
			struck = true
		}
		if strike.lose {
			_ = resp.Body.Close()
			resp, err, struck = nil, errResponseLost, true
		}
	}
	if struck {
		out.Fault = strike.Name
	}
	return resp, err
}

// number returns the notification of a request and, at its first attempt, the fault that strikes it. If the server sends no
// ids, each attempt counts as a notification.
func (n *notifier) number(r *http.Request) (*Request, Fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	id := r.Header.Get(delivery.HeaderDeliveryID)
	if out := n.byID[id]; out != nil {
		return out, Fault{}
	}
	out := &Request{Operation: Notification, Nth: len(n.sent) + 1, Method: r.Method, Target: r.URL.RequestURI(), same: id}
	if n.world != nil {
		out.at = n.world.Now()
	}
	n.sent = append(n.sent, out)
	if id != "" {
		n.byID[id] = out
	}
	return out, n.strikes[out.Nth]
}

// hold holds a notification back, and reports whether the fault struck: the notification is late, or was overtaken.
func (n *notifier) hold(ctx context.Context, out *Request, strike Fault) (struck bool) {
	until := time.Now().Add(holdFor)
	return n.poll(ctx, func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		if !strike.overtake {
			return !time.Now().Before(until)
		}
		struck = slices.ContainsFunc(n.sent[out.Nth:], func(later *Request) bool { return later.Status != 0 })
		return struck || !time.Now().Before(until)
	}) && (struck || !strike.overtake)
}

// poll returns true as soon as a condition holds, or false if the context or the last program ends before.
func (n *notifier) poll(ctx context.Context, condition func() bool) bool {
	for !condition() {
		select {
		case <-time.After(pollEvery):
		case <-n.ended:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// deliver sends a notification. As long as the receiver does not listen, such as before it is started again, it is
// tried until the attempt has taken too long.
func (n *notifier) deliver(r *http.Request) (resp *http.Response, err error) {
	n.poll(r.Context(), func() bool {
		again := r.Clone(r.Context())
		if again.Body, err = r.GetBody(); err != nil {
			return true
		}
		resp, err = n.base.RoundTrip(again)
		failed, ok := errors.AsType[*net.OpError](err)
		return !ok || failed.Op != "dial"
	})
	return resp, err
}

// forge sends a notification about another shipment, with the signature of a notification, and reports whether the receiver
// responded.
func (n *notifier) forge(genuine *http.Request) bool {
	body, err := genuine.GetBody()
	if err != nil {
		return false
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return false
	}
	shipments := n.world.Shipments()
	another := slices.IndexFunc(shipments, func(id string) bool { return !bytes.Contains(text, []byte(id)) })
	for _, id := range shipments {
		text = bytes.ReplaceAll(text, []byte(id), []byte(shipments[max(0, another)]))
	}
	forged := genuine.Clone(genuine.Context())
	forged.ContentLength = int64(len(text))
	forged.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	forged.Header.Set(delivery.HeaderDeliveryID, "WD-FORGED")
	forged.Header.Set(delivery.HeaderEventID, "WE-FORGED")
	resp, err := n.deliver(forged)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil
}

// emit notifies the webhooks of events, each once the one before was delivered or is held back. It returns when all
// were delivered and their consequences have ended.
func (n *notifier) emit(ctx context.Context, server *mockserver.Server, c *Config) error {
	var all []string
	for _, e := range c.Notify(server.World) {
		queued, err := server.Emit(e)
		if err != nil {
			return err
		}
		for _, d := range queued {
			all = append(all, d.ID)
			n.mu.Lock()
			n.emitted[d.ID] = true
			n.mu.Unlock()
			n.poll(ctx, func() bool { return n.holds(d.ID) || finished(server, d.ID) })
		}
	}
	for _, id := range all {
		n.poll(ctx, func() bool { return finished(server, id) })
	}
	n.awaitQuiet(ctx, server, c.Timeout)
	return nil
}

// awaitQuiet returns when the program has been idle for the time that it must be, and notes the longest time after which it
// made another request.
func (n *notifier) awaitQuiet(ctx context.Context, server *mockserver.Server, limit time.Duration) {
	before, since := latest(server.World), time.Now()
	for time.Since(since) < n.quiet && wait.Sleep(ctx, pollEvery) == nil {
		if last := latest(server.World); last != before || server.Active() > 0 || server.Pending() > 0 {
			n.idle = max(n.idle, time.Since(since))
			idle(ctx, server, limit)
			before, since = latest(server.World), time.Now()
		}
	}
}

// holds reports whether a fault holds a notification back, so that later ones are sent meanwhile.
func (n *notifier) holds(id string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := n.byID[id]
	return out != nil && n.strikes[out.Nth].hold
}

// finished reports whether a delivery has ended; the delivery log has the outcome.
func finished(server *mockserver.Server, id string) bool {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := server.WaitDelivery(ctx, id)
	return !errors.Is(err, context.Canceled)
}

// merge returns the requests of a run with its notifications at their places.
func (n *notifier) merge(requests []Request) []Request {
	n.mu.Lock()
	defer n.mu.Unlock()
	var merged []Request
	for _, out := range n.sent {
		for len(requests) > 0 && !requests[0].at.After(out.at) {
			merged, requests = append(merged, requests[0]), requests[1:]
		}
		merged = append(merged, *out)
	}
	return append(merged, requests...)
}
