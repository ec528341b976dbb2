// Package redact keeps a secret key out of everything that is printed, logged or returned: a [Key] cannot be
// printed, and it removes itself from text that a peer sent back.
//
// The key is found as it is and in any case; with any of its characters escaped as in JSON, Go, a URL or
// HTML, several times over; broken over lines; and in base64 (such as that of "user:key"), hexadecimal and
// decimal bytes. A part of the key counts as the key: its first 8 characters, any half of it, and less at
// the end of a text, which may have been truncated.
package redact

import (
	"bytes"
	"net/http"
	"sync"
)

// Mark stands for a key that was removed.
const Mark = "[redacted]"

// Key is a secret key. It holds the key in closures: fmt, reflection, JSON encoders and panics
// cannot print the variables of a closure, at any depth of the struct around it. The zero Key is empty and
// redacts nothing.
type Key struct {
	reveal func() string
	finder func() *finder
}

// New returns the Key that holds a key.
func New(key string) Key {
	return Key{
		reveal: func() string { return key },
		finder: sync.OnceValue(func() *finder { return newFinder(key) }),
	}
}

// Reveal returns the key itself, to send it or to sign with it.
func (k Key) Reveal() string {
	if k.reveal == nil {
		return ""
	}
	return k.reveal()
}

// Text returns a text without the key.
func (k Key) Text(text string) string {
	if !k.In(text) {
		return text
	}
	return string(k.Bytes([]byte(text)))
}

// In reports whether a text shows the key.
func (k Key) In(text string) bool {
	if k.Reveal() == "" || text == "" {
		return false
	}
	return len(k.finder().find([]byte(text))) > 0
}

// Bytes returns data without the key: data itself if it does not show the key, else a copy.
func (k Key) Bytes(data []byte) []byte {
	if k.Reveal() == "" || len(data) == 0 {
		return data
	}
	found := k.finder().find(data)
	if len(found) == 0 {
		return data
	}
	out, from := make([]byte, 0, len(data)), 0
	for _, s := range found {
		out = append(append(out, data[from:s.from]...), Mark...)
		from = s.to
	}
	return append(out, data[from:]...)
}

// Start returns a copy of the first n bytes of data without the key. It redacts before it truncates,
// because half a key is a secret too.
func (k Key) Start(data []byte, n int) []byte {
	safe := k.Bytes(data[:min(len(data), n+margin)])
	return bytes.Clone(safe[:min(len(safe), n)])
}

// Header returns a header without the key: header itself if it does not show the key, else a copy.
func (k Key) Header(header http.Header) http.Header {
	if !k.inHeader(header) {
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

func (k Key) inHeader(header http.Header) bool {
	for name, values := range header {
		if k.In(name) {
			return true
		}
		for _, value := range values {
			if k.In(value) {
				return true
			}
		}
	}
	return false
}
