package jsonread

import (
	"bytes"
	"encoding/binary"
	"math"
	"unsafe"
)

// maxDepth is the nesting that encoding/json allows. It bounds the stack that a skipped value takes.
const maxDepth = 10_000

// scanner reads a text. After a failure its methods return zero values, and it stays failed.
type scanner struct {
	text   []byte
	pos    int
	failed bool
	shared bool // text is a string
	block  block

	elements int // how many more the lists may hold, one for each list aside
	crowded  bool
}

// New returns a scanner at the start of text, which must not change while it is scanned.
func newScanner(text []byte) scanner { return scanner{text: text, elements: math.MaxInt} }

// newSharedScanner returns a scanner at the start of text whose strings are parts of text and keep all of it in memory.
// Nothing is copied but strings with escapes.
func newSharedScanner(text string) scanner {
	s := newScanner(unsafe.Slice(unsafe.StringData(text), len(text))) // a scanner never writes to its text
	s.shared = true
	return s
}

// Limit makes the text fail if its lists, taken together, hold more elements than that and one for each list.
// An element can take the memory of a whole record however short it is.
func (s *scanner) Limit(elements int) { s.elements = elements }

// Crowded reports whether the text failed because of scanner.Limit.
func (s *scanner) Crowded() bool { return s.crowded }

// Fail makes the text fail.
func (s *scanner) Fail() { s.failed, s.pos = true, len(s.text) }

// Done reports whether everything was read, and nothing but space follows.
func (s *scanner) Done() bool { return s.Peek() == 0 && !s.failed && s.pos == len(s.text) }

// Offset returns how many bytes were read.
func (s *scanner) Offset() int { return s.pos }

// Peek moves to the first byte of the next token and returns it; 0 stands for the end.
func (s *scanner) Peek() byte {
	if s.pos < len(s.text) && s.text[s.pos] > ' ' {
		return s.text[s.pos]
	}
	return s.peekAfterSpace()
}

func (s *scanner) peekAfterSpace() byte {
	for ; s.pos < len(s.text); s.pos++ {
		switch c := s.text[s.pos]; c {
		case ' ', '\t', '\n', '\r':
		case 0:
			return 1 // a NUL in the text is not a token, and must differ from the end
		default:
			return c
		}
	}
	return 0
}

// indentation moves behind the start of an indented line, or to somewhere in it.
func (s *scanner) indentation() {
	const spaces = ' ' * ones
	if s.pos < len(s.text) && s.text[s.pos] == '\n' {
		s.pos++
	}
	for s.pos+8 <= len(s.text) && binary.LittleEndian.Uint64(s.text[s.pos:]) == spaces {
		s.pos += 8
	}
}

// take reads one byte of punctuation.
func (s *scanner) take(c byte) {
	if s.Peek() != c {
		s.Fail()
		return
	}
	s.pos++
}

// literal reads true, false or null.
func (s *scanner) literal(word string) {
	if !startsWith(s.text[s.pos:], word) {
		s.Fail()
		return
	}
	s.pos += len(word)
}

func startsWith(text []byte, start string) bool {
	return len(text) >= len(start) && string(text[:len(start)]) == start
}

// Null reads a null.
func (s *scanner) Null() {
	s.Peek()
	s.literal("null")
}

// Bool reads true or false.
func (s *scanner) Bool() bool {
	if s.Peek() == 't' {
		s.literal("true")
		return !s.failed
	}
	s.literal("false")
	return false
}

// Element moves to the next element of an array, whose value is to be read then. It reports false
// behind the last one. first is true for the first call, which reads the opening bracket.
func (s *scanner) Element(first bool) bool {
	if first {
		s.take('[')
		if s.Peek() != ']' {
			return !s.failed
		}
	}
	switch s.Peek() {
	case ',':
		s.pos++
		if s.elements--; s.elements < 0 {
			s.crowded = true
			s.Fail()
		}
		return !s.failed
	case ']':
		s.pos++
		return false
	}
	s.Fail()
	return false
}

// Since returns the piece of the text that was read since an offset.
func (s *scanner) Since(offset int) []byte { return s.text[offset:s.pos] }

// RawText reads any value and returns its text.
func (s *scanner) RawText() string { return s.keep(s.Raw()) }

// TextSince returns the piece of the text that was read since an offset.
func (s *scanner) TextSince(offset int) string {
	if s.shared {
		return unsafe.String(unsafe.SliceData(s.text[offset:]), s.pos-offset)
	}
	return string(s.text[offset:s.pos])
}

// keep returns a piece of the text as a string.
func (s *scanner) keep(piece []byte) string {
	if s.shared {
		return unsafe.String(unsafe.SliceData(piece), len(piece))
	}
	return s.block.keep(piece, len(s.text)-s.pos)
}

// Raw reads any value and returns its piece of the text, without the space around it.
func (s *scanner) Raw() []byte {
	c := s.Peek()
	start := s.pos
	if c == '"' {
		s.quoted()
	} else {
		s.Skip()
	}
	if s.failed {
		return nil
	}
	return s.text[start:s.pos]
}

// Skip reads any value.
func (s *scanner) Skip() { s.skip(maxDepth) }

func (s *scanner) skip(depth int) {
	if depth == 0 {
		s.Fail()
		return
	}
	switch s.Peek() {
	case '"':
		s.quoted()
	case '{':
		for first := true; s.Next(first); first = false {
			s.quoted()
			s.take(':')
			s.skip(depth - 1)
		}
	case '[':
		for first := true; s.Element(first); first = false {
			s.skip(depth - 1)
		}
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.Number()
	}
}

// Crowded reports whether the lists in a JSON text hold more elements than scanner.Limit allows. A text
// that fails earlier is not crowded.
func Crowded(text []byte, elements int) bool {
	if bytes.Count(text, []byte{','}) <= elements { // a lower bound, found fast
		return false
	}
	s := newScanner(text)
	s.Limit(elements)
	s.Skip()
	return s.crowded
}
