package shipping

import (
	"bytes"
	"net/url"
)

// secret holds the key in a closure: no fmt verb, no reflection-based dump, no JSON encoder and no
// panic can reach what a func value captured, however deep the struct around it is printed.
type secret func() string

func newSecret(key string) secret { return func() string { return key } }

const redacted = "[redacted]"

// redact removes the key from text that came from outside, such as a service that echoes the
// credentials it refused.
func (s secret) redact(text string) string { return string(s.redactBytes([]byte(text))) }

// redactBytes is redact for a body. The key may stand there escaped, and its end may be missing where
// the body was cut.
func (s secret) redactBytes(data []byte) []byte {
	for _, form := range s.forms() {
		if bytes.Contains(data, form) {
			data = bytes.ReplaceAll(data, form, []byte(redacted))
		}
		for n := len(form) - 1; n >= max(len(form)/4, 4); n-- {
			if bytes.HasSuffix(data, form[:n]) {
				return append(bytes.Clone(data[:len(data)-n]), redacted...)
			}
		}
	}
	return data
}

// forms returns the key as it is, in a JSON string and in a URL.
func (s secret) forms() [][]byte {
	key := s()
	return [][]byte{[]byte(key), bytes.Trim(encode(key), `"`), []byte(url.QueryEscape(key))}
}
