package jsonexact

import (
	"bytes"
	"encoding/json"
	"slices"
)

const (
	// maxDepth is the nesting that encoding/json reads.
	maxDepth = 10_000
	// hidden is what a hidden name consists of. No field is called so.
	hidden = '\x7f'
)

// walk goes over a text beside the shape of the type that it is read into. It does not check all of the
// grammar, and fails for a text that it does not understand.
type walk struct {
	text    []byte
	pos     int
	depth   int
	failed  bool
	unknown []byte // the first name that no field has
	changed []byte // the text with names hidden, if any is
	twice   []span // the values to replace, in the order of the text
	// names holds, for each field of the objects that are open, where the name of its member starts; 0 if
	// there was none.
	names []int
}

type span struct{ start, end int }

func (w *walk) fail() { w.failed, w.pos = true, len(w.text) }

// value moves behind a value that is read into a type of the shape.
func (w *walk) value(s *shape) {
	if w.depth++; w.depth > maxDepth {
		w.fail()
	}
	switch c := w.peek(); {
	case s != nil && c == '{' && s.fields != nil:
		w.object(s)
	case s != nil && c == '{':
		for first := true; w.next(first, '}'); first = false {
			w.name()
			w.value(s.element)
		}
	case s != nil && c == '[':
		for first := true; w.next(first, ']'); first = false {
			w.value(s.element)
		}
	default:
		w.skip()
	}
	w.depth--
}

// object moves behind an object that is read into a struct.
func (w *walk) object(s *shape) {
	open := len(w.names)
	w.names = slices.Grow(w.names, len(s.fields))[:open+len(s.fields)]
	clear(w.names[open:])
	for first := true; w.next(first, '}'); first = false {
		start := w.pos
		name := w.name()
		f, known := s.fields[string(name)]
		if !known {
			w.reject(s, start, name)
			w.skip()
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
		w.skip()
		w.twice = append(w.twice, span{from, w.pos})
	}
	w.names = w.names[:open]
}

// reject hides a member with an unknown name if encoding/json would read it into a field.
func (w *walk) reject(s *shape, start int, name []byte) {
	if w.unknown == nil {
		w.unknown = name
	}
	var room [64]byte
	if s.folded[string(appendFolded(room[:0], name))] {
		w.hide(start)
	}
}

// hide renames the member whose name starts at an offset.
func (w *walk) hide(start int) {
	if w.changed == nil {
		w.changed = bytes.Clone(w.text)
	}
	for i := start + 1; i < stringEnd(w.text, start)-1; i++ {
		w.changed[i] = hidden
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

// peek moves to the next token and returns its first byte; 0 stands for the end.
func (w *walk) peek() byte {
	for ; w.pos < len(w.text); w.pos++ {
		switch c := w.text[w.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// next moves to the next element of a list, or to the next name of an object, and reports false behind the
// last one. The first call reads the opening bracket.
func (w *walk) next(first bool, closing byte) bool {
	if first {
		w.pos++
	}
	c := w.peek()
	switch {
	case c == closing:
		w.pos++
		return false
	case first:
	case c == ',':
		w.pos++
		w.peek()
	default:
		w.fail()
	}
	return !w.failed && w.pos < len(w.text)
}

// name moves behind a name and its colon, and returns the name without quotes and escapes.
func (w *walk) name() []byte {
	start := w.pos
	if w.peek() != '"' {
		w.fail()
		return nil
	}
	if w.pos = stringEnd(w.text, start); w.pos < 0 {
		w.fail()
		return nil
	}
	quoted := w.text[start:w.pos]
	if w.peek() != ':' {
		w.fail()
		return nil
	}
	w.pos++
	name := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(name, '\\') < 0 {
		return name
	}
	var plain string
	if json.Unmarshal(quoted, &plain) != nil {
		w.fail()
	}
	return []byte(plain)
}

// skip moves behind a value.
func (w *walk) skip() {
	for depth := 0; ; {
		switch w.peek() {
		case 0:
			w.fail()
			return
		case '"':
			if w.pos = stringEnd(w.text, w.pos); w.pos < 0 {
				w.fail()
				return
			}
		case '{', '[':
			depth++
			w.pos++
		case '}', ']':
			depth--
			w.pos++
		case ',', ':':
			w.pos++
		default:
			for w.pos < len(w.text) && !punctuation(w.text[w.pos]) {
				w.pos++
			}
		}
		if depth <= 0 {
			return
		}
	}
}

// punctuation reports whether a number or literal ends before a byte.
func punctuation(c byte) bool {
	switch c {
	case ' ', '\t', '\n', '\r', ',', ':', '{', '}', '[', ']', '"':
		return true
	}
	return false
}

// stringEnd returns the offset behind the string that starts at an offset, or -1 if it is not closed.
func stringEnd(text []byte, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}
