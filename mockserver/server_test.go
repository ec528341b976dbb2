package mockserver_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/journal"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// A server that could not start was reached at the URL mockserver.invalid, which failed in a program's own client as an
// unknown host, after four attempts.
func TestNew_AServerThatDidNotStartRespondsWithTheReason(t *testing.T) {
	t.Parallel()
	taken := shippingtest.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	for want, opts := range map[string][]mockserver.Option{
		"choose another address":     {mockserver.WithAddr(taken.Addr().String())},
		`unknown scenario "lowfund"`: {mockserver.WithScenario("lowfund")},
		"is only a port":             {mockserver.WithAddr("4010")},
	} {
		srv := mockserver.New(opts...)
		defer srv.Close()
		shippingtest.Contains(t, "Err", srv.Err(), want)
		for _, client := range []*http.Client{{Transport: srv.Transport()}, {Transport: &http.Transport{}}} {
			attempts := 0
			observe := shipping.Observer{Attempt: func(context.Context, string, shipping.Attempt) { attempts++ }}
			c := shippingtest.Must(shipping.NewClient(srv.SecretKey, shipping.WithBaseURL(srv.URL),
				shipping.WithHTTPClient(client), shipping.WithObserver(observe)))(t)
			if _, err := c.Rates.List(t.Context(), nil); err == nil || !strings.Contains(err.Error(), want) || attempts != 1 {
				t.Errorf("after %d attempts: %v, want %q in it", attempts, err, want)
			}
		}
	}
}

// With GODEBUG=fips140=only the PDF route panicked, because a library named fonts by their SHA-1.
func TestServer_WithFIPS140Only(t *testing.T) {
	t.Parallel()
	only := exec.Command(os.Args[0],
		"-test.run=^(TestWorlds_APDFWithoutAKeyIsFound|TestReplay_IsReallyDeliveredAndSigned)$", "-test.v")
	only.Env = append(os.Environ(), "GODEBUG=fips140=only")
	if out, err := only.CombinedOutput(); err != nil || strings.Count(string(out), "--- PASS") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestRoutes_RefusesWhatItCannotServe(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ operation, route, want string }{
		{"rates.create", "/v1/rates", "which is not an operation that the specification names without a path"},
		{operations.RetryRequest, "/v1/{request_id}/{", "whose placeholder {} is unknown"},
		{operations.RetryRequest, "/v1//{request_id}", "no empty or dot segments"},
		{operations.RetryRequest, "/v1/{request_id}/{request_id}", "duplicate wildcard name"},
		{operations.DocumentPDF, "/v1/{request_id}/{document_type}/pdf",
			`some requests are also those of regulatory.get, "GET /v1/regulatory-documents/request/{request_id}"`},
		{operations.RetryRequest, "/_mock/{request_id}", "outside /_mock/"},
	} {
		srv := mockserver.New(mockserver.WithoutListener(), dialectOf(t, "routes="+test.operation+"="+test.route))
		defer srv.Close()
		shippingtest.Contains(t, test.route, srv.Err(), test.want)
	}
}

// When Advance returns, each request whose injected latency has passed has its response and its journal entry, with the
// time at which the latency ended. If Advance did not wait for their goroutines, it would return before some entries,
// or the others would have the time of its end.
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
			shippingtest.Diff(t, "latency", time.Second, c.At.Sub(began))
			shippingtest.Diff(t, "duration", fault.Duration(time.Second), c.Duration)
		}
		answered.Wait()
	})
}

// Closing a world or its server ends waiting requests at once, whatever injected fault they wait for, and the waits of
// the test itself. One that listened only to its timer and its client would hold the close for an hour, or without end.
func TestClose_EndsWhatWaits(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]fault.Rule{
		"latency": {Fault: fault.Latency(time.Hour)}, "slow body": {Fault: fault.SlowBody(time.Hour)},
		"latency after the change": {Fault: fault.Latency(time.Hour), Committed: true},
	} {
		for _, scenario := range []string{"default", "virtual"} {
			synctest.Test(t, func(t *testing.T) {
				srv := mockserver.New(mockserver.WithoutListener())
				defer srv.Close()
				w := srv.NewWorld(t, scenario)
				subscribe(t, w, notify.InboxURL+"?status=503", "test")
				sent := emit(t, w, notify.Event{Kind: "test"})
				shippingtest.NoError(t, w.Inject(rule))
				var errs [3]error
				var waiting sync.WaitGroup
				waiting.Go(func() { _, errs[0] = w.Await(t.Context(), journal.Query{Operation: shipping.OpPurchase}, 0) })
				waiting.Go(func() { _, errs[1] = w.WaitDelivery(t.Context(), sent.ID) })
				waiting.Go(func() {
					req := newRequest(t, srv, http.MethodGet, "/v1/rates", "")
					req.Header.Set("Authorization", "Bearer "+w.SecretKey)
					_, errs[2] = attempt(w.Transport(), req)
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

// Ticks for which no client waits any more are dropped. One that the end of its client does not stop would stay pending
// on the virtual clock, and strike at the next Advance.
func TestFaultSlowBody_LeavesNothingBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := mockserver.New(mockserver.WithoutListener(), virtual())
		defer srv.Close()
		for _, injected := range []fault.Fault{fault.SlowBody(time.Second), fault.Latency(time.Second)} {
			inject(t, srv, fault.Rule{First: 1, Fault: injected})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := attempt(srv.Transport(), newRequest(t, srv, "GET", "/v1/rates", "").WithContext(ctx)); err == nil {
				t.Errorf("%s: a whole body", injected.Kind)
			}
			synctest.Wait()
			shippingtest.Diff(t, injected.Kind+": timers that are left", 0, srv.Pending())
		}
	})
}
