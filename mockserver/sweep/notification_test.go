package sweep_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/internal/wait"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
	"github.com/shipping-go/shipping/mockserver/sweep"
	"github.com/shipping-go/shipping/webhook"
)

// receiver is a transport to the handler of the program that runs.
type receiver struct {
	handler atomic.Pointer[http.Handler] // nil while the program does not listen
}

func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	handler := r.handler.Load()
	if handler == nil {
		return nil, &net.OpError{Op: "dial", Err: errors.New("nobody listens")}
	}
	w := httptest.NewRecorder()
	(*handler).ServeHTTP(w, req)
	return w.Result(), nil
}

// notified is a program that purchases the documents of the shipments that it is notified of.
type notified struct {
	habits
	job  *job
	ctx  context.Context // ends with the program
	busy chan struct{}   // holds one element while a notification is handled; a mutex would stop the virtual time

	mu   sync.Mutex      // guards the maps below; a parallel program writes to them at the same time
	seen map[string]bool // events
	done map[string]bool // what is recorded
}

// habits are what receivers do differently.
type habits struct {
	unsigned bool                                   // it verifies no signature
	late     time.Duration                          // from its response to its work; 0: it responds after its work
	parallel bool                                   // it handles notifications at the same time
	records  func(shipment, delivery string) string // what it handles only once; nil: nothing
	buysAt   string                                 // the event; by default shipment.created
	catches  bool                                   // it also buys at a later event if it has missed that
	shipment string                                 // by default the one that it is notified of
	// work is its action for a shipment. By default, it analyzes and purchases.
	work func(ctx context.Context, s *job, shipment string) error
}

func newNotified(ctx context.Context, s *job, h habits) *notified {
	return &notified{habits: h, job: s, ctx: ctx, busy: make(chan struct{}, 1), seen: map[string]bool{},
		done: map[string]bool{}}
}

func (n *notified) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil && !n.unsigned {
		err = webhook.Verify(r.Header.Get(webhook.DefaultSignatureHeader), body, n.job.key)
	}
	var in struct {
		Event string
		Data  struct {
			ID string `json:"shipment_id"`
		}
	}
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	handle := func() error { return n.handle(in.Event, in.Data.ID, r.Header.Get("X-Webhook-Delivery-Id")) }
	if n.late > 0 {
		go func() {
			if wait.Sleep(n.ctx, n.late) == nil {
				_ = handle()
			}
		}()
	} else if err := handle(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (n *notified) handle(event, shipment, delivery string) error {
	if !n.parallel {
		n.busy <- struct{}{}
		defer func() { <-n.busy }()
	}
	shipment = cmp.Or(n.habits.shipment, shipment)
	if !n.buys(event, shipment, delivery) {
		return nil
	}
	work := n.work
	if work == nil {
		work = analyzeAndPurchase
	}
	err := work(n.ctx, n.job, shipment)
	if err == nil && n.records != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.done[n.records(shipment, delivery)] = true
	}
	return err
}

// buys reports whether the program purchases at an event, and stores that it has seen the event.
func (n *notified) buys(event, shipment, delivery string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := cmp.Or(n.buysAt, "shipment.created")
	buys := event == at || n.catches && !n.seen[at]
	n.seen[event] = true
	return buys && (n.records == nil || !n.done[n.records(shipment, delivery)])
}

// carefully continues with a request that it has noted, and waits before it ends with an error that asks for it.
func carefully(ctx context.Context, s *job, shipment string) error {
	err := continuesFromNote(ctx, s, shipment)
	if errors.Is(err, refused(http.StatusServiceUnavailable)) || errors.Is(err, refused(http.StatusTooManyRequests)) {
		_ = wait.Sleep(ctx, 1100*time.Millisecond) // its Retry-After
	}
	return err
}

// untilDone works again after an error, at once or after the Retry-After.
func untilDone(ctx context.Context, s *job, shipment string) (err error) {
	for range 5 {
		if err = carefully(ctx, s, shipment); err == nil {
			return nil
		}
	}
	return err
}

func byShipment(shipment, _ string) string { return shipment }

func byDelivery(_, delivery string) string { return delivery }

// sweepNotified sweeps a program that is notified of two events, in virtual time.
func sweepNotified(t *testing.T, config sweep.Config,
	handler func(ctx context.Context, s *job) http.Handler) (report *sweep.Report, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		network := &receiver{}
		config.Deliver = network
		config.Options = []mockserver.Option{mockserver.WithoutListener()}
		config.Setup = func(w *mockserver.World) error {
			_, err := w.AddWebhook(notify.Webhook{URL: "http://127.0.0.1/"})
			return err
		}
		config.Notify = func(w *mockserver.World) []notify.Event {
			return []notify.Event{{Kind: "shipment.created"}, {Kind: "shipment.updated"}}
		}
		report, err = sweep.Sweep(t.Context(), config, func(ctx context.Context, a sweep.Execution) sweep.Outcome {
			time.Sleep(time.Second) // it starts slowly
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			patient := newJob(a.World, map[string]string{})
			patient.Timeout = 0 // it waits for late responses
			program := handler(ctx, patient)
			network.handler.Store(&program)
			defer network.handler.Store(nil)
			select {
			case <-a.End:
				return sweep.Outcome{Success: true, How: "ended"}
			case <-ctx.Done():
				return sweep.Outcome{How: "killed"}
			}
		})
	})
	return report, err
}

// Receivers that pay twice are found, each by the faults that make it pay, and careful ones are not. Sweep ended a
// program 300 ms after its last request: one that purchases 5 s after its response passed, and one that obeyed a
// Retry-After did not.
func TestSweep_Notifications(t *testing.T) {
	t.Parallel()
	again := []string{"notification#1:twice"}

	type row struct {
		habits
		config sweep.Config
		twice  []string // schedules that must find paid-twice; none: no run fails
	}
	shippingtest.EachRow(t, map[string]row{
		"keeps no record":                 {habits{}, sweep.Config{}, again},
		"records deliveries":              {habits{records: byDelivery}, sweep.Config{}, []string{"notification#1:replayed"}},
		"keeps no record, and works late": {habits{late: 5 * time.Second}, sweep.Config{}, again},
		"records its work when it is done, 5 s later": {habits{late: 5 * time.Second, parallel: true,
			records: byDelivery, work: slowly}, sweep.Config{}, again},
		"works on duplicates at the same time": {habits{late: time.Millisecond, parallel: true, records: byShipment,
			work: slowly}, sweep.Config{}, again},
		"catches up if an earlier event is missing": {habits{catches: true, records: byDelivery}, sweep.Config{},
			[]string{"notification#1:out-of-order"}},
		"purchases again when it is notified again": {habits{records: byShipment}, sweep.Config{},
			purchaseBy("lost-after", "500-after", "truncated")},
		"believes every sender": {habits{unsigned: true, records: byDelivery, shipment: "SH-TLMHDHXQMDVVJ4U9"},
			sweep.Config{}, []string{"notification#1:forged"}},
		"forgets its record when it is started again": {habits{records: byShipment}, sweep.Config{Restart: true},
			purchaseBy(sweep.Kill)},
		"careful": {habits{records: byShipment, work: carefully}, sweep.Config{}, nil},
		"careful, and obeys Retry-After after its response": {habits{late: time.Millisecond, records: byShipment,
			work: untilDone}, sweep.Config{Quiet: 100 * time.Millisecond, Faults: []string{"503", "429"}}, nil},
		"careful, at the update": {habits{records: byShipment, buysAt: "shipment.updated", work: carefully},
			sweep.Config{}, nil},
	}, func(t *testing.T, test row) {
		for _, schedule := range test.twice { // the faults that find it are enough
			test.config.Faults = append(test.config.Faults, schedule[strings.Index(schedule, ":")+1:])
		}
		report := shippingtest.Must(sweepNotified(t, test.config, func(ctx context.Context, s *job) http.Handler {
			return newNotified(ctx, s, test.habits)
		}))(t)
		var twice, others []string
		for _, r := range report.Failing() {
			if r.Findings[0].Verdict == sweep.PaidTwice {
				twice = append(twice, r.Schedule)
			} else {
				others = append(others, r.Schedule+" "+r.Findings[0].String())
			}
		}
		t.Logf("pays twice: %q; other findings: %q", twice, others)
		if test.twice == nil && len(twice)+len(others) > 0 || len(report.Goal.Documents) != 1 {
			t.Errorf("a careful program fails; the goal is %v", report.Goal)
		}
		for _, want := range test.twice {
			if !slices.Contains(twice, want) {
				t.Errorf("%s does not find it", want)
			}
		}
		if order := fmt.Sprint(report.WithoutFaults.Requests); strings.Index(order,
			sweep.Notification) > strings.Index(order, shipping.OpPurchase) {
			t.Errorf("the requests are %s", order)
		}
	})
}

// slowly takes a while from the analysis to the purchase.
func slowly(ctx context.Context, s *job, shipment string) error {
	r, err := s.analyze(ctx, shipment)
	if err == nil && wait.Sleep(ctx, 4*time.Second) == nil {
		err = s.purchase(ctx, r)
	}
	return err
}

// A program that accepted no notification passed, although that proves nothing. A run in which it does not accept one
// is reported as such.
func TestSweep_NotificationsAreNotAccepted(t *testing.T) {
	t.Parallel()
	refuses := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotImplemented) })
	_, err := sweepNotified(t, sweep.Config{}, func(context.Context, *job) http.Handler { return refuses })
	shippingtest.Contains(t, "the sweep", err, "accepts no notification", "(3 attempts: status 501)")
	report, err := sweepNotified(t, sweep.Config{Faults: []string{"twice"}}, func(context.Context, *job) http.Handler {
		seen := map[string]bool{}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if id := r.Header.Get("X-Webhook-Delivery-Id"); seen[id] {
				w.WriteHeader(http.StatusInternalServerError)
			} else {
				seen[id] = true
			}
		})
	})
	shippingtest.NoError(t, err)
	found := fmt.Sprint(report.Failing()[0].Findings)
	if !strings.HasPrefix(found, "[missing: the program did not accept shipment.created of SH-") ||
		!strings.Contains(found, "the response was lost, then status 500") || len(report.Failing()) != 2 {
		t.Errorf("found %s", found)
	}
	shippingtest.Contains(t, "the text", textOf(report), "note: the program purchased nothing without faults")
}
