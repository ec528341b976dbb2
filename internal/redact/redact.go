// Package redact keeps a secret key out of everything that is printed, logged or returned: a [Key] cannot be
// printed, and a text that a peer sent back is withheld whole if it contains the key.
//
// The key is found in any case: as it is, broken over lines, with any of its characters escaped as in JSON, Go, a URL
// or HTML, however often, and in base64 (such as that of "user:key"), hexadecimal and decimal bytes. A part of
// the key counts as the key: its first 11 characters, of which 8 are often "sk_test_", and any half of at least 11. A
// key of fewer characters, such as "test", is found as a whole word only, as it is or escaped: it may occur in any
// text.
package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Mark stands for a text that is withheld.
const Mark = "[withheld: it contains the secret key]"

// Key is a secret key. It holds the key in closures: fmt, reflection, JSON encoders and panics
// cannot print the variables of a closure, at any depth of the struct around it. The zero Key is empty and
// withholds nothing.
type Key struct {
	reveal func() string
	shown  func(text string) bool
}

// New returns the Key that holds a key.
func New(key string) Key {
	if key == "" {
		return Key{}
	}
	finder := sync.OnceValue(func() *finder { return newFinder(key) }) // a key that only signs needs none
	return Key{reveal: func() string { return key }, shown: func(text string) bool { return finder().find(text) }}
}

// Reveal returns the key itself, to send it or to sign with it.
func (k Key) Reveal() string {
	if k.reveal == nil {
		return ""
	}
	return k.reveal()
}

// In reports whether a text contains the key.
func (k Key) In(text string) bool { return k.shown != nil && k.shown(text) }

// Text returns a text, or [Mark] if it contains the key.
func (k Key) Text(text string) string {
	if k.In(text) {
		return Mark
	}
	return text
}

// margin is how much of a text is searched behind the part that is kept: the longest spelling of a key fits in it.
const margin = 16 << 10

// Start returns a copy of the first n bytes of data, or [Mark] if they contain the key or a start of it.
func (k Key) Start(data []byte, n int) []byte {
	if k.In(string(data[:min(len(data), n+margin)])) {
		data = []byte(Mark)
	}
	return bytes.Clone(data[:min(len(data), n)])
}

// Header returns a header whose names and values do not contain the key: header itself, or a copy.
func (k Key) Header(header http.Header) http.Header {
	found := false
	for name, values := range header {
		found = found || k.In(name) || slices.ContainsFunc(values, k.In)
	}
	if !found {
		return header
	}
	out := make(http.Header, len(header))
	for name, values := range header {
		name = k.Text(name)
		for _, value := range values {
			out[name] = append(out[name], k.Text(value))
		}
	}
	return out
}

// JSON returns a JSON value in which [Mark] is in the place of each string and number that contains the key.
func (k Key) JSON(value string) string {
	if !k.In(value) {
		return value
	}
	const mark = `"` + Mark + `"`
	if !json.Valid([]byte(value)) {
		return mark
	}
	var out strings.Builder
	tokens := json.NewDecoder(strings.NewReader(value))
	tokens.UseNumber()
	for {
		start := tokens.InputOffset()
		_, err := tokens.Token()
		token := value[start:tokens.InputOffset()]
		switch {
		case err == nil && k.In(token):
			between := len(token) - len(strings.TrimLeft(token, " \t\r\n,:"))
			out.WriteString(token[:between] + mark)
		case err == nil:
			out.WriteString(token)
		case err == io.EOF && !k.In(out.String()):
			return out.String()
		default: // several values together are the key
			return mark
		}
	}
}

// Error returns err itself if neither it nor an error that it wraps contains the key under any verb of fmt.
// Else it returns an error with the text [Mark]. That one is what err is, for [errors.Is], and times out if err does.
// It wraps, for [errors.As], what err wraps, each withheld in the same way.
func (k Key) Error(err error) error {
	if err == nil {
		return nil
	}
	safe, _ := k.withhold(err)
	return safe
}

// withhold also reports whether the error contains the key. "%d" prints fields that other verbs leave to the error's
// methods.
func (k Key) withhold(err error) (safe error, found bool) {
	for _, verb := range []string{"%v", "%+v", "%#v", "%d"} {
		found = found || k.In(fmt.Sprintf(verb, err))
	}
	var causes []error
	switch wrapper := err.(type) {
	case interface{ Unwrap() error }:
		causes = []error{wrapper.Unwrap()}
	case interface{ Unwrap() []error }:
		causes = wrapper.Unwrap()
	}
	hidden := &withheld{is: func(target error) bool { return errors.Is(err, target) }}
	for _, cause := range causes {
		if cause != nil {
			cause, foundInIt := k.withhold(cause)
			hidden.causes, found = append(hidden.causes, cause), found || foundInIt
		}
	}
	if !found {
		return err, false
	}
	if e, ok := err.(interface{ Timeout() bool }); ok {
		hidden.timeout = e.Timeout()
	}
	if e, ok := err.(interface{ Temporary() bool }); ok {
		hidden.temporary = e.Temporary()
	}
	return hidden, true
}

// withheld stands for an error that contains the key.
type withheld struct {
	is                 func(target error) bool
	timeout, temporary bool
	causes             []error
}

func (e *withheld) Error() string        { return Mark }
func (e *withheld) Is(target error) bool { return e.is(target) }
func (e *withheld) Unwrap() []error      { return e.causes }
func (e *withheld) Timeout() bool        { return e.timeout }
func (e *withheld) Temporary() bool      { return e.temporary }

// finder finds a key in texts.
type finder struct {
	parts []string // in small letters
	word  string   // the key, if it has fewer characters than a part
	// filter has a bit for each four characters in a row that the key has in one of its notations. It is so large that two
	// of them in a row are rare in a text without the key.
	filter [4096]uint64
}

const (
	leastPart = 11
	// small makes a letter small, and some other characters the same.
	small = 0x20
)

func newFinder(key string) *finder {
	plain := strings.ToLower(decode(key, isSpace)) // the key itself may hold what looks like an escape
	if plain == "" {                               // backslashes only
		plain = key
	}
	n := len(plain)
	if n < leastPart {
		return &finder{word: plain}
	}
	f := &finder{parts: []string{plain[:leastPart]}}
	half := max(leastPart, n/2)
	for at := range n - half + 1 {
		f.parts = append(f.parts, plain[at:at+half])
	}
	decimals := fmt.Sprint([]byte(key))
	notations := []string{plain, hex.EncodeToString([]byte(key)), decimals, strings.ReplaceAll(decimals, " ", ",")}
	for before := range 3 { // the encoding of the key depends on its place in the encoded text
		text := append(make([]byte, before), key...)
		notations = append(notations, base64.StdEncoding.EncodeToString(text), base64.URLEncoding.EncodeToString(text))
	}
	for _, notation := range notations {
		for at := range max(0, len(notation)-3) {
			word, bit := f.place(notation[at:])
			f.filter[word] |= bit
		}
	}
	return f
}

// place returns the word and the bit of the filter for the first four characters of a text.
func (f *finder) place(text string) (word uint32, bit uint64) {
	hash := (binary.LittleEndian.Uint32([]byte(text[:4])) | small*0x01010101) * 2654435761 >> 14
	return hash / 64 % uint32(len(f.filter)), 1 << (hash % 64)
}

// find reports whether a text contains the key.
func (f *finder) find(text string) bool {
	if f.word != "" {
		return f.containsWord(text)
	}
	near := f.near(text)
	if !near && !escaped(text) {
		return false
	}
	plain := decode(text, isSpace)
	if !near && !f.near(plain) {
		return false
	}
	return f.contains(plain) || binaryIn(text, plain, func(data string) bool {
		return (f.near(data) || escaped(data)) && f.contains(decode(data, isSpace))
	})
}

// near reports whether a text may contain a part of the key, if nothing is escaped: each part has two groups of four
// characters, one after the other, that are in the filter. It is quick, for the many texts that contain none.
func (f *finder) near(text string) bool {
	before := false
	for i := 0; i+4 <= len(text); i += 4 {
		word, bit := f.place(text[i:])
		found := f.filter[word]&bit != 0
		if found && before {
			return true
		}
		before = found
	}
	return false
}

func (f *finder) contains(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(f.parts, func(part string) bool { return strings.Contains(text, part) })
}

// containsWord reports whether the key is in a text without a letter, digit or underscore next to it.
func (f *finder) containsWord(text string) bool {
	if escaped(text) {
		text = decode(text, func(byte) bool { return false })
	}
	text = strings.ToLower(text)
	for at := 0; ; at++ {
		next := strings.Index(text[at:], f.word)
		if next < 0 {
			return false
		}
		at += next
		if !joined(text[:at], text[at:]) && !joined(text[:at+len(f.word)], text[at+len(f.word):]) {
			return true
		}
	}
}

// joined reports whether two parts of a text, in small letters, meet within a word.
func joined(before, after string) bool {
	return before != "" && after != "" && isWordPart(before[len(before)-1]) && isWordPart(after[0])
}

func isWordPart(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_'
}

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
}{{`\\`, '\\'}, {`\n`, ' '}, {`\r`, ' '}, {`\t`, ' '}, {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'},
	{"&apos;", '\''}}

func escaped(text string) bool {
	for _, start := range []byte(starts) {
		if strings.IndexByte(text, start) >= 0 {
			return true
		}
	}
	return false
}

// decode returns a text without backslashes and what is left out, each escaped character as itself. An escape is
// decoded as soon as it ends, so that its character can be a part of another one: "%25%37%33" is "%73", and so "s".
func decode(text string, leftOut func(byte) bool) string {
	out := make([]byte, 0, len(text))
	open := 0 // characters that an escape may still take
	for _, c := range []byte(text) {
		for size := 0; ; {
			out = out[:len(out)-size]
			if !leftOut(c) {
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

// binaryIn calls found with the bytes that parts of a text stand for, until it returns true: decimal numbers,
// hexadecimal digits and base64. decoded is the text without white space and escapes.
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
			if len(run)*3/4 < leastPart { // base64, which is the shorter one, of less than a part of a key
				continue
			}
			for i := range min(notation.group, len(run)) { // the first digits may belong to what comes before
				if data, _ := notation.decode(standard(run[i:])); found(string(data)) {
					return true
				}
			}
		}
	}
	return false
}

// runs returns the parts of a text that consist of the given characters.
func runs(text, characters string) iter.Seq[string] {
	var among [utf8.RuneSelf]bool
	for _, c := range []byte(characters) {
		among[c] = true
	}
	return strings.FieldsFuncSeq(text, func(r rune) bool { return r >= utf8.RuneSelf || !among[r] })
}
