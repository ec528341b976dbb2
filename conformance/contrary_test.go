package conformance_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/mockserver"
)

// A service that makes the other choice at each open point conforms, but for two that the client tolerates: the
// specification shows a breakdown as a list, and lists the states.
func TestCheck_TheContraryServiceConforms(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*mockserver.Assumptions){
		"contrary": mockserver.Contrary,
		"with all that the server holds": func(a *mockserver.Assumptions) {
			mockserver.Contrary(a)
			a.MinimalRecord, a.MinimalPurchase = false, false
		},
		"refused in the envelope": func(a *mockserver.Assumptions) {
			mockserver.Contrary(a)
			a.ProblemRefusals, a.AnalyzeFailureOK = false, false
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t, edit, func(a *mockserver.Assumptions) { a.ObjectBreakdown, a.UnknownState = false, 0 })
			report := conformance.Check(t.Context(), target(srv), conformance.WithSecretKey(srv.SecretKey), conformance.WithTransport(srv.Transport()), conformance.WithSecondPurchase())
			if diff := cmp.Diff([]string(nil), verdicts(report, conformance.Fail)); diff != "" {
				t.Errorf("failed (-want +got):\n%s", diff)
			}
			if notRun := strings.Join(verdicts(report, conformance.NotRun), "\n"); strings.Contains(notRun, "purchase") || len(report.Purchases) != 2 {
				t.Errorf("%d purchases, not run: %s", len(report.Purchases), notRun)
			}
		})
	}
}
