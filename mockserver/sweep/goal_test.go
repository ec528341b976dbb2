package sweep_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/sweep"
)

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
				s.files["refused"] = "refused:"
				for range test.purchases {
					r, err := s.analyze(ctx, shipment)
					for err != nil {
						s.files["refused"] += "\n" + err.Error()[:3]
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
			if name == "learned" && strings.Join(report.Goal.Documents[shipment],
				" ") != "CUSTOMS CUSTOMS FDA FDA FISH-WILDLIFE FISH-WILDLIFE TEXTILE TEXTILE WATCH WATCH" {
				t.Errorf("learned %v", report.Goal)
			}
		})
	}
}
