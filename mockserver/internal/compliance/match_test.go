package compliance_test

import (
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
	rules := defaultRules(t)
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
	rules := defaultRules(t)
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
			"AMS CUSTOMS FDA DROP-BALL FISH-WILDLIFE FOOTWEAR FUMIGATION LITHIUM-BATTERY MSDS MUSEUM QUARANTINE STEEL TEXTILE WATCH"},
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
