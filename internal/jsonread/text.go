package jsonread

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// Text reads a string.
func (s *scanner) Text() string {
	quoted, escaped := s.quoted()
	switch {
	case quoted == nil:
		return ""
	case escaped:
		return unescape(quoted)
	}
	return s.keep(quoted[1 : len(quoted)-1])
}

// quoted reads a string and returns its piece of the text, quotes included, and whether that has to be unescaped.
func (s *scanner) quoted() (piece []byte, escaped bool) {
	if s.Peek() != '"' {
		s.Fail()
		return nil, false
	}
	start := s.pos
	for i := start + 1; ; {
		i = plainEnd(s.text, i)
		if i == len(s.text) {
			break
		}
		size := 0
		switch c := s.text[i]; {
		case c == '"':
			s.pos = i + 1
			return s.text[start:s.pos], escaped
		case c == '\\':
			escaped = true
			size = escapeSize(s.text[i:])
		case c >= utf8.RuneSelf:
			r, width := utf8.DecodeRune(s.text[i:])
			size = width
			escaped = escaped || r == utf8.RuneError && width == 1
		}
		if size == 0 {
			break
		}
		i += size
	}
	s.Fail()
	return nil, false
}

// plainEnd returns the place of the first byte from i on that does not simply stand for itself in a
// string: a quote, a backslash, a control character, or a part of a character beyond ASCII. It looks
// at eight bytes at a time.
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

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// special sets the high bit of each byte that [plainEnd] looks for. Above the lowest of them it may
// set others too, because a subtraction below zero borrows from the next byte.
func special(w uint64) uint64 {
	quote, backslash := w^'"'*ones, w^'\\'*ones
	return ((quote-ones)&^quote | (backslash-ones)&^backslash | (w-' '*ones)&^w | w) & highs
}

// escapeSize returns the size of the escape that text starts with; 0 if it starts with none.
func escapeSize(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, err := strconv.ParseUint(string(text[2:min(6, len(text))]), 16, 16); err == nil && len(text) >= 6 {
			return 6
		}
	}
	return 0
}

// unescape returns the text of a string in quotes, which scanner.quoted has checked. Half a surrogate pair and
// each byte that is not UTF-8 become U+FFFD.
func unescape(quoted []byte) (text string) {
	_ = json.Unmarshal(quoted, &text)
	return text
}
