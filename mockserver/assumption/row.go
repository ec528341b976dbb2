package assumption

import (
	"reflect"
	"slices"
	"time"
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
