package evidence

import (
	"encoding/json"
	"strings"
)

// node is a JSON value. It is read once, and more strictly than the client reads a record: names match byte for byte,
// and a name that is given twice is found. The zero node is an absent value.
type node struct {
	kind    byte // '{', '[', '"', or 'v' for a number, true or false; 0 for absent and null
	text    string
	members []member // of an object, in order
	entries []node   // of a list
}

type member struct {
	name  string
	value node
}

// deepest bounds the nesting that is read. What lies deeper is an empty object or list.
const deepest = 32

// parse reads a JSON text. What cannot be read is absent.
func parse(text string) node {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	value, ok := read(decoder, 0)
	if !ok {
		return node{}
	}
	return value
}

func read(decoder *json.Decoder, depth int) (node, bool) {
	if depth > deepest {
		var skipped json.RawMessage
		if decoder.Decode(&skipped) != nil {
			return node{}, false
		}
		return node{kind: kindOf(skipped[0]), text: string(skipped)}, true
	}
	token, err := decoder.Token()
	if err != nil {
		return node{}, false
	}
	switch token := token.(type) {
	case json.Delim:
		value := node{kind: byte(token)}
		for decoder.More() {
			name := ""
			if token == '{' {
				key, err := decoder.Token()
				if err != nil {
					return node{}, false
				}
				name, _ = key.(string)
			}
			inner, ok := read(decoder, depth+1)
			if !ok {
				return node{}, false
			}
			if token == '{' {
				value.members = append(value.members, member{name, inner})
			} else {
				value.entries = append(value.entries, inner)
			}
		}
		_, err := decoder.Token()
		return value, err == nil
	case string:
		return node{kind: '"', text: token}, true
	case json.Number:
		return node{kind: 'v', text: token.String()}, true
	case bool:
		if token {
			return node{kind: 'v', text: "true"}, true
		}
		return node{kind: 'v', text: "false"}, true
	}
	return node{}, true // null
}

func kindOf(start byte) byte {
	if start == '{' || start == '[' || start == '"' {
		return start
	}
	return 'v'
}

// scalar reports whether the value is neither a list nor an object.
func (n node) scalar() bool { return n.kind != '{' && n.kind != '[' }

// get returns a member, of a name that is given twice the last one.
func (n node) get(name string) node {
	for i := len(n.members) - 1; i >= 0; i-- {
		if n.members[i].name == name {
			return n.members[i].value
		}
	}
	return node{}
}

// items returns the entries of a list, and a single string or object as one entry.
func (n node) items() []node {
	if n.kind == '"' || n.kind == '{' {
		return []node{n}
	}
	return n.entries
}

// repeated returns the first name that an object gives twice; "" if there is none.
func (n node) repeated() (name string, found bool) {
	seen := make(map[string]bool, len(n.members))
	for _, m := range n.members {
		if seen[m.name] {
			return m.name, true
		}
		seen[m.name] = true
	}
	return "", false
}
