package fault

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
)

// Duration is a [time.Duration] that is encoded in JSON as "90s".
type Duration time.Duration

// String returns the duration as [time.Duration] does.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText implements [encoding.TextMarshaler].
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("invalid duration %q: write it as 250ms, 90s or 1h30m", text)
	}
	*d = Duration(parsed)
	return nil
}

// Header is an [http.Header] that is encoded in JSON as an object. The value of a name is a string, or a list of
// strings if the header has several lines of that name or none.
type Header http.Header

// MarshalJSON implements [json.Marshaler].
func (h Header) MarshalJSON() ([]byte, error) {
	object := make(map[string]any, len(h))
	for name, values := range h {
		switch len(values) {
		case 0:
			object[name] = []string{}
		case 1:
			object[name] = values[0]
		default:
			object[name] = values
		}
	}
	return json.Marshal(object)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (h *Header) UnmarshalJSON(text []byte) error {
	var object map[string]lines
	if err := json.Unmarshal(text, &object); err != nil {
		return fmt.Errorf(`invalid header: write it as {"Retry-After":"7","Warning":["one","two"]}`)
	}
	if object == nil {
		*h = nil
		return nil
	}
	*h = canonical(object)
	return nil
}

// canonical returns a header with the canonical forms of names, and copies of their values.
func canonical[V ~[]string](object map[string]V) Header {
	header := Header{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		key := http.CanonicalHeaderKey(name)
		header[key] = append(header[key], object[name]...)
	}
	return header
}

// lines are the values of one name in a header: a string or a list of strings.
type lines []string

// UnmarshalJSON implements [json.Unmarshaler].
func (l *lines) UnmarshalJSON(text []byte) error {
	if text[0] != '"' {
		return json.Unmarshal(text, (*[]string)(l))
	}
	*l = make(lines, 1)
	return json.Unmarshal(text, &(*l)[0])
}
