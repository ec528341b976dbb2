package sweep_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
	"github.com/shipping-go/shipping/mockserver/sweep"
)

// receiver is a transport to the handler of the program that runs.
type receiver struct {
	mu      sync.Mutex
	handler http.Handler // nil while the program does not listen
}

func (r *receiver) listen(handler http.Handler) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handler = handler
}

func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	handler := r.handler
	r.mu.Unlock()
	if handler == nil {
		return nil, &net.OpError{Op: "dial", Err: errors.New("nobody listens")}
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, req)
	return w.Result(), nil
}

// notified is a program that purchases the documents of every new shipment that it is notified of.
type notified struct {
	session
	pause time.Duration // before the purchase
	mu    sync.Mutex
	done  map[string]bool // shipments
}

func (n *notified) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Event string
		Data  struct {
			ID string `json:"shipment_id"`
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if in.Event != "shipment.created" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.done[in.Data.ID] {
		return
	}
	request, err := n.analyze(r.Context(), in.Data.ID)
	if err == nil {
		time.Sleep(n.pause)
		err = n.purchase(r.Context(), request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if n.done != nil {
		n.done[in.Data.ID] = true
	}
}

// later responds at once and lets the handler work a moment later, until the context ends.
func later(ctx context.Context, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		again := r.Clone(ctx)
		go func() {
			select {
			case <-time.After(100 * time.Millisecond):
				handler.ServeHTTP(httptest.NewRecorder(), again)
			case <-ctx.Done():
			}
		}()
	})
}

// sweepNotified sweeps a program that is notified of two events, in virtual time.
func sweepNotified(t *testing.T, config sweep.Config, handler func(ctx context.Context, s session) http.Handler) (report *sweep.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		network := &receiver{}
		config.Deliver = network
		config.Options = []mockserver.Option{mockserver.WithoutListener()}
		config.Operations = []string{sweep.Notification}
		config.Setup = func(w *mockserver.World) error {
			_, err := w.AddWebhook(notify.Webhook{URL: "http://127.0.0.1/"})
			return err
		}
		config.Notify = func(w *mockserver.World) []notify.Event {
			return []notify.Event{{Kind: "shipment.created"}, {Kind: "shipment.updated"}}
		}
		var err error
		report, err = sweep.Sweep(t.Context(), config, func(ctx context.Context, a sweep.Attempt) sweep.Outcome {
			time.Sleep(time.Second) // it starts slowly
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			network.listen(handler(ctx, session{http.Client{Transport: a.World.Transport()}, a.World.URL, a.World.SecretKey}))
			defer network.listen(nil)
			select {
			case <-a.End:
				return sweep.Outcome{Success: true, How: "ended"}
			case <-ctx.Done():
				return sweep.Outcome{How: "killed"}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	return report
}

// A program that is notified must purchase once for a notification that comes twice, and lose nothing that it has
// accepted. The requests of a run show its notifications at their places.
func TestSweep_Notifications(t *testing.T) {
	t.Parallel()
	all := []string{
		"notification#1:twice", "notification#1:delayed", "notification#1:out-of-order",
		"notification#2:twice", "notification#2:delayed",
	}
	for name, test := range map[string]struct {
		handler func(ctx context.Context, s session) http.Handler
		restart bool
		want    map[string]sweep.Verdict
	}{
		"keeps no record": {
			func(_ context.Context, s session) http.Handler { return &notified{session: s} }, false,
			map[string]sweep.Verdict{"notification#1:twice": sweep.PaidTwice},
		},
		"keeps a record": {
			func(_ context.Context, s session) http.Handler { return &notified{session: s, done: map[string]bool{}} }, false, nil,
		},
		"purchases after its response": {
			func(ctx context.Context, s session) http.Handler {
				return later(ctx, &notified{session: s, done: map[string]bool{}})
			}, true,
			map[string]sweep.Verdict{"notification#1:killed": sweep.Missing, "notification#2:killed": sweep.Missing},
		},
		// Sweep ended a program that had sent its first request when sweep looked for the second time, so the goal lacked the purchase.
		"works slowly after its response": {
			func(ctx context.Context, s session) http.Handler {
				return later(ctx, &notified{session: s, pause: 250 * time.Millisecond, done: map[string]bool{}})
			}, false, nil,
		},
		"refuses duplicates": {
			func(_ context.Context, s session) http.Handler {
				seen := map[string]bool{}
				var mu sync.Mutex
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					defer mu.Unlock()
					if id := r.Header.Get("X-Webhook-Delivery-Id"); seen[id] {
						http.Error(w, "again", http.StatusConflict)
					} else {
						seen[id] = true
					}
				})
			}, false,
			map[string]sweep.Verdict{"notification#1:twice": sweep.Missing, "notification#2:twice": sweep.Missing},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := sweepNotified(t, sweep.Config{Restart: test.restart}, test.handler)
			if purchases := name != "refuses duplicates"; purchases != (len(report.Goal.Documents) > 0) {
				t.Errorf("the program purchases %v, and the goal is %v", purchases, report.Goal)
			}
			found := map[string]sweep.Verdict{}
			for _, r := range report.Failing() {
				found[r.Schedule] = r.Findings[0].Verdict
			}
			if len(found) != len(test.want) {
				t.Errorf("found %v, want %v", found, test.want)
			}
			for schedule, verdict := range test.want {
				if found[schedule] != verdict {
					t.Errorf("%s: found %q, want %q", schedule, found[schedule], verdict)
				}
			}
			var tried []string
			for _, r := range report.Results {
				if !strings.HasSuffix(r.Schedule, sweep.Kill) {
					tried = append(tried, r.Schedule)
				}
				if !r.Struck {
					t.Errorf("%s: not struck:\n%s", r.Schedule, r.Trace())
				}
			}
			if !slices.Equal(tried, all) {
				t.Errorf("tried %v, want %v", tried, all)
			}
			order := fmt.Sprint(report.Requests)
			if n, purchase := strings.Index(order, sweep.Notification), strings.Index(order, shipping.OpPurchase); n != 2 || name == "keeps no record" && purchase > strings.LastIndex(order, sweep.Notification) {
				t.Errorf("the requests are %s", order)
			}
		})
	}
}

// A selected fault that does not apply to its request fails the run. The finding does not state that the run lacks the request.
func TestSweep_OnlyDoesNotApply(t *testing.T) {
	t.Parallel()
	only := sweep.Schedule{{Operation: sweep.Notification, Nth: 2, Fault: "out-of-order"}}
	report := sweepNotified(t, sweep.Config{Only: only}, func(_ context.Context, s session) http.Handler {
		return &notified{session: s, done: map[string]bool{}}
	})
	want := []sweep.Finding{{Verdict: sweep.NotStruck, Detail: "notification#2:out-of-order did not strike: the run has the request, but the fault did not apply to it"}}
	if found := report.Results[0].Findings; !slices.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
}
