package mockserver_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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

// Closing a world or its server ends waiting requests at once, whatever injected fault they wait for.
func TestClose_EndsWhatWaits(t *testing.T) {
	t.Parallel()
	for name, injected := range map[string]fault.Fault{
		"latency": fault.Latency(time.Hour), "latency after the change": fault.Latency(time.Hour), "slow body": fault.SlowBody(time.Hour),
		"latency, of the server": fault.Latency(time.Hour),
	} {
		for _, scenario := range []string{"default", "virtual"} {
			t.Run(name+" "+scenario, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					srv := mockserver.New(mockserver.WithoutListener())
					defer srv.Close()
					w := srv.NewWorld(t, scenario)
					if err := w.Inject(fault.Rule{Fault: injected, Committed: strings.Contains(name, "after")}); err != nil {
						t.Fatal(err)
					}
					var ended error
					var waiting sync.WaitGroup
					req := newRequest(t.Context(), t, srv, http.MethodGet, "/v1/rates", "")
					req.Header.Set("Authorization", "Bearer "+w.SecretKey)
					waiting.Go(func() {
						var resp *http.Response
						if resp, ended = w.Transport().RoundTrip(req); ended == nil {
							_, ended = io.ReadAll(resp.Body)
							resp.Body.Close()
						}
					})
					synctest.Wait()
					if strings.Contains(name, "server") {
						srv.Close()
					} else {
						w.Close()
					}
					waiting.Wait()
					if ended == nil {
						t.Error("it was answered as if nothing had happened")
					}
					if took := time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)); took > time.Minute {
						t.Errorf("it ended after %v", took)
					}
				})
			})
		}
	}
}

// Closing a world also ends the waits for a request or a delivery, so that a test does not wait forever.
func TestClose_EndsWhoWaitsInProcess(t *testing.T) {
	t.Parallel()
	for _, scenario := range []string{"default", "virtual"} {
		synctest.Test(t, func(t *testing.T) {
			srv := mockserver.New(mockserver.WithoutListener(), mockserver.WithDeliveryTransport(refusing{}))
			defer srv.Close()
			w := srv.NewWorld(t, scenario)
			subscribe(t, w)
			sent, err := w.Emit(events(1)[0])
			if err != nil {
				t.Fatal(err)
			}
			var waiting sync.WaitGroup
			var errs [2]error
			waiting.Go(func() { _, errs[0] = w.Await(t.Context(), journal.Query{}, 0) })
			waiting.Go(func() { _, errs[1] = w.WaitDelivery(t.Context(), sent[0].ID) })
			synctest.Wait()
			w.Close()
			waiting.Wait()
			for i, err := range errs {
				if err == nil {
					t.Errorf("%s: wait %d ended without an error", scenario, i)
				}
			}
		})
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
