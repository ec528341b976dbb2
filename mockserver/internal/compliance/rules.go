// Package compliance knows which regulatory documents a consignment needs and what each of them
// asks for: the knowledge behind the reference server's analyze step.
//
// The knowledge is data. [Default] reads the table that is built in (rules.json), [Parse] reads
// one that replaces it. The table is illustrative: it makes analyses believable, and is not
// compliance advice.
//
//	rules, err := compliance.Default()
//	…
//	matches := rules.Match(compliance.Consignment{
//		Origin:      "CN",
//		Destination: "US",
//		Items:       []compliance.Item{{ID: "IT-1", Description: "Quartz wristwatch", HSCode: "9102.11"}},
//	})
//	// CUSTOMS, because a border is crossed; WATCH, because of the prefix 9102
//
// Specification: "Regulatory document request (draft record)" gives the slugs. Everything else
// here (what triggers a form, its fields, its price and how long it takes) is an *Assumption*;
// the switch is another table, read with [Parse].
package compliance

import (
	_ "embed"
	"slices"
	"time"

	"github.com/shipping-go/shipping"
)

//go:embed rules.json
var defaultRules []byte

// Slugs returns the document type slugs that exist, in the order of the specification ("Supported
// document type slugs"). The slice is the caller's own.
func Slugs() []string {
	return []string{
		"AMS", "CUSTOMS", "FDA", "DROP-BALL", "FISH-WILDLIFE", "FOOTWEAR", "FUMIGATION", "LITHIUM-BATTERY",
		"MSDS", "MUSEUM", "OTHER", "QUARANTINE", "STEEL", "TEXTILE", "WATCH",
	}
}

// How a form comes to be ([Form.Mode]).
const (
	// ModeAutomated forms are generated from the draft alone, and can be retried when that fails.
	ModeAutomated = "automated"
	// ModeManual forms wait for evidence from a third party, such as a laboratory or a fumigator.
	ModeManual = "manual"
)

// Rules is a table of forms. It is never changed once read and so is safe for concurrent use: one
// may serve every world of a server.
type Rules struct {
	forms []*Form
}

// Default returns the table that is built in, with all the forms of [Slugs]. Each call reads it
// anew, which takes a millisecond or two: keep the result, and share it.
func Default() (*Rules, error) { return Parse(defaultRules) }

// Forms returns the forms in the table's order, which is the order of [Rules.Match] too. The caller
// may change the slice; the forms are shared and read-only.
func (r *Rules) Forms() []*Form { return slices.Clone(r.forms) }

// Form returns the form of a slug such as "FISH-WILDLIFE", and whether the table has it.
func (r *Rules) Form(slug string) (*Form, bool) {
	i := slices.IndexFunc(r.forms, func(f *Form) bool { return f.Slug == slug })
	if i < 0 {
		return nil, false
	}
	return r.forms[i], true
}

// Form is one regulatory document: its conditions, fields and price. Forms belong to
// their [Rules] and are read-only.
type Form struct {
	// Slug is the document type, one of [Slugs].
	Slug string
	// Title is the short name that a draft shows, such as "FDA prior notice".
	Title string
	// Description is the purpose of the form in one sentence.
	Description string
	// Mode is [ModeAutomated] or [ModeManual].
	Mode string
	// USOnly is true for a form that only the United States ask for: it is matched where the
	// destination is "US".
	USOnly bool
	// CrossBorder is true for a form that every consignment needs that crosses a border.
	CrossBorder bool
	// HSPrefixes are the tariff headings that need the form: 2 to 10 digits, ranges written out.
	HSPrefixes []string
	// Keywords are words or phrases that stand in for the tariff heading of an item without one.
	Keywords []string
	// PriceUSD is the price in US dollars, before conversion into a wallet's currency.
	PriceUSD shipping.Amount
	// Generation is how long generating the form typically takes.
	Generation time.Duration
	// Fields is what the form asks beyond the consignment itself, in the form's own order. It is never nil.
	Fields []Field
}
