package compliance

import (
	"slices"
	"strings"
	"unicode"
)

// Why a form was matched ([Reason.Rule]).
const (
	// RuleHSPrefix: the item's HS code begins with one of the form's prefixes.
	RuleHSPrefix = "hs_prefix"
	// RuleKeyword: the item has no HS code and its description holds one of the form's keywords.
	RuleKeyword = "keyword"
	// RuleCrossBorder: the consignment crosses a border.
	RuleCrossBorder = "cross_border"
)

type Item struct {
	// ID identifies the item in [Reason.ItemID].
	ID string
	// Description is searched for keywords, but only if the HS code is missing.
	Description string
	// HSCode is a tariff code in digits, or empty.
	HSCode string
}

type Match struct {
	Form *Form
	// Reasons holds at least one: the border first, then at most one an item, in the items' order.
	Reasons []Reason
}

type Reason struct {
	// ItemID is the [Item.ID] of the item that needs the form; empty if the whole consignment is the reason.
	ItemID string `json:"item_id,omitempty"`
	// Rule is [RuleHSPrefix], [RuleKeyword] or [RuleCrossBorder].
	Rule string `json:"rule"`
	// Match is what matched: the prefix ("9102"), the keyword ("power bank") or the border ("CN-US"). Of several, it is
	// the longest; of equally long ones, the first in the table.
	Match string `json:"match"`
}

// Match returns the forms that a consignment between two countries, given by their two-letter codes, needs, in the
// order of the table. If a country is unknown, or both are the same, no border is crossed and no form is needed.
func (r *Rules) Match(origin, destination string, items []Item) []Match {
	if origin == "" || destination == "" || origin == destination {
		return nil
	}
	descriptions := make([][]string, len(items))
	for i, item := range items {
		descriptions[i] = words(item.Description)
	}
	var matches []Match
	for _, form := range r.forms {
		if form.USOnly && destination != "US" {
			continue
		}
		var reasons []Reason
		if form.CrossBorder {
			reasons = append(reasons, Reason{Rule: RuleCrossBorder, Match: origin + "-" + destination})
		}
		for i, item := range items {
			reason := Reason{ItemID: item.ID, Rule: RuleKeyword, Match: form.keyword(descriptions[i])}
			if item.HSCode != "" {
				reason.Rule, reason.Match = RuleHSPrefix, form.prefix(item.HSCode)
			}
			if reason.Match != "" {
				reasons = append(reasons, reason)
			}
		}
		if len(reasons) > 0 {
			matches = append(matches, Match{Form: form, Reasons: reasons})
		}
	}
	return matches
}

// prefix returns the longest prefix of an HS code that requires the form, or "".
func (f *Form) prefix(code string) (longest string) {
	for _, prefix := range f.HSPrefixes {
		first, last, isRange := strings.Cut(prefix, "-")
		if !isRange {
			last = first
		}
		if len(first) <= len(longest) || len(first) > len(code) {
			continue
		}
		if heading := code[:len(first)]; first <= heading && heading <= last {
			longest = heading
		}
	}
	return longest
}

// keyword returns the longest keyword in a description, or "".
func (f *Form) keyword(description []string) (longest string) {
	for _, keyword := range f.Keywords {
		if len(keyword) > len(longest) && mentions(description, words(keyword)) {
			longest = keyword
		}
	}
	return longest
}

// mentions reports whether a text contains a keyword, possibly in the plural.
func mentions(text, keyword []string) bool {
	last := len(keyword) - 1
	for start := 0; start+len(keyword) <= len(text); start++ {
		here := text[start : start+len(keyword)]
		if slices.Equal(here[:last], keyword[:last]) && isOneOrMany(here[last], keyword[last]) {
			return true
		}
	}
	return false
}

// isOneOrMany reports whether word is noun or its regular English plural.
func isOneOrMany(word, noun string) bool {
	if word == noun || word == noun+"s" || word == noun+"es" {
		return true
	}
	stem, ok := strings.CutSuffix(noun, "y")
	return ok && word == stem+"ies"
}

// words splits a text into words in lower case. Hyphens and apostrophes separate words, so that
// "power-bank" is found as "power bank" and "dress" in "women's dress".
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}
