// Package redact keeps a secret key out of everything that is printed, logged or returned: a [Key] cannot be
// printed, and a text that a peer sent back is withheld whole if it contains the key.
//
// The key is found in any case: as it is, broken over lines, with any of its characters escaped as in JSON, Go, a URL
// or HTML, however often, and in base64 (such as that of "user:key"), hexadecimal and decimal bytes. A part of
// the key counts as the key: its first 11 characters, of which 8 are often "sk_test_", and any half of at least 11.
package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
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
	return Key{reveal: func() string { return key }, shown: newFinder(key).find}
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
