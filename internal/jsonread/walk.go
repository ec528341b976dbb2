package jsonread

import (
	"bytes"
	"slices"
	"strings"
)

// hidden is the character that hidden names consist of. No field has such a name.
const hidden = '\x7f'

// walk goes over a text beside the shape of the type that it is read into.
type walk struct {
	scanner
	text    []byte
	depth   int
	unknown []byte // the first name that no field has
	changed []byte // the text with names hidden, if any is
	twice   []span // the values to replace, in the order of the text
	// names holds, for each field of the objects that are open, where the name of its member starts; 0 if
	// the object had none.
	names []int
}

type span struct{ start, end int }

// value moves behind a value that is read into a type of the shape.
func (w *walk) value(s *shape) {
	if w.depth++; w.depth > maxDepth {
		w.fail()
	}
	switch c := w.peek(); {
	case s != nil && c == '{' && s.fields != nil:
		w.object(s)
	case s != nil && c == '{':
		for first := true; w.next("{}", first); first = false {
			w.name()
			w.value(s.element)
		}
	case s != nil && c == '[':
		for first := true; w.next("[]", first); first = false {
			w.value(s.element)
		}
	default:
		w.skip(maxDepth)
	}
	w.depth--
}

// object moves behind an object that is read into a struct.
func (w *walk) object(s *shape) {
	open := len(w.names)
	w.names = slices.Grow(w.names, len(s.fields))[:open+len(s.fields)]
	clear(w.names[open:])
	for first := true; w.next("{}", first); first = false {
		start := w.pos
		name := w.name()
		f, known := s.fields[string(name)]
		if !known {
			w.reject(s, start, name)
			w.skip(maxDepth)
			continue
		}
		earlier := w.names[open+f.place]
		w.names[open+f.place] = start
		if earlier > 0 {
			w.hide(earlier)
		}
		if earlier == 0 || !f.once {
			w.value(f.shape)
			continue
		}
		w.peek()
		from := w.pos
		w.skip(maxDepth)
		w.twice = append(w.twice, span{from, w.pos})
	}
	w.names = w.names[:open]
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
	if w.changed == nil {
		w.changed = bytes.Clone(w.text)
	}
	for i := start + 1; w.text[i] != '"'; i++ {
		if w.changed[i] = hidden; w.text[i] == '\\' {
			i++
			w.changed[i] = hidden
		}
	}
}

// result returns the text with all that was changed.
func (w *walk) result() []byte {
	if w.twice == nil {
		return w.changed
	}
	var out []byte
	done := 0
	for _, value := range w.twice {
		out = append(append(out, w.changed[done:value.start]...), GivenTwice...)
		done = value.end
	}
	return append(out, w.changed[done:]...)
}
