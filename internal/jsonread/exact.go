package jsonread

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Once marks a type that has no value if its member is given twice, such as a price. It is the first field
// of a struct with an UnmarshalJSON method, which then reads [GivenTwice]:
//
//	_ jsonread.Once
type Once struct{}

// GivenTwice is the JSON value that a type with [Once] reads if its member is given twice.
const GivenTwice = `"given twice"`

// Unmarshal is [json.Unmarshal] with exact member names.
//
// encoding/json also reads a member into a field if their names differ in case or in what Unicode counts as case:
// "AMOUNT" and "requeſt_id" reach the fields "amount" and "request_id", and the last of them wins. Unmarshal reads a
// member into a field only if its name, with escapes resolved, equals the field's name byte for byte. Every other
// member is unknown and ignored.
//
// If an object has a member twice, the last one counts. encoding/json merges objects, maps and lists in that
// case, and ignores a last one that is null. A type that contains [Once] has no value in that case.
//
// Both rules apply to structs at any depth, embedded or not, and to those in pointers, slices, arrays and maps. A type
// with an UnmarshalJSON or UnmarshalText method gets its text unchanged, so it must call Unmarshal itself if it reads
// an object. A struct behind an interface inside another value is read as encoding/json reads it. The keys of a map are
// exact in encoding/json too.
func Unmarshal(data []byte, v any) error { return json.Unmarshal(Text(data, v), v) }

// Text returns the text that encoding/json has to read into v, a pointer, for [Unmarshal]. It is data itself unless a
// member must be hidden. A hidden member gets a name of the same length that no field has, so that offsets in errors
// stay the same. Text that is not valid JSON is not changed.
func Text(data []byte, v any) []byte {
	s := shapeOf(target(v))
	if s == nil {
		return data
	}
	w := walk{scanner: newScanner(data)}
	if w.value(s, maxDepth); !w.done() || w.edits == nil {
		return data
	}
	return w.edited()
}

// UnknownMember returns the name of the first member that v, a pointer, has no field for, at any depth.
func UnknownMember(data []byte, v any) (name string, found bool) {
	w := walk{scanner: newScanner(data)}
	if s := shapeOf(target(v)); s != nil {
		w.value(s, maxDepth)
	}
	return string(w.unknown), w.unknown != nil
}

// target returns the type of what encoding/json reads into: what v points to, through interfaces too.
func target(v any) reflect.Type {
	value := reflect.ValueOf(v)
	for {
		switch {
		case !value.IsValid() || isUnmarshaler(value.Type()):
			return nil
		case value.Kind() != reflect.Pointer && value.Kind() != reflect.Interface || value.IsNil():
			return value.Type()
		}
		value = value.Elem()
	}
}

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
	s := &shape{}
	switch t.Kind() {
	case reflect.Pointer:
		return b.shape(t.Elem())
	case reflect.Struct:
		b[t], s.fields = s, map[string]shapeField{}
		b.addFields(s, t, nil)
	case reflect.Slice, reflect.Array, reflect.Map:
		b[t] = s
		if s.element = b.shape(t.Elem()); s.element == nil {
			b[t] = nil
		}
	}
	return b[t]
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

// hidden is the character that hidden names consist of. No field has such a name.
const hidden = "\x7f"

// walk compares a text with the shape of the type that it is read into.
type walk struct {
	scanner
	unknown []byte // the first name that no field has
	edits   []edit
}

// edit is a replacement in the text.
type edit struct {
	start, end int
	with       string
}

// value moves behind a value for a type of this shape.
func (w *walk) value(s *shape, depth int) {
	switch c := w.peek(); {
	case depth == 0:
		w.fail()
	case s != nil && c == '{' && s.fields != nil:
		w.object(s, depth)
	case s != nil && c == '{':
		for first := true; w.next("{}", first); first = false {
			w.name()
			w.value(s.element, depth-1)
		}
	case s != nil && c == '[':
		for first := true; w.next("[]", first); first = false {
			w.value(s.element, depth-1)
		}
	default:
		w.skip(depth)
	}
}

// object moves behind an object for a struct.
func (w *walk) object(s *shape, depth int) {
	seen := make(map[string]int, len(s.fields)) // where the name of each field was given last
	for first := true; w.next("{}", first); first = false {
		start := w.pos
		name := w.name()
		field, known := s.fields[string(name)]
		if !known {
			w.reject(s, start, name)
			w.skip(depth - 1)
			continue
		}
		earlier, twice := seen[string(name)]
		seen[string(name)] = start
		if twice {
			w.hide(earlier)
		}
		if !twice || !field.once {
			w.value(field.shape, depth-1)
			continue
		}
		w.peek()
		from := w.pos
		w.skip(depth - 1)
		w.edits = append(w.edits, edit{from, w.pos, GivenTwice})
	}
}

// reject hides a member with an unknown name if encoding/json would read it into a field.
func (w *walk) reject(s *shape, start int, name []byte) {
	if w.unknown == nil {
		w.unknown = name
	}
	for field := range s.fields {
		if strings.EqualFold(field, string(name)) {
			w.hide(start)
			return
		}
	}
}

// hide renames the member whose name starts at an offset.
func (w *walk) hide(start int) {
	name := scanner{text: w.text, pos: start}
	name.quoted()
	w.edits = append(w.edits, edit{start + 1, name.pos - 1, strings.Repeat(hidden, name.pos-start-2)})
}

// edited returns the text with all edits.
func (w *walk) edited() []byte {
	slices.SortFunc(w.edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	var text bytes.Buffer
	done := 0
	for _, e := range w.edits {
		text.Write(w.text[done:e.start])
		text.WriteString(e.with)
		done = e.end
	}
	text.Write(w.text[done:])
	return text.Bytes()
}
