package compliance_test

import (
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
)

func defaultRules(t *testing.T) *compliance.Rules {
	t.Helper()
	rules := shippingtest.Must(compliance.Default())(t)
	return rules
}

// formsOf returns the forms of a table, in the order of the slugs.
func formsOf(rules *compliance.Rules) []*compliance.Form {
	var forms []*compliance.Form
	for _, slug := range compliance.Slugs() {
		if form, ok := rules.Form(slug); ok {
			forms = append(forms, form)
		}
	}
	return forms
}

// Specification: "Supported document type slugs (exact values)".
func TestDefault_HoldsExactlyTheSpecifiedDocumentTypesInTheirOrder(t *testing.T) {
	t.Parallel()
	want := strings.Fields(`AMS CUSTOMS FDA DROP-BALL FISH-WILDLIFE FOOTWEAR FUMIGATION LITHIUM-BATTERY MSDS MUSEUM
		OTHER QUARANTINE STEEL TEXTILE WATCH`)
	rules := defaultRules(t)
	var got, manual []string
	for _, form := range formsOf(rules) {
		if got = append(got, form.Slug); form.Mode == compliance.ModeManual {
			manual = append(manual, form.Slug)
		}
	}
	shippingtest.Diff(t, "manual forms", strings.Fields("FUMIGATION MSDS OTHER QUARANTINE"), manual)
	shippingtest.Diff(t, "slugs of the table", want, got)
	shippingtest.Diff(t, "Slugs", want, compliance.Slugs())
	if form, ok := rules.Form("fda"); ok {
		t.Errorf("slugs are exact values, yet Form(\"fda\") = %v", form)
	}
}
