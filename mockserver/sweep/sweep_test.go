package sweep_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/sweep"
)

func TestRun_Schedules(t *testing.T) {
	runs, polls := 0, 0
	sweep.Run(t, sweep.Config{Faults: []string{"lost-after", "500"}}, func(t *testing.T, w *mockserver.World) error {
		runs++
		requests := w.Client(t).Regulatory
		bought, err := requests.AnalyzeAndPoll(t.Context(), &shipping.AnalyzeRequest{ShipmentID: w.Shipments()[0]},
			&shipping.AnalyzeAndPollOptions{Select: shipping.SelectAutomated})
		for range 3 {
			if err == nil {
				_, err = requests.Get(t.Context(), bought.RequestID)
			}
		}
		if runs == 1 {
			polls = w.Requests(shipping.OpGetRequest)
		}
		return err
	})
	if polls <= 3 || runs != 1+2*2+3 {
		t.Errorf("%d runs, want one without faults, two at each of two POST requests, and one at each of the first two and "+
			"at the last of %d equal GET requests", runs, polls)
	}
}

// In pairs without a Retry-After: a walk that goes back can request a page again that it had requested ahead.
func TestRun_Lists(t *testing.T) {
	for name, config := range map[string]sweep.Config{
		"single": {}, "pairs": {Pairs: true, Faults: []string{"lost-before", "truncated", "500", "inserted", "removed"},
			MaxRuns: 60},
	} {
		t.Run(name, func(t *testing.T) {
			sweep.Run(t, config, func(t *testing.T, w *mockserver.World) error {
				for _, err := range w.Client(t).Rates.All(t.Context(), nil) {
					if err != nil {
						return err
					}
				}
				for _, err := range w.Client(t).Transactions.All(t.Context(),
					&shipping.TransactionListOptions{Wallet: w.Wallets()[0]}) {
					if err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

// A goal replaces the learned one, and the run without faults is compared with it, too. A document or notification that
// is not expected, once, differs from the goal: it is not paid or sent twice.
func TestSweep_Goal(t *testing.T) {
	t.Parallel()
	srv := mockserver.New(mockserver.WithoutListener())
	defer srv.Close()
	shipment, all := srv.Shipments()[0], []string{"CUSTOMS", "FDA", "FISH-WILDLIFE", "TEXTILE", "WATCH"}
	notification := "shipment.created of " + shipment + " to " + srv.Webhooks()[0]
	documents := func(expected ...string) map[string][]string { return map[string][]string{shipment: expected} }
	twice := slices.Concat(all, all)
	const five = "CUSTOMS, FDA, FISH-WILDLIFE, TEXTILE, WATCH for "
	same := strings.Repeat("-SAME", 20) + "-"
	of := func(expected ...string) sweep.Goal { return sweep.Goal{Documents: documents(expected...)} }
	for name, test := range map[string]struct {
		purchases int
		goal      sweep.Goal
		runs      int // that fail: 1 is the one with a fault
		want      string
	}{
		"learned": {2, sweep.Goal{}, 0, ""},
		"twice":   {2, of(twice...), 0, ""},
		"once":    {2, of(all...), 2, "paid-twice: " + five + shipment + ": twice, but once in the goal"},
		"some": {2, of(slices.Concat(all[1:], all[1:])...), 2,
			"paid-twice: CUSTOMS for " + shipment + ": twice, but not in the goal"},
		"once more": {2, of(twice[1:]...), 2, "paid-twice: CUSTOMS for " + shipment + ": twice, but once in the goal"},
		"once less": {1, of(twice...), 2, "missing: the program succeeded without " + five + shipment},
		"another": {2, sweep.Goal{Documents: map[string][]string{"SH-1": {"FDA"}, shipment: twice}}, 2,
			"missing: the program succeeded without FDA for SH-1"},
		"a notification": {2, sweep.Goal{Notifications: []string{notification, "shipment.created of SH-1 to WA-1"}}, 2,
			"missing: the program succeeded without shipment.created of SH-1 to WA-1"},
		"a file": {2, sweep.Goal{Files: []string{"refused"}}, 1,
			`different: refused: line 2 is "500", but absent without faults`},
		"a file with a long line": {2, sweep.Goal{Files: []string{"same length"}}, 1, `different: same length: line 2 is ` +
			`"…SAME-SAME-SAME-SAME-500-SAME-SAME-SAME-SAME-SAME-SAME-SAME-SAME-SAME-SAME-SAME-S…", but ` +
			`"…SAME-SAME-SAME-SAME-200-SAME-SAME-SAME-SAME-SAME-SAME-SAME-SAME-SAME-SAME-SAME-S…" without faults`},
		"a document that is not expected": {1, of(all[:4]...), 2,
			"different: WATCH for " + shipment + ": once, but not in the goal"},
		"a notification that is not expected": {1,
			sweep.Goal{Documents: documents(all...), Notifications: []string{}}, 2,
			"different: " + notification + ": once, but not in the goal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := sweep.Config{Only: sweep.Schedule{{Operation: shipping.OpAnalyze, Nth: 1, Fault: "500"}}, Goal: test.goal}
			report := sweepOf(t, program{buy: func(ctx context.Context, s *job, shipment string) error {
				s.files["refused"], s.files["same length"] = "refused:", "ids:\n"+same+"200"+same+"\n"
				for range test.purchases {
					r, err := s.analyze(ctx, shipment)
					for err != nil {
						s.files["refused"] += "\n" + err.Error()[:3]
						s.files["same length"] = "ids:\n" + same + "500" + same + "\n"
						r, err = s.analyze(ctx, shipment)
					}
					if err := s.purchase(ctx, r); err != nil {
						return err
					}
				}
				replay := map[string]string{"shipment_id": shipment, "event": "shipment.created", "webhook_id": srv.Webhooks()[0]}
				return s.call(ctx, "POST", "/v1/webhooks/replay", replay, &record{})
			}}, config)
			by := []string{}
			for _, r := range report.Failing() {
				if by = append(by, r.Schedule); len(r.Findings) != 1 || r.Findings[0].String() != test.want {
					t.Errorf("%q: found %v, want %s", r.Schedule, r.Findings, test.want)
				}
			}
			shippingtest.Diff(t, "found by", []string{"", "regulatory.analyze#1:500"}[2-test.runs:], by)
			summary := []string{"1 run with faults, 0 failing", "1 run with faults, 1 failing",
				"1 run with faults and the one without, 2 failing"}[test.runs]
			shippingtest.Contains(t, "summary", textOf(report), summary)
			noted := strings.Contains(textOf(report), "\nnote: without faults, the program purchased more than once: "+
				strings.TrimSuffix(five, " for ")+" of "+shipment+" in RD-")
			shippingtest.Diff(t, "noted", test.purchases == 2 && test.goal.Documents == nil, noted)
			if name == "learned" && strings.Join(report.Goal.Documents[shipment],
				" ") != "CUSTOMS CUSTOMS FDA FDA FISH-WILDLIFE FISH-WILDLIFE TEXTILE TEXTILE WATCH WATCH" {
				t.Errorf("learned %v", report.Goal)
			}
		})
	}
}

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
		"transactions.list#1:removed":          "has no effect",
		"webhooks.list#1:removed":              "has no effect",
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

// The text has an example of each kind of failing runs, and names the others of the kind. The text had the requests of
// only one run, although a lost purchase and an unread request have different causes. Pairs have no cell in the table,
// and the text had only the number of pairs in which a request was not made.
func TestReport_ListsRuns(t *testing.T) {
	t.Parallel()
	p := program{buy: func(ctx context.Context, s *job, shipment string) error {
		return retry(func() error {
			r, err := s.analyze(ctx, shipment)
			if err == nil {
				err = s.purchase(ctx, r)
			}
			if err == nil {
				_, err = s.get(ctx, r.ID)
			}
			return err
		})
	}}
	runs := 0
	forgets := program{buy: func(ctx context.Context, s *job, shipment string) (err error) {
		if runs++; runs <= 3 { // without faults, and with one fault
			err = retry(func() error { _, err := s.analyze(ctx, shipment); return err })
		}
		return errors.Join(err, s.call(ctx, "GET", "/v1/rates", struct{}{}, &record{}))
	}}
	bought := false // as in a file that outlives a run
	remembers := program{buy: func(ctx context.Context, s *job, shipment string) error {
		if bought {
			return nil
		}
		bought = true
		return analyzeAndPurchase(ctx, s, shipment)
	}}
	const requests = "  requests:\n      1  regulatory.analyze#1"
	lost := sweep.Config{Faults: []string{"lost-before", "lost-after"}}
	type row struct {
		program program
		config  sweep.Config
		want    []string // in this order
	}
	shippingtest.EachRow(t, map[string]row{
		"at purchases and readings": {
			p, sweep.Config{Faults: []string{"lost-after", "500-after", "arrives-late", "504", "404", "500", "refused"}},
			[]string{"\nregulatory.purchase#1:lost-after (success)\n  paid-twice: ",
				"\n  see docs/sweep.md, rule 1: do not start over after an error\n" + requests, "  no response  lost-after\n",
				"  the same at:\n    regulatory.purchase#1:500-after\n\nregulatory.purchase#1:arrives-late (success)\n", requests,
				"  the same at:\n    regulatory.purchase#1:504\n\nregulatory.get#1:refused (success)\n  paid-twice: ",
				requests, "  the same at:\n    regulatory.get#1:404, 500\n\n3 requests",
				"failing\nnot tried: killing and restarting the program (-restart), two faults in one run (-pairs)\n"},
		},
		"pairs without their request": {forgets, sweep.Config{Pairs: true, Faults: []string{"500"}},
			[]string{"\nPairs in which a request was not made:\n    regulatory.analyze#1:500,regulatory.analyze#2:500\n" +
				"    regulatory.analyze#1:500,rates.list#1:500\n\n", "; in 2 the request was not made\n" +
				"not tried: killing and restarting the program (-restart)\n"}},
		"files of an earlier run": {remembers, sweep.Config{Faults: []string{"500"}}, []string{"#1:500 (success)\n" +
			"  missing: the program sent no request in this run, and succeeded without CUSTOMS, ",
			": did it continue from files of an earlier run? Let it write them to {dir}\n" +
				"  the same at:\n    regulatory.purchase#1:500\n\n2 requests"}},
		"started again": {named(t, "writes its note after the purchase"), sweep.Config{Restart: true, Pairs: true,
			Faults: []string{sweep.Kill}}, []string{"\nregulatory.purchase#1:killed (exit code 1, then success)\n",
			" killed\n      -- exit code 1; started again --\n      3  regulatory.analyze#2 ",
			"  output:\n    Get ", "context canceled\n    -- exit code 1; started again --\n\n", " failing\n$"}},
		"a pair alone": {named(t, "gives up after the purchase"), sweep.Config{Restart: true,
			Only: shippingtest.Must(sweep.ParseSchedule("regulatory.purchase#1:lost-after,regulatory.analyze#2:500"))(t)},
			[]string{"a b\nregulatory.purchase#1  !  \nregulatory.analyze#2     !\n\na lost-after   the request ", "\nb 500 ",
				"no reading of the request succeeded afterwards; with -restart, the program can settle it at its next start\n" +
					"  see docs/sweep.md, rule 3: "}},
		// They had the same mark. The legend has only the marks of the table.
		"pays twice": {named(t, "starts over after any error"), lost,
			[]string{"regulatory.purchase#1  · X\n", "\n· as it should be, X paid twice\n"}},
		"sends again": {named(t, "repeats the same purchase"), lost,
			[]string{"regulatory.purchase#1  R R\n", "\n· as it should be, R sent again, and not paid twice\n"}},
		"another finding": {named(t, "gives up after the purchase"), lost,
			[]string{"regulatory.purchase#1  · !\n", "\n· as it should be, ! another finding\n"}},
		"as without faults": {p, sweep.Config{Faults: []string{"500"}, Goal: sweep.Goal{Documents: map[string][]string{}}},
			[]string{"\nwithout faults (success)\n  different: ", requests,
				"  the same at:\n    regulatory.analyze#1:500\n    regulatory.purchase#1:500\n\n",
				"regulatory.get#1:500 (success)\n  paid-twice: ", requests}},
	}, func(t *testing.T, test row) {
		rest := textOf(sweepOf(t, test.program, test.config)) + "$"
		for _, want := range test.want {
			_, after, found := strings.Cut(rest, want)
			if !found {
				t.Fatalf("%q is not in\n%s", want, rest)
			}
			rest = after
		}
	})
}
