package jsonread

import (
	"reflect"
	"strings"
	"time"
	"unsafe"
)

// kind is how a value is read.
type kind uint8

const (
	customKind kind = iota
	textKind
	boolKind
	intKind
	int64Kind
	floatKind
	timeKind
	pointerKind
	listKind
	mapKind
	recordKind
)

// field is how a field of a struct, or an element of a list, is read.
type field struct {
	kind   kind
	name   string // "[]" of an element
	offset uintptr
	of     reflect.Type
	custom *CustomType
	record *record  // of recordKind
	inner  *field   // the target of a pointer, or the element of a list or map
	list   int      // of a list: its place among [Decoder.lengths]
	alias  []string // its other names
	names  uint64   // the places of all its names, if it has several
	strict bool
}

// record is how a struct is read.
type record struct {
	names    *memberNames
	fields   []field // by place among the names
	required uint64  // the places whose absence is a difference
	raw      *field  // for the text of the object
	bare     *field  // for a string in place of the object
	order    int     // its place among [Decoder.orders]
}

// root returns how a type is read that nothing contains.
func (r *Reader) root(t reflect.Type) *field {
	if known, ok := r.roots.Load(t); ok {
		return known.(*field)
	}
	r.compiling.Lock()
	defer r.compiling.Unlock()
	compiled := r.compile(t, "")
	known, _ := r.roots.LoadOrStore(t, &compiled)
	return known.(*field)
}

func (r *Reader) compile(t reflect.Type, name string) field {
	f := field{name: name, of: t}
	if f.custom = r.custom[t]; f.custom != nil {
		f.kind = customKind
		return f
	}
	switch t.Kind() {
	case reflect.String:
		f.kind = textKind
	case reflect.Bool:
		f.kind = boolKind
	case reflect.Int:
		f.kind = intKind
	case reflect.Int64:
		f.kind = int64Kind
	case reflect.Float64:
		f.kind = floatKind
	case reflect.Pointer:
		inner := r.compile(t.Elem(), name)
		f.kind, f.inner = pointerKind, &inner
	case reflect.Slice:
		inner := r.compile(t.Elem(), "[]")
		f.kind, f.inner, f.list = listKind, &inner, r.lists
		r.lists++
	case reflect.Struct:
		if f.kind = timeKind; t != reflect.TypeFor[time.Time]() {
			f.kind, f.record = recordKind, r.compileRecord(t)
		}
	case reflect.Map:
		inner := r.compile(t.Elem(), "[]")
		f.kind, f.inner = mapKind, &inner
	default:
		panic("jsonread: no way to read " + t.String())
	}
	return f
}

func (r *Reader) compileRecord(t reflect.Type) *record {
	if known := r.records[t]; known != nil {
		return known
	}
	c := &record{order: len(r.records)}
	r.records[t] = c // a type may contain itself
	var names []string
	r.addFields(c, t, 0, &names)
	for place := range len(c.fields) {
		f := &c.fields[place]
		for i := range f.alias {
			f.names |= 1<<place | 1<<(len(c.fields)+i)
		}
		for _, other := range f.alias {
			names, c.fields = append(names, other), append(c.fields, c.fields[place])
		}
	}
	c.names = newNames(names...)
	return c
}

// addFields adds the fields of a struct and of those embedded in it.
func (r *Reader) addFields(c *record, t reflect.Type, base uintptr, names *[]string) {
	for member := range t.Fields() {
		tag := member.Tag
		name, options, _ := strings.Cut(tag.Get("json"), ",")
		offset := base + member.Offset
		switch {
		case member.Anonymous && name == "":
			r.addFields(c, member.Type, offset, names)
			continue
		case tag.Get("read") == "raw":
			c.raw = &field{offset: offset}
			continue
		case name == "" || name == "-":
			continue
		}
		place := len(c.fields)
		f := r.compile(member.Type, name)
		f.offset, f.strict = offset, tag.Get("read") == "strict"
		if tag.Get("read") == "bare" {
			c.bare = &f
		}
		if tag.Get("spec") != "optional" && options == "" { // what may be left out when empty is optional
			c.required |= 1 << place
		}
		if alias := tag.Get("alias"); alias != "" {
			f.alias = strings.Split(alias, ",")
		}
		c.fields, *names = append(c.fields, f), append(*names, name)
	}
}

// at returns where a field of the record at p is.
func (f *field) at(p unsafe.Pointer) unsafe.Pointer { return unsafe.Add(p, f.offset) }

// value returns the value at p for package reflect.
func (f *field) value(p unsafe.Pointer) reflect.Value { return reflect.NewAt(f.of, p).Elem() }
