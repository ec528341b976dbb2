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
	const firstMillisecond = 100_000_000_000 // as seconds, the year 5138
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
	if text[clock-1] != 'T' || !zoned {
		text = text[:clock-1] + "T" + text[clock:]
	}
	if !zoned {
		text += "Z"
	}
	// Not the zone of the machine, if the offset is equal.
	at, err := time.ParseInLocation(time.RFC3339, text, time.UTC)
	if err != nil {
		at, err = parseUnusual(strings.ToUpper(text))
	}
	_, offset := at.Zone()
	return at, err == nil && max(offset, -offset) < 24*60*60
}

func parseUnusual(text string) (at time.Time, err error) {
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
