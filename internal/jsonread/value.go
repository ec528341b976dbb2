package jsonread

// Value is a JSON value in full, for a caller that looks for more than the fields of a type: each member is kept, also one
// whose name is given twice. The zero Value is absent, or null.
type Value struct {
	// Kind is '{', '[', '"', or 'v' for a number, true or false; 0 for an absent value and for null.
	Kind byte
	// Text is the text of a string, a number, true or false.
	Text     string
	Members  []Member // of an object, in order
	Elements []Value  // of a list
}

// Member is a member of an object.
type Member struct {
	Name  string
	Value Value
}

// deepest bounds the nesting that [Parse] reads. What lies deeper is an empty object or list.
const deepest = 32

// Parse reads the JSON value at the start of a text. What cannot be read is absent.
func Parse(text string) Value {
	s := newScanner([]byte(text))
	value := s.value(0)
	if s.failed {
		return Value{}
	}
	return value
}

func (s *scanner) value(depth int) (v Value) {
	switch v.Kind = s.peek(); v.Kind {
	case '{', '[':
		if depth > deepest {
			s.skip(maxDepth)
			return v
		}
		for first := true; v.Kind == '{' && s.next("{}", first); first = false {
			v.Members = append(v.Members, Member{string(s.name()), s.value(depth + 1)})
		}
		for first := true; v.Kind == '[' && s.next("[]", first); first = false {
			v.Elements = append(v.Elements, s.value(depth+1))
		}
	case '"':
		v.Text = s.string()
	case 'n':
		s.literal("null")
		v.Kind = 0
	default:
		v.Kind, v.Text = 'v', s.RawText()
	}
	return v
}

// Scalar reports whether the value is neither a list nor an object.
func (v Value) Scalar() bool { return v.Kind != '{' && v.Kind != '[' }

// Get returns a member, of a name that is given twice the last one.
func (v Value) Get(name string) Value {
	for i := len(v.Members) - 1; i >= 0; i-- {
		if v.Members[i].Name == name {
			return v.Members[i].Value
		}
	}
	return Value{}
}

// Items returns the elements of a list, and a single string or object as one element.
func (v Value) Items() []Value {
	if v.Kind == '"' || v.Kind == '{' {
		return []Value{v}
	}
	return v.Elements
}

// Repeated returns the first name that an object gives twice, and false if none is.
func (v Value) Repeated() (name string, found bool) {
	seen := make(map[string]bool, len(v.Members))
	for _, m := range v.Members {
		if seen[m.Name] {
			return m.Name, true
		}
		seen[m.Name] = true
	}
	return "", false
}
