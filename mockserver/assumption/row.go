package assumption

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/spelling"
)

// Row is one choice of a [Set], as GET /_mock/assumptions lists it.
type Row struct {
	// Field is the name of the field.
	Field string `json:"field"`
	// Open is the point that the specification leaves open.
	Open string `json:"open"`
	// Default is the default behaviour of the server, and Basis the reason for it.
	Default string `json:"default"`
	Basis   string `json:"basis"`
	// Changed is true if the value is not the default.
	Changed bool `json:"changed"`
	// Kind is the kind of the value: boolean, number, duration or names.
	Kind string `json:"kind"`
	// Scope is when the choice can be made.
	Scope Scope `json:"scope"`
	// Value is a boolean, a number, a duration such as "5s", or a list of names.
	Value any `json:"value"`
}

// Scope is when a choice can be made.
type Scope string

// Scopes.
const (
	ScopeServer  Scope = "server"  // when the server starts
	ScopeOpening Scope = "opening" // or when a world opens
	ScopeWorld   Scope = "world"   // or at any time
)

// Rows returns every choice, in the order of the fields.
func (a *Set) Rows() []Row {
	var rows []Row
	for field, value := range reflect.ValueOf(a).Elem().Fields() {
		row := Row{
			Field: field.Name, Open: field.Tag.Get("open"), Default: field.Tag.Get("default"), Basis: field.Tag.Get("basis"),
			Changed: !value.IsZero(), Kind: kindOf(field.Type).name, Scope: scopeOf(field), Value: value.Interface(),
		}
		switch chosen := row.Value.(type) {
		case time.Duration:
			row.Value = chosen.String()
		case []string:
			row.Value = append([]string{}, chosen...) // never null
		}
		rows = append(rows, row)
	}
	return rows
}

func scopeOf(field reflect.StructField) Scope {
	if scope := field.Tag.Get("scope"); scope != "" {
		return Scope(scope)
	}
	return ScopeWorld
}

// Differences returns the choices that differ from those of another set.
func (a *Set) Differences(from *Set) []Row {
	var rows []Row
	if reflect.DeepEqual(a, from) { // as in most worlds
		return rows
	}
	others := from.Rows()
	for i, row := range a.Rows() {
		if !reflect.DeepEqual(row.Value, others[i].Value) {
			rows = append(rows, row)
		}
	}
	return rows
}

// Names returns the names of all fields.
func Names() []string {
	var names []string
	for _, row := range new(Set).Rows() {
		names = append(names, row.Field)
	}
	return names
}

// edit sets the fields of these scopes that have a tag to the value of the tag. Tests set the value of every tag.
func (a *Set) edit(tag string, scopes ...Scope) {
	for field := range reflect.TypeFor[Set]().Fields() {
		if text, tagged := field.Tag.Lookup(tag); tagged && text != "-" && slices.Contains(scopes, scopeOf(field)) {
			_ = a.Assign(field.Name, text)
		}
	}
}

// kind is a type of values.
type kind struct {
	name  string
	form  string // how a text states a value
	parse func(text string) (any, error)
}

func kindOf(t reflect.Type) kind {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return kind{"duration", "a duration such as 90s", func(text string) (any, error) { return time.ParseDuration(text) }}
	case t.Kind() == reflect.Bool:
		return kind{"boolean", "true or false", func(text string) (any, error) { return strconv.ParseBool(text) }}
	case t.Kind() == reflect.Slice:
		return kind{"names", "names separated by commas", func(text string) (any, error) {
			return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }), nil
		}}
	case t.Kind() == reflect.Float64:
		return kind{"number", "a number", func(text string) (any, error) { return strconv.ParseFloat(text, 64) }}
	default:
		return kind{"number", "a whole number", func(text string) (any, error) { return strconv.ParseInt(text, 10, t.Bits()) }}
	}
}

// Assign sets the field of a name to a value in text: true, 2, 1.5, 90s, or names separated by commas. It returns an error
// if the name or the form of the value is wrong; [Set.Check] checks ranges.
func (a *Set) Assign(name, text string) error {
	field := reflect.ValueOf(a).Elem().FieldByName(name)
	if !field.IsValid() {
		return fmt.Errorf("mockserver: unknown assumption %q%s", name, spelling.Suggestion(name, Names()))
	}
	kind := kindOf(field.Type())
	value, err := kind.parse(text)
	if err != nil {
		return fmt.Errorf("mockserver: assumption %s cannot be %q: write %s", name, text, kind.form)
	}
	field.Set(reflect.ValueOf(value).Convert(field.Type()))
	return nil
}

// durations is the range of all durations.
const durations = "1ns..8760h0m0s"

// Check returns an error for each number and duration that is out of its range. 0, the default, is always valid.
func (a *Set) Check() error {
	var problems []error
	for field, value := range reflect.ValueOf(a).Elem().Fields() {
		limits, kind := field.Tag.Get("range"), kindOf(field.Type)
		if kind.name == "duration" {
			limits = durations
		}
		least, most, ranged := strings.Cut(limits, "..")
		if !ranged || value.IsZero() {
			continue
		}
		number := func(v any) float64 { return reflect.ValueOf(v).Convert(reflect.TypeFor[float64]()).Float() }
		// The ranges are valid.
		low, _ := kind.parse(least)
		high, _ := kind.parse(most)
		if n := number(value.Interface()); !(n >= number(low) && n <= number(high)) { // NaN is in no range
			problems = append(problems, fmt.Errorf("mockserver: assumption %s is %v: it must be from %s to %s, or 0 for the default", field.Name, value, least, most))
		}
	}
	return errors.Join(problems...)
}

// Change is a change of the choices of a world: first a preset, "default" or "contrary", then values by the name of the
// field. JSON null restores the value of the server.
type Change struct {
	Preset      string                     `json:"preset,omitempty"`
	Assumptions map[string]json.RawMessage `json:"assumptions,omitempty"`
}

// IsZero reports whether nothing is changed.
func (c Change) IsZero() bool { return c.Preset == "" && len(c.Assumptions) == 0 }

// presets returns the names of the presets: the values of the server, and [Contrary].
func presets() []string { return []string{"default", "contrary"} }

// Apply changes the set. base is the set of the server. A preset changes only the fields of the given scopes. Apply
// returns an error if the preset, a name or a value is wrong.
func (a *Set) Apply(c Change, base *Set, scopes ...Scope) error {
	switch {
	case c.IsZero():
		return nil
	case c.Preset != "" && !slices.Contains(presets(), c.Preset):
		return fmt.Errorf("unknown preset %q%s", c.Preset, spelling.Suggestion(c.Preset, presets()))
	case c.Preset != "":
		for field := range reflect.TypeFor[Set]().Fields() {
			if slices.Contains(scopes, scopeOf(field)) {
				a.copy(field.Name, base)
			}
		}
		if c.Preset == "contrary" {
			a.edit("contrary", scopes...)
		}
	}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(c.Assumptions)) {
		value := c.Assumptions[name]
		text := string(value)
		switch {
		case text == "null" && slices.Contains(Names(), name):
			a.copy(name, base)
			continue
		case strings.HasPrefix(text, `"`):
			// The text of a RawMessage is valid JSON.
			_ = json.Unmarshal(value, &text)
		}
		problems = append(problems, a.Assign(name, text))
	}
	return errors.Join(append(problems, a.Check())...)
}

// copy copies the field of a name from another set.
func (a *Set) copy(name string, from *Set) {
	reflect.ValueOf(a).Elem().FieldByName(name).Set(reflect.ValueOf(from).Elem().FieldByName(name))
}
