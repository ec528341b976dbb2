// Package openapi writes the OpenAPI 3.1 document that the reference server serves. service.json of
// internal/specification describes the service; an operation is found by its operationId, which is its name in
// [operations.All], so that it is served under the route, the method and the security of a server's own table. The
// description of the control surface follows from Go types. This package does not read or check requests and responses.
//
// In service.json, any object can have a member x-when. It maps a field of the dialect and its value, such as
// "refusal.format=problem", to the members that they change in this object; null removes a member. Changes that depend
// on names are in dialect.go.
package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/specification"
)

type object = map[string]any

func parse(text []byte) (out object, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&out)
	return out, err
}

func members(value any) object {
	out, _ := value.(object)
	return out
}

// merge adds the members of an object to another. If both have a member, objects are merged and lists are joined.
func merge(into, from object) {
	for name, value := range from {
		switch own := into[name].(type) {
		case object:
			merge(own, members(value))
		case []any:
			more, _ := value.([]any)
			into[name] = append(own, more...)
		default:
			into[name] = value
		}
	}
}

// Write returns the document of a server with these operations and control operations, indented, with a line break at
// its end. The same arguments always give the same bytes. An operation that service.json does not describe is left out.
func Write(controls []Control, types Types, table []operations.Operation, d *dialect.Dialect) ([]byte, error) {
	document, err := parse(specification.Service())
	if err != nil {
		return nil, fmt.Errorf("service.json: %w", err)
	}
	control, err := describe(controls, types)
	if err != nil {
		return nil, err
	}
	document["paths"] = paths(members(document["paths"]), table)
	schemas := members(members(document["components"])["schemas"])
	for name := range members(members(control["components"])["schemas"]) {
		if schemas[name] != nil {
			return nil, fmt.Errorf("service.json already has a schema %s: rename the Go type of the control operation", name)
		}
	}
	applyDialect(document, d)
	merge(document, control)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err = encoder.Encode(resolve(document, decided(d)))
	return out.Bytes(), err
}

// paths returns the paths of a document with the routes, the methods and the security of a table.
func paths(described object, table []operations.Operation) object {
	byID := map[any]object{}
	for _, methods := range described {
		for _, operation := range members(methods) {
			byID[members(operation)["operationId"]] = members(operation)
		}
	}
	out := object{}
	for _, op := range table {
		operation := byID[op.Name]
		if operation == nil {
			continue
		}
		if responses := members(operation["responses"]); responses["200"] == nil {
			responses["200"] = responses["2XX"] // some generators do not read 2XX
		}
		operation["security"] = []any{object{"secretKey": []any{}}}
		if op.Open {
			operation["security"] = []any{}
		}
		merge(out, object{op.Route: object{strings.ToLower(op.Method): operation}})
	}
	return out
}

// change sets members of an object. null removes a member.
func change(out, members object) {
	for name, member := range members {
		if out[name] = member; member == nil {
			delete(out, name)
		}
	}
}

// decided returns the fields that a dialect sets, with their values.
func decided(d *dialect.Dialect) (keys []string) {
	for _, f := range d.Fields() {
		if f.Set {
			keys = append(keys, f.Name+"="+f.Value)
		}
	}
	return keys
}

// when is the member that holds the changes of a dialect.
const when = "x-when"

// resolve returns a value as a dialect has it, without x-when. keys are those of [decided].
func resolve(value any, keys []string) any {
	switch value := value.(type) {
	case object:
		out := object{}
		for name, member := range value {
			if name != when {
				out[name] = member
			}
		}
		for _, key := range keys {
			change(out, members(members(value[when])[key]))
		}
		for name, member := range out {
			out[name] = resolve(member, keys)
		}
		return out
	case []any:
		for i := range value {
			value[i] = resolve(value[i], keys)
		}
	}
	return value
}
