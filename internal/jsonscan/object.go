package jsonscan

// Names are the names of the members that an object is expected to have, at most 64.
type Names []name

type name struct {
	plain string
	// usual is how the name nearly always stands in a text: in quotes, between a comma and a colon.
	usual string
}

// NewNames returns the names of a kind of object, in the order in which they are expected.
func NewNames(plain ...string) Names {
	names := make(Names, len(plain))
	for i, text := range plain {
		names[i] = name{text, `,"` + text + `":`}
	}
	return names
}

// find returns the place of a name, or -1. It looks at the likely place first.
func (n Names) find(plain []byte, likely int) int {
	if likely < len(n) && n[likely].plain == string(plain) {
		return likely
	}
	for i := range n {
		if n[i].plain == string(plain) {
			return i
		}
	}
	return -1
}

// Order is what a decoder has learnt about the order of the members in one kind of object, so that it
// need not look each of them up. The objects of a list share one. The zero Order expects that of the
// Names.
type Order struct {
	// ahead tells, for each member, how many places the one that came behind it last time is off the
	// expected place. The start of the object counts as a member, the first.
	ahead [65]uint8
}

// Object is the state of reading one object.
type Object struct {
	Names Names
	Order *Order

	last int // the member read last, counted from 1
	seen uint64
	open bool
}

// Member moves to the next member of the object that o.Names knows, whose value is to be read then,
// and returns its place in them, or -1 behind the last. Names match byte for byte; members whose names are
// unknown are skipped.
func (s *Scanner) Member(o *Object) int {
	for {
		likely := int(uint8(o.last) + o.Order.ahead[o.last])
		if likely < len(o.Names) && o.open && startsWith(s.text[s.pos:], o.Names[likely].usual) {
			s.pos += len(o.Names[likely].usual)
			return s.once(o, likely)
		}
		if !s.name(!o.open) {
			return -1
		}
		o.open = true
		text, escaped := s.quoted()
		s.take(':')
		if escaped { // no service is known to write names so
			s.Fail()
		}
		if place := o.Names.find(text, likely); place >= 0 {
			o.Order.ahead[o.last] = uint8(place - o.last)
			return s.once(o, place)
		}
		s.skip(maxDepth)
	}
}

// once refuses a name that was there before: what counts then depends on the type of the field.
func (s *Scanner) once(o *Object, place int) int {
	bit := uint64(1) << place
	if o.seen&bit != 0 || bit == 0 {
		s.Fail()
		return -1
	}
	o.seen |= bit
	o.last = place + 1
	return place
}

// name moves to the next name of an object, which is to be read then. It reports false behind the
// last one. first is true for the first call, which reads the opening brace.
func (s *Scanner) name(first bool) bool {
	if first {
		s.take('{')
	}
	c := s.Peek()
	if c == '}' {
		s.pos++
		return false
	}
	if !first {
		s.take(',')
		c = s.Peek()
	}
	if c != '"' {
		s.Fail()
	}
	return !s.failed
}
