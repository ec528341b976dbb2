package jsonscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text reads a string.
func (s *Scanner) Text() string {
	text, escaped := s.quoted()
	if !escaped {
		return s.block.keep(text, len(s.text)-s.pos)
	}
	plain, ok := unescape(text)
	if !ok {
		s.Fail()
	}
	return plain
}

// quoted reads a string and returns its piece of the text, and whether that holds an escape.
func (s *Scanner) quoted() (text []byte, escaped bool) {
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
			size = runeSize(s.text[i:])
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

// runeSize returns the size of the first character, 0 where it is not valid UTF-8.
func runeSize(text []byte) int {
	r, size := utf8.DecodeRune(text)
	if r == utf8.RuneError && size == 1 {
		return 0
	}
	return size
}

// escapeSize returns the size of the escape that text starts with, 0 where it is none.
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

// unescape resolves the escapes of a string that [Scanner.quoted] has checked. It refuses half a
// surrogate pair.
func unescape(text []byte) (string, bool) {
	var plain strings.Builder
	plain.Grow(len(text))
	for {
		before, rest, found := bytes.Cut(text, []byte{'\\'})
		plain.Write(before)
		if !found {
			return plain.String(), true
		}
		switch c := rest[0]; c {
		case 'u':
			r, size := unicodeEscape(rest)
			if size == 0 {
				return "", false
			}
			plain.WriteRune(r)
			text = rest[size:]
			continue
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
		text = rest[1:]
	}
}

// unicodeEscape reads uXXXX, and the uXXXX\uXXXX of a surrogate pair. The size is 0 for half a pair.
func unicodeEscape(text []byte) (r rune, size int) {
	r, _ = hex4(text[1:])
	if !utf16.IsSurrogate(r) {
		return r, 5
	}
	if !startsWith(text[5:], `\u`) {
		return 0, 0
	}
	low, _ := hex4(text[7:])
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, 0
	}
	return r, 11
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
