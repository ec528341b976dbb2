package jsonread

import (
	"reflect"
	"strings"
	"unsafe"
)

// Decoder reads one text. A custom type is read by its methods and those of the [scanner].
type Decoder struct {
	scanner
	reader   *Reader
	size     int // of the text
	orders   []memberOrder
	path     []*field // the records and lists that are open
	report   func(Difference)
	mismatch error
	unread   bool     // the last odd value could not be read
	texts    []string // of the list that is open
	lengths  []int    // of the last list of each field
}

// Read reads the next value into the value that into points to.
func (d *Decoder) Read(into any) {
	v := reflect.ValueOf(into)
	d.value(d.reader.root(v.Type().Elem()), v.UnsafePointer())
}

// value reads the next value into a field at p. A null leaves it as it is, but for a strict list, which it makes
// empty: its absence stays nil.
func (d *Decoder) value(f *field, p unsafe.Pointer) {
	c := d.Peek()
	if f.kind == textKind && c == '"' { // most fields
		*(*string)(p) = d.Text()
		return
	}
	if f.kind == customKind {
		if d.report != nil {
			d.customReported(f, c, p)
		} else {
			f.custom.read(d, p)
		}
		return
	}
	if c == 'n' {
		d.Null()
		if f.strict && f.kind == listKind {
			(*header)(p).items = unsafe.Pointer(new(struct{}))
		}
		return
	}
	switch f.kind {
	case boolKind:
		if c == 't' || c == 'f' {
			*(*bool)(p) = d.Bool()
			return
		}
	case intKind, int64Kind:
		if startsNumber(c) {
			d.integer(f, p)
			return
		}
	case floatKind:
		if startsNumber(c) {
			if n, ok := d.Float(); ok {
				*(*float64)(p) = n
			}
			return
		}
	case timeKind:
		if c == '"' {
			d.timestamp(f, p)
			return
		}
	case recordKind:
		if c == '{' {
			d.object(f, p)
			d.unread = false // whatever its members were
			return
		}
	case listKind:
		if c == '[' {
			d.path = append(d.path, f)
			if f.inner.kind == textKind {
				d.listOfTexts(f, p)
			} else {
				d.list(f, p)
			}
			d.path = d.path[:len(d.path)-1]
			d.unread = false
			return
		}
	case pointerKind:
		inner := reflect.New(f.inner.of).UnsafePointer()
		d.unread = false
		if d.value(f.inner, inner); !d.unread {
			*(*unsafe.Pointer)(p) = inner
		}
		return
	case mapKind:
		if c == '{' {
			d.members(f, p)
			d.unread = false
			return
		}
	}
	d.mend(f, c, p)
}

func (d *Decoder) customReported(f *field, c byte, p unsafe.Pointer) {
	if f.custom.want != "" {
		d.differs(f, kindOf(c), f.custom.want)
	}
	d.path = append(d.path, f)
	f.custom.read(d, p)
	d.path = d.path[:len(d.path)-1]
}

func startsNumber(c byte) bool { return c == '-' || c-'0' <= 9 }

// object reads an object into the record at p.
func (d *Decoder) object(f *field, p unsafe.Pointer) {
	r, start := f.record, d.Offset()
	for r.order >= len(d.orders) {
		d.orders = append(d.orders, memberOrder{})
	}
	d.path = append(d.path, f)
	object := openObject{Names: r.names, Order: &d.orders[r.order]}
	named := uint64(0) // the places that gave the fields with several names their values
	for {
		place, found := d.Member(&object)
		if found == noMember {
			break
		}
		if found == unknownMember {
			d.unknown(object.Name)
			continue
		}
		member := &r.fields[place]
		at := member.at(p)
		switch {
		case member.names != 0:
			named = d.alias(member, place, found, at, named)
		case found == newMember:
			d.value(member, at)
		default:
			d.again(member, at)
		}
	}
	if d.report != nil {
		for i := range r.fields {
			if bit := uint64(1) << i; r.required&^object.Seen&bit != 0 {
				d.note(r.fields[i].name, Missing, "")
			}
		}
	}
	if r.raw != nil {
		*(*string)(r.raw.at(p)) = d.TextSince(start)
	}
	d.path = d.path[:len(d.path)-1]
}

// again reads a member that was read before.
func (d *Decoder) again(f *field, p unsafe.Pointer) {
	if f.custom != nil && f.custom.twice != nil {
		d.Skip()
		f.custom.twice(p)
		return
	}
	f.value(p).SetZero()
	d.value(f, p)
}

// alias reads a member of a field with several names. It returns the places that gave such fields their values.
func (d *Decoder) alias(f *field, place int, found memberState, p unsafe.Pointer, named uint64) uint64 {
	bit, earlier := uint64(1)<<place, named&f.names
	if found == repeatedMember && (earlier == bit || f.custom != nil) {
		d.again(f, p)
		return named | bit
	}
	if earlier == 0 {
		d.value(f, p)
		return named | bit
	}
	kept, other := f.value(p), reflect.New(f.of)
	d.value(f, other.UnsafePointer())
	switch {
	case other.Elem().IsZero():
		return named
	case kept.IsZero():
	case f.custom != nil && f.custom.twice != nil:
		if !other.Elem().Equal(kept) {
			f.custom.twice(p)
		}
		return named
	case bit > earlier:
		return named
	}
	kept.Set(other.Elem())
	return named&^earlier | bit
}

const (
	page  = 3  // the path of a page: envelope, data, list
	few   = 8  // records of a list whose length is estimated from the first ones
	short = 32 // records of a list whose length is that of the last one of its field
)

// header is a slice, as the runtime sees it.
type header struct {
	items unsafe.Pointer
	len   int
	cap   int
}

// list reads a list into the slice at p.
func (d *Decoder) list(f *field, p unsafe.Pointer) {
	list, slice := (*header)(p), f.value(p)
	list.items, list.len, list.cap = unsafe.Pointer(new(struct{})), 0, 0 // empty, not nil
	for f.list >= len(d.lengths) {
		d.lengths = append(d.lengths, 1)
	}
	start, size := d.Offset(), f.inner.of.Size()
	for first := true; d.Element(first); first = false {
		if list.len == list.cap {
			slice.Grow(d.roomFor(f, list.len, d.Offset()-start, int(size)) - list.len)
		}
		list.len++
		d.value(f.inner, unsafe.Add(list.items, uintptr(list.len-1)*size))
	}
	if d.lengths[f.list] = list.len; list.cap > 2*list.len && list.len > 0 && list.cap <= short {
		exact := reflect.MakeSlice(f.of, list.len, list.len)
		reflect.Copy(exact, slice)
		slice.Set(exact)
	}
}

// roomFor returns for how many records a list needs memory, of which n were read from so many bytes.
// It assumes that a short list is as long as the last one of its field, that the other records of a longer one are as
// long as the first few, and adds a little. The first records of a
// list may be short by accident or malice, so the memory is limited to twice the size of the text. A list within a record is short.
func (d *Decoder) roomFor(f *field, n, read, recordSize int) int {
	if n == 0 {
		if last := d.lengths[f.list]; last <= short {
			return max(last, 1)
		}
		return few
	}
	if len(d.path) > page {
		return 2 * n
	}
	likely := n + (d.size-d.Offset())/(read/n+1)*17/16 + 1
	if n < few {
		return min(max(likely, n+1), few)
	}
	return max(2*n, min(likely, 2*d.size/recordSize))
}

// listOfTexts reads a list of strings into memory of just its size.
func (d *Decoder) listOfTexts(f *field, p unsafe.Pointer) {
	d.texts = d.texts[:0]
	for first := true; d.Element(first); first = false {
		d.texts = append(d.texts, "")
		d.value(f.inner, unsafe.Pointer(&d.texts[len(d.texts)-1]))
	}
	*(*[]string)(p) = append([]string{}, d.texts...)
	clear(d.texts)
}

// members reads an object into the map at p, whose keys are strings. If a member is given twice, the last one counts.
func (d *Decoder) members(f *field, p unsafe.Pointer) {
	all := reflect.MakeMap(f.of)
	d.path = append(d.path, f)
	for first := true; d.Next(first); first = false {
		name, member := reflect.New(f.of.Key()).Elem(), reflect.New(f.inner.of)
		name.SetString(string(d.Name()))
		d.value(f.inner, member.UnsafePointer())
		all.SetMapIndex(name, member.Elem())
	}
	d.path = d.path[:len(d.path)-1]
	f.value(p).Set(all)
}

// unknown reads a member without a field.
func (d *Decoder) unknown(name []byte) {
	if d.report != nil {
		d.note(string(name), Unknown, kindOf(d.Peek()))
	}
	d.Skip()
}

// differs reports a value of another type than expected.
func (d *Decoder) differs(f *field, got, want string) {
	if d.report != nil && got != want && got != "null" {
		d.note(f.name, Type, got+" instead of "+want)
	}
}

// note reports a difference at a name within the open record or list.
func (d *Decoder) note(name string, kind DifferenceKind, detail string) {
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
