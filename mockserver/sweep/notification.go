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

// notifier is the transport of the notifications of a run. It kills the program at the notification that the schedule
// names.
type notifier struct {
	base     http.RoundTripper
	schedule Schedule
	ended    chan struct{} // closed when no program is left that could listen

	mu      sync.Mutex
	world   *mockserver.World // nil until the world is ready
	before  int               // deliveries before the world was ready
	kill    func()            // ends the program; nil if none is running
	killed  string            // the id of the notification at which the program was killed
	emitted map[string]bool   // by id: notifications that the sweep emitted, not the program
}

// newNotifier returns the notifier of a schedule. The default of the transport is connections to this machine.
func newNotifier(c *Config, schedule Schedule) *notifier {
	n := &notifier{base: c.Deliver, schedule: schedule, ended: make(chan struct{}), emitted: map[string]bool{}}
	if n.base == nil {
		n.base = delivery.NewTransport(false)
	}
	return n
}

// begin sets the world. Its later notifications belong to the run.
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

// end stops the attempts to reach a program, because none is left.
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

// RoundTrip implements [http.RoundTripper]. It ends the running program if the schedule kills it at this notification,
// as soon as the program has answered.
func (n *notifier) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := n.deliver(r)
	id := delivery.IDOf(r.Context())
	at := slices.IndexFunc(n.notifications(), func(d notify.Delivery) bool { return d.ID == id })
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil && n.kill != nil && slices.Contains(n.schedule, Strike{Notification, at + 1, Kill}) {
		n.kill()
		n.killed = id
	}
	return resp, err
}

// deliver sends a notification. While the receiver does not listen, such as before a restart, the attempt is repeated
// until it has taken too long.
func (n *notifier) deliver(r *http.Request) (resp *http.Response, err error) {
	for {
		again := r.Clone(r.Context())
		if again.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
		resp, err = n.base.RoundTrip(again)
		if failed, ok := errors.AsType[*net.OpError](err); !ok || failed.Op != "dial" {
			return resp, err
		}
		select {
		case <-time.After(pollEvery):
		case <-n.ended:
			return nil, err
		case <-r.Context().Done():
			return nil, err
		}
	}
}

// emit notifies the webhooks of each event after the previous one was delivered or is held back. It returns when all
// were delivered and the program is idle.
func (n *notifier) emit(ctx context.Context, server *mockserver.Server, c *Config, quiet time.Duration) error {
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
			if !d.Due.After(d.CreatedAt) {
				_, _ = server.WaitDelivery(ctx, d.ID) // the delivery log has the outcome
			}
		}
	}
	for _, id := range all {
		_, _ = server.WaitDelivery(ctx, id)
	}
	before, since := latest(server.World), time.Now()
	for time.Since(since) < quiet && wait.Sleep(ctx, pollEvery) == nil {
		if last := latest(server.World); last != before || busy(server) {
			idle(ctx, server, c.Timeout)
			before, since = latest(server.World), time.Now()
		}
	}
	return nil
}

// merge returns the requests of a run with its notifications at their places.
func (n *notifier) merge(requests []Request) []Request {
	var merged []Request
	for i, d := range n.notifications() {
		for len(requests) > 0 && !requests[0].at.After(d.CreatedAt) {
			merged, requests = append(merged, requests[0]), requests[1:]
		}
		out := Request{Operation: Notification, Nth: i + 1, Method: http.MethodPost, Target: d.URL, Fault: d.Fault,
			same: d.ID, sent: d.CreatedAt}
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
