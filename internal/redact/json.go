package redact

import (
	"encoding/json"
	"strings"
)

// JSON returns a JSON value without the key, as JSON also if the key is a number or a part of one.
func (k Key) JSON(value string) string {
	safe := k.Text(value)
	if safe == value || json.Valid([]byte(safe)) {
		return safe
	}
	decoder := json.NewDecoder(strings.NewReader(value))
	decoder.UseNumber()
	var decoded any
	if decoder.Decode(&decoded) != nil {
		return `"` + Mark + `"`
	}
	encoded, err := json.Marshal(k.value(decoded))
	if err != nil {
		return `"` + Mark + `"`
	}
	return string(encoded)
}

// value returns a decoded value without the key. A number that shows it becomes a string.
func (k Key) value(value any) any {
	switch v := value.(type) {
	case string:
		return k.Text(v)
	case json.Number:
		if k.In(v.String()) {
			return k.Text(v.String())
		}
	case []any:
		for i := range v {
			v[i] = k.value(v[i])
		}
	case map[string]any:
		safe := make(map[string]any, len(v))
		for name, member := range v {
			safe[k.Text(name)] = k.value(member)
		}
		return safe
	}
	return value
}
