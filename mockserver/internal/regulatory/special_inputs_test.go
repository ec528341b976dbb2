package regulatory_test

import (
	"testing"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// story analyzes a special input, purchases every offered document except OTHER, and returns the states of the request:
// after the purchase, a minute later, and after one retry.
func story(t *testing.T, in regulatory.AnalyzeInput) (states []string) {
	rules := shippingtest.Must(compliance.Default())(t)
	w := newWorld(t, func(c *regulatory.Config) { c.Rules = func() *compliance.Rules { return rules } })
	r, err := w.Analyze(in)
	if err != nil {
		return []string{string(w.refused(regulatory.CodeAnalysisFailed)(nil, err).Code)}
	}
	var slugs []string
	for _, offer := range r.AvailableDocuments {
		slugs = append(slugs, offer.DocumentType)
	}
	if len(slugs) == 0 {
		return []string{"nothing offered"}
	}
	w.purchase(r, slugs...)
	states = append(states, statusAndDocuments(w.get(r)))
	w.advance(time.Minute)
	states = append(states, statusAndDocuments(w.get(r)))
	if _, err := w.Retry(r.RequestID); err == nil {
		w.advance(time.Minute)
		states = append(states, statusAndDocuments(w.get(r)))
	}
	return states
}

func TestSpecialInputs_States(t *testing.T) {
	t.Parallel()
	const (
		starting  = "processing: CUSTOMS generating, LITHIUM-BATTERY generating, WATCH generating"
		generated = "completed: CUSTOMS generated, LITHIUM-BATTERY generated, WATCH generated"
		failed    = "failed: CUSTOMS failed, LITHIUM-BATTERY generated, WATCH generated"
	)
	want := map[string][]string{
		"fail-analysis":      {"analysis_failed"},
		"match-customs-only": {"processing: CUSTOMS generating", "completed: CUSTOMS generated"},
		"match-nothing":      {"nothing offered"},
		"generate-slowly":    {starting, starting},
		"fail-once":          {starting, failed, generated},
		"fail-always":        {starting, failed, failed},
		"hang-in-purchasing": {"purchasing: ", "purchasing: "},
		"need-evidence": {"processing: CUSTOMS generating, MSDS awaiting_evidence",
			"processing: CUSTOMS generated, MSDS awaiting_evidence"},
	}
	for _, special := range regulatory.SpecialInputs() {
		for _, in := range []regulatory.AnalyzeInput{{ShipmentID: special.ShipmentID}, {FileURL: special.FileURL}} {
			shippingtest.Diff(t, special.Effect, want[special.Effect], story(t, in))
		}
		delete(want, special.Effect)
	}
	for effect := range want {
		t.Errorf("%s is not in the table", effect)
	}
}
