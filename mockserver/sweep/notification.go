package sweep

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/shipping-go/shipping/internal/wait"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// Notification takes the place of an operation in a schedule: "notification#1:twice" sends the first notification of a
// run twice. Notifications are counted as [fault.Notification] describes.
const Notification = fault.Notification

// pollEvery is the time between two looks at something that happens elsewhere, such as a receiver that begins to
// listen.
const pollEvery = 20 * time.Millisecond

// notifier is the transport of the notifications of a run. It kills the program at the one that the schedule names.
type notifier struct {
	base   http.RoundTripper
	killAt int           // the number of the notification; 0: none
	quiet  time.Duration // how long the program must be idle until it is asked to end
	ended  chan struct{} // closed when no program is left, which ends every wait

	mu      sync.Mutex
	world   *mockserver.World // nil until the world is ready
	before  int               // deliveries before that
	kill    func()            // ends the program; nil if none is running
	killed  string            // the id of the notification at which the program was killed
	emitted map[string]bool   // by id: notifications of the sweep, not because of the program
	idle    time.Duration     // the longest time without a request before one that came after the notifications
}

// newNotifier returns the notifier of a schedule. The default of the transport is connections to this machine.
func newNotifier(c *Config, schedule Schedule) *notifier {
	n := &notifier{base: c.Deliver, ended: make(chan struct{}), emitted: map[string]bool{}}
	if n.base == nil {
		n.base = delivery.NewTransport(false)
	}
	for _, strike := range schedule {
		if strike.Operation == Notification && strike.Fault == Kill {
			n.killAt = strike.Nth
		}
	}
	return n
}

// begin sets the world. Its later notifications are those of the run.
func (n *notifier) begin(w *mockserver.World) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.world, n.before = w, len(w.Deliveries())
}

// deliveries returns the deliveries of the run, the first one first.
func (n *notifier) deliveries() []notify.Delivery {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.world == nil {
		return nil
	}
	all := n.world.Deliveries()
	all = all[:max(0, len(all)-n.before)]
	slices.Reverse(all)
	return all
}

// notifications returns the deliveries that fault rules count.
func (n *notifier) notifications() []notify.Delivery {
	return slices.DeleteFunc(n.deliveries(), func(d notify.Delivery) bool { return d.State == notify.Refused })
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
	resp, err := n.deliver(r)
	if err == nil && n.killAt > 0 {
		n.killAfter(delivery.IDOf(r.Context()))
	}
	return resp, err
}

// killAfter ends the running program if the schedule kills it at a notification that it has answered.
func (n *notifier) killAfter(id string) {
	at := slices.IndexFunc(n.notifications(), func(d notify.Delivery) bool { return d.ID == id })
	n.mu.Lock()
	defer n.mu.Unlock()
	if at+1 == n.killAt && n.kill != nil {
		n.kill()
		n.killed = id
	}
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
			n.poll(ctx, func() bool { return d.Due.After(d.CreatedAt) || finished(server, d.ID) })
		}
	}
	for _, id := range all {
		n.poll(ctx, func() bool { return finished(server, id) })
	}
	n.awaitQuiet(ctx, server, c.Timeout)
	return nil
}

// awaitQuiet returns when the program has been idle for the time that it must be, and notes the longest time after
// which it made another request.
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

// finished reports whether a delivery has ended; the delivery log has the outcome.
func finished(server *mockserver.Server, id string) bool {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := server.WaitDelivery(ctx, id)
	return !errors.Is(err, context.Canceled)
}

// merge returns the requests of a run with its notifications at their places.
func (n *notifier) merge(requests []Request) []Request {
	var merged []Request
	for i, d := range n.notifications() {
		for len(requests) > 0 && !requests[0].at.After(d.CreatedAt) {
			merged, requests = append(merged, requests[0]), requests[1:]
		}
		out := Request{Operation: Notification, Nth: i + 1, Method: http.MethodPost, Target: d.URL, Fault: d.Fault,
			same: d.ID}
		if u, err := url.Parse(d.URL); err == nil {
			out.Target = u.RequestURI()
		}
		if tries := len(d.Attempts); tries > 0 {
			out.Status = d.Attempts[tries-1].StatusCode
		}
		if d.ID == n.killed {
			out.Fault = Kill
		}
		merged = append(merged, out)
	}
	return append(merged, requests...)
}
