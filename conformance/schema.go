package conformance

import (
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
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Schemas map[string]*schema `json:"schemas"`
	} `json:"components"`
}

// operation is an operation of the service.
type operation struct {
	Provisional bool   `json:"x-provisional"` // the specification names no path
	Assumption  string `json:"x-assumption"`  // an open point of the specification
}

// readDescription reads the description. Its schemas refer to each other directly.
func readDescription() (d description) {
	_ = json.Unmarshal(specification.Service(), &d) // it is a part of the program, and a test reads it
	for _, s := range d.Components.Schemas {
		s.resolve(d.Components.Schemas)
	}
	return d
}

// record returns the schema of a record.
func (d description) record(name string) *schema { return d.Components.Schemas[name] }

// schema describes a JSON value. It holds what the specification states: what it leaves open is marked as an assumption.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       types              `json:"type"`   // none: any
	Format     string             `json:"format"` // only date-time is checked
	Pattern    *regexp.Regexp     `json:"pattern"`
	Enum       []string           `json:"enum"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Items      *schema            `json:"items"`
	// Assumption is not empty if the specification does not state the schema. Then only its type counts, or that of
	// another assumption, and nothing if it is an optional member.
	Assumption string             `json:"x-assumption"`
	Others     map[string]*schema `json:"x-when"` // under other assumptions
}

// types are the types of JSON that a value may have.
type types []string

// UnmarshalJSON reads one type or a list.
func (t *types) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = types{one}
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

// value returns the schema of a value of one type.
func value(of string) *schema { return &schema{Type: types{of}} }

// object returns the schema of an object with these members, all required.
func object(members map[string]*schema) *schema {
	return &schema{Type: types{"object"}, Properties: members, Required: slices.Sorted(maps.Keys(members))}
}

// array returns the schema of an array.
func array(of *schema) *schema { return &schema{Type: types{"array"}, Items: of} }

// members returns the schema of an object with some members of s, all required.
func (s *schema) members(names ...string) *schema {
	out := map[string]*schema{}
	for _, name := range names {
		out[name] = s.Properties[name]
	}
	return object(out)
}

// problems returns the problems of a value at a place of a response. Members of an object that its schema does not have
// are left to [schema.others].
func (s *schema) problems(at string, v any) []string {
	if !s.allows(v) {
		return wrong(at, v, s.Type.String())
	}
	if s.Assumption != "" {
		return nil
	}
	switch v := v.(type) {
	case string:
		return s.problemsOfText(at, v)
	case []any:
		var problems []string
		for i, element := range v {
			if s.Items != nil {
				problems = append(problems, s.Items.problems(fmt.Sprintf("%s[%d]", at, i), element)...)
			}
		}
		return problems
	case map[string]any:
		return s.problemsOfMembers(at, v)
	}
	return nil
}

// allows reports whether a value has a type of the schema or, if that is an assumption, of another assumption.
func (s *schema) allows(v any) bool {
	if len(s.Type) == 0 || slices.ContainsFunc(s.Type, func(of string) bool { return isOf(of, v) }) {
		return true
	}
	for _, other := range s.Others {
		if s.Assumption != "" && other.allows(v) {
			return true
		}
	}
	return false
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
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, text) {
		return wrong(at, text, "one of "+strings.Join(s.Enum, ", "))
	}
	if s.Pattern != nil && !s.Pattern.MatchString(text) {
		return wrong(at, text, "a string that matches "+s.Pattern.String())
	}
	if s.Format == "date-time" {
		return timestamp(at, text)
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

// others returns the names of an object that the schema does not have, sorted.
func (s *schema) others(members map[string]any) []string {
	return slices.Sorted(func(yield func(string) bool) {
		for name := range members {
			if s.Properties[name] == nil && !yield(name) {
				return
			}
		}
	})
}
