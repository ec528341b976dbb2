package sweep_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/shipping-go/shipping/internal/shippingtest"
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
		"regulatory.purchase#1:inserted":       "has no effect",
		"regulatory.purchase#1:500,rates.list": "is not a fault at a request",
	} {
		shippingtest.Contains(t, text, shippingtest.Err(sweep.ParseSchedule(text)), want)
	}
}

// A selected schedule that does not strike fails its run, in contrast to one of many.
func TestSweep_OnlyNotStruck(t *testing.T) {
	t.Parallel()
	const careful, startsOver = "reads the request after any error, and leaves it unknown", "starts over after any error"
	for schedule, test := range map[string]struct{ program, found string }{
		"regulatory.purchase#1:500":                     {careful, ""},
		"regulatory.purchase#2:500":                     {careful, "regulatory.purchase#2:500"},
		"regulatory.analyze#1:500,regulatory.get#1:500": {startsOver, "regulatory.analyze#1:500,regulatory.get#1:500"},
	} {
		only := shippingtest.Must(sweep.ParseSchedule(schedule))(t)
		var want []sweep.Finding
		if test.found != "" {
			want = []sweep.Finding{{Verdict: sweep.NotStruck, Detail: test.found +
				" did not strike: the program did not send the request, or the fault does not apply to it"}}
		}
		report := sweepOf(t, named(t, test.program), sweep.Config{Only: only})
		if len(report.Results) != 1 || !slices.Equal(report.Results[0].Findings, want) {
			t.Errorf("%s: %+v, want %v", schedule, report.Results, want)
		}
	}
	runs := 0
	one := program{buy: func(ctx context.Context, s *job, _ string) error {
		if runs++; runs > 1 {
			return nil // it sends no request to strike
		}
		return s.call(ctx, "GET", "/v1/rates", struct{}{}, &record{})
	}}
	report := sweepOf(t, one, sweep.Config{Faults: []string{"500"}})
	if len(report.Results) != 1 || report.Results[0].Struck || len(report.Failing()) > 0 {
		t.Errorf("one of many: %+v", report.Results)
	}
}

// A sweep whose context ends makes no further run, and reports the runs before. A sweep that went on would wait forever
// for the run that has ended.
func TestSweep_Cancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		starts := 0
		report, err := sweep.Sweep(ctx, sweep.Config{Options: []mockserver.Option{mockserver.WithoutListener()}},
			func(ctx context.Context, a sweep.Execution) sweep.Outcome {
				if starts++; a.Run == 4 {
					interrupt()
				}
				_, err := newJob(a.World, nil).analyze(ctx, a.World.Shipments()[0])
				return sweep.Outcome{Success: err == nil}
			})
		if !errors.Is(err, context.Canceled) || starts != 5 || len(report.Results) != 3 {
			t.Errorf("%v after %d starts: %+v", err, starts, report.Results)
		}
	})
}

// The error about a program that fails without faults lists its last requests and why they were refused, also those
// that name no operation.
func TestSweep_FailsWithoutFaults(t *testing.T) {
	t.Parallel()
	const request = "/v1/regulatory-documents/request/RD-1"
	for _, test := range []struct {
		key   string
		paths []string
		want  []string
	}{
		{"", nil, []string{"It sent no request"}},
		{"", []string{request, "/v2/rates"}, []string{
			"sent 2 requests:\n  GET " + request + " 404 not_found: ", "\n  GET /v2/rates 404 not_found: no route",
		}},
		{"no-key", []string{"/v1/rates"}, []string{"sent 1 request:\n  GET /v1/rates 401 unauthorized: "}},
		{"", slices.Repeat([]string{request}, 7), []string{"sent 7 requests, the last:\n  GET"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, err := sweep.Sweep(t.Context(), sweep.Config{Options: []mockserver.Option{mockserver.WithoutListener()}},
				func(ctx context.Context, a sweep.Execution) sweep.Outcome {
					s := newJob(a.World, nil)
					s.key = cmp.Or(test.key, s.key)
					for _, path := range test.paths {
						_ = s.call(ctx, "GET", path, struct{}{}, &record{})
					}
					return sweep.Outcome{How: "exit code 1"}
				})
			if err == nil || strings.Count(err.Error(), "\n") > 5 {
				t.Fatal(err)
			}
			for _, want := range append(test.want, "fails without faults (exit code 1)") {
				shippingtest.Contains(t, "the error", err, want)
			}
		})
	}
}
