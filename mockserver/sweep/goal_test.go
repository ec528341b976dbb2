package sweep_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/sweep"
)

// A goal replaces the learned one, and the run without faults is compared with it, too. The program purchases twice, and
// writes each refusal to a file.
func TestSweep_Goal(t *testing.T) {
	t.Parallel()
	srv := mockserver.New(mockserver.WithoutListener())
	defer srv.Close()
	shipment, all := srv.Shipments()[0], []string{"CUSTOMS", "FDA", "FISH-WILDLIFE", "TEXTILE", "WATCH"}
	for name, test := range map[string]struct {
		goal sweep.Goal
		want map[string]string // by schedule
	}{
		"learned": {sweep.Goal{}, nil},
		"twice":   {sweep.Goal{Documents: map[string][]string{shipment: append(all, all...)}}, nil},
		"once": {sweep.Goal{Documents: map[string][]string{shipment: all}}, map[string]string{
			"":                         "paid-twice: CUSTOMS, FDA, FISH-WILDLIFE, TEXTILE, WATCH for " + shipment + ": twice, but once in the goal",
			"regulatory.analyze#1:500": "paid-twice: CUSTOMS, FDA, FISH-WILDLIFE, TEXTILE, WATCH for " + shipment + ": twice, but once in the goal",
		}},
		"some": {sweep.Goal{Documents: map[string][]string{shipment: append(all[1:], all[1:]...)}}, map[string]string{
			"":                         "paid-twice: CUSTOMS for " + shipment + ": twice, but not in the goal",
			"regulatory.analyze#1:500": "paid-twice: CUSTOMS for " + shipment + ": twice, but not in the goal",
		}},
		"once more": {sweep.Goal{Documents: map[string][]string{shipment: append(all[1:], all...)}}, map[string]string{
			"":                         "paid-twice: CUSTOMS for " + shipment + ": twice, but once in the goal",
			"regulatory.analyze#1:500": "paid-twice: CUSTOMS for " + shipment + ": twice, but once in the goal",
		}},
		"another": {sweep.Goal{Documents: map[string][]string{"SH-1": {"FDA"}, shipment: append(all, all...)}}, map[string]string{
			"": "missing: the program succeeded without FDA for SH-1", "regulatory.analyze#1:500": "missing: the program succeeded without FDA for SH-1",
		}},
		"a notification": {sweep.Goal{Notifications: []string{"shipment.created of SH-1 to WA-1"}}, map[string]string{
			"":                         "missing: the program succeeded without shipment.created of SH-1 to WA-1",
			"regulatory.analyze#1:500": "missing: the program succeeded without shipment.created of SH-1 to WA-1",
		}},
		"a file": {sweep.Goal{Files: []string{"refused"}}, map[string]string{
			"regulatory.analyze#1:500": `different: refused: line 2 is "500", but absent without faults`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				config := sweep.Config{
					Faults: []string{"500"}, Operations: []string{shipping.OpAnalyze}, MaxRuns: 1, Goal: test.goal,
					Options: []mockserver.Option{mockserver.WithoutListener()},
				}
				report, err := sweep.Sweep(t.Context(), config, func(ctx context.Context, a sweep.Attempt) sweep.Outcome {
					s := &session{http.Client{Transport: a.World.Transport()}, a.World.URL, a.World.SecretKey}
					refused := "refused:"
					for range 2 {
						r, err := s.analyze(ctx, a.World.Shipments()[0])
						for err != nil {
							refused += "\n" + err.Error()[:3]
							r, err = s.analyze(ctx, a.World.Shipments()[0])
						}
						if err := s.purchase(ctx, r); err != nil {
							return sweep.Outcome{How: err.Error()}
						}
					}
					return sweep.Outcome{Success: true, Files: map[string]string{"refused": refused}}
				})
				if err != nil {
					t.Fatal(err)
				}
				found := map[string]string{}
				for _, r := range report.Failing() {
					found[r.Schedule] = r.Findings[0].String()
				}
				if len(found) != len(test.want) {
					t.Errorf("found %v, want %v", found, test.want)
				}
				for schedule, want := range test.want {
					if found[schedule] != want {
						t.Errorf("%q: found %q, want %q", schedule, found[schedule], want)
					}
				}
				if name == "learned" && strings.Join(report.Goal.Documents[shipment], " ") != "CUSTOMS CUSTOMS FDA FDA FISH-WILDLIFE FISH-WILDLIFE TEXTILE TEXTILE WATCH WATCH" {
					t.Errorf("learned %v", report.Goal)
				}
			})
		})
	}
}

// A document or notification that is not expected, once, differs from the goal. It is not paid or sent twice.
func TestSweep_NotInTheGoal(t *testing.T) {
	t.Parallel()
	srv := mockserver.New(mockserver.WithoutListener())
	defer srv.Close()
	shipment := srv.Shipments()[0]
	delivery := "shipment.created of " + shipment + " to " + srv.Webhooks()[0]
	documents := map[string][]string{shipment: {"CUSTOMS", "FDA", "FISH-WILDLIFE", "TEXTILE", "WATCH"}}
	for name, test := range map[string]struct {
		goal sweep.Goal
		want []sweep.Finding
	}{
		"a document": {
			sweep.Goal{Documents: map[string][]string{shipment: documents[shipment][:4]}},
			[]sweep.Finding{{Verdict: sweep.Different, Detail: "WATCH for " + shipment + ": once, but not in the goal"}},
		},
		"a notification": {
			sweep.Goal{Documents: documents, Notifications: []string{}},
			[]sweep.Finding{{Verdict: sweep.Different, Detail: delivery + ": once, but not in the goal"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				config := sweep.Config{
					Faults: []string{"500"}, Operations: []string{shipping.OpListRates}, Goal: test.goal,
					Options: []mockserver.Option{mockserver.WithoutListener()},
				}
				report, err := sweep.Sweep(t.Context(), config, func(ctx context.Context, a sweep.Attempt) sweep.Outcome {
					client := a.World.Client(t)
					err := buy(ctx, client, a.World.Shipments()[0])
					if err == nil {
						_, err = client.Webhooks.Replay(ctx, &shipping.ReplayRequest{ShipmentID: a.World.Shipments()[0], Event: "shipment.created", WebhookID: a.World.Webhooks()[0]})
					}
					if err != nil {
						return sweep.Outcome{How: err.Error()}
					}
					return sweep.Outcome{Success: true}
				})
				if err != nil || !slices.Equal(report.WithoutFaults.Findings, test.want) {
					t.Errorf("%v: %v, want %v", err, report.WithoutFaults.Findings, test.want)
				}
			})
		})
	}
}
