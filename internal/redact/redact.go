// Package redact keeps a secret key out of everything that is printed, logged or returned: a [Key] cannot be
// printed, and a text that a peer sent back is withheld whole if it contains the key.
//
// Texts are compared in one form: their letters and digits, in lower case, with escapes decoded. In this form, the key
// is found as plain text, in base64 (such as of "user:key"), and in hexadecimal and decimal bytes. A part of the key
// counts as the key: its first 11 characters, of which 8 are often "sk_test_", and any half of at least 11 characters.
// Only a text with several characters of the key in a row is compared: a key with a blank behind each character is not
// found. A shorter key, such as "test", is found only as a whole word, plain or escaped, because it may occur in any
// text.
package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
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
	finder := sync.OnceValue(func() *finder { return newFinder(key) }) // a key that only signs needs no finder
	return Key{reveal: func() string { return key }, shown: func(text string) bool { return finder().find(text) }}
}

// Reveal returns the key itself, to send it or to sign with it.
func (k Key) Reveal() string {
	if k.reveal == nil {
		return ""
	}
	return k.reveal()
}

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

// Header returns header, or a copy without the key if a name or a value contains it.
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

// Error returns err itself if neither it nor an error that it wraps contains the key under any verb of fmt. Otherwise
// it returns an error with the text [Mark]. [errors.Is] and Timeout report the same for it as for err. [errors.As]
// finds the errors that err wraps, withheld in the same way.
func (k Key) Error(err error) error {
	if err == nil {
		return nil
	}
	safe, _ := k.withhold(err)
	return safe
}

// withhold is Error, and also reports whether the error contains the key. "%d" prints fields that other verbs do not
// print.
func (k Key) withhold(err error) (safe error, found bool) {
	var texts []string // most verbs print the same one
	for _, verb := range []string{"%v", "%+v", "%#v", "%d"} {
		if text := fmt.Sprintf(verb, err); !slices.Contains(texts, text) {
			texts, found = append(texts, text), found || k.In(text)
		}
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
	word  *regexp.Regexp  // of a key that is too short to have parts
	parts func() []string // canonical, in each notation; computed for the first text that may contain one
	// filter has a bit for each group of four characters in one of the key's notations. It is so large that two such
	// groups in a row are rare in a text without the key.
	filter [4096]uint64
}

const (
	leastPart      = 11
	leastCanonical = 6 // letters and digits of a part that counts
)

func newFinder(key string) *finder {
	if len(key) < leastPart || len(canonical(decode(key, false))) < leastCanonical {
		return &finder{word: wholeWord(decode(key, true))}
	}
	f := &finder{parts: sync.OnceValue(func() []string { return partsOf(key) })}
	for _, notation := range append(notations(key), decode(key, false)) {
		for at := range max(0, len(notation)-3) {
			word, bit := f.place(notation[at:])
			f.filter[word] |= bit
		}
	}
	return f
}

// partsOf returns the parts of a key that count as the key.
func partsOf(key string) (found []string) {
	half := max(leastPart, len(key)/2)
	parts := []string{key[:leastPart]}
	for at := range len(key) - half + 1 {
		parts = append(parts, key[at:at+half])
	}
	for _, part := range parts {
		for _, notation := range notations(part) {
			if part := canonical(decode(notation, false)); len(part) >= leastCanonical {
				found = append(found, part)
			}
		}
	}
	return found
}

// wholeWord returns an expression for a key without a letter, digit or underscore next to it.
func wholeWord(word string) *regexp.Regexp {
	expression := regexp.QuoteMeta(word)
	if regexp.MustCompile(`^\w`).MatchString(word) {
		expression = `\b` + expression
	}
	if regexp.MustCompile(`\w$`).MatchString(word) {
		expression += `\b`
	}
	return regexp.MustCompile(`(?i)` + expression)
}

// notations returns a text as it is, in hexadecimal and decimal bytes, and in base64. The characters of base64 depend
// on the place of the text in the encoded bytes. Those that also depend on the bytes next to it are left out.
func notations(text string) []string {
	decimals := fmt.Sprint([]byte(text))
	all := []string{text, fmt.Sprintf("%x", text), decimals, strings.ReplaceAll(decimals, " ", ",")}
	for before := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), text...))
		all = append(all, encoded[(before*8+5)/6:(before+len(text))*8/6])
	}
	return all
}

// place returns the index and the bit in the filter for the first four characters of a text.
func (f *finder) place(text string) (word uint32, bit uint64) {
	const small = 0x20202020 // makes letters small, and some other characters the same
	hash := (binary.LittleEndian.Uint32([]byte(text[:4])) | small) * 2654435761 >> 14
	return hash / 64 % uint32(len(f.filter)), 1 << (hash % 64)
}

// find reports whether a text contains the key.
func (f *finder) find(text string) bool {
	if f.word != nil {
		return f.word.MatchString(decode(text, true))
	}
	near := f.near(text)
	if !near && !escaped(text) {
		return false
	}
	text = decode(text, false)
	if !near && !f.near(text) {
		return false
	}
	text = canonical(text)
	return slices.ContainsFunc(f.parts(), func(part string) bool { return strings.Contains(text, part) })
}

// near reports whether a text may contain a part of the key, if nothing is escaped: each part has two groups of four
// characters, one after the other, that are in the filter. It is quick, because most texts contain none.
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

// canonical returns the letters and digits of a text, in small letters.
func canonical(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// escaped reports whether a text may have an escape.
func escaped(text string) bool {
	return strings.IndexByte(text, '\\') >= 0 || strings.IndexByte(text, '%') >= 0 || strings.IndexByte(text, '&') >= 0
}

// decode returns a text with its escapes decoded, with its white space, or without white space and backslashes. An
// escape is decoded as soon as it ends, so that its character can be a part of another one: "%25%37%33" is "%73", and
// so "s".
func decode(text string, withSpace bool) string {
	if !escaped(text) {
		return text
	}
	out := make([]byte, 0, len(text))
	since := longestEscape // bytes of out since the last \, % or &, or fewer
	for _, c := range []byte(text) {
		for size := 0; ; {
			out = out[:len(out)-size]
			if withSpace || !isSpace(c) {
				out = append(out, c)
				since++
			}
			if size > 0 || beginsEscape(c) {
				since = 0
			}
			if since >= longestEscape {
				break
			}
			if c, size = escapeAtEnd(out); size == 0 {
				break
			}
		}
	}
	if withSpace {
		return string(out)
	}
	return strings.ReplaceAll(string(out), `\`, "")
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

const longestEscape = len("&#00000115;")

func beginsEscape(c byte) bool { return c == '\\' || c == '%' || c == '&' }

// escapeAtEnd returns the character of the escape that a text ends with, and the size of the escape; 0 if it ends with
// none.
func escapeAtEnd(text []byte) (c byte, size int) {
	for size = 2; size <= min(len(text), longestEscape); size++ {
		if beginsEscape(text[len(text)-size]) {
			if c, ok := unescape(string(text[len(text)-size:])); ok {
				return c, size
			}
		}
	}
	return 0, 0
}

// unescape returns the ASCII character of an escape as in JSON, Go, a URL or HTML.
func unescape(escape string) (c byte, ok bool) {
	for _, named := range [][2]string{{`\\`, `\`}, {`\/`, "/"}, {`\"`, `"`}, {`\n`, " "}, {`\r`, " "}, {`\t`, " "},
		{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", `"`}, {"&apos;", "'"}} {
		if escape == named[0] {
			return named[1][0], true
		}
	}
	for _, code := range []struct {
		prefix, suffix string
		digits, base   int // any number of digits before a suffix
	}{{`\u`, "", 4, 16}, {`\x`, "", 2, 16}, {"%", "", 2, 16}, {`\`, "", 3, 8}, {"&#x", ";", 0, 16}, {"&#X", ";", 0, 16},
		{"&#", ";", 0, 10}} {
		digits, begins := strings.CutPrefix(escape, code.prefix)
		digits, ends := strings.CutSuffix(digits, code.suffix)
		if begins && ends && (len(digits) == code.digits || code.suffix != "") {
			if n, err := strconv.ParseUint(digits, code.base, 7); err == nil {
				return byte(n), true
			}
		}
	}
	return 0, false
}
