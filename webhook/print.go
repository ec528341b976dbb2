package webhook

import (
	"fmt"
	"io"
	"log/slog"
	"strconv"
)

// Format prints the number of keys for every verb, and never a key.
func (r *Receiver) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, r.label()) }

// LogValue returns the text of Format.
func (r *Receiver) LogValue() slog.Value { return slog.StringValue(r.label()) }

// MarshalText returns the text of Format. It is also the JSON of the receiver.
func (r *Receiver) MarshalText() ([]byte, error) { return []byte(r.label()), nil }

func (r *Receiver) label() string {
	if r == nil {
		return "webhook.Receiver(nil)"
	}
	return "webhook.Receiver(" + strconv.Itoa(len(r.settings.keys)) + " keys)"
}

// redacted returns a text of the sender for a log or a response, or withholds it if it contains a key.
func (s *settings) redacted(text string) string {
	for _, key := range s.keys {
		text = key.Text(text)
	}
	return text
}
