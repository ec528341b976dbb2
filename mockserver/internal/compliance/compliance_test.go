package compliance_test

import (
	"encoding/json"
	"strings"
	"testing"

	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
)

func slugsOf(matches []compliance.Match) string {
	var slugs []string
	for _, match := range matches {
		slugs = append(slugs, match.Form.Slug)
	}
	return strings.Join(slugs, " ")
}

// toUS returns what items from China to the United States need.
func toUS(rules *compliance.Rules, items ...compliance.Item) []compliance.Match {
	return rules.Match("CN", "US", items)
}

func TestMatch_KeywordsStandInForAMissingHSCode(t *testing.T) {
	t.Parallel()
	rules := compliance.Default()
	for _, test := range []struct{ goods, want string }{
		{"Vitamin C supplement", "CUSTOMS FDA"},
		{"polarised sunglasses", "CUSTOMS DROP-BALL"},
		{"belt of genuine leather", "CUSTOMS FISH-WILDLIFE"},
		{"furniture polish", "CUSTOMS"},
		{"one shoe, two boots", "CUSTOMS FOOTWEAR"},
		{"watchmaker's tools", "CUSTOMS"},
		{"women's dresses", "CUSTOMS TEXTILE"},
		{"dressing table", "CUSTOMS"},
		{"steel rods in a crate", "CUSTOMS FUMIGATION STEEL"},
		{"Power-Bank 20000 mAh", "CUSTOMS LITHIUM-BATTERY"},
		{"bank of power supplies", "CUSTOMS"},
		{"a painting, not paint", "CUSTOMS MSDS MUSEUM"},
		{"", "CUSTOMS"},
	} {
		got := slugsOf(toUS(rules, compliance.Item{ID: "IT-1", Description: test.goods}))
		shippingtest.Diff(t, test.goods, test.want, got)
	}
}

func TestMatch_TheLongestPrefixAndKeywordAreTheReason(t *testing.T) {
	t.Parallel()
	rules := shippingtest.Must(compliance.Parse([]byte(`{"forms": [{
		"slug": "WATCH", "title": "t", "description": "d", "mode": "manual",
		"hs_prefixes": ["91", "910211", "9102"], "keywords": ["watch", "pocket watch", "smart watch"],
		"price_usd": 1, "generation_seconds": 0}]}`)))(t)
	matches := toUS(rules,
		compliance.Item{ID: "IT-1", HSCode: "91021110"},
		compliance.Item{ID: "IT-2", HSCode: "910219"},
		compliance.Item{ID: "IT-3", Description: "watch, or rather pocket watches"},
		compliance.Item{ID: "IT-4", Description: "clock"},
		compliance.Item{ID: "IT-5", HSCode: "9105"},
	)
	want := []compliance.Reason{
		{ItemID: "IT-1", Rule: compliance.RuleHSPrefix, Match: "910211"},
		{ItemID: "IT-2", Rule: compliance.RuleHSPrefix, Match: "9102"},
		{ItemID: "IT-3", Rule: compliance.RuleKeyword, Match: "pocket watch"},
		{ItemID: "IT-5", Rule: compliance.RuleHSPrefix, Match: "91"},
	}
	shippingtest.Diff(t, "reasons", want, matches[0].Reasons)
}

func TestMatch_USFormsAreForTheUnitedStatesAndOthersForAnyBorder(t *testing.T) {
	t.Parallel()
	rules := compliance.Default()
	goods := []compliance.Item{
		{ID: "IT-1", HSCode: "910211"}, {ID: "IT-2", HSCode: "850760"}, {ID: "IT-3", HSCode: "330300"},
		{ID: "IT-4", HSCode: "442110"},
		{ID: "IT-5", HSCode: "970121"}, {ID: "IT-6", HSCode: "080410"}, {ID: "IT-7", HSCode: "610910"},
		{ID: "IT-8", HSCode: "640411"},
		{ID: "IT-9", HSCode: "720839"}, {ID: "IT-10", HSCode: "900410"}, {ID: "IT-11", HSCode: "420221"},
	}
	everywhere := "CUSTOMS FUMIGATION LITHIUM-BATTERY MSDS MUSEUM QUARANTINE"
	for _, test := range []struct{ name, origin, destination, want string }{
		{"to the United States", "NG", "US",
			"AMS CUSTOMS FDA DROP-BALL FISH-WILDLIFE FOOTWEAR FUMIGATION LITHIUM-BATTERY MSDS MUSEUM QUARANTINE STEEL " +
				"TEXTILE WATCH"},
		{"from the United States", "US", "NG", everywhere},
		{"between other countries", "NG", "GB", everywhere},
		{"within the United States", "US", "US", ""},
		{"from nowhere", "", "US", ""},
		{"to nowhere", "US", "", ""},
	} {
		got := slugsOf(rules.Match(test.origin, test.destination, goods))
		shippingtest.Diff(t, test.name, test.want, got)
	}
}

// everyType is a form with a field of each kind.
const everyType = `{"forms": [{"slug": "OTHER", "title": "t", "description": "d", "mode": "manual", "price_usd": 1,
	"generation_seconds": 0, "fields": [
		{"name": "text", "label": "l", "type": "string", "required": true},
		{"name": "choice", "label": "l", "type": "string", "values": ["red", "blue"], "required": true},
		{"name": "code", "label": "l", "type": "string", "pattern": "[A-Z]{2}|-"},
		{"name": "time", "label": "l", "type": "string", "pattern": "[0-9]{2}:[0-9]{2}", "help": "Such as 14:30."},
		{"name": "number", "label": "l", "type": "number", "required": true},
		{"name": "count", "label": "l", "type": "number", "minimum": 1},
		{"name": "date", "label": "l", "type": "date"},
		{"name": "flag", "label": "l", "type": "boolean", "required": true},
		{"name": "share", "label": "l", "type": "percent"}]}]}`

func formOfEveryType(t testing.TB) *compliance.Form {
	rules := shippingtest.Must(compliance.Parse([]byte(everyType)))(t)
	return formsOf(rules)[0]
}

func TestCheck_ValuesOfEachType(t *testing.T) {
	t.Parallel()
	const (
		text    = "must be a text in quotes"
		number  = "must be a number without quotes, such as 12.5"
		date    = `must be a date in quotes, such as "2026-01-05"`
		flag    = "must be true or false, without quotes"
		percent = "must be a number from 0 to 100, without quotes"
	)
	long := `"` + strings.Repeat("É", 500) + `"`
	tests := []struct{ field, value, want string }{
		{"text", `"Ł ₦ \""`, ""},
		{"text", `5`, text},
		{"text", `{}`, text},
		{"text", long, ""},
		{"text", long[:len(long)-1] + `!"`, "must be at most 500 characters; shorten it"},
		{"choice", `"blue"`, ""},
		{"choice", `"Blue"`, "must be one of red, blue"},
		{"choice", `[]`, "must be one of red, blue"},
		{"code", `"GH"`, ""},
		{"code", `"GHA"`, "must match the pattern [A-Z]{2}|-"},
		{"code", `"GH\n"`, "must match the pattern [A-Z]{2}|-"},
		{"time", `"14:30"`, ""},
		{"time", `"2 pm"`, "is not in the right form. Such as 14:30"},
		{"number", `-18.25`, ""},
		{"number", `1e3`, ""},
		{"number", `0.30000000000000000004`, "has more than 18 digits; round it"},
		{"number", `"12"`, number},
		{"number", `true`, number},
		{"number", `[1]`, number},
		{"number", `1,000`, number},
		{"count", `1`, ""},
		{"count", `0.5`, "must be at least 1"},
		{"date", `"2024-02-29"`, ""},
		{"date", `"2026-02-29"`, date},
		{"date", `"05/01/2026"`, date},
		{"date", `20260105`, date},
		{"flag", `false`, ""},
		{"flag", `"yes"`, flag},
		{"flag", `1`, flag},
		{"share", `0`, ""},
		{"share", `100.00`, ""},
		{"share", `100.01`, percent},
		{"share", `-1`, percent},
		{"share", `"50"`, percent},
	}
	form := formOfEveryType(t)
	for _, test := range tests {
		var want []compliance.Problem
		if test.want != "" {
			want = []compliance.Problem{{Field: test.field, Reason: test.want}}
		}
		got := form.Check(map[string]json.RawMessage{test.field: json.RawMessage(test.value)})
		shippingtest.Diff(t, test.field+": "+test.value, want, got)
	}
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
	rules := compliance.Default()
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
