package jsonread

import (
	"bytes"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/shipping-go/shipping/internal/decimal"
)

// The parse functions read the text of a string, a number or a boolean into a field, and report whether the text is a
// value of the field's type.

func parseBool(text []byte, v reflect.Value) (read bool) {
	switch strings.ToLower(string(text)) {
	case "true", "1", "yes":
		v.SetBool(true)
	case "false", "0", "no", "":
		v.SetBool(false)
	default:
		return false
	}
	return true
}

// parseInt reads an integer in any notation ("1,250", "2.0", "1e3"). It also reads a number so near to an integer that
// floating-point arithmetic explains the difference: 19.99 × 100 is 1998.9999999999998.
func parseInt(text []byte, v reflect.Value) (read bool) {
	whole, fraction, _ := strings.Cut(string(text), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || strings.Trim(fraction, "0") != "" {
		if n, read = unusualInt(string(text)); !read {
			return false
		}
	}
	if v.OverflowInt(n) {
		return false
	}
	v.SetInt(n)
	return true
}

func unusualInt(text string) (n int64, read bool) {
	const (
		nearness = 1e-6    // of a number of floating-point origin to its integer
		exact    = 1 << 53 // below it, a float64 represents every integer
	)
	if number, err := decimal.Parse(text); err == nil && number.Scale == 0 {
		return number.Units, true
	}
	number, err := strconv.ParseFloat(text, 64)
	rounded := math.Round(number)
	return int64(rounded), err == nil && math.Abs(number-rounded) <= nearness && math.Abs(rounded) < exact
}

func parseFloat(text []byte, v reflect.Value) (read bool) {
	n, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return false
	}
	v.SetFloat(n)
	return true
}

// parseAnyTime reads a time in any notation, a complete timestamp or not.
func parseAnyTime(text []byte, v reflect.Value) (read bool) {
	at, _, read := parseTime(string(text))
	if read {
		*v.Addr().Interface().(*time.Time) = at
	}
	return read
}

// scalar reads a string, a number or a boolean, and returns its text without the space around it, which is a piece of
// the whole text.
func (s *scanner) scalar() []byte {
	if s.peek() != '"' {
		return s.Raw()
	}
	quoted, escaped := s.quoted()
	switch {
	case quoted == nil:
		return nil
	case escaped:
		return bytes.TrimSpace([]byte(unescape(quoted)))
	}
	return bytes.TrimSpace(quoted[1 : len(quoted)-1])
}

// unescape returns the text of a string in quotes, which scanner.quoted has checked. Half a surrogate pair and
// each byte that is not UTF-8 become U+FFFD. json.Unmarshal would do the same, and would add 200 KB to programs that
// only list.
func unescape(quoted []byte) string {
	text := make([]byte, 0, len(quoted))
	for rest := quoted[1 : len(quoted)-1]; len(rest) > 0; {
		c, size := utf8.DecodeRune(rest)
		if c == '\\' {
			c, size = escape(rest)
		}
		text, rest = utf8.AppendRune(text, c), rest[size:]
	}
	return string(text)
}

// escape returns the character of the escape at the start of a text, and the size of the escape.
func escape(text []byte) (c rune, size int) {
	const letters, controls = "bfnrt", "\b\f\n\r\t"
	if i := strings.IndexByte(letters, text[1]); i >= 0 {
		return rune(controls[i]), 2
	}
	c = utf16Unit(text)
	switch {
	case c < 0:
		return rune(text[1]), 2
	case !utf16.IsSurrogate(c):
		return c, 6
	}
	if c = utf16.DecodeRune(c, utf16Unit(text[6:])); c != utf8.RuneError {
		return c, 12
	}
	return c, 6
}

// utf16Unit returns the number of the escape \uXXXX at the start of a text, or -1.
func utf16Unit(text []byte) rune {
	if !startsWith(text, `\u`) {
		return -1
	}
	n, _ := strconv.ParseUint(string(text[2:6]), 16, 16) // scanner.quoted has checked the digits
	return rune(n)
}

// parseTime reads the layouts that services send, and seconds or milliseconds since 1970. zoned reports whether the
// text is a timestamp of ISO 8601 with a zone. Such a time keeps its offset; any other is in UTC.
func parseTime(text string) (at time.Time, zoned, ok bool) {
	const firstMillisecond = 100_000_000_000                           // as seconds, the year 5138
	if len(text) > 19 && text[10] == 'T' && text[len(text)-1] == 'Z' { // most are parsed without more
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return at, true, true
		}
	}
	if clock := strings.IndexAny(text, "Tt ") + 1; clock > 0 && text[0] <= '9' {
		zoned = strings.ContainsAny(text[clock:], "Zz+-")
		at, ok = parseISO(text, clock, zoned)
		return at, ok && zoned, ok
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		at = time.Unix(n, 0)
		if n >= firstMillisecond {
			at = time.UnixMilli(n)
		}
		return at.UTC(), false, n > 0 && at.Year() <= 9999
	}
	for _, layout := range []string{time.DateOnly, time.RFC1123, time.RFC1123Z} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), false, true
		}
	}
	return at, false, false
}

// parseISO reads a timestamp of ISO 8601 whose clock begins at an index: in the extended format or the basic one, with
// seconds or without. One without a zone is in UTC.
func parseISO(text string, clock int, zoned bool) (at time.Time, ok bool) {
	layout := time.RFC3339
	switch space := text[clock-1] == ' '; {
	case space && zoned:
		layout = "2006-01-02 15:04:05Z07:00"
	case space:
		layout = time.DateTime
	case !zoned:
		layout = "2006-01-02T15:04:05"
	}
	// time.Parse would return the zone of the machine if its offset is equal.
	at, err := time.ParseInLocation(layout, text, time.UTC)
	if err != nil {
		at, err = parseUnusual(strings.ToUpper(text[:clock-1]+"T"+text[clock:]), zoned)
	}
	_, offset := at.Zone()
	return at, err == nil && max(offset, -offset) < 24*60*60
}

func parseUnusual(text string, zoned bool) (at time.Time, err error) {
	if !zoned {
		text += "Z"
	}
	for _, date := range []string{time.DateOnly, "20060102"} {
		for _, clock := range []string{time.TimeOnly, "15:04", "150405", "1504"} {
			for _, zone := range []string{"Z07:00", "Z0700", "Z07"} {
				if at, err = time.ParseInLocation(date+"T"+clock+zone, text, time.UTC); err == nil {
					return at, nil
				}
			}
		}
	}
	return at, err
}
