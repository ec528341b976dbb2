package compliance

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shipping-go/shipping"
)

// The types of a [Field], and the JSON that a profile gives for each.
const (
	// TypeString is a JSON string of at most 500 characters.
	TypeString = "string"
	// TypeNumber is a JSON number of at most 18 digits, kept exactly as it was written.
	TypeNumber = "number"
	// TypeDate is a JSON string holding a calendar date, "2026-01-05".
	TypeDate = "date"
	// TypeBoolean is true or false.
	TypeBoolean = "boolean"
	// TypePercent is a JSON number from 0 to 100.
	TypePercent = "percent"
)

// maxText is the longest text of a field, in characters: about what fits in a form's box.
const maxText = 500

type Field struct {
	// Name is the key in a profile, in snake case, such as "melt_and_pour_country".
	Name string `json:"name"`
	// Label is the label for people, such as "Country of melt and pour".
	Label string `json:"label"`
	// Type is one of [TypeString], [TypeNumber], [TypeDate], [TypeBoolean] and [TypePercent].
	Type string `json:"type"`
	// Required is true if the form is worthless without the field.
	Required bool `json:"required"`
}

// FormField is a field of a form's profile with the rules for its values.
type FormField struct {
	Field
	// Help explains the field, often with an example. It may be empty.
	Help string `json:"help"`
	// Values are the only texts allowed, in the order to offer them; nil if any text is.
	Values []string `json:"values"`
	// Pattern is a regular expression that the whole text must match; empty if any text is allowed.
	Pattern string `json:"pattern"`
	// Minimum is the smallest number allowed, if [shipping.Amount.Known] is true.
	Minimum shipping.Amount `json:"minimum"`

	pattern *regexp.Regexp // Pattern, anchored; nil without one
}

type Problem struct {
	// Field is the path of the field, such as line_items[2].hs_code, or its name in a profile.
	Field string `json:"field"`
	// Reason completes the sentence that begins with the field: "must be …".
	Reason string `json:"reason"`
}

// Check returns all problems of a profile, which maps names of a form's fields to values: first the problems of the
// form's fields, in their order, then every unknown field, by name. It returns nil for a valid profile.
//
// A profile may be filled in step by step, and the specification requires no field for a purchase or for generation, so
// that a missing field is not a problem. A field that is null, or an empty or blank text, counts as missing.
func (f *Form) Check(profile map[string]json.RawMessage) []Problem {
	var problems []Problem
	known := make(map[string]bool, len(f.Fields))
	for i := range f.Fields {
		field := &f.Fields[i]
		known[field.Name] = true
		value := profile[field.Name]
		if reason := field.check(value); !isBlank(value) && reason != "" {
			problems = append(problems, Problem{field.Name, reason})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(profile)) {
		if !known[name] {
			problems = append(problems, Problem{name, "is not a field of " + f.Slug + "; " + f.fieldNames()})
		}
	}
	return problems
}

func (f *Form) fieldNames() string {
	if len(f.Fields) == 0 {
		return "it has none"
	}
	names := make([]string, len(f.Fields))
	for i, field := range f.Fields {
		names[i] = field.Name
	}
	return "its fields are " + strings.Join(names, ", ")
}

func (f *FormField) wants() string {
	if len(f.Values) > 0 {
		return "one of " + strings.Join(f.Values, ", ")
	}
	switch f.Type {
	case TypeNumber:
		return "a number without quotes, such as 12.5"
	case TypeDate:
		return "a date in quotes, such as \"2026-01-05\""
	case TypeBoolean:
		return "true or false, without quotes"
	case TypePercent:
		return "a number from 0 to 100, without quotes"
	default:
		return "a text in quotes"
	}
}

func (f *FormField) check(value json.RawMessage) string {
	wrong := "must be " + f.wants()
	switch f.Type {
	case TypeNumber, TypePercent:
		return f.checkNumber(value, wrong)
	case TypeBoolean:
		if text := strings.TrimSpace(string(value)); text != "true" && text != "false" {
			return wrong
		}
		return ""
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		return wrong
	}
	if f.Type == TypeDate {
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return wrong
		}
		return ""
	}
	return f.checkText(text)
}

func (f *FormField) checkText(text string) string {
	switch {
	case len(f.Values) > 0 && !slices.Contains(f.Values, text):
		return "must be " + f.wants()
	case utf8.RuneCountInString(text) > maxText:
		return fmt.Sprintf("must be at most %d characters; shorten it", maxText)
	case f.pattern != nil && !f.pattern.MatchString(text):
		if f.Help != "" {
			return "is not in the right form. " + strings.TrimSuffix(f.Help, ".")
		}
		return "must match the pattern " + f.Pattern
	default:
		return ""
	}
}

func (f *FormField) checkNumber(value json.RawMessage, wrong string) string {
	// ParseAmount accepts more than JSON, so the value must be a JSON number first; a quoted number is a text.
	text := strings.TrimSpace(string(value))
	if !json.Valid(value) || strings.HasPrefix(text, `"`) {
		return wrong
	}
	number, err := shipping.ParseAmount(text)
	hundred, _ := shipping.NewAmount(100, 0)
	switch {
	case errors.Is(err, shipping.ErrAmountOverflow):
		return "has more than 18 digits; round it"
	case err != nil:
		return wrong
	case f.Type == TypePercent && (number.Sign() < 0 || number.Cmp(hundred) > 0):
		return wrong
	case f.Minimum.Known() && number.Cmp(f.Minimum) < 0:
		return "must be at least " + f.Minimum.String()
	default:
		return ""
	}
}

// isBlank reports whether a value is not there: absent, null, or a text of nothing but spaces.
func isBlank(value json.RawMessage) bool {
	var text string
	return len(value) == 0 || (json.Unmarshal(value, &text) == nil && strings.TrimSpace(text) == "")
}
