package shipping

import "time"

// timestamp reads an RFC 3339 timestamp.
func (d *recordReader) timestamp(t *time.Time) {
	raw := d.Raw()
	if at, ok := utcTimestamp(raw); ok {
		*t = at
	} else if t.UnmarshalJSON(raw) != nil {
		d.Fail()
	}
}

// utcTimestamp reads what services nearly always send: "2026-01-05T09:30:00.000Z", the fraction of
// any length or absent.
func utcTimestamp(raw []byte) (at time.Time, ok bool) {
	const layout = `"2006-01-02T15:04:05Z"`
	if len(raw) < len(layout) || raw[5] != '-' || raw[8] != '-' || raw[11] != 'T' || raw[14] != ':' || raw[17] != ':' || raw[len(raw)-2] != 'Z' {
		return at, false
	}
	high, ok0 := twoDigits(raw[1:])
	low, ok1 := twoDigits(raw[3:])
	month, ok2 := twoDigits(raw[6:])
	day, ok3 := twoDigits(raw[9:])
	hour, ok4 := twoDigits(raw[12:])
	minute, ok5 := twoDigits(raw[15:])
	second, ok6 := twoDigits(raw[18:])
	nanosecond, ok7 := fraction(raw[20 : len(raw)-2])
	if !(ok0 && ok1 && ok2 && ok3 && ok4 && ok5 && ok6 && ok7) || day > 28 && month == 2 ||
		month < 1 || month > 12 || day < 1 || day > 30 || hour > 23 || minute > 59 || second > 59 {
		return at, false // days that not every month has are left to the full parser
	}
	return time.Date(100*high+low, time.Month(month), day, hour, minute, second, nanosecond, time.UTC), true
}

func twoDigits(s []byte) (n int, ok bool) {
	tens, units := s[0]-'0', s[1]-'0'
	return 10*int(tens) + int(units), tens <= 9 && units <= 9
}

// fraction reads ".000" and the like as nanoseconds.
func fraction(s []byte) (nanoseconds int, ok bool) {
	if len(s) == 0 {
		return 0, true
	}
	if s[0] != '.' || len(s) < 2 || len(s) > 10 {
		return 0, false
	}
	unit := 1_000_000_000
	for i := 1; i < len(s); i++ {
		digit := s[i] - '0'
		if digit > 9 {
			return 0, false
		}
		unit /= 10
		nanoseconds += int(digit) * unit
	}
	return nanoseconds, true
}
