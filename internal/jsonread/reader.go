// Package jsonread reads the responses of a service into Go structs, tolerantly and in one pass.
//
// The struct tags describe each field completely. A [Reader] compiles a plan from them once per type; fields are
// listed nowhere else:
//
//	Kinds  []Kind `json:"event" alias:"events"`  // read under another name too
//	Code   Code   `json:"code" read:"bare"`      // a string in place of the object is this field
//	Items  []Item `json:"items" read:"strict"`   // a value that is not a list is a *MismatchError; null is an empty list
//	Raw    string `json:"-" read:"raw"`          // the text of the whole object
//	Odd    map[string]string `json:"-" read:"unreadable"` // the texts of the members that could not be read, by name
//	Note   string `json:"note" spec:"optional"`  // its absence is not a difference
//	Extra  string `json:"-" alias:"extra"`       // a member that the specification does not show: read, not written
//
// A value of another type than the field's is read if it can be: numbers and booleans in strings, strings where a list
// of strings belongs, timestamps in other layouts, integers of floating-point origin (1998.9999999999998), and so on. A
// value that cannot be read leaves its field zero, so that one bad value does not lose its record. [Options.Report]
// gets every such difference, every unknown member and every missing one, from the same pass.
//
// Names match byte for byte. If a member is given twice, the last one counts. A type with its own function ([Custom])
// decides this case itself. If a field has several names, the first name in its tag with a value counts; custom values
// that differ count as given twice.
//
// The grammar is that of encoding/json, invalid UTF-8 and deep nesting included. There is no slower second reader: a
// text that this one cannot read is not JSON. The package reads the types of a response, which its owner controls. For
// any type and all of the rules of encoding/json, such as methods, embedded pointers and interfaces, see [Unmarshal]. A
// field of another type, such as an interface, makes the first Read of its struct panic.
package jsonread

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	// ErrSyntax is returned for a text that is not JSON.
	ErrSyntax = errors.New("not JSON")
	// ErrCrowded is returned for a text with more elements than [Options.Elements], or more members than
	// [Options.Members].
	ErrCrowded = errors.New("too many elements in its lists, or members in its objects")
)

// MismatchError is returned for a strict field with a value of another kind. All other fields were read.
type MismatchError struct{ Path, Got, Want string }

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s is of type %s instead of %s", e.Path, e.Got, e.Want)
}

// Options are the options of one [Reader.Read].
type Options struct {
	// Elements bounds the elements of all lists together, except the first of each; 0 means no bound.
	Elements int
	// Members bounds the members of all objects together, except the first of each; 0 means no bound.
	Members int
	// Report, if set, is called with each difference between the text and the type.
	Report func(Difference)
}

// Difference is a difference between a text and the type that it is read into.
type Difference struct {
	Path string // such as "data.rates[].amount"
	Kind string
	// Detail is the JSON type of an unknown member, or "string instead of number".
	Detail string
}

// The kinds of differences.
const (
	Unknown = "unknown"
	Missing = "missing"
	Type    = "type"
)

// CustomType is a type that is read by its own function.
type CustomType struct {
	of    reflect.Type
	want  string
	read  func(*Decoder, reflect.Value) bool
	twice func(reflect.Value)
}

// Custom returns a type with the function read, which gets any value, even null, and reports whether it could read
// it. If the member is given twice, twice is called; if twice is nil, the last value counts. want is the expected
// JSON type, or "".
func Custom[T any](want string, read func(*Decoder, *T) bool, twice func(*T)) CustomType {
	custom := CustomType{
		of: reflect.TypeFor[T](), want: want,
		read: func(d *Decoder, v reflect.Value) bool { return read(d, v.Addr().Interface().(*T)) },
	}
	if twice != nil {
		custom.twice = func(v reflect.Value) { twice(v.Addr().Interface().(*T)) }
	}
	return custom
}

// Raw returns a type whose values are the text of any JSON value.
func Raw[T ~string]() CustomType {
	return Custom("", func(d *Decoder, text *T) bool {
		*text = T(d.RawText())
		return true
	}, nil)
}

// Reader reads JSON into structs. It can be used by several goroutines at the same time.
type Reader struct {
	custom map[reflect.Type]*CustomType
	names  Names

	compiling sync.Mutex
	roots     map[reflect.Type]*field
	records   map[reflect.Type]*record
}

// New returns a reader that knows custom types.
func New(types ...CustomType) *Reader {
	r := &Reader{custom: map[reflect.Type]*CustomType{}, roots: map[reflect.Type]*field{},
		records: map[reflect.Type]*record{}}
	for _, custom := range types {
		r.custom[custom.of] = &custom
	}
	return r
}

// Names are other names for the fields of types, by the name in the tag of the field. A field with another name has no
// alias. A name with a dot, such as "price.amount", is a path. "-" means that the field is not read.
type Names map[reflect.Type]map[string]string

// Rename returns a reader that reads fields under other names. It compiles its own plans.
func (r *Reader) Rename(names Names) *Reader {
	return &Reader{custom: r.custom, names: names, roots: map[reflect.Type]*field{}, records: map[reflect.Type]*record{}}
}

// Read reads text into *into. Nothing of the text is kept. The strings of neighbouring records share blocks of a few
// kilobytes.
func (r *Reader) Read(text []byte, into any, options Options) error {
	d := &Decoder{reader: r, scanner: newScanner(text), report: options.Report}
	d.path = d.shallow[:0]
	d.elements, d.names = cmp.Or(options.Elements, math.MaxInt), cmp.Or(options.Members, math.MaxInt)
	d.Read(into)
	switch {
	case d.crowded():
		return ErrCrowded
	case !d.done():
		return ErrSyntax
	case d.mismatch != nil:
		return d.mismatch
	}
	return nil
}

// field is how a field of a struct, or an element of a list, is read.
type field struct {
	name   string // "[]" of an element
	index  []int  // within its record; several in an embedded struct
	of     reflect.Type
	kind   reflect.Kind // of a type that is not custom
	want   string       // the JSON type that is expected
	parse  func(text []byte, v reflect.Value) bool
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
	usual  []string       // the names by place, in quotes
	places map[string]int // by name
	fields []*field       // by place
	// the place that last followed each place, and the start of the object
	next       [maxNames + 1]atomic.Uint32
	required   uint64 // the places whose absence is a difference
	raw        *field // for the text of the object
	bare       *field // for a string in place of the object
	unreadable *field // for the texts of the members that could not be read
}

// timestamp is the type of a field for a time, a string with more rules.
const timestamp = "ISO 8601 timestamp"

// maxNames is how many names a record can have.
const maxNames = 64

// root returns how the type of a whole text is read.
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
	case reflect.Int, reflect.Int64:
		f.want, f.parse = "number", parseInt
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
	r.addFields(c, t, nil)
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
	c.usual = append(c.usual, `"`+name+`"`)
	c.fields = append(c.fields, f)
}

// addFields adds the fields of a struct and of those embedded in it.
func (r *Reader) addFields(c *record, t reflect.Type, outer []int) {
	for member := range t.Fields() {
		tag := member.Tag
		name, options, _ := strings.Cut(tag.Get("json"), ",")
		alias := tag.Get("alias")
		if name == "-" && alias != "" {
			name, alias, _ = strings.Cut(alias, ",")
			options = "optional"
		}
		index := slices.Concat(outer, member.Index)
		switch {
		case member.Anonymous && name == "":
			r.addFields(c, member.Type, index)
			continue
		case tag.Get("read") == "raw":
			c.raw = &field{index: index}
			continue
		case tag.Get("read") == "unreadable":
			c.unreadable = &field{index: index, of: member.Type}
			continue
		case name == "" || name == "-":
			continue
		}
		f := r.compile(member.Type, name)
		f.index, f.strict = index, tag.Get("read") == "strict"
		if tag.Get("read") == "bare" {
			c.bare = f
		}
		if tag.Get("spec") != "optional" && options == "" { // a member that is omitted when empty is optional
			c.required |= 1 << len(c.fields)
		}
		other, renamed := r.names[t][name]
		if renamed {
			name, alias = other, ""
		}
		if alias != "" {
			f.alias = strings.Split(alias, ",")
		}
		object, inner, nested := strings.Cut(name, ".")
		if nested || name == "-" {
			c.required &^= 1 << len(c.fields)
		}
		switch {
		case name == "-":
		case nested:
			c.within(object).add(f, inner)
		default:
			c.add(f, name)
		}
		f.name = cmp.Or(inner, name)
	}
}

// within returns the record that describes an object whose members are fields of c. It adds the object to c if needed.
func (c *record) within(name string) *record {
	if place, known := c.places[name]; known && c.fields[place].of == nil {
		return c.fields[place].record
	}
	f := &field{name: name, kind: reflect.Struct, want: "object", record: &record{places: map[string]int{}}}
	c.add(f, name)
	return f.record
}

// in returns the value of a field of a record.
func (f *field) in(v reflect.Value) reflect.Value {
	for _, i := range f.index {
		v = v.Field(i)
	}
	return v
}
