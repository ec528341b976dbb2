// Package compliance decides which regulatory documents a consignment needs, and describes the profile of each: the
// data behind the analyze step of the reference server.
//
// The data is a table of forms, rules.json, which is illustrative: it makes analyses believable, and is not compliance
// advice.
//
// Specification: "Regulatory document request (draft record)" gives the slugs. Everything else
// here (what triggers a form, its fields, its price and how long it takes) is an *Assumption*;
// to switch, change the table.
package compliance

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/shipping-go/shipping"
)

//go:embed rules.json
var defaultRules []byte

// Slugs returns the document type slugs that exist, in the order of the specification ("Supported
// document type slugs"). The caller may change the slice.
func Slugs() []string {
	var slugs []string
	for _, documentType := range shipping.DocumentTypes() {
		slugs = append(slugs, string(documentType))
	}
	return slugs
}

// How a form comes to be ([Form.Mode]).
const (
	// ModeAutomated forms are generated from the draft alone, and can be retried after a failure.
	ModeAutomated = "automated"
	// ModeManual forms wait for evidence from a third party, such as a laboratory or a fumigator.
	ModeManual = "manual"
)

// Rules is a table of forms. It does not change after [Parse], so that all worlds of a server share one.
type Rules struct {
	forms []*Form
}

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
	Slug string `json:"slug"`
	// Title is the short name that a draft shows, such as "FDA prior notice".
	Title string `json:"title"`
	// Description is the purpose of the form in one sentence.
	Description string `json:"description"`
	// Mode is [ModeAutomated] or [ModeManual].
	Mode string `json:"mode"`
	// USOnly is true for a form that is needed only if the destination is the United States.
	USOnly bool `json:"us_only"`
	// CrossBorder is true for a form that every consignment across a border needs.
	CrossBorder bool `json:"cross_border"`
	// HSPrefixes are the tariff headings that need the form: 2 to 10 digits, or a range such as "7206-7229".
	HSPrefixes []string `json:"hs_prefixes"`
	// Keywords are words or phrases that stand in for the tariff heading of an item without one.
	Keywords []string `json:"keywords"`
	// PriceUSD is the price in US dollars, before conversion into a wallet's currency.
	PriceUSD shipping.Amount `json:"price_usd"`
	// Seconds is how long generating the form typically takes.
	Seconds int `json:"generation_seconds"`
	// Fields are the fields of the form's profile, in the order of the form. It is never nil.
	Fields []FormField `json:"fields"`
}

func (f *Form) Generation() time.Duration { return time.Duration(f.Seconds) * time.Second }

// OnRequest reports whether no goods require the form, so that only a profile adds it to a draft: OTHER.
func (f *Form) OnRequest() bool {
	return !f.CrossBorder && len(f.HSPrefixes) == 0 && len(f.Keywords) == 0
}

func (f *Form) ProfileFields() []Field {
	fields := make([]Field, len(f.Fields))
	for i, field := range f.Fields {
		fields[i] = field.Field
	}
	return fields
}

// Default returns the built-in table, with all the forms of [Slugs]. It is read on first use, and is valid.
var Default = sync.OnceValue(func() *Rules {
	rules, err := Parse(defaultRules)
	if err != nil {
		return new(Rules)
	}
	return rules
})

// Parse reads a table of rules. Forms have the members of [Form], and their fields those of [FormField]. A form that
// the table leaves out does not exist. A form with neither prefix, keyword nor cross_border is known and never matched,
// like OTHER.
func Parse(data []byte) (*Rules, error) {
	var table struct {
		About string  `json:"about"`
		Forms []*Form `json:"forms"`
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&table); err != nil {
		return nil, fmt.Errorf("compliance: %w at byte %d", err, decoder.InputOffset())
	}
	for _, form := range table.Forms {
		if form.Fields == nil {
			form.Fields = []FormField{}
		}
		for i, field := range form.Fields {
			if field.Pattern == "" {
				continue
			}
			pattern, err := regexp.Compile(`^(?:` + field.Pattern + `)$`)
			if err != nil {
				return nil, fmt.Errorf("compliance: %s: the pattern of %s: %w", form.Slug, field.Name, err)
			}
			form.Fields[i].pattern = pattern
		}
	}
	return &Rules{table.Forms}, nil
}
