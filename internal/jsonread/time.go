package jsonread

import (
	"strconv"
	"strings"
	"time"
)

// parseTime reads the layouts that services are seen to send, and seconds or milliseconds since 1970. zoned
// reports whether the text is a timestamp of ISO 8601 with a zone. Such a time keeps its offset; any other is in UTC.
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
	// Not the zone of the machine, if the offset is equal.
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
