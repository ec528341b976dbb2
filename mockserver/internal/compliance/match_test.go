package compliance_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
)

// slugsOf joins the slugs of matches with spaces.
func slugsOf(matches []compliance.Match) string {
	var slugs []string
	for _, match := range matches {
		slugs = append(slugs, match.Form.Slug)
	}
	return strings.Join(slugs, " ")
}

// reasonsOf returns a slug's reasons.
func reasonsOf(matches []compliance.Match, slug string) []compliance.Reason {
	for _, match := range matches {
		if match.Form.Slug == slug {
			return match.Reasons
		}
	}
	return nil
}

// toUS returns what items from China to the United States need.
func toUS(rules *compliance.Rules, items ...compliance.Item) []compliance.Match {
	return rules.Match("CN", "US", items)
}

func TestMatch_EachHSCodeCallsForItsForms(t *testing.T) {
	t.Parallel()
	rules := defaultRules(t)
	tests := []struct{ goods, hsCode, want string }{
		{"live ornamental fish", "030111", "CUSTOMS FDA FISH-WILDLIFE"},
		{"hen's eggs", "040721", "AMS CUSTOMS FDA"},
		{"cut flowers", "060311", "CUSTOMS QUARANTINE"},
		{"onions", "070310", "AMS CUSTOMS FDA QUARANTINE"},
		{"garlic", "070320", "CUSTOMS FDA QUARANTINE"},
		{"dates", "080410", "AMS CUSTOMS FDA QUARANTINE"},
		{"groundnuts", "120242", "AMS CUSTOMS FDA QUARANTINE"},
		{"gums and resins", "130190", "CUSTOMS"},
		{"crude palm oil", "151110", "CUSTOMS FDA"},
		{"food supplement", "210690", "CUSTOMS FDA"},
		{"cat food", "230910", "CUSTOMS FDA"},
		{"tobacco", "240120", "CUSTOMS"},
		{"hydrogen peroxide", "284700", "CUSTOMS MSDS"},
		{"perfume", "330300", "CUSTOMS MSDS"},
		{"essential oil of orange", "330112", "CUSTOMS"},
		{"leather handbag", "420221", "CUSTOMS FISH-WILDLIFE"},
		{"wooden statuette", "442011", "CUSTOMS FUMIGATION"},
		{"wooden clothes hanger", "442110", "CUSTOMS FUMIGATION QUARANTINE"},
		{"bamboo mat", "460121", "CUSTOMS FUMIGATION"},
		{"silk fabric", "500720", "CUSTOMS TEXTILE"},
		{"cotton T-shirt", "610910", "CUSTOMS TEXTILE"},
		{"running shoe", "640411", "CUSTOMS FOOTWEAR"},
		{"shoe parts", "640690", "CUSTOMS"},
		{"feather article", "670100", "CUSTOMS FISH-WILDLIFE"},
		{"walking stick", "660200", "CUSTOMS QUARANTINE"},
		{"steel coil", "720839", "CUSTOMS STEEL"},
		{"pig iron", "720110", "CUSTOMS"},
		{"steel pipe", "730661", "CUSTOMS STEEL"},
		{"steel pot", "732393", "CUSTOMS"},
		{"laptop", "847130", "CUSTOMS LITHIUM-BATTERY"},
		{"power bank", "850760", "CUSTOMS LITHIUM-BATTERY"},
		{"phone", "851713", "CUSTOMS LITHIUM-BATTERY"},
		{"spectacle lens", "900150", "CUSTOMS DROP-BALL"},
		{"sunglasses", "900410", "CUSTOMS DROP-BALL"},
		{"wristwatch", "910211", "CUSTOMS WATCH"},
		{"leather watch strap", "911390", "CUSTOMS FISH-WILDLIFE"},
		{"piano", "920110", "CUSTOMS QUARANTINE"},
		{"rattan chair", "940169", "CUSTOMS QUARANTINE"},
		{"wooden table", "940360", "CUSTOMS FUMIGATION"},
		{"worked ivory", "960110", "CUSTOMS FISH-WILDLIFE"},
		{"oil painting", "970121", "CUSTOMS MUSEUM"},
	}
	for _, test := range tests {
		got := slugsOf(toUS(rules, compliance.Item{ID: "IT-1", Description: test.goods, HSCode: test.hsCode}))
		if got != test.want {
			t.Errorf("%s (%s) needs %s, want %s", test.goods, test.hsCode, got, test.want)
		}
	}
}

func TestMatch_KeywordsStandInForAMissingHSCode(t *testing.T) {
	t.Parallel()
	rules := defaultRules(t)
	tests := []struct{ goods, want string }{
		{"Vitamin C supplement", "CUSTOMS FDA"},
		{"SNACKS, assorted", "CUSTOMS FDA"},
		{"polarised sunglasses", "CUSTOMS DROP-BALL"},
		{"belt of genuine leather", "CUSTOMS FISH-WILDLIFE"},
		{"fur hat", "CUSTOMS FISH-WILDLIFE"},
		{"furniture polish", "CUSTOMS"},
		{"sea shells", "CUSTOMS FISH-WILDLIFE"},
		{"one shoe, two boots", "CUSTOMS FOOTWEAR"},
		{"leather sandals", "CUSTOMS FISH-WILDLIFE FOOTWEAR"},
		{"two watches", "CUSTOMS WATCH"},
		{"watchmaker's tools", "CUSTOMS"},
		{"women's dresses", "CUSTOMS TEXTILE"},
		{"dressing table", "CUSTOMS"},
		{"steel rods in a crate", "CUSTOMS FUMIGATION STEEL"},
		{"power banks", "CUSTOMS LITHIUM-BATTERY"},
		{"Power-Bank 20000 mAh", "CUSTOMS LITHIUM-BATTERY"},
		{"bank of power supplies", "CUSTOMS"},
		{"perfume gift set", "CUSTOMS MSDS"},
		{"a painting, not paint", "CUSTOMS MSDS MUSEUM"},
		{"seed tray with plants", "CUSTOMS QUARANTINE"},
		{"", "CUSTOMS"},
	}
	for _, test := range tests {
		got := slugsOf(toUS(rules, compliance.Item{ID: "IT-1", Description: test.goods}))
		if got != test.want {
			t.Errorf("%q needs %s, want %s", test.goods, got, test.want)
		}
	}
}

func TestMatch_KeywordsDoNotApplyToAnItemWithAnHSCode(t *testing.T) {
	t.Parallel()
	rules := defaultRules(t)
	tests := []struct{ hsCode, want string }{
		{"732393", "CUSTOMS"},
		{"", "CUSTOMS STEEL"},
	}
	for _, test := range tests {
		got := slugsOf(toUS(rules, compliance.Item{Description: "steel pot", HSCode: test.hsCode}))
		if got != test.want {
			t.Errorf("steel pot with HS code %q needs %s, want %s", test.hsCode, got, test.want)
		}
	}
}

func TestMatch_TheLongestPrefixAndKeywordAreTheReason(t *testing.T) {
	t.Parallel()
	rules, err := compliance.Parse([]byte(`{"forms": [{"slug": "WATCH", "title": "t", "description": "d", "mode": "manual",
		"hs_prefixes": ["91", "910211", "9102"], "keywords": ["watch", "pocket watch", "smart watch"],
		"price_usd": 1, "generation_seconds": 0}]}`))
	if err != nil {
		t.Fatal(err)
	}
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
	if diff := cmp.Diff(want, reasonsOf(matches, "WATCH")); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

func TestMatch_RecordsWhyEachFormMatched(t *testing.T) {
	t.Parallel()
	matches := defaultRules(t).Match("CN", "US", []compliance.Item{
		{ID: "IT-1", Description: "Leather strap watch", HSCode: "910211"},
		{ID: "IT-2", Description: "Leather belt"},
	})
	type matched struct {
		Slug    string
		Reasons []compliance.Reason
	}
	var got []matched
	for _, match := range matches {
		got = append(got, matched{match.Form.Slug, match.Reasons})
	}
	want := []matched{
		{"CUSTOMS", []compliance.Reason{{Rule: compliance.RuleCrossBorder, Match: "CN-US"}}},
		{"FISH-WILDLIFE", []compliance.Reason{{ItemID: "IT-2", Rule: compliance.RuleKeyword, Match: "leather"}}},
		{"WATCH", []compliance.Reason{{ItemID: "IT-1", Rule: compliance.RuleHSPrefix, Match: "9102"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("matches (-want +got):\n%s", diff)
	}
}

func TestMatch_USFormsAreForTheUnitedStatesAndOthersForAnyBorder(t *testing.T) {
	t.Parallel()
	rules := defaultRules(t)
	goods := []compliance.Item{
		{ID: "IT-1", HSCode: "910211"}, {ID: "IT-2", HSCode: "850760"}, {ID: "IT-3", HSCode: "330300"}, {ID: "IT-4", HSCode: "442110"},
		{ID: "IT-5", HSCode: "970121"}, {ID: "IT-6", HSCode: "080410"}, {ID: "IT-7", HSCode: "610910"}, {ID: "IT-8", HSCode: "640411"},
		{ID: "IT-9", HSCode: "720839"}, {ID: "IT-10", HSCode: "900410"}, {ID: "IT-11", HSCode: "420221"},
	}
	everywhere := "CUSTOMS FUMIGATION LITHIUM-BATTERY MSDS MUSEUM QUARANTINE"
	tests := []struct{ name, origin, destination, want string }{
		{"to the United States", "NG", "US",
			"AMS CUSTOMS FDA DROP-BALL FISH-WILDLIFE FOOTWEAR FUMIGATION LITHIUM-BATTERY MSDS MUSEUM QUARANTINE STEEL TEXTILE WATCH"},
		{"from the United States", "US", "NG", everywhere},
		{"between other countries", "NG", "GB", everywhere},
		{"within the United States", "US", "US", ""},
		{"from nowhere", "", "US", ""},
		{"to nowhere", "US", "", ""},
	}
	for _, test := range tests {
		got := slugsOf(rules.Match(test.origin, test.destination, goods))
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestMatch_AConsignmentWithoutItemsNeedsTheCustomsInvoiceOnly(t *testing.T) {
	t.Parallel()
	if got := slugsOf(toUS(defaultRules(t))); got != "CUSTOMS" {
		t.Errorf("needs %s, want CUSTOMS", got)
	}
}

func TestMatch_HoldsForAnyConsignment(t *testing.T) {
	t.Parallel()
	rules := defaultRules(t)
	country := rapid.SampledFrom([]string{"", "US", "NG", "CN"})
	item := rapid.Custom(func(t *rapid.T) compliance.Item {
		return compliance.Item{
			ID:          rapid.StringMatching(`IT-[0-9]`).Draw(t, "id"),
			Description: rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"leather shoes", "power bank"})).Draw(t, "description"),
			HSCode:      rapid.StringMatching(`[0-9]{0,12}`).Draw(t, "HS code"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		origin, destination, items := country.Draw(t, "origin"), country.Draw(t, "destination"), rapid.SliceOf(item).Draw(t, "items")
		matches := rules.Match(origin, destination, items)
		if diff := cmp.Diff(matches, rules.Match(origin, destination, items), cmp.Comparer(func(a, b *compliance.Form) bool { return a == b })); diff != "" {
			t.Fatalf("a second look gives another answer:\n%s", diff)
		}
		for _, match := range matches {
			if match.Form.Slug == "OTHER" {
				t.Fatal("OTHER is never automatic")
			}
			if len(match.Reasons) == 0 || len(match.Reasons) > len(items)+1 {
				t.Fatalf("%s has %d reasons for %d items", match.Form.Slug, len(match.Reasons), len(items))
			}
		}
	})
}
