package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"iter"
	"strconv"
	"strings"
)

const (
	// starts are the characters that begin an escape, and longestEscape is the size of the longest escape.
	starts        = `\%&`
	longestEscape = len("&#00000115;")
)

// codes are the escapes that end with the number of a character: so many digits of a base.
var codes = []struct {
	prefix       string
	digits, base int
}{{`\u`, 4, 16}, {`\x`, 2, 16}, {`%`, 2, 16}, {`\`, 3, 8}}

// names are the other escapes.
var names = []struct {
	name string
	c    byte
}{{`\\`, '\\'}, {`\n`, ' '}, {`\r`, ' '}, {`\t`, ' '}, {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}

func escaped(text string) bool {
	for _, start := range []byte(starts) {
		if strings.IndexByte(text, start) >= 0 {
			return true
		}
	}
	return false
}

// decode returns a text without white space and backslashes, each escaped character as itself. An escape is decoded
// as soon as it ends, so that its character can be a part of another one: "%25%37%33" is "%73", and so "s".
func decode(text string) string {
	out := make([]byte, 0, len(text))
	open := 0 // characters that an escape may still take
	for _, c := range []byte(text) {
		for size := 0; ; {
			out = out[:len(out)-size]
			if !isSpace(c) {
				out = append(out, c)
			}
			if strings.IndexByte(starts, c) >= 0 {
				open = longestEscape
			}
			if open == 0 {
				break
			}
			open--
			if c, size = escapeAtEnd(out); size == 0 {
				break
			}
		}
	}
	return strings.ReplaceAll(string(out), `\`, "")
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// escapeAtEnd returns the character of the escape that a text ends with, and the size of the escape; 0 if it ends with
// none.
func escapeAtEnd(text []byte) (c byte, size int) {
	for _, e := range names {
		if bytes.HasSuffix(text, []byte(e.name)) {
			return e.c, len(e.name)
		}
	}
	for _, e := range codes {
		size = len(e.prefix) + e.digits
		if digits, ok := bytes.CutPrefix(text[max(0, len(text)-size):], []byte(e.prefix)); ok && len(digits) == e.digits {
			if c, ok := character(digits, e.base); ok {
				return c, size
			}
		}
	}
	text, ok := bytes.CutSuffix(text[max(0, len(text)-longestEscape):], []byte(";"))
	at := bytes.LastIndex(text, []byte("&#"))
	if !ok || at < 0 {
		return 0, 0
	}
	size, text = len(text)-at+1, bytes.ToLower(text[at+2:])
	base := 10
	if digits, ok := bytes.CutPrefix(text, []byte("x")); ok {
		base, text = 16, digits
	}
	if c, ok = character(text, base); !ok {
		return 0, 0
	}
	return c, size
}

// character returns the ASCII character of a number.
func character(digits []byte, base int) (c byte, ok bool) {
	n, err := strconv.ParseUint(string(digits), base, 7)
	return byte(n), err == nil
}

const (
	digits       = "0123456789"
	hexDigits    = digits + "abcdefABCDEF"
	base64Digits = digits + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/-_"
)

// binaryIn calls found with the bytes that parts of a text stand for, until it returns true: decimal numbers, hexadecimal
// digits and base64. decoded is the text without white space and escapes.
func binaryIn(text, decoded string, found func(string) bool) bool {
	var numbers []byte
	for number := range runs(text, digits) {
		if n, err := strconv.ParseUint(number, 10, 8); err == nil {
			numbers = append(numbers, byte(n))
		}
	}
	if found(string(numbers)) {
		return true
	}
	standard := strings.NewReplacer("-", "+", "_", "/").Replace
	for _, notation := range []struct {
		digits string
		group  int // of so many digits
		decode func(string) ([]byte, error)
	}{{hexDigits, 2, hex.DecodeString}, {base64Digits, 4, base64.RawStdEncoding.DecodeString}} {
		for run := range runs(decoded, notation.digits) {
			if len(run) < leastPart { // digits for fewer bytes than a part of the key has
				continue
			}
			run = standard(run)
			for i := range notation.group { // the first digits may belong to what comes before
				if data, _ := notation.decode(run[i:]); found(string(data)) {
					return true
				}
			}
		}
	}
	return false
}

// runs returns the parts of a text that consist of the given characters.
func runs(text, characters string) iter.Seq[string] {
	return strings.FieldsFuncSeq(text, func(r rune) bool { return !strings.ContainsRune(characters, r) })
}
