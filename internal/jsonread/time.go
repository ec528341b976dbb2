package jsonread

import (
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/shipping-go/shipping/internal/jsonscan"
)

// timestamp reads a string into the time at p.
func (d *Decoder) timestamp(f *field, p unsafe.Pointer) {
	raw := d.Raw()
	if len(raw) < 2 {
		return
	}
	at, zone, ok := parseISO(raw[1 : len(raw)-1])
	if ok && zone != otherZone {
		*(*time.Time)(p) = at
	} else {
		quoted := jsonscan.New(raw) // with escapes, perhaps
		zone, d.unread = f.parseTime(strings.TrimSpace(quoted.Text()), p)
	}
	if zone == noZone {
		d.differs(f, "string", f.kind.want())
	}
}

// parseTime reads the layouts that services are seen to send, and seconds or milliseconds since 1970, and
// returns the zone if the text is an ISO 8601 timestamp. A time without a zone is in UTC.
func (f *field) parseTime(text string, p unsafe.Pointer) (z zone, unread bool) {
	to := (*time.Time)(p)
	at, z, ok := parseISO([]byte(text))
	if ok {
		*to = at
		if z == otherZone { // keep it, as encoding/json does
			if exact, err := time.Parse(time.RFC3339, text); err == nil {
				*to = exact
			}
		}
		return z, false
	}
	for _, layout := range []string{time.RFC1123, time.RFC1123Z} {
		if len(text) < len(layout) {
			continue
		}
		if at, err := time.Parse(layout, text); err == nil {
			*to = at.UTC()
			return noZone, false
		}
	}
	const firstMillisecond = 100_000_000_000 // as seconds, the year 5138
	n, err := strconv.ParseInt(text, 10, 64)
	at = time.Unix(n, 0)
	if n >= firstMillisecond {
		at = time.UnixMilli(n)
	}
	if err != nil || n <= 0 || at.Year() > 9999 {
		return noZone, true
	}
	*to = at.UTC()
	return noZone, false
}

// zone is the zone of a timestamp.
type zone uint8

const (
	noZone zone = iota
	utcZone
	otherZone
)

// parseISO reads a date or a timestamp of ISO 8601, in the extended format or the basic one, with seconds or
// without, also with a space in place of the T. A date of eight digits is not read: it may be a number of
// seconds.
func parseISO(text []byte) (at time.Time, z zone, ok bool) {
	s := isoScanner{text: text}
	year := 100*s.two() + s.two()
	extended := s.take('-', '-')
	month := s.two()
	if extended {
		s.need('-', '-')
	}
	day := s.two()
	hour, minute, second, nanosecond, offset := 0, 0, 0, 0, 0
	if !extended || !s.done() {
		if !s.take(' ', ' ') {
			s.need('T', 't')
		}
		hour = s.two()
		colon := s.take(':', ':')
		minute = s.two()
		if colon && s.take(':', ':') || !colon && s.next()-'0' <= 9 {
			second = s.two()
			nanosecond = s.fraction()
		}
		z, offset = s.zone()
	}
	if s.bad || !s.done() || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59 {
		return at, noZone, false
	}
	at = time.Date(year, time.Month(month), day, hour, minute, second, nanosecond, time.UTC)
	if day > 28 && at.Day() != day {
		return time.Time{}, noZone, false
	}
	if z == otherZone {
		at = at.Add(-time.Duration(offset) * time.Second)
	}
	return at, z, true
}

// isoScanner reads the parts of a timestamp from left to right.
type isoScanner struct {
	text []byte
	pos  int
	bad  bool
}

func (s *isoScanner) done() bool { return s.pos == len(s.text) }

// next returns the next byte, 0 at the end.
func (s *isoScanner) next() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

// take reads one of two characters, if it comes next.
func (s *isoScanner) take(one, other byte) bool {
	if c := s.next(); c != one && c != other || c == 0 {
		return false
	}
	s.pos++
	return true
}

func (s *isoScanner) need(one, other byte) { s.bad = !s.take(one, other) || s.bad }

// two reads two digits.
func (s *isoScanner) two() int {
	if s.pos+2 > len(s.text) {
		s.bad = true
		return 0
	}
	tens, units := s.text[s.pos]-'0', s.text[s.pos+1]-'0'
	s.bad = s.bad || tens > 9 || units > 9
	s.pos += 2
	return 10*int(tens) + int(units)
}

// fraction reads the fraction of a second, if there is one, as nanoseconds.
func (s *isoScanner) fraction() (nanoseconds int) {
	if !s.take('.', ',') {
		return 0
	}
	start, unit := s.pos, 1_000_000_000
	for ; s.next()-'0' <= 9; s.pos++ {
		unit /= 10
		nanoseconds += int(s.next()-'0') * unit
	}
	s.bad = s.bad || s.pos == start
	return nanoseconds
}

// zone reads the zone and its offset from UTC in seconds.
func (s *isoScanner) zone() (z zone, offset int) {
	switch sign := s.next(); {
	case s.take('Z', 'z'):
		return utcZone, 0
	case s.take('+', '-'):
		hours := s.two()
		minutes := 0
		if s.take(':', ':') || !s.done() {
			minutes = s.two()
		}
		s.bad = s.bad || hours > 23 || minutes > 59
		if offset = hours*3600 + minutes*60; sign == '-' {
			offset = -offset
		}
		return otherZone, offset
	}
	return noZone, 0
}
