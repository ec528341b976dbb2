package openapi

import (
	"bytes"
	"encoding/json"
)

// schema is a JSON Schema as the document uses it. Its keywords are all that internal/schema checks:
// one that is added here is added there.
type schema struct {
	Ref         string `json:"$ref,omitempty"`
	Description string `json:"description,omitempty"`
	Type        any    `json:"type,omitempty"` // a name, or a list of names
	Format      string `json:"format,omitempty"`
	Const       any    `json:"const,omitempty"`
	Enum        []any  `json:"enum,omitempty"`
	Pattern     string `json:"pattern,omitempty"`
	Minimum     *int   `json:"minimum,omitempty"`
	Default     any    `json:"default,omitempty"`

	Items    *schema `json:"items,omitempty"`
	MinItems int     `json:"minItems,omitempty"`

	Properties           object   `json:"properties,omitempty"`
	Required             []string `json:"required,omitempty"`
	AdditionalProperties any      `json:"additionalProperties,omitempty"` // a schema, or true

	Not  *schema `json:"not,omitempty"`
	If   *schema `json:"if,omitempty"`
	Then *schema `json:"then,omitempty"`
	Else *schema `json:"else,omitempty"`

	Examples []any `json:"examples,omitempty"`

	// GoType tells oapi-codegen which Go type reads the value.
	GoType string `json:"x-go-type,omitempty"`
	// Assumption says what of the schema is not the specification's.
	Assumption string `json:"x-assumption,omitempty"`
}

// object is a JSON object whose members keep their order, so that the document always comes out
// the same and reads in the order of the specification.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements [json.Marshaler].
func (o object) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := encode(m.name)
		if err != nil {
			return nil, err
		}
		value, err := encode(m.value)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

// property is a row of one of the specification's tables.
type property struct {
	name     string
	schema   schema
	about    string // the row's note
	optional bool   // it can be absent
}

// must is a row that every record has.
func must(name string, s schema, about string) property { return property{name, s, about, false} }

// may is a row that can be absent.
func may(name string, s schema, about string) property { return property{name, s, about, true} }

// record is a table of the specification. about begins with the heading it stands under.
func record(about string, rows ...property) schema {
	s := schema{Description: about, Type: "object"}
	for _, row := range rows {
		row.schema.Description = row.about
		s.Properties = append(s.Properties, member{row.name, row.schema})
		if !row.optional {
			s.Required = append(s.Required, row.name)
		}
	}
	return s
}

// needing is a record in which only these fields are required, as what is sent to the service.
func (s schema) needing(names ...string) schema {
	s.Required = names
	return s
}

// assuming marks what is not the specification's.
func (s schema) assuming(what string) schema {
	s.Assumption = what
	return s
}

// described says what the schema is, and under which heading of the specification it stands.
func (s schema) described(about string) schema {
	s.Description = about
	return s
}

// like gives examples.
func (s schema) like(examples ...any) schema {
	s.Examples = examples
	return s
}

// orNull also allows null.
func (s schema) orNull() schema {
	s.Type = []any{s.Type, "null"}
	return s
}

// ref is a named schema of the document.
func ref(name string) schema { return schema{Ref: "#/components/schemas/" + name} }

func text(examples ...any) schema { return schema{Type: "string"}.like(examples...) }

func flag() schema { return schema{Type: "boolean"} }

func count() schema { return schema{Type: "integer"} }

func fraction() schema { return schema{Type: "number", Format: "double"} }

func money() schema { return ref("Amount") }

func instant() schema {
	return schema{Type: "string", Format: "date-time"}.like("2026-01-05T09:30:00.000Z")
}

func link() schema { return schema{Type: "string", Format: "uri", Pattern: "^https?://"} }

// currencyCode is a text, since the specification gives no list and no standard.
func currencyCode() schema { return text("NGN") }

func matching(pattern string, examples ...any) schema {
	return schema{Type: "string", Pattern: pattern}.like(examples...)
}

// digits is an identifier of the format PREFIX-<digits>.
func digits(prefix string) schema { return matching("^"+prefix+"-[0-9]+$", prefix+"-0918273645") }

// alphanumerics is an identifier of the format PREFIX-<alphanumerics>.
func alphanumerics(prefix string) schema {
	return matching("^"+prefix+"-[A-Za-z0-9]+$", prefix+"-7Q2MX09DKA4B8C1E")
}

// oneOf is a text out of a list that is complete.
func oneOf[T ~string](values ...T) schema {
	s := schema{Type: "string"}
	for _, v := range values {
		s.Enum = append(s.Enum, string(v))
	}
	return s
}

func listOf(items schema) schema { return schema{Type: "array", Items: &items} }

func mapOf(values schema) schema { return schema{Type: "object", AdditionalProperties: values} }

// open is an object whose further keys are allowed, and not only tolerated.
func (s schema) open() schema {
	s.AdditionalProperties = true
	return s
}

// encode returns v as JSON in which <, > and & stay readable.
func encode(v any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}
