package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/shipping-go/shipping"
)

// Schema is a JSON Schema, reduced to the keywords of the document.
type Schema struct {
	ref        string
	target     *Schema // of ref
	types      []string
	format     string
	isFormat   func(string) bool
	constant   any
	enum       []any
	pattern    *regexp.Regexp
	minimum    shipping.Amount
	items      *Schema
	minItems   int
	properties map[string]*Schema
	required   []string
	dependent  map[string][]string
	additional *Schema // what further properties are; nil: anything, or nothing in a closed schema
	closed     bool
	not        *Schema
	condition  *Schema
	then       *Schema
	otherwise  *Schema
}

// raw is a schema as it is written. The annotations are listed so that any other keyword is refused.
type raw struct {
	Ref                  string                     `json:"$ref"`
	Type                 any                        `json:"type"`
	Format               string                     `json:"format"`
	Const                any                        `json:"const"`
	Enum                 []any                      `json:"enum"`
	Pattern              string                     `json:"pattern"`
	Minimum              shipping.Amount            `json:"minimum"`
	Items                json.RawMessage            `json:"items"`
	MinItems             int                        `json:"minItems"`
	Properties           map[string]json.RawMessage `json:"properties"`
	Required             []string                   `json:"required"`
	DependentRequired    map[string][]string        `json:"dependentRequired"`
	AdditionalProperties json.RawMessage            `json:"additionalProperties"`
	Not                  json.RawMessage            `json:"not"`
	If                   json.RawMessage            `json:"if"`
	Then                 json.RawMessage            `json:"then"`
	Else                 json.RawMessage            `json:"else"`

	Description any `json:"description"`
	Default     any `json:"default"`
	Examples    any `json:"examples"`
	GoType      any `json:"x-go-type"`
	Assumption  any `json:"x-assumption"`
}

// parser reads schemas and collects what is wrong with them.
type parser struct {
	document *Document
	closed   Strictness
	refs     []*Schema
	problems []error
}

func (p *parser) fail(place, problem string) {
	p.problems = append(p.problems, fmt.Errorf("schema of %s: %s", place, problem))
}

// schema reads a schema; none where there is no text.
func (p *parser) schema(place string, text json.RawMessage) *Schema {
	switch string(text) {
	case "":
		return nil
	case "true":
		return &Schema{}
	}
	var in raw
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	if err := decoder.Decode(&in); err != nil {
		p.fail(place, err.Error())
		return &Schema{}
	}
	s := &Schema{
		ref: in.Ref, types: p.types(place, in.Type), format: in.Format, constant: in.Const, enum: in.Enum, minimum: in.Minimum,
		items: p.schema(place+"[]", in.Items), minItems: in.MinItems,
		required: in.Required, dependent: in.DependentRequired,
		additional: p.schema(place+".*", in.AdditionalProperties),
		closed:     bool(p.closed) && in.Properties != nil && in.AdditionalProperties == nil,
		not:        p.schema(place+" not", in.Not), condition: p.schema(place+" if", in.If),
		then: p.schema(place+" then", in.Then), otherwise: p.schema(place+" else", in.Else),
		properties: make(map[string]*Schema, len(in.Properties)),
	}
	for _, name := range slices.Sorted(maps.Keys(in.Properties)) {
		s.properties[name] = p.schema(place+"."+name, in.Properties[name])
	}
	if in.Pattern != "" {
		var err error
		if s.pattern, err = regexp.Compile(in.Pattern); err != nil {
			p.fail(place, err.Error())
		}
	}
	var known bool
	if s.isFormat, known = formats()[s.format]; !known && s.format != "" {
		p.fail(place, "format "+s.format+" is not known here")
	}
	for _, value := range append(slices.Clone(s.enum), s.constant) {
		switch value.(type) {
		case map[string]any, []any:
			p.fail(place, "only texts, numbers and booleans can be enumerated")
		}
	}
	if s.ref != "" {
		p.refs = append(p.refs, s)
	}
	return s
}

// types reads a name or a list of names.
func (p *parser) types(place string, in any) []string {
	list, isList := in.([]any)
	if !isList && in != nil {
		list = []any{in}
	}
	var out []string
	for _, entry := range list {
		name, _ := entry.(string)
		if !slices.Contains([]string{"null", "boolean", "integer", "number", "string", "array", "object"}, name) {
			p.fail(place, fmt.Sprintf("%v is no type", entry))
		}
		out = append(out, name)
	}
	return out
}

// resolve gives every $ref its target.
func (p *parser) resolve() {
	for _, s := range p.refs {
		name := strings.TrimPrefix(s.ref, "#/components/schemas/")
		if s.target = p.document.schemas[name]; s.target == nil {
			p.fail(s.ref, "there is no such schema")
		}
	}
	for _, s := range p.refs {
		end := s
		for range p.refs { // the longest way that leads somewhere
			if end.target == nil {
				break
			}
			end = end.target
		}
		if end.target != nil {
			p.fail(s.ref, "it leads back to itself")
			s.target = nil
		}
	}
}
