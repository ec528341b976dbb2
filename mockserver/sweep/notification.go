package sweep

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/shipping-go/shipping/internal/wait"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// Notification takes the place of an operation in a schedule: "notification#1:twice" sends the first notification of a run
// twice. Notifications to receivers on this machine are counted, each once, however many attempts its delivery takes.
const Notification = "notification"

const (
	holdFor   = 2 * time.Second        // how long a fault holds a notification back
	pollEvery = 20 * time.Millisecond  // between two looks at something that happens elsewhere, such as a receiver that begins to listen
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
	at      time.Time // of the first attempt
	emitted bool      // by the sweep, not because of the program
	held    bool      // a fault holds it back, so that later ones are sent meanwhile
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
		out = &notification{}
		if id != "" {
			out.same, n.byID[id] = id, out
		}
	}
	return out
}

// hold holds a notification back, and reports whether the fault struck: the notification is late, or was overtaken.
func (n *notifier) hold(ctx context.Context, out *notification, strike Fault) (struck bool) {
	until := time.Now().Add(holdFor)
	return n.poll(ctx, func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		out.held = true
		if !strike.overtake {
			return !time.Now().Before(until)
		}
		struck = slices.ContainsFunc(n.sent[out.Nth:], func(later *notification) bool { return later.Status != 0 })
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
			n.poll(ctx, func() bool {
				n.mu.Lock()
				held := out.held
				n.mu.Unlock()
				return held || finished(server, d.ID)
			})
		}
	}
	for _, id := range all {
		n.poll(ctx, func() bool { return finished(server, id) })
	}
	for last := "none"; ctx.Err() == nil; {
		idle(ctx, server, settleTime)
		latest := began(server.World).last
		if latest == last {
			return nil
		}
		last = latest
		if wait.Sleep(ctx, quietFor) != nil { // the context ends before that
			return nil
		}
	}
	return nil
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
