package shipping

import (
	"bytes"
	"strings"
)

// secret holds the key in a closure: no fmt verb, no reflection-based dump, no JSON encoder and no
// panic can reach what a func value captured, however deep the struct around it is printed.
type secret func() string

func newSecret(key string) secret { return func() string { return key } }

const redacted = "[redacted]"

// redact removes the key from text that came from outside, such as a service that echoes the
// credentials it refused.
func (s secret) redact(text string) string {
	if key := s(); key != "" && strings.Contains(text, key) {
		return strings.ReplaceAll(text, key, redacted)
	}
	return text
}

func (s secret) redactBytes(data []byte) []byte {
	if key := s(); key != "" && bytes.Contains(data, []byte(key)) {
		return bytes.ReplaceAll(data, []byte(key), []byte(redacted))
	}
	return data
}
