package openapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Control is an operation below /_mock/. Its description follows from Go types.
type Control struct {
	Method  string
	Path    string // from the root, with placeholders in braces
	ID      string // operationId
	Summary string
	Example string // of the body, as JSON; empty for an operation without a body
	// Parameters is a struct whose fields are the parameters. The tag "path" or "query" of a field is the name; "doc",
	// "example" and "enum" describe it.
	Parameters reflect.Type
	// Body is the type of the body, and Data that of data in the envelope of the response. A member without omitempty or
	// omitzero is required. Data is an empty struct if no response has an envelope.
	Body, Data reflect.Type
	Media      []string // media types of responses without an envelope
}

func (c *Control) Query() []string {
	var names []string
	for _, field := range reflect.VisibleFields(c.Parameters) {
		if name, isQuery := field.Tag.Lookup("query"); isQuery {
			names = append(names, name)
		}
	}
	return names
}

// Types has the schemas of types whose JSON does not follow from their Go type: a JSON text, or a list of possible
// types.
type Types map[reflect.Type]any

// common is what the operations have in common. The tag, the security and the references of every operation are in
// describe.
const common = `{
  "tags": [{"name": "control", "description": "The reference server: its worlds, faults, journal, money, time and notifications."}],
  "components": {
    "securitySchemes": {
      "mockToken": {"type": "apiKey", "in": "header", "name": "X-Mock-Token", "description": "Programs on this machine need no token. Programs on other machines send the one that serve -json prints."}
    },
    "parameters": {
      "inWorld": {
        "name": "world",
        "in": "query",
        "description": "The world that the request is about: the name of an open one, or unauthenticated for the requests whose key opens none. Default: the world of the key in Authorization, or else the home world. The header X-Mock-World of the response names it.",
        "schema": {"type": "string"},
        "example": "home"
      }
    },
    "responses": {
      "ControlCached": {
        "description": "Not modified, or a redirect to the page. The response has no body.",
        "headers": {"ETag": {"description": "Identifies this version; for If-None-Match.", "schema": {"type": "string"}}}
      },
      "ControlRefusal": {
        "description": "The request was refused: 400 invalid, 403 not allowed from there, 404 not found, 405 other methods only, 408 nothing came in time, 409 in conflict, 413 too long, 415 not JSON.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}
      },
      "ControlFailure": {"description": "The server failed, or is full.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}}
    }
  }
}`

// describe returns the part of the document about operations.
func describe(operations []Control, types Types) (object, error) {
	out, err := parse([]byte(common))
	if err != nil {
		return nil, err
	}
	b := &builder{types: types, schemas: object{}, of: map[string]reflect.Type{}}
	paths := object{}
	for _, op := range operations {
		merge(paths, object{op.Path: object{strings.ToLower(op.Method): b.operation(&op)}})
	}
	merge(out, object{"paths": paths, "components": object{"schemas": b.schemas}})
	return out, b.err
}

// builder collects the schemas of the types that it describes.
type builder struct {
	types   Types
	schemas object
	of      map[string]reflect.Type // by name of the schema
	err     error
}

func reference(component string) object { return object{"$ref": "#/components/" + component} }

func (b *builder) operation(op *Control) object {
	out := object{
		"operationId": op.ID, "tags": []any{"control"}, "summary": op.Summary,
		"security": []any{object{}, object{"mockToken": []any{}}, object{"secretKey": []any{}},
			object{"mockToken": []any{}, "secretKey": []any{}}},
		"parameters": append(b.parameters(op.Parameters), reference("parameters/inWorld")),
		"responses":  b.responses(op),
	}
	if op.Example != "" {
		body := object{"content": object{"application/json": object{"schema": b.schema(op.Body),
			"example": json.RawMessage(op.Example)}}}
		if schema, _ := b.schemas[componentName(op.Body)].(object); schema["required"] != nil {
			body["required"] = true
		}
		out["requestBody"] = body
	}
	return out
}

// parameters describes the fields of a struct, and of the structs that it embeds.
func (b *builder) parameters(of reflect.Type) []any {
	var all []any
	for _, field := range reflect.VisibleFields(of) {
		p := object{"description": field.Tag.Get("doc")}
		if name, isPath := field.Tag.Lookup("path"); isPath {
			p["name"], p["in"], p["required"] = name, "path", true
		} else if name, isQuery := field.Tag.Lookup("query"); isQuery {
			p["name"], p["in"] = name, "query"
		} else {
			continue
		}
		schema := b.field(field)
		delete(schema, "description")
		delete(schema, "examples")
		p["schema"], p["example"] = schema, field.Tag.Get("example")
		if schema["type"] != "string" {
			p["example"] = json.RawMessage(field.Tag.Get("example"))
		}
		all = append(all, p)
	}
	return all
}

func (b *builder) responses(op *Control) object {
	types := object{}
	hasEnvelope := op.Data.Kind() != reflect.Struct || op.Data.NumField() > 0
	if hasEnvelope {
		members := object{"status": object{"type": "boolean", "const": true}, "message": object{"type": "string"},
			"data": b.schema(op.Data)}
		required := []any{"status", "message", "data"}
		if slices.Contains(op.Query(), "perPage") {
			members["pagination"] = reference("schemas/RatePagination")
			required = append(required, "pagination")
		}
		types["application/json"] = object{"schema": object{"type": "object", "required": required, "properties": members}}
	}
	for _, media := range op.Media {
		media, _, _ = strings.Cut(media, ";")
		schema := object{"type": "string"}
		if strings.HasSuffix(media, "json") {
			schema = object{"type": "object", "additionalProperties": true}
		}
		types[media] = object{"schema": schema}
	}
	out := object{
		"200": object{"description": "Success.", "content": types},
		"4XX": reference("responses/ControlRefusal"), "5XX": reference("responses/ControlFailure"),
	}
	if slices.Contains(op.Media, "text/html") || !hasEnvelope { // a file
		out["3XX"] = reference("responses/ControlCached")
	}
	return out
}

// schema returns the schema of a type. A struct with a name becomes a component.
func (b *builder) schema(of reflect.Type) object {
	switch known := b.types[of].(type) {
	case string:
		schema, err := parse([]byte(known))
		if err != nil {
			b.err = fmt.Errorf("schema of %s: %w", of, err)
		}
		return schema
	case []reflect.Type:
		var any []any
		for _, one := range known {
			any = append(any, b.schema(one))
		}
		return object{"anyOf": any}
	}
	switch of.Kind() {
	case reflect.Pointer:
		return b.schema(of.Elem())
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": b.schema(of.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": b.schema(of.Elem())}
	case reflect.Struct:
		return b.component(of)
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number", "format": "double"}
	case reflect.Interface:
		return object{}
	case reflect.Int:
		return object{"type": "integer"}
	case reflect.Int64:
		return object{"type": "integer", "format": "int64"}
	case reflect.Uint, reflect.Uint32, reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	}
	b.err = fmt.Errorf("the type %s has no schema", of)
	return nil
}

// component returns a reference to the schema of a struct, and makes the schema on first use.
func (b *builder) component(of reflect.Type) object {
	name := componentName(of)
	if b.of[name] == nil {
		b.of[name] = of // before its members: a struct can contain itself
		b.schemas[name] = b.object(of)
	}
	if b.of[name] != of {
		b.err = fmt.Errorf("%s and %s have the same schema name %s: rename one", of, b.of[name], name)
	}
	return reference("schemas/" + name)
}

// componentName returns the name of a type, prefixed with its package except for admin.
func componentName(of reflect.Type) string {
	pkg := of.PkgPath()[strings.LastIndexByte(of.PkgPath(), '/')+1:]
	name, prefix := strings.ToUpper(of.Name()[:1])+of.Name()[1:], strings.ToUpper(pkg[:1])+pkg[1:]
	if pkg == "admin" || name == prefix {
		return name
	}
	return prefix + name
}

// object describes the members of a struct, and of the structs that it embeds.
func (b *builder) object(of reflect.Type) object {
	properties := object{}
	var required []any
	for _, field := range reflect.VisibleFields(of) {
		name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		properties[name] = b.field(field)
		if option == "" {
			required = append(required, name)
		}
	}
	out := object{"type": "object", "properties": properties}
	if required != nil {
		out["required"] = required
	}
	return out
}

// field returns the schema of a field, with the additions of its tags.
func (b *builder) field(f reflect.StructField) object {
	schema := b.schema(f.Type)
	if choices := f.Tag.Get("enum"); choices != "" {
		schema["enum"] = strings.Fields(choices)
	}
	if doc := f.Tag.Get("doc"); doc != "" {
		schema["description"] = doc
	}
	if example := f.Tag.Get("example"); example != "" {
		schema["examples"] = []any{example}
	}
	return schema
}
