package jsonscan

import (
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text reads a string. Unless it holds an escape it is a piece of the scanner's text.
func (s *Scanner) Text() string {
	if s.Peek() != '"' {
		s.Fail()
		return ""
	}
	start := s.pos + 1
	if end := plainEnd(s.text, start); end < len(s.text) && s.text[end] == '"' {
		s.pos = end + 1
		return s.text[start:end]
	}
	escaped := s.quoted()
	if s.failed {
		return ""
	}
	text := s.text[start : s.pos-1]
	if !escaped {
		return text
	}
	text, ok := unescape(text)
	if !ok {
		s.Fail()
	}
	return text
}

// quoted goes past a string and reports whether it holds an escape.
func (s *Scanner) quoted() (escaped bool) {
	if s.Peek() != '"' {
		s.Fail()
		return false
	}
	for i := s.pos + 1; ; {
		i = plainEnd(s.text, i)
		if i == len(s.text) {
			break
		}
		size := 0
		switch c := s.text[i]; {
		case c == '"':
			s.pos = i + 1
			return escaped
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
	return false
}

// plainEnd returns the place of the first byte from i on that does not simply stand for itself in a
// string: a quote, a backslash, a control character, or a part of a character beyond ASCII. It looks
// at eight bytes at a time.
func plainEnd(text string, i int) int {
	for ; i+8 <= len(text); i += 8 {
		if found := special(eight(text[i : i+8])); found != 0 {
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

// eight returns eight bytes as a number, the first one lowest. The compiler makes it a single load.
func eight(b string) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// runeSize returns the size of the first character, 0 where it is not valid UTF-8.
func runeSize(text string) int {
	r, size := utf8.DecodeRuneInString(text)
	if r == utf8.RuneError && size == 1 {
		return 0
	}
	return size
}

// escapeSize returns the size of the escape that text starts with, 0 where it is none.
func escapeSize(text string) int {
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
func unescape(text string) (string, bool) {
	var plain strings.Builder
	plain.Grow(len(text))
	for {
		before, rest, found := strings.Cut(text, `\`)
		plain.WriteString(before)
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
func unicodeEscape(text string) (r rune, size int) {
	r, _ = hex4(text[1:])
	if !utf16.IsSurrogate(r) {
		return r, 5
	}
	rest, isPair := strings.CutPrefix(text[5:], `\u`)
	if !isPair {
		return 0, 0
	}
	low, _ := hex4(rest)
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, 0
	}
	return r, 11
}

// hex4 reads four hexadecimal digits.
func hex4(text string) (r rune, ok bool) {
	if len(text) < 4 {
		return 0, false
	}
	for i := range 4 {
		digit := text[i]
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
