package jsonread

import (
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Decoder reads one text. The functions of custom types call its methods.
type Decoder struct {
	scanner
	reader   *Reader
	path     []*field  // the records and lists that are open
	shallow  [8]*field // storage for path, enough for most texts
	report   func(Difference)
	mismatch error
}

// Read reads the next value into *into, and returns its text.
func (d *Decoder) Read(into any) []byte {
	d.peek()
	start := d.pos
	v := reflect.ValueOf(into).Elem()
	d.value(d.reader.root(v.Type()), v)
	return d.text[start:d.pos]
}

// value reads the next value into a field, and reports whether it could be read. An unreadable value or a null does not
// change the field, except that a null makes a strict list empty; an absent list stays nil.
func (d *Decoder) value(f *field, v reflect.Value) (read bool) {
	c := d.peek()
	switch {
	case f.kind == reflect.String && c == '"': // most fields
		v.SetString(d.string())
		return true
	case f.custom != nil:
		return d.custom(f, v, kindOf(c))
	case c == 'n':
		d.literal("null")
		if f.strict && f.kind == reflect.Slice {
			v.Set(f.empty)
		}
		return true
	case f.kind == reflect.Pointer:
		inner := reflect.New(f.inner.of)
		if read = d.value(f.inner, inner.Elem()); read {
			v.Set(inner)
		}
		return read
	case f.want == timestamp && c == '"':
		at, zoned, read := parseTime(string(d.scalar()))
		if !zoned {
			d.differs(f, "string")
		}
		if read {
			*v.Addr().Interface().(*time.Time) = at
		}
		return read
	}
	got := kindOf(c)
	if got != f.want {
		d.mismatched(f, got)
	}
	switch {
	case c == '{' && f.record != nil:
		d.object(f, v)
	case c == '{' && f.kind == reflect.Map:
		d.members(f, v)
	case c == '[' && f.kind == reflect.Slice:
		d.list(f, v)
	case c == '"' && f.kind == reflect.Slice && f.inner.kind == reflect.String:
		v.Set(reflect.MakeSlice(f.of, 1, 1))
		v.Index(0).SetString(d.string())
	case c == '"' && f.record != nil && f.record.bare != nil:
		d.value(f.record.bare, f.record.bare.in(v))
	case c == '{' || c == '[':
		d.skip(maxDepth)
		return false
	case f.kind == reflect.String:
		v.SetString(d.RawText())
	case f.parse != nil:
		read = f.parse(d.scalar(), v)
		if !read && got == f.want {
			d.unreadable(f)
		}
		return read
	default:
		d.skip(maxDepth)
		return false
	}
	return true
}

// custom reads a value into a field whose type has its own reader.
func (d *Decoder) custom(f *field, v reflect.Value, got string) bool {
	if f.want != "" {
		d.differs(f, got)
	}
	d.path = append(d.path, f)
	read := f.custom.read(d, v)
	d.path = d.path[:len(d.path)-1]
	if !read && got == f.want {
		d.unreadable(f)
	}
	return read
}

// object reads an object into a record.
func (d *Decoder) object(f *field, v reflect.Value) {
	r, start := f.record, d.pos
	d.path = append(d.path, f)
	// named has a bit for each place from which a field with several names got its value
	place, seen, named := -1, uint64(0), uint64(0)
	separator := byte('{')
	for first := true; ; first, separator = false, ',' {
		// Members in the order of an earlier object are found without a search.
		likely := int(r.next[place+1].Load())
		if d.skipName(separator, r.usual[likely]) {
			place = likely
		} else if !d.next("{}", first) {
			break
		} else if next, known := d.member(r); known {
			r.next[place+1].Store(uint32(next))
			place = next
		} else {
			continue
		}
		member, bit := r.fields[place], uint64(1)<<place
		at := member.in(v)
		switch {
		case member.names != 0:
			named = d.alias(member, bit, seen&bit != 0, at, named)
		case seen&bit != 0:
			d.again(member, at)
		default:
			d.peek()
			if from := d.pos; !d.value(member, at) && r.unreadable != nil {
				r.unreadable.keep(v, member.name, d.text[from:d.pos])
			}
		}
		seen |= bit
	}
	if d.report != nil {
		for i, member := range r.fields {
			if bit := uint64(1) << i; r.required&^seen&bit != 0 {
				d.note(member.name, Missing, "")
			}
		}
	}
	if r.raw != nil {
		r.raw.in(v).SetString(string(d.text[start:d.pos]))
	}
	d.path = d.path[:len(d.path)-1]
}

// member reads a name, and returns its place in the record. If the record has no such name, member skips the value,
// too.
func (d *Decoder) member(r *record) (place int, known bool) {
	name := d.name()
	if place, known = r.places[string(name)]; known || d.failed {
		return place, known
	}
	if d.report != nil {
		d.note(string(name), Unknown, kindOf(d.peek()))
	}
	d.skip(maxDepth)
	return 0, false
}

// again reads a member that was read before.
func (d *Decoder) again(f *field, v reflect.Value) {
	if f.of == nil { // its members are fields of the record around it
		d.skip(maxDepth)
		f.lose(v)
		return
	}
	if f.custom != nil && f.custom.twice != nil {
		d.skip(maxDepth)
		f.custom.twice(v)
		return
	}
	v.SetZero()
	d.value(f, v)
}

// lose clears the fields of a member that was given twice.
func (f *field) lose(v reflect.Value) {
	for _, inner := range f.record.fields {
		if inner.custom != nil && inner.custom.twice != nil {
			inner.custom.twice(inner.in(v))
		} else {
			inner.in(v).SetZero()
		}
	}
}

// alias reads a member of a field with several names. It returns the places from which such fields got their values.
func (d *Decoder) alias(f *field, place uint64, repeated bool, v reflect.Value, named uint64) uint64 {
	earlier := named & f.names
	if repeated && (earlier == place || f.custom != nil) {
		d.again(f, v)
		return named | place
	}
	if earlier == 0 {
		d.value(f, v)
		return named | place
	}
	other := reflect.New(f.of).Elem()
	d.value(f, other)
	switch {
	case other.IsZero():
		return named
	case v.IsZero():
	case f.custom != nil && f.custom.twice != nil:
		if !other.Equal(v) {
			f.custom.twice(v)
		}
		return named
	case place > earlier:
		return named
	}
	v.Set(other)
	return named&^earlier | place
}

// list reads a list. It allocates for the length of the field's previous list, but at most twice the memory of the
// remaining text: a service may send short lists after a long one.
func (d *Decoder) list(f *field, v reflect.Value) {
	d.path = append(d.path, f)
	n, size := 0, int(f.inner.of.Size())
	v.Set(f.empty)
	for first := true; d.next("[]", first); first = false {
		if n == v.Cap() {
			v.Grow(max(1, min(int(f.length.Load())-n, 2*(len(d.text)-d.pos)/size)))
		}
		n++
		v.SetLen(n)
		d.value(f.inner, v.Index(n-1))
	}
	if v.Cap() > 2*n {
		exact := reflect.MakeSlice(f.of, n, n)
		reflect.Copy(exact, v)
		v.Set(exact)
	}
	f.length.Store(int64(n))
	d.path = d.path[:len(d.path)-1]
}

// members reads an object into a map, whose keys are strings. If a member is given twice, the last one counts.
func (d *Decoder) members(f *field, v reflect.Value) {
	all := reflect.MakeMap(f.of)
	d.path = append(d.path, f)
	for first := true; d.next("{}", first); first = false {
		name, member := reflect.New(f.of.Key()).Elem(), reflect.New(f.inner.of).Elem()
		name.SetString(string(d.name()))
		d.value(f.inner, member)
		all.SetMapIndex(name, member)
	}
	v.Set(all)
	d.path = d.path[:len(d.path)-1]
}

// mismatched reports a value of an unexpected type, which is an error if the field is strict.
func (d *Decoder) mismatched(f *field, got string) {
	d.differs(f, got)
	if f.strict && d.mismatch == nil {
		d.mismatch = &MismatchError{Path: d.pathTo(f.name), Got: got, Want: f.want}
	}
}

// differs reports a value of an unexpected type.
func (d *Decoder) differs(f *field, got string) {
	if d.report != nil && got != f.want && got != "null" {
		d.note(f.name, Type, got+" instead of "+f.want)
	}
}

// unreadable reports a value of the expected type that the field cannot hold.
func (d *Decoder) unreadable(f *field) {
	if d.report != nil {
		d.note(f.name, Type, f.want+" instead of "+f.of.Name())
	}
}

// maxUnreadable is how many unreadable members of a record are kept, so that a record stays small.
const maxUnreadable = 8

// keep adds the text of an unreadable member to the map of a record. Null is readable.
func (f *field) keep(v reflect.Value, name string, text []byte) {
	kept := f.in(v)
	if string(text) == "null" || kept.Len() == maxUnreadable {
		return
	}
	if kept.IsNil() {
		kept.Set(reflect.MakeMap(f.of))
	}
	kept.SetMapIndex(reflect.ValueOf(name), reflect.ValueOf(string(text)).Convert(f.of.Elem()))
}

// note reports a difference at a name within the open record or list.
func (d *Decoder) note(name, kind, detail string) {
	d.report(Difference{Path: d.pathTo(name), Kind: kind, Detail: detail})
}

// pathTo returns the path of a member of the open record, or of an element of the open list if the name is
// "[]".
func (d *Decoder) pathTo(name string) string {
	var path strings.Builder
	add := func(name string) {
		if path.Len() > 0 && name != "" && name != "[]" {
			path.WriteByte('.')
		}
		path.WriteString(name)
	}
	for _, open := range d.path {
		add(open.name)
	}
	add(name)
	return path.String()
}

// kindOf returns the type of a JSON value that starts with c.
func kindOf(c byte) string {
	switch c {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// Value is a complete JSON value, for a caller that needs more than the fields of a type: it keeps each member, even if
// a name is given twice. The zero Value is absent, or null.
type Value struct {
	// Kind is '{', '[', '"', or 'v' for a number, true or false; 0 for an absent value and for null.
	Kind byte
	// Text is the text of a string, a number, true or false; "..." for an object or list that is nested too deeply to be
	// read.
	Text     string
	Members  []Member // of an object, in order
	Elements []Value  // of a list
}

type Member struct {
	Name  string
	Value Value
}

// deepest bounds the nesting that [Parse] reads.
const deepest = 32

// Parse reads the JSON value at the start of a text. What cannot be read is absent.
func Parse(text string) Value {
	s := newScanner([]byte(text))
	value := s.value(0)
	if s.failed {
		return Value{}
	}
	return value
}

func (s *scanner) value(depth int) (v Value) {
	switch v.Kind = s.peek(); v.Kind {
	case '{', '[':
		if depth > deepest {
			s.skip(maxDepth)
			v.Text = "..."
			return v
		}
		for first := true; v.Kind == '{' && s.next("{}", first); first = false {
			if first {
				v.Members = make([]Member, 0, 4)
			}
			v.Members = append(v.Members, Member{s.keep(s.name()), s.value(depth + 1)})
		}
		for first := true; v.Kind == '[' && s.next("[]", first); first = false {
			v.Elements = append(v.Elements, s.value(depth+1))
		}
	case '"':
		v.Text = s.string()
	case 'n':
		s.literal("null")
		v.Kind = 0
	default:
		v.Kind, v.Text = 'v', s.RawText()
	}
	return v
}

// Scalar reports whether the value is neither a list nor an object.
func (v Value) Scalar() bool { return v.Kind != '{' && v.Kind != '[' }

// Get returns a member, the last one if its name is given twice.
func (v Value) Get(name string) Value {
	for i := len(v.Members) - 1; i >= 0; i-- {
		if v.Members[i].Name == name {
			return v.Members[i].Value
		}
	}
	return Value{}
}

// At returns the member at a path, such as "price.amount" or "errors.0.code".
func (v Value) At(path string) Value {
	for name := range strings.SplitSeq(path, ".") {
		if n, err := strconv.Atoi(name); v.Kind == '[' && err == nil && n >= 0 && n < len(v.Elements) {
			v = v.Elements[n]
		} else {
			v = v.Get(name)
		}
	}
	return v
}

// Paths returns the members of an object that meet a condition, each as a name or a path of two names. The first
// element of a list can be between the two, as in "errors.0.code". A name with a dot has no path.
func (v Value) Paths(is func(name string, v Value) bool) (paths []string) {
	add := func(at string, object Value) {
		for _, m := range object.Members {
			if is(m.Name, m.Value) && !strings.Contains(m.Name, ".") {
				paths = append(paths, at+m.Name)
			}
		}
	}
	add("", v)
	for _, outer := range v.Members {
		add(outer.Name+".", outer.Value)
		if len(outer.Value.Elements) > 0 {
			add(outer.Name+".0.", outer.Value.Elements[0])
		}
	}
	return paths
}

// Items returns the elements of a list, and a single string or object as one element.
func (v Value) Items() []Value {
	if v.Kind == '"' || v.Kind == '{' {
		return []Value{v}
	}
	return v.Elements
}

// Repeated returns the first name that an object gives twice, if any.
func (v Value) Repeated() (name string, found bool) {
	seen := make(map[string]bool, len(v.Members))
	for _, m := range v.Members {
		if seen[m.Name] {
			return m.Name, true
		}
		seen[m.Name] = true
	}
	return "", false
}
