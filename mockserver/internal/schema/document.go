// Package schema checks responses of the service against the schemas of its OpenAPI document. It knows the keywords that
// those schemas use, and no others: a test compares the two. It does not check requests, headers or parameters.
package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Document is an OpenAPI document that responses can be checked against. It may be used by several goroutines.
type Document struct {
	schemas    map[string]any
	responses  map[string]response
	operations map[string]map[string]response // by operationId and status: digits, 2XX or default
	patterns   sync.Map                       // *regexp.Regexp by how it is written
}

type response struct {
	Ref     string `json:"$ref"`
	Content map[string]struct {
		Schema map[string]any `json:"schema"`
	} `json:"content"`
}

// Parse reads an OpenAPI document.
func Parse(text []byte) (*Document, error) {
	var raw struct {
		Paths map[string]map[string]struct {
			ID        string              `json:"operationId"`
			Responses map[string]response `json:"responses"`
		} `json:"paths"`
		Components struct {
			Schemas   map[string]any      `json:"schemas"`
			Responses map[string]response `json:"responses"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("the OpenAPI document cannot be read: %w", err)
	}
	d := &Document{schemas: raw.Components.Schemas, responses: raw.Components.Responses, operations: map[string]map[string]response{}}
	for _, methods := range raw.Paths {
		for _, operation := range methods {
			d.operations[operation.ID] = operation.Responses
		}
	}
	return d, nil
}

// refusal is the named schema of a failure.
const refusal = "Refusal"

const toSchemas, toResponses = "#/components/schemas/", "#/components/responses/"

// CheckResponse returns an error that names everything in which a response differs from the document, each with its
// place such as /data/rates/0/amount, or nil. The operation is named by its operationId; the empty name stands for a
// request that names no operation, which can only be refused.
func (d *Document) CheckResponse(operation string, status int, body []byte) error {
	if operation == "" {
		return d.check(map[string]any{"$ref": toSchemas + refusal}, body)
	}
	responses, known := d.operations[operation]
	if !known {
		return fmt.Errorf("the OpenAPI document has no operation %q", operation)
	}
	digits := strconv.Itoa(status)
	for _, key := range []string{digits, digits[:1] + "XX", "default"} {
		r, documented := responses[key]
		if !documented {
			continue
		}
		if name, isRef := strings.CutPrefix(r.Ref, toResponses); isRef {
			r = d.responses[name]
		}
		content, isJSON := r.Content["application/json"]
		if !isJSON {
			content, isJSON = r.Content["application/problem+json"]
		}
		if !isJSON {
			return nil
		}
		if err := d.check(content.Schema, body); err != nil {
			return fmt.Errorf("%s responded with status %d: %w", operation, status, err)
		}
		return nil
	}
	return fmt.Errorf("%s responded with status %d, which the OpenAPI document does not have", operation, status)
}

// pattern returns a regular expression, compiled once.
func (d *Document) pattern(text string) *regexp.Regexp {
	if known, ok := d.patterns.Load(text); ok {
		return known.(*regexp.Regexp)
	}
	compiled := regexp.MustCompile(text) // of a document that is embedded and tested
	d.patterns.Store(text, compiled)
	return compiled
}
