package compliance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/mockserver/internal/compliance"
)

func defaultRules(t *testing.T) *compliance.Rules {
	t.Helper()
	rules, err := compliance.Default()
	if err != nil {
		t.Fatal(err)
	}
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
	var got []string
	for _, form := range formsOf(rules) {
		got = append(got, form.Slug)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("slugs of the table (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, compliance.Slugs()); diff != "" {
		t.Errorf("Slugs (-want +got):\n%s", diff)
	}
	if form, ok := rules.Form("fda"); ok {
		t.Errorf("slugs are exact values, yet Form(\"fda\") = %v", form)
	}
}

func TestDefault_KnowsWhichFormsAreManualAndWhichAreAskedForByTheUnitedStatesOnly(t *testing.T) {
	t.Parallel()
	var manual, usOnly, crossBorder []string
	for _, form := range formsOf(defaultRules(t)) {
		if form.Mode == compliance.ModeManual {
			manual = append(manual, form.Slug)
		}
		if form.USOnly {
			usOnly = append(usOnly, form.Slug)
		}
		if form.CrossBorder {
			crossBorder = append(crossBorder, form.Slug)
		}
	}
	for _, check := range []struct {
		what string
		got  []string
		want string
	}{
		{"manual", manual, "FUMIGATION MSDS OTHER QUARANTINE"},
		{"US only", usOnly, "AMS FDA DROP-BALL FISH-WILDLIFE FOOTWEAR STEEL TEXTILE WATCH"},
		{"cross-border", crossBorder, "CUSTOMS"},
	} {
		if diff := cmp.Diff(strings.Fields(check.want), check.got); diff != "" {
			t.Errorf("%s forms (-want +got):\n%s", check.what, diff)
		}
	}
}

func TestDefault_EveryFormCanBeSoldGeneratedAndFilledIn(t *testing.T) {
	t.Parallel()
	for _, form := range formsOf(defaultRules(t)) {
		if form.PriceUSD.Sign() <= 0 || form.Seconds <= 0 {
			t.Errorf("%s costs %s USD and takes %s", form.Slug, form.PriceUSD, form.Generation())
		}
		if !slices.ContainsFunc(form.Fields, func(f compliance.FormField) bool { return f.Required }) {
			t.Errorf("%s requires no field", form.Slug)
		}
		for _, field := range form.Fields {
			if field.Pattern != "" && field.Help == "" {
				t.Errorf("%s.%s has a pattern without an explanation", form.Slug, field.Name)
			}
		}
	}
}
