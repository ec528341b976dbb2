package sweep_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/sweep"
)

func TestParseSchedule(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"regulatory.purchase#1:lost-after", "rates.list#12:inserted,regulatory.get#2:500"} {
		schedule, err := sweep.ParseSchedule(text)
		if err != nil || schedule.String() != text {
			t.Errorf("%s: %v, %v", text, schedule, err)
		}
	}
	for text, want := range map[string]string{
		"":                                     "is not a fault at a request",
		"regulatory.purchase":                  "is not a fault at a request",
		"regulatory.purchase#0:500":            "is not a fault at a request",
		"regulatory.buy#1:500":                 `unknown operation "regulatory.buy": did you mean "regulatory.get"?`,
		"regulatory.purchase#1:lost":           `unknown fault "lost"`,
		"regulatory.purchase#1:inserted":       "makes no difference",
		"regulatory.purchase#1:500,rates.list": "is not a fault at a request",
	} {
		if _, err := sweep.ParseSchedule(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestSweep_Timeout(t *testing.T) {
	t.Parallel()
	hangs := program{buy: func(ctx context.Context, s *job, shipment string) error {
		_, err := s.analyze(ctx, shipment)
		if err != nil {
			<-ctx.Done() // it hangs after an error
		}
		return err
	}}
	report := sweepOf(t, hangs, sweep.Config{Faults: []string{"500"}, Timeout: time.Minute})
	if len(report.Results) != 1 || len(report.Results[0].Findings) != 1 ||
		report.Results[0].Findings[0].Verdict != sweep.TimedOut {
		t.Errorf("%+v", report)
	}
}

// The outcome is wrong only if the program could have known better: nothing is found in a program that waits less than
// the faults of latency assume, and reads the request.
func TestSweep_ShorterPatience(t *testing.T) {
	t.Parallel()
	impatient := program{buy: func(ctx context.Context, s *job, shipment string) error {
		s.Timeout = 5 * time.Second
		r, err := s.analyze(ctx, shipment)
		if err == nil {
			err = s.purchase(ctx, r)
			if _, unread := s.get(ctx, r.ID); unread != nil {
				t.Error(unread)
			}
		}
		return err
	}}
	for _, fault := range []string{"late", "late-after"} {
		only := sweep.Schedule{{Operation: shipping.OpPurchase, Nth: 1, Fault: fault}}
		if report := sweepOf(t, impatient, sweep.Config{Only: only}); len(report.Failing()) > 0 {
			t.Errorf("%+v", report.Failing())
		}
	}
}

// A program that stops waiting and reads the request has settled the purchase, although the server journals the purchase
// later than the reading.
func TestSweep_ReadBeforeThePurchaseIsJournaled(t *testing.T) {
	t.Parallel()
	givesUp := program{buy: func(ctx context.Context, s *job, shipment string) error {
		s.Timeout = 0
		r, err := s.analyze(ctx, shipment)
		if err != nil {
			return err
		}
		purchased := make(chan error, 1)
		go func() { purchased <- s.purchase(context.WithoutCancel(ctx), r) }()
		select {
		case err := <-purchased:
			return err
		case <-time.After(30 * time.Second):
			_, err := s.get(ctx, r.ID)
			return fmt.Errorf("gave up, then read: %w", err)
		}
	}}
	report := sweepOf(t, givesUp, sweep.Config{Only: sweep.Schedule{{Operation: shipping.OpPurchase, Nth: 1,
		Fault: "late-after"}}})
	if len(report.Results) != 1 || !report.Results[0].Struck || len(report.Failing()) > 0 {
		t.Errorf("%+v", report.Results)
	}
	if calls := report.Results[0].Requests; calls[len(calls)-1].Operation != shipping.OpPurchase {
		t.Errorf("the purchase is not the last in the journal: %+v", calls)
	}
}

// A sweep ends with its context, and the programs with it. An interrupted sweep lost the runs that it had made.
func TestSweep_Cancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		starts := 0
		report, err := sweep.Sweep(ctx, sweep.Config{Options: []mockserver.Option{mockserver.WithoutListener()}},
			func(ctx context.Context, a sweep.Execution) sweep.Outcome {
				if starts++; a.Run == 4 {
					interrupt()
					<-ctx.Done()
					return sweep.Outcome{}
				}
				s := &session{http.Client{Transport: a.World.Transport()}, a.World.URL, a.World.SecretKey}
				_, err := s.analyze(ctx, a.World.Shipments()[0])
				return sweep.Outcome{Success: err == nil}
			})
		if !errors.Is(err, context.Canceled) || starts != 5 {
			t.Errorf("%v after %d starts", err, starts)
		}
		if len(report.Results) != 3 || report.Results[2].Schedule == "" {
			t.Errorf("%+v", report.Results)
		}
	})
}

// A selected schedule that does not strike fails its run, in contrast to one of many.
func TestSweep_OnlyNotStruck(t *testing.T) {
	t.Parallel()
	for schedule, want := range map[string][]sweep.Finding{
		"regulatory.purchase#1:500":                     nil,
		"regulatory.purchase#2:500":                     {{Verdict: sweep.NotStruck, Detail: "regulatory.purchase#2:500 did not strike: the program did not send the request, or the fault does not apply to it"}},
		"regulatory.analyze#1:500,regulatory.get#1:500": {{Verdict: sweep.NotStruck, Detail: "regulatory.analyze#1:500,regulatory.get#1:500 did not strike: the program did not send the request, or the fault does not apply to it"}},
	} {
		only, err := sweep.ParseSchedule(schedule)
		if err != nil {
			t.Fatal(err)
		}
		name := "reads the request after any error, and leaves it unknown"
		if len(only) == 2 {
			name = "starts over after any error"
		}
		report := sweepOf(t, named(t, name), sweep.Config{Only: only})
		if len(report.Results) != 1 || !slices.Equal(report.Results[0].Findings, want) {
			t.Errorf("%s: %+v, want %v", schedule, report.Results, want)
		}
	}
}

// The error about a program that fails without faults lists its last requests and why they were refused, also those that
// name no operation.
func TestSweep_FailsWithoutFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		key   string
		paths []string
		want  []string
	}{
		"no request": {"", nil, []string{"It sent no request: the address of the service is in SHIPPING_BASE_URL"}},
		"refused": {"", []string{"/v1/regulatory-documents/request/RD-1", "/v2/rates"}, []string{
			"sent 2 requests:\n  GET /v1/regulatory-documents/request/RD-1 404 not_found: ", "\n  GET /v2/rates 404 not_found: no route",
		}},
		"another key": {"no-key", []string{"/v1/rates"}, []string{"sent 1 request:\n  GET /v1/rates 401 unauthorized: "}},
		"many":        {"", slices.Repeat([]string{"/v1/regulatory-documents/request/RD-1"}, 7), []string{"sent 7 requests, the last:\n  GET"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				_, err := sweep.Sweep(t.Context(), sweep.Config{Options: []mockserver.Option{mockserver.WithoutListener()}},
					func(ctx context.Context, a sweep.Execution) sweep.Outcome {
						s := &session{http.Client{Transport: a.World.Transport()}, a.World.URL, cmp.Or(test.key, a.World.SecretKey)}
						for _, path := range test.paths {
							_ = s.call(ctx, "GET", path, struct{}{}, &record{})
						}
						return sweep.Outcome{How: "exit code 1"}
					})
				if err == nil || strings.Count(err.Error(), "\n") > 5 {
					t.Fatal(err)
				}
				for _, want := range append(test.want, "fails without faults (exit code 1)") {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%v, want %q", err, want)
					}
				}
			})
		})
	}
}
