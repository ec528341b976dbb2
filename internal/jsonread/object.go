package jsonread

import "bytes"

// maxNames is how many names an object can have.
const maxNames = 64

// Names are the names of the members that an object is expected to have.
type memberNames struct {
	list []name
	// places holds for each hash the place of a name, counted from 1; 0 if no name has it.
	places [128]uint8
}

type name struct {
	plain string
	// usual is how the name nearly always stands in a text: in quotes, between a comma and a colon.
	usual string
}

// newNames returns the names of a kind of object, at most 64, in the order in which they are expected.
func newNames(plain ...string) *memberNames {
	if len(plain) > maxNames {
		panic("jsonread: more than 64 names in an object")
	}
	n := &memberNames{list: make([]name, len(plain))}
	for i, text := range plain {
		n.list[i] = name{text, `,"` + text + `":`}
		n.places[hash(text)] = uint8(i + 1)
	}
	return n
}

// hash is cheap, and differs for the names of most objects.
func hash[S string | []byte](text S) uint8 {
	if len(text) == 0 {
		return 0
	}
	return (uint8(len(text)) + 3*text[0] + 11*text[len(text)/2] + 5*text[len(text)-1]) % 128
}

// find returns the place of a name, or -1.
func (n *memberNames) find(plain []byte) int {
	likely := int(n.places[hash(plain)]) - 1
	if likely < 0 || n.list[likely].plain == string(plain) {
		return likely
	}
	for i := range n.list {
		if n.list[i].plain == string(plain) {
			return i
		}
	}
	return -1
}

// Order remembers the order of the members in one kind of object, so that they need not be looked up one by
// one. The objects of a list share one. The zero Order expects that of the
// Names.
type memberOrder struct {
	// ahead holds, for each member, the distance between the place of the member that followed it last time
	// and the expected place. The start of the object counts as a member, the first.
	ahead [maxNames + 1]uint8
}

// Object is the state of reading one object.
type openObject struct {
	Names *memberNames
	Order *memberOrder
	// Name is the name of an [unknownMember] member, a part of the text.
	Name []byte
	// Seen has a bit for each place that was read.
	Seen uint64

	last int // the member read last, counted from 1
	open bool
}

// Found is what [scanner.Member] found.
type memberState uint8

const (
	// noMember is the end of the object, or a failure.
	noMember memberState = iota
	// newMember is a member of the Names that the object did not have before.
	newMember
	// repeatedMember is one that it had before.
	repeatedMember
	// unknownMember is a member with another name.
	unknownMember
)

// Member moves to the next member of an object, whose value is to be read or skipped then, and returns its
// place among o.Names. Names match byte for byte, after escapes were resolved.
func (s *scanner) Member(o *openObject) (place int, found memberState) {
	names := o.Names.list
	likely := int(uint8(o.last) + o.Order.ahead[o.last])
	if likely < len(names) && o.open && startsWith(s.text[s.pos:], names[likely].usual) {
		s.pos += len(names[likely].usual)
		return o.found(likely)
	}
	if o.open && startsWith(s.text[s.pos:], `,"`) { // another member than expected
		rest := s.text[s.pos+2:]
		if end := bytes.IndexByte(rest, '"'); end >= 0 && startsWith(rest[end:], `":`) {
			if place = o.Names.find(rest[:end]); place >= 0 {
				s.pos += end + 4
				return o.learned(place)
			}
		}
	}
	if !s.Next(!o.open) {
		return 0, noMember
	}
	o.open = true
	if likely < len(names) {
		if quoted := names[likely].usual[1 : len(names[likely].usual)-1]; startsWith(s.text[s.pos:], quoted) {
			s.pos += len(quoted)
			if s.take(':'); s.failed {
				return 0, noMember
			}
			return o.found(likely)
		}
	}
	name := s.Name()
	switch place = o.Names.find(name); {
	case s.failed:
		return 0, noMember
	case place < 0:
		o.Name = name
		return 0, unknownMember
	}
	return o.learned(place)
}

// learned notes that a place follows the last one.
func (o *openObject) learned(place int) (int, memberState) {
	o.Order.ahead[o.last] = uint8(place - o.last)
	return o.found(place)
}

func (o *openObject) found(place int) (int, memberState) {
	bit := uint64(1) << place
	o.last = place + 1
	if o.Seen&bit != 0 {
		return place, repeatedMember
	}
	o.Seen |= bit
	return place, newMember
}

// Next moves to the next name of an object, which [scanner.Name] reads then. It reports false behind the
// last one. first is true for the first call, which reads the opening brace. [scanner.Member] does both.
func (s *scanner) Next(first bool) bool {
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
		s.indentation()
		c = s.Peek()
	}
	if c != '"' {
		s.Fail()
	}
	return !s.failed
}

// Name moves behind a name and its colon, and returns the name after escapes were resolved.
func (s *scanner) Name() []byte {
	name, escaped := s.quoted()
	if escaped {
		name = []byte(unescape(name))
	}
	s.take(':')
	return name
}
