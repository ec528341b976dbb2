package mockserver_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/journal"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// When Advance returns, each request whose injected latency has passed has its response and its journal entry, with the
// time at which the latency ended.
func TestAdvance_WaitsForDelayedCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := mockserver.New(mockserver.WithoutListener(), virtual())
		defer srv.Close()
		inject(t, srv, fault.Rule{Fault: fault.Latency(time.Second)})
		began := srv.Now()
		var answered sync.WaitGroup
		for range 20 {
			answered.Go(func() { get(t, srv, "/v1/rates?perPage=1") })
		}
		synctest.Wait()
		advance(t, srv, time.Hour)
		calls := srv.Journal()
		if len(calls) != 20 {
			t.Fatalf("%d calls in the journal", len(calls))
		}
		for _, c := range calls {
			if at := c.At.Sub(began); at != time.Second || c.Duration != fault.Duration(time.Second) {
				t.Errorf("answered after %v, duration %v", at, c.Duration)
			}
		}
		answered.Wait()
	})
}

// subscribe subscribes a webhook to "test".
func subscribe(t *testing.T, w *mockserver.World) {
	t.Helper()
	if _, err := w.AddWebhook(notify.Webhook{URL: "http://127.0.0.1:1/", Events: []string{"test"}}); err != nil {
		t.Fatal(err)
	}
}

// refusing is a receiver that refuses everything.
type refusing struct{}

func (refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: http.NoBody, Request: req}, nil
}

// Closing a world or its server ends waiting requests at once, whatever injected fault they wait for, and the waits of
// the test itself.
func TestClose_EndsWhatWaits(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]fault.Rule{
		"latency": {Fault: fault.Latency(time.Hour)}, "slow body": {Fault: fault.SlowBody(time.Hour)},
		"latency after the change": {Fault: fault.Latency(time.Hour), Committed: true},
	} {
		for _, scenario := range []string{"default", "virtual"} {
			synctest.Test(t, func(t *testing.T) {
				srv := mockserver.New(mockserver.WithoutListener(), mockserver.WithDeliveryTransport(refusing{}))
				defer srv.Close()
				w := srv.NewWorld(t, scenario)
				subscribe(t, w)
				sent, err := w.Emit(events(1)[0])
				if err := errors.Join(err, w.Inject(rule)); err != nil {
					t.Fatal(err)
				}
				var errs [3]error
				var waiting sync.WaitGroup
				waiting.Go(func() { _, errs[0] = w.Await(t.Context(), journal.Query{Operation: shipping.OpPurchase}, 0) })
				waiting.Go(func() { _, errs[1] = w.WaitDelivery(t.Context(), sent[0].ID) })
				waiting.Go(func() {
					req := newRequest(t.Context(), t, srv, http.MethodGet, "/v1/rates", "")
					req.Header.Set("Authorization", "Bearer "+w.SecretKey)
					var resp *http.Response
					if resp, errs[2] = w.Transport().RoundTrip(req); errs[2] == nil {
						_, errs[2] = io.ReadAll(resp.Body)
						resp.Body.Close()
					}
				})
				synctest.Wait()
				began := time.Now()
				if w.Close(); scenario == "virtual" {
					srv.Close()
				}
				waiting.Wait()
				if slices.Contains(errs[:], nil) || time.Since(began) > time.Minute {
					t.Errorf("%s, %s: after %v the waits ended with %v", name, scenario, time.Since(began), errs)
				}
			})
		}
	}
}

// Ticks for which no client waits any more are dropped.
func TestFaultSlowBody_LeavesNothingBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := mockserver.New(mockserver.WithoutListener(), virtual())
		defer srv.Close()
		for _, injected := range []fault.Fault{fault.SlowBody(time.Second), fault.Latency(time.Second)} {
			inject(t, srv, fault.Rule{First: 1, Fault: injected})
			client := http.Client{Transport: srv.Transport(), Timeout: time.Minute}
			if resp, err := client.Do(newRequest(t.Context(), t, srv, http.MethodGet, "/v1/rates", "")); err == nil {
				_, err = io.ReadAll(resp.Body)
				resp.Body.Close()
				if err == nil {
					t.Errorf("%s: a whole body", injected.Kind)
				}
			}
			synctest.Wait()
			if got := srv.Pending(); got != 0 {
				t.Errorf("%s: %d timers are left", injected.Kind, got)
			}
		}
	})
}
