package sweep

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// Notification takes the place of an operation in a schedule: "notification#1:twice" sends the first notification of a run
// twice. Notifications to receivers on this machine are counted, each once, however many attempts its delivery takes.
const Notification = "notification"

const (
	holdFor   = 2 * time.Second        // how long a fault holds a notification back
	dialEvery = 20 * time.Millisecond  // between attempts to reach a receiver that does not listen
	quietFor  = 300 * time.Millisecond // without a request, until a notified program is asked to end
)

var errResponseLost = errors.New("the response was lost")

// notifier is the transport of the notifications of a run. It numbers them and strikes those that the schedule names.
type notifier struct {
	base    http.RoundTripper
	strikes map[int]Fault // by the number of the notification
	ended   chan struct{} // closed when no program is left, which ends every wait

	mu    sync.Mutex
	world *mockserver.World // nil until the server has started
	kill  func()            // ends the program; nil if none is running
	sent  []*notification   // in the order of their first attempts
	byID  map[string]*notification
}

// notification is a notification on its way to the receiver.
type notification struct {
	Request
	at        time.Time     // of the first attempt
	emitted   bool          // by the sweep, not because of the program
	held      chan struct{} // closed if a fault holds it back, so that later ones are sent meanwhile
	overtaken chan struct{} // closed when the receiver has responded to a later one
}

// newNotifier returns the notifier of a schedule. base is nil for connections to this machine.
func newNotifier(base http.RoundTripper, schedule Schedule) (*notifier, error) {
	if base == nil {
		base = delivery.NewTransport(false)
	}
	n := &notifier{base: base, strikes: map[int]Fault{}, ended: make(chan struct{}), byID: map[string]*notification{}}
	for _, strike := range schedule {
		if strike.Operation != Notification {
			continue
		}
		f, err := faultNamed(strike.Fault)
		if err != nil {
			return nil, err
		}
		n.strikes[strike.Nth] = f
	}
	return n, nil
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
	resp, err := n.deliver(r)
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil {
		n.responded(out, resp.StatusCode)
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

// number returns the notification of a request and, at its first attempt, the fault that strikes it.
func (n *notifier) number(r *http.Request) (*notification, Fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := n.find(r.Header.Get(delivery.HeaderDeliveryID))
	if out.Nth > 0 {
		return out, Fault{}
	}
	n.sent = append(n.sent, out)
	out.Operation, out.Nth, out.Method, out.Target = Notification, len(n.sent), r.Method, r.URL.RequestURI()
	if n.world != nil {
		out.at = n.world.Now()
	}
	return out, n.strikes[out.Nth]
}

// find returns the notification of a delivery, which is new if the id is, or if the server sends none. The caller
// holds mu.
func (n *notifier) find(id string) *notification {
	out := n.byID[id]
	if out == nil {
		out = &notification{held: make(chan struct{}), overtaken: make(chan struct{})}
		if id != "" {
			out.same, n.byID[id] = id, out
		}
	}
	return out
}

// responded records a response of the receiver. The caller holds mu.
func (n *notifier) responded(out *notification, status int) {
	out.Status = status
	for _, earlier := range n.sent[:out.Nth-1] {
		if earlier.Status == 0 {
			closeOnce(earlier.overtaken)
		}
	}
}

// hold holds a notification back, and reports whether the fault struck: the notification is late, or was overtaken.
func (n *notifier) hold(ctx context.Context, out *notification, strike Fault) bool {
	n.mu.Lock()
	closeOnce(out.held)
	n.mu.Unlock()
	var overtaken <-chan struct{}
	if strike.overtake {
		overtaken = out.overtaken
	}
	select {
	case <-overtaken:
		return true
	case <-time.After(holdFor):
		return !strike.overtake
	case <-n.ended:
	case <-ctx.Done():
	}
	return false
}

// closeOnce closes a channel if it is open. The caller holds the lock of all who close it.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// deliver sends a notification. As long as the receiver does not listen, such as before it is started again, it is
// tried until the attempt has taken too long.
func (n *notifier) deliver(r *http.Request) (*http.Response, error) {
	for {
		again := r.Clone(r.Context())
		var err error
		if again.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
		resp, err := n.base.RoundTrip(again)
		if failed, ok := errors.AsType[*net.OpError](err); !ok || failed.Op != "dial" {
			return resp, err
		}
		select {
		case <-time.After(dialEvery):
		case <-n.ended:
			return nil, err
		case <-r.Context().Done():
			return nil, err
		}
	}
}

// emit notifies the webhooks of events, each once the one before was delivered or is held back. It returns when all
// were delivered and their consequences have ended.
func (n *notifier) emit(ctx context.Context, server *mockserver.Server, events []notify.Event) error {
	var all []string
	for _, e := range events {
		queued, err := server.Emit(e)
		if err != nil {
			return err
		}
		for _, d := range queued {
			n.mu.Lock()
			out := n.find(d.ID)
			out.emitted = true
			n.mu.Unlock()
			all = append(all, d.ID)
			await(ctx, server, d.ID, out.held)
		}
	}
	for _, id := range all {
		await(ctx, server, id, nil)
	}
	for last := "none"; ctx.Err() == nil; {
		idle(ctx, server, settleTime)
		latest := began(server.World).last
		if latest == last {
			return nil
		}
		last = latest
		select {
		case <-time.After(quietFor):
		case <-ctx.Done():
		}
	}
	return nil
}

// await returns when a delivery has ended or is held back, or when the context ends.
func await(ctx context.Context, server *mockserver.Server, id string, held <-chan struct{}) {
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-held:
			cancel()
		case <-ctx.Done():
		}
	})
	_, _ = server.WaitDelivery(ctx, id) // the delivery log has the outcome
	cancel()
	watch.Wait()
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
		one := out.Request
		one.at = out.at
		merged = append(merged, one)
	}
	return append(merged, requests...)
}

// emitted reports whether a delivery was not caused by the program.
func (n *notifier) emitted(id string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := n.byID[id]
	return out != nil && out.emitted
}
