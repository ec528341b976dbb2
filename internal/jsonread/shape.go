package jsonread

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// shape describes the member names of a type: the fields of a struct, or the shape of the elements of a list
// or map. A nil shape is a type without structs, or one that reads its own text.
type shape struct {
	fields  map[string]shapeField
	folded  map[string]bool // the names of the fields, folded
	element *shape
}

type shapeField struct {
	place int // among the fields
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
		s := &shape{fields: map[string]shapeField{}, folded: map[string]bool{}}
		b[t] = s
		for name, f := range fieldsOf(t) {
			s.fields[name] = shapeField{place: len(s.fields), shape: b.shape(f), once: isOnce(f)}
			s.folded[string(appendFolded(nil, []byte(name)))] = true
		}
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

// candidate is a field that may be read under a name.
type candidate struct {
	t      reflect.Type
	tagged bool // the name is in its tag
}

// fieldsOf returns the types of the fields that encoding/json reads into a struct, by name. Of fields with
// the same name, those count that are embedded least deep, and among these those with the name in the tag.
// If there are several still, none is read.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	found, visited := map[string][]candidate{}, map[reflect.Type]bool{}
	for level := []reflect.Type{t}; len(level) > 0; {
		var embedded []reflect.Type
		here := map[string][]candidate{}
		for _, t := range level {
			if visited[t] {
				continue
			}
			visited[t] = true
			for f := range t.Fields() {
				if name, c, promoted := jsonName(f); promoted {
					embedded = append(embedded, c.t)
				} else if name != "" {
					here[name] = append(here[name], c)
				}
			}
		}
		for name, candidates := range here {
			if _, hidden := found[name]; !hidden {
				found[name] = candidates
			}
		}
		level = embedded
	}
	fields := map[string]reflect.Type{}
	for name, candidates := range found {
		if slices.ContainsFunc(candidates, func(c candidate) bool { return c.tagged }) {
			candidates = slices.DeleteFunc(candidates, func(c candidate) bool { return !c.tagged })
		}
		if len(candidates) == 1 {
			fields[name] = candidates[0].t
		}
	}
	return fields
}

// read returns the name under which encoding/json reads a field, "" if it does not, and whether it reads the
// fields of the embedded struct instead.
func jsonName(f reflect.StructField) (name string, c candidate, promoted bool) {
	tag := f.Tag.Get("json")
	name, _, _ = strings.Cut(tag, ",")
	t := f.Type
	if f.Anonymous && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	isStruct := f.Anonymous && t.Kind() == reflect.Struct
	switch {
	case tag == "-" || !f.IsExported() && !isStruct:
		return "", candidate{}, false
	case name != "":
		return name, candidate{f.Type, true}, false
	case isStruct:
		return "", candidate{t: t}, true
	}
	return f.Name, candidate{t: f.Type}, false
}

// appendFolded appends a name with the characters folded that encoding/json takes for the same.
func appendFolded(to, name []byte) []byte {
	for len(name) > 0 {
		r, size := utf8.DecodeRune(name)
		name = name[size:]
		to = utf8.AppendRune(to, foldedRune(r))
	}
	return to
}

// foldedRune returns the smallest of the characters that differ from r in case only.
func foldedRune(r rune) rune {
	if 'a' <= r && r <= 'z' {
		return r - 'a' + 'A'
	}
	for r >= utf8.RuneSelf {
		next := unicode.SimpleFold(r)
		if next <= r {
			return next
		}
		r = next
	}
	return r
}
