package jsonread

import (
	"strconv"
	"strings"
	"time"
	"unsafe"
)

// timestamp reads a string into the time at p.
func (d *Decoder) timestamp(f *field, p unsafe.Pointer) {
	raw := d.Raw()
	if raw == nil {
		return
	}
	at, zoned, ok := parseUTC(raw)
	if !ok {
		at, zoned, ok = parseTime(strings.TrimSpace(textOf(raw)))
	}
	if !zoned {
		d.differs(f, "string", f.kind.want())
	}
	if d.unread = !ok; ok {
		*(*time.Time)(p) = at
	}
}

// parseUTC reads what services nearly always send, in quotes: "2026-01-05T09:30:00.000Z", the fraction of up to nine
// digits or absent, perhaps with a space in place of the T or without the Z. If ok is false, [parseTime] decides.
func parseUTC(raw []byte) (at time.Time, zoned, ok bool) {
	const shortest = `"2006-01-02T15:04:05"`
	if len(raw) < len(shortest) || raw[5] != '-' || raw[8] != '-' || raw[11] != 'T' && raw[11] != ' ' || raw[14] != ':' || raw[17] != ':' {
		return at, false, false
	}
	end := len(raw) - 1
	if zoned = raw[end-1] == 'Z'; zoned {
		end--
	}
	d := digits{raw, true}
	year, month, day := 100*d.two(1)+d.two(3), d.two(6), d.two(9)
	hour, minute, second := d.two(12), d.two(15), d.two(18)
	nanosecond := d.fraction(20, end)
	if !d.ok || month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59 {
		return at, false, false
	}
	at = time.Date(year, time.Month(month), day, hour, minute, second, nanosecond, time.UTC)
	return at, zoned, at.Day() == day // the month has that day
}

// digits reads numbers of a text. ok becomes false at anything else.
type digits struct {
	text []byte
	ok   bool
}

func (d *digits) two(i int) int {
	tens, units := d.text[i]-'0', d.text[i+1]-'0'
	d.ok = d.ok && tens <= 9 && units <= 9
	return 10*int(tens) + int(units)
}

// fraction reads ".000" and the like as nanoseconds.
func (d *digits) fraction(i, end int) (nanoseconds int) {
	if i >= end {
		d.ok = d.ok && i == end
		return 0
	}
	d.ok = d.ok && d.text[i] == '.' && end-i >= 2 && end-i <= 10
	unit := 1_000_000_000
	for _, c := range d.text[i+1 : end] {
		unit /= 10
		nanoseconds += int(c-'0') * unit
		d.ok = d.ok && c-'0' <= 9
	}
	return nanoseconds
}

// parseTime reads the layouts that services are seen to send, and seconds or milliseconds since 1970. zoned
// reports whether the text is a timestamp of ISO 8601 with a zone. Such a time keeps its offset; any other is in UTC.
func parseTime(text string) (at time.Time, zoned, ok bool) {
	upper := strings.ToUpper(text)
	if layout := layoutOf(upper); layout != "" {
		at, err := time.ParseInLocation(layout, upper, time.UTC) // not the zone of the machine, if the offset is equal
		_, offset := at.Zone()
		ok = err == nil && max(offset, -offset) < 24*60*60
		return at, ok && strings.Contains(layout, "Z"), ok
	}
	if text == "" {
		return at, false, false
	}
	for _, layout := range []string{time.RFC1123, time.RFC1123Z} {
		if text[0] < 'A' { // the name of a day
			break
		}
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), false, true
		}
	}
	const firstMillisecond = 100_000_000_000 // as seconds, the year 5138
	n, err := strconv.ParseInt(text, 10, 64)
	at = time.Unix(n, 0)
	if n >= firstMillisecond {
		at = time.UnixMilli(n)
	}
	return at.UTC(), false, err == nil && n > 0 && at.Year() <= 9999
}

// layoutOf returns the layout of a date or a timestamp of ISO 8601, for [time.Parse]: in the extended format or the
// basic one, with seconds or without, also with a space in place of the T. It returns "" for any other text, and for
// a date of eight digits, which may be a number of seconds.
func layoutOf(text string) string {
	const basic = "20060102"
	i := strings.IndexAny(text, "T ")
	date := basic
	switch {
	case i < 0 && len(text) == len(time.DateOnly) && text[4] == '-':
		return time.DateOnly
	case i == len(time.DateOnly):
		date = time.DateOnly
	case i != len(basic):
		return ""
	}
	clock, zone := text[i+1:], ""
	if z := strings.IndexAny(clock, "Z+-"); z >= 0 {
		clock, zone = clock[:z], clock[z:]
	}
	digits := strings.IndexAny(clock+".", ".,") // up to the fraction
	layout := "1504"
	switch colons := strings.Count(clock, ":"); {
	case colons > 1:
		layout = time.TimeOnly
	case colons > 0:
		layout = "15:04"
	case digits > len(layout):
		layout = "150405"
	}
	switch len(zone) {
	case 0:
	case len("+01"):
		layout += "Z07"
	case len("+0100"):
		layout += "Z0700"
	default:
		layout += "Z07:00"
	}
	return date + text[i:i+1] + layout
}
