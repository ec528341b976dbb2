package compliance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// RulesError names everything that is wrong with a table of rules.
type RulesError struct {
	// Problems holds at least one, in the order of the file. Field is a path such as
	// "forms[3].hs_prefixes[1]".
	Problems []Problem
}

// Error returns a line for each problem.
func (e *RulesError) Error() string {
	var b strings.Builder
	b.WriteString("compliance: the rules cannot be used; correct these and load them again:")
	for _, problem := range e.Problems {
		b.WriteString("\n  " + problem.String())
	}
	return b.String()
}

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
// Slug, title, description, mode, price_usd and generation_seconds are required for each form; name,
// label and type for each field. A prefix may be a range, "7206-7229". The table stands for itself:
// a form that it leaves out does not exist. A form with neither prefix, keyword nor cross_border is
// never matched but known, like OTHER.
//
// Any error is a [*RulesError], which lists every problem and its place.
func Parse(data []byte) (*Rules, error) {
	if err := json.Unmarshal(data, new(json.RawMessage)); err != nil {
		return nil, &RulesError{[]Problem{{syntaxPlace(data, err), err.Error()}}}
	}
	tokens := json.NewDecoder(bytes.NewReader(data))
	tokens.UseNumber()
	var r reader
	rules := r.rules(tree(tokens))
	if len(r.problems) > 0 {
		return nil, &RulesError{r.problems}
	}
	return rules, nil
}

// syntaxPlace turns the offset of a syntax error into what an editor shows.
func syntaxPlace(data []byte, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return "file"
	}
	before := string(data[:min(max(syntax.Offset, 0), int64(len(data)))])
	column := len(before) - strings.LastIndex(before, "\n") - 1
	return fmt.Sprintf("line %d, column %d", strings.Count(before, "\n")+1, max(column, 1))
}

// The notation of a table.
var (
	prefixNotation = regexp.MustCompile(`^(\d{2}|\d{4}|\d{6}|\d{8}|\d{10})$`)
	nameNotation   = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
)

const (
	longestRange      = 100           // prefixes written as one range
	longestGeneration = 7 * 24 * 3600 // seconds
)

// rules reads the whole table.
func (r *reader) rules(file any) *Rules {
	var about string
	var list []any
	r.object("file", file, []member{{"about", &about}, {"forms", &list}})
	if len(list) == 0 && len(r.problems) == 0 {
		r.fault("forms", "list at least one form")
	}
	rules := new(Rules)
	for i, value := range list {
		place := index("forms", i)
		form := r.form(place, value)
		if _, twice := rules.Form(form.Slug); twice {
			r.fault(place+".slug", strconv.Quote(form.Slug)+" is listed twice; put the two together")
		}
		rules.forms = append(rules.forms, form)
	}
	return rules
}

func (r *reader) form(place string, value any) *Form {
	form := &Form{Fields: []Field{}}
	var prefixes []string
	var fields []any
	seconds := -1
	if !r.object(place, value, []member{
		{"slug", &form.Slug}, {"title", &form.Title}, {"description", &form.Description}, {"mode", &form.Mode},
		{"us_only", &form.USOnly}, {"cross_border", &form.CrossBorder}, {"hs_prefixes", &prefixes},
		{"keywords", &form.Keywords}, {"price_usd", &form.PriceUSD}, {"generation_seconds", &seconds}, {"fields", &fields},
	}) {
		return form
	}
	r.oneOf(place+".slug", form.Slug, Slugs())
	r.filled(place+".title", form.Title)
	r.filled(place+".description", form.Description)
	r.oneOf(place+".mode", form.Mode, []string{ModeAutomated, ModeManual})
	form.HSPrefixes = r.prefixes(place+".hs_prefixes", prefixes)
	r.keywords(place+".keywords", form.Keywords)
	if !form.PriceUSD.Known() || form.PriceUSD.Sign() < 0 || form.PriceUSD != form.PriceUSD.Round(2) {
		r.fault(place+".price_usd", "must be a price in US dollars of at most two decimals, such as 18.50")
	}
	if seconds < 0 || seconds > longestGeneration {
		r.fault(place+".generation_seconds", fmt.Sprintf("must be a whole number of seconds from 0 to %d", longestGeneration))
	}
	form.Generation = time.Duration(seconds) * time.Second
	for i, value := range fields {
		at := index(place+".fields", i)
		field := r.field(at, value)
		if slices.ContainsFunc(form.Fields, func(f Field) bool { return f.Name == field.Name }) {
			r.fault(at+".name", strconv.Quote(field.Name)+" is listed twice; rename one")
		}
		form.Fields = append(form.Fields, field)
	}
	return form
}

// prefixes checks HS prefixes and writes ranges out.
func (r *reader) prefixes(place string, texts []string) []string {
	var all []string
	for i, text := range texts {
		at := index(place, i)
		first, last, isRange := strings.Cut(text, "-")
		if !isRange {
			last = first
		}
		from, to := chapterOrMore(first), chapterOrMore(last)
		switch {
		case from < 0 || to < 0 || len(first) != len(last):
			r.fault(at, strconv.Quote(text)+` must be 2, 4, 6, 8 or 10 digits, or a range of such: "9102", "7206-7229"`)
			continue
		case to < from || to-from >= longestRange:
			r.fault(at, fmt.Sprintf("%q must go upwards and span at most %d headings", text, longestRange))
			continue
		}
		for n := from; n <= to; n++ {
			prefix := fmt.Sprintf("%0*d", len(first), n)
			if slices.Contains(all, prefix) {
				r.fault(at, strconv.Quote(prefix)+" is listed twice; remove one")
			}
			all = append(all, prefix)
		}
	}
	return all
}

// chapterOrMore returns an HS prefix as a number, or -1. Chapters begin at 01.
func chapterOrMore(prefix string) int {
	n, err := strconv.Atoi(prefix)
	if err != nil || !prefixNotation.MatchString(prefix) || strings.HasPrefix(prefix, "00") {
		return -1
	}
	return n
}

func (r *reader) keywords(place string, keywords []string) {
	for i, keyword := range keywords {
		if len(words(keyword)) == 0 {
			r.fault(index(place, i), "must contain a word")
		} else if slices.ContainsFunc(keywords[:i], func(k string) bool { return slices.Equal(words(k), words(keyword)) }) {
			r.fault(index(place, i), strconv.Quote(keyword)+" is listed twice; remove one")
		}
	}
}

func (r *reader) field(place string, value any) Field {
	var field Field
	if !r.object(place, value, []member{
		{"name", &field.Name}, {"label", &field.Label}, {"type", &field.Type}, {"required", &field.Required},
		{"help", &field.Help}, {"values", &field.Values}, {"pattern", &field.Pattern}, {"minimum", &field.Minimum},
	}) {
		return field
	}
	if !nameNotation.MatchString(field.Name) {
		r.fault(place+".name", strconv.Quote(field.Name)+" must be snake case, such as country_of_origin")
	}
	r.filled(place+".label", field.Label)
	r.oneOf(place+".type", field.Type, []string{TypeString, TypeNumber, TypeDate, TypeBoolean, TypePercent})
	if field.Type != TypeString && (field.Values != nil || field.Pattern != "") {
		r.fault(place, "values and pattern are for the type string")
	}
	if field.Type != TypeNumber && field.Minimum.Known() {
		r.fault(place+".minimum", "is for the type number")
	}
	if field.Pattern != "" {
		_, err := regexp.Compile(field.Pattern) // alone first: "a)|(b" is an expression only in brackets
		if err == nil {
			field.pattern, err = regexp.Compile(`^(?:` + field.Pattern + `)$`)
		}
		if err != nil {
			r.fault(place+".pattern", "is not a regular expression: "+err.Error())
		}
	}
	for i, value := range field.Values {
		at := index(place+".values", i)
		switch {
		case strings.TrimSpace(value) == "":
			r.fault(at, "must hold a text")
		case slices.Contains(field.Values[:i], value):
			r.fault(at, strconv.Quote(value)+" is listed twice; remove one")
		case field.checkText(value) != "":
			r.fault(at, strconv.Quote(value)+" can never be given: it "+field.checkText(value))
		}
	}
	return field
}
