package shipping

import (
	"bytes"
	"net/url"
	"strings"
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

// redactStart returns a copy of the start of a body, as an [Error] keeps it. It is cut last, because
// half a key is a secret too.
func (s secret) redactStart(body []byte) []byte {
	safe := s.redactBytes(body)
	return bytes.Clone(safe[:min(len(safe), maxErrorBody)])
}

// forms returns the key as it is, as JSON strings hold it, and as URLs do.
func (s secret) forms() [][]byte {
	key := s()
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key)
	return [][]byte{
		[]byte(key), []byte(quoted), []byte(strings.ReplaceAll(quoted, "/", `\/`)),
		bytes.Trim(encode(key), `"`), []byte(url.QueryEscape(key)),
	}
}
