// Package openapi holds the OpenAPI 3.1 document that the reference server serves. The document is data, written by
// hand: service.json of internal/specification describes the service, and control.json the routes below /_mock/.
// This package puts the two together for one server. It does not read or check requests and responses.
//
// The files are OpenAPI with two members that a served document does not have:
//
//   - x-when, of any object: what the assumptions that it names change in the object. null removes a member.
//   - x-every-operation, of control.json: what every operation of the file has in addition to its own members.
//
// An operation of the service is found by its operationId, which is its name in [shipping.Operations], so that it is
// served under the route, the method and the security of a server's own table.
package openapi

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/specification"
	"github.com/shipping-go/shipping/mockserver/assumption"
)

//go:embed control.json
var controlFile []byte

// Document is the document before it is written for a server. It never changes.
type Document struct {
	service, control object
	operations       map[string]object // of the service, by operationId
}

// Load reads the two files.
func Load() (*Document, error) {
	service, err := parse(specification.Service())
	if err != nil {
		return nil, fmt.Errorf("service.json: %w", err)
	}
	control, err := parse(controlFile)
	if err != nil {
		return nil, fmt.Errorf("control.json: %w", err)
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
	d.control = everyOperation(control.merge(object{{"components", object{{"schemas", object{{"WorldAssumptions", worldAssumptions()}}}}}}))
	return d, nil
}

// worldAssumptions returns the schema of the assumptions that can differ between worlds.
func worldAssumptions() object {
	var properties object
	for _, row := range new(assumption.Set).Rows() {
		kind := "string" // a duration
		switch row.Value.(type) {
		case bool:
			kind = "boolean"
		case int:
			kind = "integer"
		case float64:
			kind = "number"
		}
		if row.Scope != assumption.ScopeServer {
			properties = append(properties, member{row.Field, object{{"type", kind}, {"description", row.Open + "; default: " + row.Default}}})
		}
	}
	return object{{"properties", properties}}
}

// everyOperation gives each operation what x-every-operation holds.
func everyOperation(control object) object {
	every := control.object("x-every-operation")
	var paths object
	for _, path := range control.object("paths") {
		var methods object
		for _, method := range members(path.value) {
			operation, _ := method.value.(object)
			methods = append(methods, member{method.name, operation.merge(every)})
		}
		paths = append(paths, member{path.name, methods})
	}
	return control.without("x-every-operation").with("paths", paths)
}

// Write returns the document of a server with these operations, indented, with a line break at its end. assumed
// reports whether the server makes the assumption of a name. The same arguments always give the same bytes. An
// operation that service.json does not describe is left out.
func (d *Document) Write(operations []shipping.Operation, assumed func(name string) bool) ([]byte, error) {
	var paths object
	for _, op := range operations {
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
