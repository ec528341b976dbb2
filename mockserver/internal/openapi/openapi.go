// Package openapi writes the OpenAPI 3.1 document that the reference server serves. service.json of
// internal/specification describes the service; an operation is found by its operationId, which is its name in
// [operations.All], so that it is served under the route, the method and the security of a server's own table. The
// description of the control surface follows from Go types. This package does not read or check requests and responses.
//
// In service.json, x-when of any object holds what the assumptions that it names change in the object. null removes a
// member.
package openapi

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/specification"
)

// Document is the document before it is written for a server. It never changes.
type Document struct {
	service, control object
	operations       map[string]object // of the service, by operationId
}

// Load reads the description of the service, and describes the operations below /_mock/.
func Load(controls []Control, types Types) (*Document, error) {
	service, err := parse(specification.Service())
	if err != nil {
		return nil, fmt.Errorf("service.json: %w", err)
	}
	control, err := describe(controls, types)
	if err != nil {
		return nil, err
	}
	for _, own := range control.object("components").object("schemas") {
		if service.object("components").object("schemas").get(own.name) != nil {
			return nil, fmt.Errorf("service.json has a schema %s: rename the Go type of the control surface", own.name)
		}
	}
	d := &Document{operations: map[string]object{}}
	for _, path := range service.object("paths") {
		for _, method := range members(path.value) {
			operation, _ := method.value.(object)
			id, _ := operation.get("operationId").(string)
			d.operations[id] = operation
		}
	}
	d.service = service.with("paths", object{})
	d.control = control
	return d, nil
}

// Write returns the document of a server with these operations, indented, with a line break at its end. assumed
// reports whether the server makes the assumption of a name. The same arguments always give the same bytes. An
// operation that service.json does not describe is left out.
func (d *Document) Write(table []operations.Operation, assumed func(name string) bool) ([]byte, error) {
	var paths object
	for _, op := range table {
		if described := d.operations[op.Name]; described != nil {
			method := object{{strings.ToLower(op.Method), described.with("security", security(op.Open))}}
			paths = paths.merge(object{{op.Route, method}})
		}
	}
	document := resolve(d.service.with("paths", paths).merge(d.control), assumed)
	var out bytes.Buffer
	err := write(&out, document, "\n")
	out.WriteByte('\n')
	return out.Bytes(), err
}

func security(open bool) []any {
	if open {
		return []any{}
	}
	return []any{object{{"secretKey", []any{}}}}
}

// when is the member that holds what assumptions change.
const when = "x-when"

// resolve returns a value as the assumptions have it, without x-when.
func resolve(value any, assumed func(name string) bool) any {
	switch value := value.(type) {
	case object:
		changes := value.object(when)
		value = value.without(when)
		for _, change := range changes {
			if assumed(change.name) {
				for _, m := range members(change.value) {
					value = value.with(m.name, m.value)
				}
			}
		}
		out := make(object, len(value))
		for i, m := range value {
			out[i] = member{m.name, resolve(m.value, assumed)}
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = resolve(element, assumed)
		}
		return out
	default:
		return value
	}
}
