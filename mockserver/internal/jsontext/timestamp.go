package jsontext

import (
	"time"
)

// Timestamp is a time as the service writes it: ISO 8601, UTC, milliseconds.
type Timestamp time.Time

// MarshalJSON implements [json.Marshaler].
func (t Timestamp) MarshalJSON() ([]byte, error) { return t.append(nil), nil }

// UnmarshalJSON implements [json.Unmarshaler].
func (t *Timestamp) UnmarshalJSON(text []byte) error { return (*time.Time)(t).UnmarshalJSON(text) }

// append appends the JSON of a time, with fewer questions than a layout asks. Years have four digits.
func (t Timestamp) append(dst []byte) []byte {
	at := time.Time(t).UTC()
	year, month, day := at.Date()
	hour, minute, second := at.Clock()
	dst = digits(append(dst, '"'), year, 1000)
	dst = digits(append(dst, '-'), int(month), 10)
	dst = digits(append(dst, '-'), day, 10)
	dst = digits(append(dst, 'T'), hour, 10)
	dst = digits(append(dst, ':'), minute, 10)
	dst = digits(append(dst, ':'), second, 10)
	dst = digits(append(dst, '.'), at.Nanosecond()/1_000_000, 100)
	return append(dst, 'Z', '"')
}

// digits appends a number with the digits of its largest unit.
func digits(dst []byte, n, unit int) []byte {
	for ; unit > 0; unit /= 10 {
		dst = append(dst, byte('0'+n/unit%10))
	}
	return dst
}
