package jsonread

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text reads a string.
func (s *scanner) Text() string {
	text, escaped := s.quoted()
	if !escaped {
		return s.keep(text)
	}
	return unescape(text)
}

// quoted reads a string and returns its piece of the text, and whether that has to be unescaped.
func (s *scanner) quoted() (text []byte, escaped bool) {
	if s.Peek() != '"' {
		s.Fail()
		return nil, false
	}
	start := s.pos + 1
	for i := start; ; {
		i = plainEnd(s.text, i)
		if i == len(s.text) {
			break
		}
		size := 0
		switch c := s.text[i]; {
		case c == '"':
			s.pos = i + 1
			return s.text[start:i], escaped
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
		if _, ok := hex4(text[2:]); ok {
			return 6
		}
	}
	return 0
}

// unescape resolves the escapes of a string that [scanner.quoted] has checked. Half a surrogate pair and
// each byte that is not UTF-8 become U+FFFD.
func unescape(text []byte) string {
	var plain strings.Builder
	plain.Grow(len(text))
	for {
		before, rest, found := bytes.Cut(text, []byte{'\\'})
		if utf8.Valid(before) {
			plain.Write(before)
		} else {
			for _, r := range string(before) {
				plain.WriteRune(r)
			}
		}
		if !found {
			return plain.String()
		}
		size := 1
		switch c := rest[0]; c {
		case 'u':
			var r rune
			r, size = unicodeEscape(rest)
			plain.WriteRune(r)
		case 'b':
			plain.WriteByte('\b')
		case 'f':
			plain.WriteByte('\f')
		case 'n':
			plain.WriteByte('\n')
		case 'r':
			plain.WriteByte('\r')
		case 't':
			plain.WriteByte('\t')
		default:
			plain.WriteByte(c)
		}
		text = rest[size:]
	}
}

// unicodeEscape reads uXXXX, and the uXXXX\uXXXX of a surrogate pair.
func unicodeEscape(text []byte) (r rune, size int) {
	r, _ = hex4(text[1:])
	if !utf16.IsSurrogate(r) {
		return r, 5
	}
	if startsWith(text[5:], `\u`) {
		low, _ := hex4(text[7:])
		if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
			return r, 11
		}
	}
	return utf8.RuneError, 5
}

// hex4 reads four hexadecimal digits.
func hex4(text []byte) (r rune, ok bool) {
	if len(text) < 4 {
		return 0, false
	}
	for _, digit := range text[:4] {
		switch {
		case '0' <= digit && digit <= '9':
			digit -= '0'
		case 'a' <= digit && digit <= 'f':
			digit -= 'a' - 10
		case 'A' <= digit && digit <= 'F':
			digit -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(digit)
	}
	return r, true
}
