package evidence

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Value is a JSON value as it was sent; an absent one is empty. It is read more strictly than a record of the
// client: names match byte for byte, and a name that is given twice is found.
type Value string

// UnmarshalJSON keeps the value as it is.
func (v *Value) UnmarshalJSON(data []byte) error {
	*v = Value(bytes.TrimSpace(data))
	return nil
}

// is reports whether the value starts with a character: '{', '[' or '"' for an object, a list or a string.
func (v Value) is(start byte) bool {
	text := strings.TrimLeft(string(v), " \t\r\n")
	return text != "" && text[0] == start
}

// scalar reports whether the value is neither a list nor an object.
func (v Value) scalar() bool { return !v.is('{') && !v.is('[') }

// text returns the text of a string, "" for null and absent, and any other value as written.
func (v Value) text() string {
	if v == "null" {
		return ""
	}
	var text string
	if v.is('"') && json.Unmarshal([]byte(v), &text) == nil {
		return text
	}
	return string(v)
}

// members returns the members of an object, of a name that is given twice the last one; none of any other value.
func (v Value) members() map[string]Value {
	var members map[string]Value
	if json.Unmarshal([]byte(v), &members) != nil {
		return nil
	}
	return members
}

func (v Value) get(name string) Value { return v.members()[name] }

// entries returns the entries of a list, and a single string or object as one entry.
func (v Value) entries() []Value {
	if v.is('"') || v.is('{') {
		return []Value{v}
	}
	var entries []Value
	if json.Unmarshal([]byte(v), &entries) != nil {
		return nil
	}
	return entries
}

// repeated returns the first name that an object gives twice.
func (v Value) repeated() (name string, found bool) {
	decoder := json.NewDecoder(strings.NewReader(string(v)))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return "", false
	}
	seen := map[string]bool{}
	for decoder.More() {
		token, _ := decoder.Token() // nil after an error
		name, isName := token.(string)
		var value json.RawMessage
		switch {
		case !isName || decoder.Decode(&value) != nil:
			return "", false
		case seen[name]:
			return name, true
		}
		seen[name] = true
	}
	return "", false
}

// quote quotes the start of a text.
func quote(text string) string {
	if len(text) > 40 {
		text = text[:40] + "…"
	}
	return strconv.Quote(text)
}
