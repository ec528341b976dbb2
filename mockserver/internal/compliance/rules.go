// Package compliance decides which regulatory documents a consignment needs, and describes the profile of each: the
// data behind the analyze step of the reference server.
//
// The data is a table of forms. [Default] reads the built-in table (rules.json), [Parse] reads one that replaces it.
// The built-in table is illustrative: it makes analyses believable, and is not compliance advice.
//
// Specification: "Regulatory document request (draft record)" gives the slugs. Everything else
// here (what triggers a form, its fields, its price and how long it takes) is an *Assumption*;
// the switch is another table, read with [Parse].
package compliance

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
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
	// ModeAutomated forms are generated from the draft alone, and can be retried when that fails.
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
	// CrossBorder is true for a form that every consignment needs that crosses a border.
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

// Generation returns how long generating the form typically takes.
func (f *Form) Generation() time.Duration { return time.Duration(f.Seconds) * time.Second }

// OnRequest reports whether no goods require the form, so that only a profile adds it to a draft: OTHER.
func (f *Form) OnRequest() bool {
	return !f.CrossBorder && len(f.HSPrefixes) == 0 && len(f.Keywords) == 0
}

// ProfileFields returns the fields as drafts show them.
func (f *Form) ProfileFields() []Field {
	fields := make([]Field, len(f.Fields))
	for i, field := range f.Fields {
		fields[i] = field.Field
	}
	return fields
}

// Default returns the built-in table, with all the forms of [Slugs]. Each call reads it
// anew, which takes a millisecond or two: keep the result, and share it.
func Default() (*Rules, error) { return Parse(defaultRules) }

// Parse reads a table of rules in the format of the built-in rules.json, which is the example to
// start from:
//
//	{"about": "…", "forms": [{
//	    "slug": "WATCH", "title": "…", "description": "…", "mode": "automated", "us_only": true,
//	    "cross_border": false, "hs_prefixes": ["9101-9102", "9108"], "keywords": ["watch"],
//	    "price_usd": 14.50, "generation_seconds": 6,
//	    "fields": [{"name": "jewels", "label": "Number of jewels", "type": "number", "required": true,
//	                "help": "…", "values": ["…"], "pattern": "…", "minimum": 0}]}]}
//
// Slug, title, description, mode and price_usd are required for each form; name, label and type for each field. A form
// that the table leaves out does not exist. A form with neither prefix, keyword nor cross_border is known and never
// matched, like OTHER.
//
// The error lists every problem of the forms, or the first one of the JSON.
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
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("compliance: the table is followed by other text: remove it")
	}
	if len(table.Forms) == 0 {
		return nil, errors.New("compliance: forms is empty: list at least one form")
	}
	rules := new(Rules)
	var problems []error
	for i, form := range table.Forms {
		if form == nil {
			form = new(Form)
		}
		if _, twice := rules.Form(form.Slug); twice {
			problems = append(problems, fmt.Errorf("compliance: %s is listed twice: combine the two", form.Slug))
		}
		for _, problem := range form.problems() {
			problems = append(problems, fmt.Errorf("compliance: forms[%d] (%s): %s", i, form.Slug, problem))
		}
		rules.forms = append(rules.forms, form)
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return rules, nil
}

const maxSeconds = 7 * 24 * 3600 // of generation

// The notation of a table.
var (
	prefixNotation = regexp.MustCompile(`^((\d\d){1,5}|\d\d-\d\d|\d{4}-\d{4}|\d{6}-\d{6})$`)
	nameNotation   = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
)

// problems returns the problems of a form of a table, and prepares its fields.
func (f *Form) problems() []string {
	var problems []string
	check := func(sound bool, format string, args ...any) {
		if !sound {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	check(slices.Contains(Slugs(), f.Slug), "slug must be one of %s", strings.Join(Slugs(), ", "))
	check(f.Title != "" && f.Description != "", "title and description are required")
	check(f.Mode == ModeAutomated || f.Mode == ModeManual, "mode must be %s or %s", ModeAutomated, ModeManual)
	check(f.PriceUSD.Known() && f.PriceUSD.Sign() >= 0 && f.PriceUSD == f.PriceUSD.Round(2), "price_usd must be a price of at most two decimals, such as 18.50")
	check(f.Seconds >= 0 && f.Seconds <= maxSeconds, "generation_seconds must be from 0 to %d", maxSeconds)
	for _, prefix := range f.HSPrefixes {
		check(prefixNotation.MatchString(prefix), `hs_prefixes: %q must be 2, 4, 6, 8 or 10 digits, or a range such as "7206-7229"`, prefix)
	}
	for _, keyword := range f.Keywords {
		check(len(words(keyword)) > 0, "keywords: %q must contain a word", keyword)
	}
	if f.Fields == nil {
		f.Fields = []FormField{}
	}
	for i := range f.Fields {
		field := &f.Fields[i]
		check(nameNotation.MatchString(field.Name), "fields: the name %q must be snake case, such as country_of_origin", field.Name)
		check(!slices.ContainsFunc(f.Fields[:i], func(other FormField) bool { return other.Name == field.Name }), "fields: %s is listed twice", field.Name)
		check(field.Label != "", "fields: %s needs a label", field.Name)
		check(slices.Contains(types(), field.Type), "fields: the type of %s must be one of %s", field.Name, strings.Join(types(), ", "))
		if field.Pattern == "" {
			continue
		}
		var err error
		field.pattern, err = regexp.Compile(`^(?:` + field.Pattern + `)$`)
		check(err == nil, "fields: the pattern of %s is not a regular expression: %v", field.Name, err)
	}
	return problems
}
