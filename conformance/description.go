package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/internal/specification"
)

// description is the OpenAPI description of the service: its operations and records.
type description struct {
	Paths      map[string]map[string]*operation
	Components struct {
		Schemas map[string]*schema
	}
}

// operation is an operation of the service.
type operation struct {
	Name        string `json:"operationId"`
	Description string
	Provisional bool   `json:"x-provisional"` // the specification names no path
	Assumption  string `json:"x-assumption"`  // an open point: whether it requires a key
	Parameters  []struct {
		Name, In string
		Required bool
	}
	Responses map[string]struct {
		Content map[string]struct{ Schema *schema }
	}
	method, path string
	status       string // of a success: 200 or 2XX
	response     *schema
}

// readDescription reads the description. Its schemas refer to each other directly.
func readDescription() (d description) {
	_ = json.Unmarshal(specification.Service(), &d) // it is a part of the program, and a test reads it
	schemas := d.Components.Schemas
	for _, s := range schemas {
		s.resolve(schemas)
	}
	for route, methods := range d.Paths {
		for method, op := range methods {
			op.method, op.path = strings.ToUpper(method), route
			for status, r := range op.Responses {
				if strings.HasPrefix(status, "2") {
					op.status, op.response = status, r.Content["application/json"].Schema.resolve(schemas)
				}
			}
		}
	}
	return d
}

// operations returns the operations whose path the specification names, in the order of their paths.
func (d description) operations() (ops []*operation) {
	for _, methods := range d.Paths {
		for _, op := range methods {
			if !op.Provisional {
				ops = append(ops, op)
			}
		}
	}
	slices.SortFunc(ops, func(a, b *operation) int { return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.method, b.method)) })
	return ops
}

// operation returns an operation by its name.
func (d description) operation(name string) *operation {
	ops := d.operations()
	return ops[slices.IndexFunc(ops, func(op *operation) bool { return op.Name == name })]
}

// record returns the schema of a record.
func (d description) record(name string) *schema { return d.Components.Schemas[name] }

// heading returns the heading of the specification that a description quotes.
func heading(description string) string { return strings.Split(description+`""`, `"`)[1] }

// schema describes a JSON value. It holds what the specification states: what it leaves open is marked as an assumption.
type schema struct {
	Description string
	Ref         string         `json:"$ref"`
	Type        types          // none: any
	Format      string         // only date-time is checked
	Pattern     *regexp.Regexp // of a string
	Enum        []string
	Const       *bool
	Properties  map[string]*schema
	Required    []string
	Items       *schema
	// Assumption is not empty if the specification does not state the schema. Then only its type counts, or that of
	// another assumption, and nothing if it is an optional member.
	Assumption string             `json:"x-assumption"`
	Others     map[string]*schema `json:"x-when"` // under other assumptions
}

// types are the types of JSON that a value may have.
type types []string

// UnmarshalJSON reads one type or a list.
func (t *types) UnmarshalJSON(text []byte) error {
	*t = make(types, 1)
	if json.Unmarshal(text, &(*t)[0]) == nil {
		return nil
	}
	return json.Unmarshal(text, (*[]string)(t))
}

// resolve replaces references, and returns what replaces s.
func (s *schema) resolve(records map[string]*schema) *schema {
	if s == nil {
		return nil
	}
	if s.Ref != "" {
		return records[path.Base(s.Ref)]
	}
	delete(s.Properties, "x-when")
	for name, member := range s.Properties {
		s.Properties[name] = member.resolve(records)
	}
	s.Items = s.Items.resolve(records)
	return s
}

// members returns the schema of an object with some members of s, of which some are required.
func (s *schema) members(names []string, required ...string) *schema {
	out := &schema{Type: types{"object"}, Properties: map[string]*schema{}, Required: required}
	for _, name := range names {
		out.Properties[name] = s.Properties[name]
	}
	return out
}

// problems returns the problems of a value at a place of a response. Members of an object that its schema does not have
// are left to [schema.others].
func (s *schema) problems(at string, v any) (problems []string) {
	if !s.allows(v) {
		return wrong(at, v, s.Type.String())
	}
	if s.Assumption != "" {
		return nil
	}
	switch v := v.(type) {
	case bool:
		if s.Const != nil && v != *s.Const {
			return wrong(at, v, fmt.Sprint(*s.Const))
		}
	case string:
		return s.problemsOfText(at, v)
	case []any:
		for i := 0; i < len(v) && s.Items != nil; i++ {
			problems = append(problems, s.Items.problems(fmt.Sprintf("%s[%d]", at, i), v[i])...)
		}
	case map[string]any:
		return s.problemsOfMembers(at, v)
	}
	return problems
}

// allows reports whether a value has a type of the schema or, if that is an assumption, of another assumption.
func (s *schema) allows(v any) bool {
	if len(s.Type) == 0 || slices.ContainsFunc(s.Type, func(of string) bool { return isOf(of, v) }) {
		return true
	}
	if s.Assumption == "" {
		return false
	}
	for _, other := range s.Others {
		if other.allows(v) {
			return true
		}
	}
	return slices.Contains(s.Type, "object") && isOf("array", v) // "object or array", as the envelope has it
}

// isOf reports whether a value has a type.
func isOf(of string, v any) (is bool) {
	switch of {
	case "null":
		is = v == nil
	case "boolean":
		_, is = v.(bool)
	case "string":
		_, is = v.(string)
	case "number":
		_, is = v.(json.Number)
	case "integer":
		_, is = whole(v)
	case "array":
		_, is = v.([]any)
	case "object":
		_, is = v.(map[string]any)
	}
	return is
}

// String returns the types with their articles.
func (t types) String() string {
	return strings.NewReplacer("integer", "a whole number", "number", "a number", "string", "a string", "boolean", "a boolean",
		"array", "an array", "object", "an object").Replace(strings.Join(t, " or "))
}

func (s *schema) problemsOfText(at, text string) []string {
	switch {
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, text):
		return wrong(at, text, "one of "+strings.Join(s.Enum, ", "))
	case s.Pattern != nil && !s.Pattern.MatchString(text):
		return wrong(at, text, "a string that matches "+s.Pattern.String())
	case s.Format == "date-time":
		if when, ok := instant(text); !ok || !isUTC(when) {
			return wrong(at, text, "an ISO 8601 UTC timestamp")
		}
	}
	return nil
}

func (s *schema) problemsOfMembers(at string, members map[string]any) (problems []string) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		member, place := s.Properties[name], strings.TrimPrefix(at+"."+name, ".")
		required := slices.Contains(s.Required, name)
		v, there := members[name]
		switch {
		case there && (required || member.Assumption == ""):
			problems = append(problems, member.problems(place, v)...)
		case !there && required:
			problems = append(problems, place+" is missing")
		}
	}
	return problems
}

// others returns the names of members that the schema does not have.
func (s *schema) others(members map[string]any) (names []string) {
	for name := range members {
		if s.Properties[name] == nil {
			names = append(names, name)
		}
	}
	return names
}
