package shipping

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/shipping-go/shipping/internal/jsonread"
)

// RawJSON is a JSON value kept exactly as the service sent it, for fields whose shape the
// specification leaves open: a rate's breakdown, metadata, the error's data. It is immutable and
// comparable; the zero value means the field was absent.
type RawJSON string

// Decode reads the value into v as [json.Unmarshal] does, except that a member is read into a field only if
// their names are equal byte for byte: a struct without tags does not read "name" into Name. If a member is
// given twice, the last one counts, and an [Amount] is unreadable. An absent value leaves v as it is.
func (r RawJSON) Decode(v any) error {
	if r == "" {
		return nil
	}
	return jsonread.Unmarshal([]byte(r), v)
}

// Get returns the value under key of a JSON object, the last one if there are several, or "" if there is
// none.
func (r RawJSON) Get(key string) RawJSON {
	return r.members()[key]
}

// members returns the members of a JSON object; none of any other value.
func (r RawJSON) members() map[string]RawJSON {
	var members map[string]RawJSON
	if readJSON([]byte(r), &members) != nil {
		return nil
	}
	return members
}

// Text returns the text of a JSON string, "" for null and absent, and any other value as written.
func (r RawJSON) Text() string {
	if r == "null" {
		return ""
	}
	var text string
	if len(r) > 0 && r[0] == '"' && readJSON([]byte(r), &text) == nil {
		return text
	}
	return string(r)
}

// IsNull reports whether the value was absent or null.
func (r RawJSON) IsNull() bool { return r == "" || r == "null" }

// MarshalJSON writes the value as the service sent it; absent is null.
func (r RawJSON) MarshalJSON() ([]byte, error) {
	if r == "" {
		return []byte("null"), nil
	}
	if !json.Valid([]byte(r)) {
		return nil, errors.New("shipping: RawJSON does not hold valid JSON")
	}
	return []byte(r), nil
}

// UnmarshalJSON keeps a copy of data.
func (r *RawJSON) UnmarshalJSON(data []byte) error {
	*r = RawJSON(bytes.TrimSpace(data))
	return nil
}

// isObject reports whether the value is a JSON object.
func (r RawJSON) isObject() bool {
	return strings.HasPrefix(strings.TrimLeft(string(r), " \t\r\n"), "{")
}
