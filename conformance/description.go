package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/internal/specification"
)

// description is the OpenAPI description of the service: its operations and records.
type description struct {
	Paths      map[string]map[string]*operation
	Components struct{ Schemas map[string]*schema }
	operations []*operation // whose path the specification names, in the order of their paths
}

// operation is an operation of the service.
type operation struct {
	Name        string `json:"operationId"`
	Description string
	Provisional bool   `json:"x-provisional"` // the specification names no path
	Assumption  string `json:"x-assumption"`  // an open point: whether it requires a key
	Responses   map[string]struct {
		Content map[string]struct{ Schema *schema }
	}
	method, path string
	status       string // of a success: 200 or 2XX
	response     *schema
}

// readDescription reads the description. Its schemas refer to each other directly.
func readDescription() (d description) {
	_ = json.Unmarshal(specification.Service(), &d) // it is embedded, and a test reads it
	for _, s := range d.Components.Schemas {
		s.resolve(d.Components.Schemas)
	}
	for _, route := range slices.Sorted(maps.Keys(d.Paths)) {
		for method, op := range d.Paths[route] {
			op.method, op.path = strings.ToUpper(method), route
			for status, r := range op.Responses {
				if strings.HasPrefix(status, "2") {
					op.status, op.response = status, r.Content["application/json"].Schema.resolve(d.Components.Schemas)
				}
			}
			if !op.Provisional {
				d.operations = append(d.operations, op)
			}
		}
	}
	return d
}

// record returns the schema of a record.
func (d description) record(name string) *schema { return d.Components.Schemas[name] }

// heading returns the heading of the specification that a description quotes.
func heading(description string) string { return strings.Split(description+`""`, `"`)[1] }

// schema describes a JSON value. It contains the statements of the specification; open points are marked as
// assumptions.
type schema struct {
	Description string
	Ref         string          `json:"$ref"`
	Type        json.RawMessage // a name or a list of names
	types       []string        // the names in Type; none: any
	Format      string          // only date-time is checked
	Pattern     *regexp.Regexp  // of a string
	Enum        []string
	Const       *bool
	Properties  map[string]*schema
	names       []string // of Properties, sorted
	Required    []string
	Items       *schema
	// Assumption is not empty if the specification does not state the schema. A value then conforms if it has the type,
	// or is null. A value of an optional member always conforms.
	Assumption string `json:"x-assumption"`
}

// words matches the names of types.
var words = regexp.MustCompile(`[a-z]+`)

// resolve replaces references, reads the types, and returns what replaces s. It panics if a schema is missing.
func (s *schema) resolve(records map[string]*schema) *schema {
	if s == nil {
		return nil
	}
	if s.Ref != "" {
		record, found := records[path.Base(s.Ref)]
		if !found {
			panic("service.json has no schema " + s.Ref)
		}
		return record
	}
	s.types = words.FindAllString(string(s.Type), -1)
	for name, member := range s.Properties {
		s.Properties[name] = member.resolve(records)
	}
	s.names = slices.Sorted(maps.Keys(s.Properties))
	s.Items = s.Items.resolve(records)
	return s
}

// members returns the schema of an object with some members of s, all required.
func (s *schema) members(names ...string) *schema {
	out := &schema{types: s.types, Properties: map[string]*schema{}, names: slices.Sorted(slices.Values(names)),
		Required: names}
	for _, name := range names {
		out.Properties[name] = s.Properties[name]
	}
	return out
}

// problems returns the problems of a value at a place of a response. Further members of an object are allowed.
func (s *schema) problems(at string, value any) (problems []string) {
	if !s.allows(value) {
		return wrong(at, value, articles.Replace(strings.Join(s.types, " or ")))
	}
	if s.Assumption != "" {
		return nil
	}
	switch v := value.(type) {
	case bool:
		if s.Const != nil && v != *s.Const {
			return wrong(at, v, fmt.Sprint(*s.Const))
		}
	case string:
		switch {
		case len(s.Enum) > 0 && !slices.Contains(s.Enum, v):
			return wrong(at, v, "one of "+strings.Join(s.Enum, ", "))
		case s.Pattern != nil && !s.Pattern.MatchString(v):
			return wrong(at, v, "a string that matches "+s.Pattern.String())
		case s.Format == "date-time" && !isTimestamp(v):
			return wrong(at, v, "an ISO 8601 UTC timestamp")
		}
	case []any:
		for i := 0; i < len(v) && s.Items != nil; i++ {
			problems = append(problems, s.Items.problems(fmt.Sprintf("%s[%d]", at, i), v[i])...)
		}
	case map[string]any:
		for _, name := range s.names {
			member, place := s.Properties[name], strings.TrimPrefix(at+"."+name, ".")
			required := slices.Contains(s.Required, name)
			if inner, there := v[name]; there && (required || member.Assumption == "") {
				problems = append(problems, member.problems(place, inner)...)
			} else if !there && required {
				problems = append(problems, place+" is missing")
			}
		}
	}
	return problems
}

// articles puts articles before the names of types.
var articles = strings.NewReplacer("integer", "a whole number", "number", "a number", "string", "a string", "boolean",
	"a boolean",
	"array", "an array", "object", "an object")

// allows reports whether a value has a type of the schema. If the schema is an assumption, the value may be null.
func (s *schema) allows(v any) bool {
	is := func(of string) bool { // an assumed object may be a list or a text
		return isOf(of, v) || of == "object" && s.Assumption != "" && (isOf("array", v) || isOf("string", v))
	}
	return s.types == nil || slices.ContainsFunc(s.types, is) || s.Assumption != "" && v == nil
}

// jsonTypes are the types of JSON by the Go types of decoded values.
var jsonTypes = map[reflect.Type]string{
	nil: "null", reflect.TypeFor[bool](): "boolean", reflect.TypeFor[string](): "string",
	reflect.TypeFor[json.Number](): "number", reflect.TypeFor[[]any](): "array",
	reflect.TypeFor[map[string]any](): "object",
}

// isOf reports whether a value has a type.
func isOf(of string, v any) bool {
	if of == "integer" {
		_, is := whole(v)
		return is
	}
	return jsonTypes[reflect.TypeOf(v)] == of
}

// isTimestamp reports whether a text is an ISO 8601 UTC timestamp, in the extended or the basic format, with or without
// seconds.
func isTimestamp(text string) bool {
	return slices.ContainsFunc([]string{time.RFC3339, "2006-01-02T15:04Z07:00", "20060102T150405Z0700",
		"20060102T1504Z0700"}, func(layout string) bool {
		at, err := time.Parse(layout, text)
		_, offset := at.Zone()
		return err == nil && offset == 0
	})
}

// wrong describes a value of another kind.
func wrong(at string, value any, want string) []string {
	shown := jsonOf(value)
	if len(shown) > 80 {
		shown = shown[:80] + "…"
	}
	return []string{fmt.Sprintf("%s is %s; want %s", at, shown, want)}
}

// number matches JSON numbers that can be a price or a count. Others may have more digits than fit into memory.
var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?$`)

// rational reads a value that is a JSON number, exactly.
func rational(value any) (*big.Rat, bool) {
	n, ok := value.(json.Number)
	if !ok || len(n) > 400 || !number.MatchString(string(n)) {
		return nil, false
	}
	return new(big.Rat).SetString(string(n))
}

// whole reads a value that is a JSON number without a fraction.
func whole(value any) (int64, bool) {
	d, ok := rational(value)
	if !ok || !d.IsInt() || !d.Num().IsInt64() {
		return 0, false
	}
	return d.Num().Int64(), true
}

// jsonOf returns the JSON of a value that was decoded from JSON.
func jsonOf(value any) string {
	encoded, _ := json.Marshal(value)
	return string(encoded)
}

// numeral returns a whole number without a fraction (1.0 is 1), and any other value as JSON.
func numeral(value any) string {
	if n, ok := whole(value); ok {
		return fmt.Sprint(n)
	}
	return jsonOf(value)
}

// objects returns the objects of an array.
func objects(value any) (out []map[string]any) {
	elements, _ := value.([]any)
	for _, element := range elements {
		if object, ok := element.(map[string]any); ok {
			out = append(out, object)
		}
	}
	return out
}

// joined lists names, each once.
func joined(names []string) string {
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// problem returns a list of one problem, or nil.
func problem(exists bool, format string, args ...any) []string {
	if !exists {
		return nil
	}
	return []string{fmt.Sprintf(format, args...)}
}
