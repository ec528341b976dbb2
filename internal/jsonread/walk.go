package jsonread

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// hidden is the character that hidden names consist of. No field has such a name.
const hidden = "\x7f"

// walk goes over a text beside the shape of the type that it is read into.
type walk struct {
	scanner
	unknown []byte // the first name that no field has
	edits   []edit
}

// edit replaces a piece of the text.
type edit struct {
	start, end int
	with       string
}

// value moves behind a value that is read into a type of the shape.
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

// object moves behind an object that is read into a struct.
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
