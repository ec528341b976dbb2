package jsonread

import "bytes"

// maxNames is how many names an object can have.
const maxNames = 64

// memberNames are the names of the members that an object is expected to have.
type memberNames struct {
	// usual is how each name nearly always stands in a text: in quotes, between a comma and a colon.
	usual  []string
	places map[string]int
}

// newNames returns the names of a kind of object, at most 64, in the order in which they are expected.
func newNames(plain ...string) *memberNames {
	if len(plain) > maxNames {
		panic("jsonread: more than 64 names in an object")
	}
	n := &memberNames{places: map[string]int{}}
	for i, name := range plain {
		n.usual = append(n.usual, `,"`+name+`":`)
		n.places[name] = i
	}
	return n
}

// memberOrder remembers the order of the members in one kind of object, so that they need not be looked up one by
// one. The objects of a list share one. The zero memberOrder expects that of the
// Names.
type memberOrder struct {
	// ahead holds, for each member, the distance between the place of the member that followed it last time
	// and the expected place. The start of the object counts as a member, the first.
	ahead [maxNames + 1]uint8
}

// openObject is the state of reading one object.
type openObject struct {
	Names *memberNames
	Order *memberOrder
	// Name is the name of an unknown member, a part of the text.
	Name []byte
	// Seen has a bit for each place that was read.
	Seen uint64

	last int // the member read last, counted from 1
	open bool
}

// memberState is what scanner.Member found.
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
	likely, usual := int(uint8(o.last)+o.Order.ahead[o.last]), ""
	if likely < len(o.Names.usual) {
		usual = o.Names.usual[likely]
		if o.open && startsWith(s.text[s.pos:], usual) {
			s.pos += len(usual)
			return o.found(likely)
		}
	}
	if o.open && startsWith(s.text[s.pos:], `,"`) { // another member than expected
		rest := s.text[s.pos+2:]
		if end := bytes.IndexByte(rest, '"'); end >= 0 && startsWith(rest[end:], `":`) {
			if place, known := o.Names.places[string(rest[:end])]; known {
				s.pos += end + 4
				return o.learned(place)
			}
		}
	}
	if !s.Next(!o.open) {
		return 0, noMember
	}
	o.open = true
	if usual != "" && startsWith(s.text[s.pos:], usual[1:len(usual)-1]) {
		s.pos += len(usual) - 2
		s.take(':')
		return o.found(likely)
	}
	name := s.Name()
	if s.failed {
		return 0, noMember
	}
	place, known := o.Names.places[string(name)]
	if !known {
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

// Next moves to the next name of an object, which scanner.Name reads then. It reports false behind the
// last one. first is true for the first call, which reads the opening brace. scanner.Member does both.
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
	s.take(':')
	switch {
	case name == nil:
		return nil
	case escaped:
		return []byte(unescape(name))
	}
	return name[1 : len(name)-1]
}
