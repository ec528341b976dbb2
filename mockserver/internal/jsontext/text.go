// Package jsontext writes the JSON of the server with encoding/json: texts in which <, > and & stay readable, and
// timestamps as the service has them.
package jsontext

import (
	"bytes"
	"encoding/json"
	"time"
)

// Encode returns v as JSON in which <, > and & stay readable.
func Encode(v any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}

// Of returns v as JSON, like [Encode], or null if that fails. It is for values that can always be encoded.
func Of(v any) []byte {
	text, err := Encode(v)
	if err != nil {
		return []byte("null")
	}
	return text
}

// Timestamp is a time as the service writes it: ISO 8601, UTC, milliseconds.
type Timestamp struct{ time.Time }

func (t Timestamp) MarshalJSON() ([]byte, error) {
	return []byte(t.UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}
