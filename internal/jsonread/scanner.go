package jsonread

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// maxDepth is the nesting that encoding/json allows. It bounds the stack that a skipped value takes.
const maxDepth = 10_000

// scanner reads a text. After a failure its methods return zero values, and it stays failed.
type scanner struct {
	text   []byte
	pos    int
	failed bool
	memory strings.Builder // the block of strings; see keep

	elements int // how many more the lists may hold, besides the first of each
	names    int // how many more the objects may hold, besides the first of each
}

// newScanner returns a scanner at the start of text, which must not change while it is scanned.
func newScanner(text []byte) scanner {
	return scanner{text: text, elements: math.MaxInt, names: math.MaxInt}
}

// crowded reports whether the lists or objects hold more than they may.
func (s *scanner) crowded() bool { return s.elements < 0 || s.names < 0 }

func (s *scanner) fail() { s.failed, s.pos = true, len(s.text) }

// done reports whether everything was read, and nothing but space follows.
func (s *scanner) done() bool { return s.peek() == 0 && !s.failed && s.pos == len(s.text) }

// peek moves to the first byte of the next token and returns it; 0 stands for the end.
func (s *scanner) peek() byte {
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

// take reads one byte of punctuation.
func (s *scanner) take(c byte) {
	if s.peek() != c {
		s.fail()
		return
	}
	s.pos++
}

// literal reads true, false or null.
func (s *scanner) literal(word string) {
	if !startsWith(s.text[s.pos:], word) {
		s.fail()
		return
	}
	s.pos += len(word)
}

func startsWith(text []byte, start string) bool {
	return len(text) >= len(start) && string(text[:len(start)]) == start
}

// next moves to the next element of a list, or to the next name of an object, and reports false behind the last one.
// brackets are "[]" or "{}". first is true for the first call, which reads the opening bracket.
func (s *scanner) next(brackets string, first bool) bool {
	if first {
		s.take(brackets[0])
	}
	switch c := s.peek(); {
	case s.failed:
		return false
	case c == brackets[1]:
		s.pos++
		return false
	case first:
		return true
	case c != ',':
		s.fail()
		return false
	}
	s.pos++
	if brackets[0] == '[' {
		s.elements--
	} else {
		s.names--
	}
	if s.crowded() || s.peek() == brackets[1] {
		s.fail()
	}
	return !s.failed
}

// name moves behind a name and its colon, and returns the name after escapes were resolved.
func (s *scanner) name() []byte {
	s.peek()
	name, escaped := s.quoted()
	s.take(':')
	switch {
	case s.failed:
		return nil
	case escaped:
		return []byte(unescape(name))
	}
	return name[1 : len(name)-1]
}

// skipName reports whether a separator and a quoted name come next, and then moves behind them and the colon.
func (s *scanner) skipName(separator byte, name string) bool {
	start := s.pos
	if s.peek() == separator {
		s.pos++
		s.peek()
		if startsWith(s.text[s.pos:], name) {
			s.pos += len(name)
			s.take(':')
			if separator == ',' {
				s.names--
			}
			return true
		}
	}
	s.pos = start
	return false
}

func (s *scanner) string() string {
	quoted, escaped := s.quoted()
	switch {
	case quoted == nil:
		return ""
	case escaped:
		return unescape(quoted)
	}
	return s.keep(quoted[1 : len(quoted)-1])
}

// quoted reads a string and returns its piece of the text, quotes included, and whether it has escapes.
func (s *scanner) quoted() (piece []byte, escaped bool) {
	if s.peek() != '"' {
		s.fail()
		return nil, false
	}
	start, ascii := s.pos, true
	for i := plainEnd(s.text, start+1); i < len(s.text); i = plainEnd(s.text, i+1) {
		switch c := s.text[i]; {
		case c == '\\':
			escaped = true
			i++
		case c >= utf8.RuneSelf:
			ascii = false
		case c != '"' || escaped && !json.Valid(s.text[start:i+1]):
			s.fail()
			return nil, false
		default:
			s.pos = i + 1
			piece = s.text[start:s.pos]
			return piece, escaped || !ascii && !utf8.Valid(piece)
		}
	}
	s.fail()
	return nil, false
}

// plainEnd returns the place of the first byte from i on that is special in a string: a quote, a backslash, a control
// character, or a part of a character beyond ASCII. It looks at eight bytes at a time.
func plainEnd(text []byte, i int) int {
	for ; i+8 <= len(text); i += 8 {
		if found := special(binary.LittleEndian.Uint64(text[i:])); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c == '"' || c == '\\' || c < ' ' || c >= utf8.RuneSelf {
			return i
		}
	}
	return i
}

// special sets the high bit of each byte that [plainEnd] looks for. Above the lowest of them it may
// set others too, because a subtraction below zero borrows from the next byte.
func special(w uint64) uint64 {
	const ones = 0x0101010101010101
	const highs = 0x80 * ones
	quote, backslash := w^'"'*ones, w^'\\'*ones
	return ((quote-ones)&^quote | (backslash-ones)&^backslash | (w-' '*ones)&^w | w) & highs
}

func (s *scanner) number() {
	s.accept('-')
	ok := s.accept('0') || s.digits()
	if s.accept('.') {
		ok = s.digits() && ok
	}
	if s.accept('e') || s.accept('E') {
		_ = s.accept('+') || s.accept('-')
		ok = s.digits() && ok
	}
	if !ok {
		s.fail()
	}
}

// accept reads a character, if it follows.
func (s *scanner) accept(c byte) bool {
	found := s.pos < len(s.text) && s.text[s.pos] == c
	if found {
		s.pos++
	}
	return found
}

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.text) && s.text[s.pos]-'0' <= 9 {
		s.pos++
	}
	return s.pos > start
}

// Raw reads any value and returns its piece of the text, without the space around it.
func (s *scanner) Raw() []byte {
	s.peek()
	start := s.pos
	s.skip(maxDepth)
	if s.failed {
		return nil
	}
	return s.text[start:s.pos]
}

// RawText reads any value and returns its text.
func (s *scanner) RawText() string { return s.keep(s.Raw()) }

// skip reads any value that is not nested deeper than depth.
func (s *scanner) skip(depth int) {
	if depth == 0 {
		s.fail()
		return
	}
	switch s.peek() {
	case '"':
		s.quoted()
	case '{':
		for first := true; s.next("{}", first); first = false {
			s.quoted()
			s.take(':')
			s.skip(depth - 1)
		}
	case '[':
		for first := true; s.next("[]", first); first = false {
			s.skip(depth - 1)
		}
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.number()
	}
}

// Crowded reports whether all lists in a JSON text together hold more than this number of elements, besides the first
// of each. A text that fails earlier is not crowded.
func Crowded(text []byte, elements int) bool {
	if bytes.Count(text, []byte{','}) <= elements { // a lower bound, found fast
		return false
	}
	s := newScanner(text)
	s.elements = elements
	s.skip(maxDepth)
	return s.crowded()
}

// blockSize is the size of the blocks that strings share, and so the memory that one string can keep alive. A block
// holds the strings of about ten records. An allocation for each string would cost more than reading it.
const blockSize = 4096

// keep copies a piece of the text into the block of strings.
func (s *scanner) keep(piece []byte) string {
	switch {
	case len(piece) == 0:
		return ""
	case len(piece) > blockSize/4:
		return string(piece)
	case len(piece) > s.memory.Cap()-s.memory.Len():
		s.memory.Reset()                                            // earlier strings keep the old block alive
		s.memory.Grow(min(len(piece)+len(s.text)-s.pos, blockSize)) // no more than the rest of the text will follow
	}
	start := s.memory.Len()
	s.memory.Write(piece)
	return s.memory.String()[start:]
}
