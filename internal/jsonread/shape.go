package jsonread

import (
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// shape describes the member names of a type: the fields of a struct, or the shape of the elements of a list
// or map. A nil shape is a type without structs, or one that reads its own text.
type shape struct {
	fields  map[string]shapeField
	element *shape
}

type shapeField struct {
	shape *shape
	once  bool
}

// shapes holds the shape of each type that was read, as encoding/json holds its fields.
var shapes sync.Map // of reflect.Type to *shape

func shapeOf(t reflect.Type) *shape {
	if t == nil {
		return nil
	}
	known, ok := shapes.Load(t)
	if !ok {
		known, _ = shapes.LoadOrStore(t, builder{}.shape(t))
	}
	s, _ := known.(*shape)
	return s
}

// builder holds the shapes that are being built, so that a type may contain itself.
type builder map[reflect.Type]*shape

func (b builder) shape(t reflect.Type) *shape {
	if s, known := b[t]; known {
		return s
	}
	if isUnmarshaler(t) {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return b.shape(t.Elem())
	case reflect.Struct:
		s := &shape{fields: map[string]shapeField{}}
		b[t] = s
		b.addFields(s, t, nil)
		return s
	case reflect.Slice, reflect.Array, reflect.Map:
		s := &shape{}
		b[t] = s
		if s.element = b.shape(t.Elem()); s.element == nil {
			b[t] = nil
		}
		return b[t]
	}
	return nil
}

// isUnmarshaler reports whether values of a type read their own text.
func isUnmarshaler(t reflect.Type) bool {
	if t.Kind() != reflect.Pointer {
		t = reflect.PointerTo(t)
	}
	return t.Implements(reflect.TypeFor[json.Unmarshaler]()) || t.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

func isOnce(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && t.NumField() > 0 && t.Field(0).Type == reflect.TypeFor[Once]()
}

// addFields adds the fields that encoding/json reads into a struct, those of embedded structs last: of fields with the
// same name, the one that is embedded least deep counts. (If there are several, encoding/json reads none.)
func (b builder) addFields(s *shape, t reflect.Type, path []reflect.Type) {
	var embedded []reflect.Type
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if f.Anonymous && inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		isStruct := f.Anonymous && inner.Kind() == reflect.Struct
		switch {
		case f.Tag.Get("json") == "-" || !f.IsExported() && !isStruct:
			continue
		case name == "" && isStruct:
			if !slices.Contains(path, inner) {
				embedded = append(embedded, inner)
			}
			continue
		}
		name = cmp.Or(name, f.Name)
		if _, hidden := s.fields[name]; !hidden {
			s.fields[name] = shapeField{shape: b.shape(f.Type), once: isOnce(f.Type)}
		}
	}
	for _, inner := range embedded {
		b.addFields(s, inner, append(path, t))
	}
}
