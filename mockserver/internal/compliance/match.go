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

// Consignment describes the goods of a shipment or an invoice.
type Consignment struct {
	// Origin and Destination are two-letter ISO country codes, in either case. If one is
	// unknown, or both are the same, no border is crossed and no form is needed.
	Origin, Destination string
	Items               []Item
}

// Item is one line of a consignment.
type Item struct {
	// ID is given back in [Reason.ItemID]; nothing is read into it.
	ID string
	// Description is searched for keywords, but only if the HS code is missing.
	Description string
	// HSCode is a tariff code, with or without dots, spaces and hyphens: "9102.11.00". Any other
	// text ("n/a", "unknown") counts as none.
	HSCode string
}

// Match is a form that a consignment needs, and why.
type Match struct {
	Form *Form
	// Reasons holds at least one: the border first, then at most one an item, in the items' order.
	Reasons []Reason
}

// Reason is the reason why a form was matched.
type Reason struct {
	// ItemID is the [Item.ID] of the item that needs the form; empty where the whole consignment does.
	ItemID string
	// Rule is [RuleHSPrefix], [RuleKeyword] or [RuleCrossBorder].
	Rule string
	// Match is what matched: the prefix ("9102"), the keyword ("power bank") or the border ("CN-US").
	// Of several the longest is given, of equally long ones the first in the table.
	Match string
}

// Match returns the forms that the consignment needs, in the table's order. The same consignment
// always gives the same result.
func (r *Rules) Match(c Consignment) []Match {
	origin, destination := countryCode(c.Origin), countryCode(c.Destination)
	if origin == "" || destination == "" || origin == destination {
		return nil
	}
	items := make([]matchable, len(c.Items))
	for i, item := range c.Items {
		items[i] = readItem(item)
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
		for _, item := range items {
			if reason, ok := form.needs(item); ok {
				reasons = append(reasons, reason)
			}
		}
		if len(reasons) > 0 {
			matches = append(matches, Match{Form: form, Reasons: reasons})
		}
	}
	return matches
}

// needs reports whether an item requires the form.
func (f *Form) needs(item matchable) (Reason, bool) {
	if item.hsCode != "" {
		prefix := longest(f.HSPrefixes, func(p string) bool { return strings.HasPrefix(item.hsCode, p) })
		return Reason{ItemID: item.id, Rule: RuleHSPrefix, Match: prefix}, prefix != ""
	}
	keyword := longest(f.Keywords, item.mentions)
	return Reason{ItemID: item.id, Rule: RuleKeyword, Match: keyword}, keyword != ""
}

// longest returns the longest text that fits, the first of equally long ones, or "".
func longest(texts []string, fits func(string) bool) (found string) {
	for _, text := range texts {
		if len(text) > len(found) && fits(text) {
			found = text
		}
	}
	return found
}

// matchable is an item made ready for many comparisons. It has either an HS code or words.
type matchable struct {
	id     string
	hsCode string   // digits only
	words  []string // of the description
}

func readItem(item Item) matchable {
	if digits := hsDigits(item.HSCode); digits != "" {
		return matchable{id: item.ID, hsCode: digits}
	}
	return matchable{id: item.ID, words: words(item.Description)}
}

// mentions reports whether the text contains the keyword's words side by side, the last one possibly in the plural.
func (m matchable) mentions(keyword string) bool {
	wanted := words(keyword)
	last := len(wanted) - 1
	for start := 0; start+len(wanted) <= len(m.words); start++ {
		here := m.words[start : start+len(wanted)]
		if slices.Equal(here[:last], wanted[:last]) && isOneOrMany(here[last], wanted[last]) {
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

// words returns the words of a text in lower case. Hyphens and apostrophes separate words, so that
// "power-bank" is found as "power bank" and "dress" in "women's dress".
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// hsDigits returns the digits of an HS code, or "" for a text that isn't one. The shortest heading
// that means anything is a chapter, two digits.
func hsDigits(code string) string {
	digits := strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || unicode.IsSpace(r) {
			return -1
		}
		return r
	}, code)
	if len(digits) < 2 || strings.Trim(digits, "0123456789") != "" {
		return ""
	}
	return digits
}

func countryCode(code string) string { return strings.ToUpper(strings.TrimSpace(code)) }
