// Package jsonscan reads JSON text that looks as expected, fast, and says so when it does not.
//
// A [Scanner] goes over a text once, from left to right. It checks the whole grammar on its way, also of
// values that nobody wants. Numbers and raw values are returned as pieces of the text; strings are copied
// from it, many into one block of memory, so that the text can be reused.
//
// It is half of a decoder: the half that handles everyday input. Whatever it is not sure of makes it
// fail for good, without saying why, and the caller reads the same text again with encoding/json,
// which then also words the error. So every text that it reads to the end is valid JSON and means to
// encoding/json what it means here; the converse is not promised. Not sure it is of invalid UTF-8, of
// half surrogate pairs, of names given twice, of names with escapes, and of values nested deeper than
// maxDepth. Names match byte for byte, as in package jsonexact.
package jsonscan

// maxDepth bounds the nesting of values that are skipped, and so the stack they take. encoding/json,
// which reads what is refused here, allows 10,000.
const maxDepth = 200

// Scanner reads a text. After a failure its methods return zero values, and it stays failed.
type Scanner struct {
	text   []byte
	pos    int
	failed bool
	block  block
}

// New returns a scanner at the start of text, which must not change while it is scanned.
func New(text []byte) Scanner { return Scanner{text: text} }

// Fail gives the text up.
func (s *Scanner) Fail() { s.failed, s.pos = true, len(s.text) }

// Failed reports whether the text was given up.
func (s *Scanner) Failed() bool { return s.failed }

// Done reports whether everything was read, and nothing but space follows.
func (s *Scanner) Done() bool { return s.Peek() == 0 && !s.failed && s.pos == len(s.text) }

// Offset returns how many bytes were read.
func (s *Scanner) Offset() int { return s.pos }

// Peek moves to the first byte of the next token and returns it; 0 stands for the end.
func (s *Scanner) Peek() byte {
	if s.pos < len(s.text) && s.text[s.pos] > ' ' {
		return s.text[s.pos]
	}
	return s.peekAfterSpace()
}

func (s *Scanner) peekAfterSpace() byte {
	for ; s.pos < len(s.text); s.pos++ {
		switch c := s.text[s.pos]; c {
		case ' ', '\t', '\n', '\r':
		case 0:
			return 1 // a NUL in the text, which is no token, must not look like the end
		default:
			return c
		}
	}
	return 0
}

// take reads one byte of punctuation.
func (s *Scanner) take(c byte) {
	if s.Peek() != c {
		s.Fail()
		return
	}
	s.pos++
}

// literal reads true, false or null.
func (s *Scanner) literal(word string) {
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
func (s *Scanner) Null() {
	s.Peek()
	s.literal("null")
}

// Bool reads true or false.
func (s *Scanner) Bool() bool {
	if s.Peek() == 't' {
		s.literal("true")
		return !s.failed
	}
	s.literal("false")
	return false
}

// Element moves to the next element of an array, whose value is to be read then. It reports false
// behind the last one. first is true for the first call, which reads the opening bracket.
func (s *Scanner) Element(first bool) bool {
	if first {
		s.take('[')
		if s.Peek() != ']' {
			return !s.failed
		}
	}
	switch s.Peek() {
	case ',':
		s.pos++
		return true
	case ']':
		s.pos++
		return false
	}
	s.Fail()
	return false
}

// Since returns the piece of the text that was read since an offset.
func (s *Scanner) Since(offset int) []byte { return s.text[offset:s.pos] }

// RawText reads any value and returns a copy of its text.
func (s *Scanner) RawText() string { return s.block.keep(s.Raw(), len(s.text)-s.pos) }

// Raw reads any value and returns its piece of the text, without the space around it.
func (s *Scanner) Raw() []byte {
	c := s.Peek()
	start := s.pos
	if c == '"' {
		s.quoted()
	} else {
		s.skip(maxDepth)
	}
	if s.failed {
		return nil
	}
	return s.text[start:s.pos]
}

func (s *Scanner) skip(depth int) {
	if depth == 0 {
		s.Fail()
		return
	}
	switch s.Peek() {
	case '"':
		s.quoted()
	case '{':
		for first := true; s.name(first); first = false {
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
