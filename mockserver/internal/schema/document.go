// Package schema holds JSON values against the schemas of the service's OpenAPI document. It knows the
// keywords of JSON Schema that the document uses and refuses a document that uses another, so that
// nothing in it goes unchecked.
package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Strictness says what to make of a field that a schema does not list.
type Strictness bool

const (
	// Open lets such fields pass, as JSON Schema does.
	Open Strictness = false
	// Closed reports them, except where the schema has additionalProperties.
	Closed Strictness = true
)

// Document is an OpenAPI document that answers can be held against. It never changes and may be used
// by several goroutines.
type Document struct {
	schemas    map[string]*Schema
	operations map[string]operation // by operationId
}

// operation is what an operation may answer, by status in digits or "default". An answer without JSON
// has no schema.
type operation map[string]*Schema

// refusal is the named schema of a failure, also for a request that names no operation.
const refusal = "Refusal"

// Parse reads an OpenAPI document. It fails where the document is none, or where a schema in it uses a
// keyword that is not known here or a $ref that leads nowhere.
func Parse(text []byte, strictness Strictness) (*Document, error) {
	var raw struct {
		Paths      map[string]map[string]json.RawMessage `json:"paths"`
		Components struct {
			Schemas   map[string]json.RawMessage `json:"schemas"`
			Responses map[string]rawResponse     `json:"responses"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("the OpenAPI document cannot be read: %w", err)
	}
	d := &Document{schemas: map[string]*Schema{}, operations: map[string]operation{}}
	p := parser{document: d, closed: strictness}
	for _, name := range slices.Sorted(maps.Keys(raw.Components.Schemas)) {
		d.schemas[name] = p.schema("components.schemas."+name, raw.Components.Schemas[name])
	}
	for path, methods := range raw.Paths {
		for method, text := range methods {
			p.operation(method+" "+path, text, raw.Components.Responses)
		}
	}
	p.resolve()
	return d, errors.Join(p.problems...)
}

type rawResponse struct {
	Ref     string `json:"$ref"`
	Content map[string]struct {
		Schema json.RawMessage `json:"schema"`
	} `json:"content"`
}

func (p *parser) operation(place string, text json.RawMessage, shared map[string]rawResponse) {
	var raw struct {
		ID        string                 `json:"operationId"`
		Responses map[string]rawResponse `json:"responses"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		p.fail(place, err.Error())
		return
	}
	answers := operation{}
	for status, response := range raw.Responses {
		if name, is := strings.CutPrefix(response.Ref, "#/components/responses/"); is {
			response = shared[name]
		}
		answers[status] = nil
		if content, is := response.Content["application/json"]; is && content.Schema != nil {
			answers[status] = p.schema(place+" "+status, content.Schema)
		}
	}
	p.document.operations[raw.ID] = answers
}

// Schema returns the named schema, or nil.
func (d *Document) Schema(name string) *Schema { return d.schemas[name] }

// CheckResponse returns an error that names everything in which an answer differs from the document,
// or nil. The operation is named by its operationId; the empty name stands for a request that named
// no operation, which can only be refused.
func (d *Document) CheckResponse(operation string, status int, body []byte) error {
	wanted, err := d.answer(operation, status)
	if err != nil || wanted == nil {
		return err
	}
	if err := wanted.Check(body); err != nil {
		return fmt.Errorf("%s answered with status %d: %w", operation, status, err)
	}
	return nil
}

func (d *Document) answer(operation string, status int) (*Schema, error) {
	if operation == "" {
		return d.schemas[refusal], nil
	}
	answers, known := d.operations[operation]
	if !known {
		return nil, fmt.Errorf("the OpenAPI document has no operation %q", operation)
	}
	for _, key := range []string{strconv.Itoa(status), "default"} {
		if s, documented := answers[key]; documented {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%s answered with status %d, which the OpenAPI document does not have", operation, status)
}
