package jsonread

import (
	"reflect"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"
)

// field is how a field of a struct, or an element of a list, is read.
type field struct {
	name   string  // "[]" of an element
	offset uintptr // within its record
	of     reflect.Type
	kind   reflect.Kind // of a type that is not custom
	want   string       // the JSON type that is expected
	parse  func(text string, p unsafe.Pointer) bool
	custom *CustomType
	record *record       // of a struct
	inner  *field        // the target of a pointer, or the element of a list or map
	empty  reflect.Value // of a list
	length atomic.Int64  // of a list, the last time
	alias  []string      // its other names
	names  uint64        // the places of all its names, if it has several
	strict bool
}

// record is how a struct is read.
type record struct {
	usual    []string                    // the names by place, as each nearly always stands in a text: in quotes, and with a colon
	places   map[string]int              // by name
	fields   []*field                    // by place
	next     [maxNames + 1]atomic.Uint32 // the place that followed each place, and the start of the object, the last time
	required uint64                      // the places whose absence is a difference
	raw      *field                      // for the text of the object
	bare     *field                      // for a string in place of the object
}

// timestamp is what a field for a time expects, a string with more rules.
const timestamp = "ISO 8601 timestamp"

// maxNames is how many names a record can have.
const maxNames = 64

// root returns how a type is read that nothing contains.
func (r *Reader) root(t reflect.Type) *field {
	r.compiling.Lock()
	defer r.compiling.Unlock()
	f := r.roots[t]
	if f == nil {
		f = r.compile(t, "")
		r.roots[t] = f
	}
	return f
}

func (r *Reader) compile(t reflect.Type, name string) *field {
	f := &field{name: name, of: t}
	if f.custom = r.custom[t]; f.custom != nil {
		f.want = f.custom.want
		return f
	}
	f.kind = t.Kind()
	switch f.kind {
	case reflect.String:
		f.want = "string"
	case reflect.Bool:
		f.want, f.parse = "boolean", parseBool
	case reflect.Int:
		f.want, f.parse = "number", parseInt[int]
	case reflect.Int64:
		f.want, f.parse = "number", parseInt[int64]
	case reflect.Float64:
		f.want, f.parse = "number", parseFloat
	case reflect.Pointer:
		f.inner = r.compile(t.Elem(), name)
	case reflect.Slice:
		f.want, f.inner, f.empty = "array", r.compile(t.Elem(), "[]"), reflect.MakeSlice(t, 0, 0)
	case reflect.Map:
		f.want, f.inner = "object", r.compile(t.Elem(), "[]")
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			f.want, f.parse = timestamp, parseAnyTime
		} else {
			f.want, f.record = "object", r.compileRecord(t)
		}
	default:
		panic("jsonread: no way to read " + t.String())
	}
	return f
}

func (r *Reader) compileRecord(t reflect.Type) *record {
	if known := r.records[t]; known != nil {
		return known
	}
	c := &record{places: map[string]int{}}
	r.records[t] = c // a type may contain itself
	r.addFields(c, t, 0)
	for place, f := range c.fields {
		for _, other := range f.alias {
			f.names |= 1<<place | 1<<len(c.fields)
			c.add(f, other)
		}
	}
	if len(c.fields) == 0 || len(c.fields) > maxNames {
		panic("jsonread: no names, or too many, in " + t.String())
	}
	return c
}

// add adds a field under one of its names.
func (c *record) add(f *field, name string) {
	c.places[name] = len(c.fields)
	c.usual = append(c.usual, `"`+name+`":`)
	c.fields = append(c.fields, f)
}

// addFields adds the fields of a struct and of those embedded in it.
func (r *Reader) addFields(c *record, t reflect.Type, base uintptr) {
	for member := range t.Fields() {
		tag := member.Tag
		name, options, _ := strings.Cut(tag.Get("json"), ",")
		offset := base + member.Offset
		switch {
		case member.Anonymous && name == "":
			r.addFields(c, member.Type, offset)
			continue
		case tag.Get("read") == "raw":
			c.raw = &field{offset: offset}
			continue
		case name == "" || name == "-":
			continue
		}
		f := r.compile(member.Type, name)
		f.offset, f.strict = offset, tag.Get("read") == "strict"
		if tag.Get("read") == "bare" {
			c.bare = f
		}
		if tag.Get("spec") != "optional" && options == "" { // what may be left out when empty is optional
			c.required |= 1 << len(c.fields)
		}
		if alias := tag.Get("alias"); alias != "" {
			f.alias = strings.Split(alias, ",")
		}
		c.add(f, name)
	}
}

// in returns where a field of the record at p is.
func (f *field) in(p unsafe.Pointer) unsafe.Pointer { return unsafe.Add(p, f.offset) }

// value returns the value at p for package reflect.
func (f *field) value(p unsafe.Pointer) reflect.Value { return reflect.NewAt(f.of, p).Elem() }
