package main

import (
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// zoneTab is zone.tab of the time zone database, release 2025b, in the public domain: the zones of
// each country, and where each one's principal city is.
//
//go:embed zone.tab
var zoneTab string

// place is a row of zone.tab.
type place struct {
	// position is in the form of ISO 6709, degrees and minutes: "+0627+00324".
	position string
	// zone is the name in the time zone database. Empty for an exception without a zone.
	zone string
}

// readPlaces returns the rows of zone.tab by country code, in the table's order.
func readPlaces() (map[string][]place, error) {
	places := map[string][]place{}
	for line := range strings.Lines(zoneTab) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(columns) < 3 {
			return nil, fmt.Errorf("zone.tab: a row needs code, position and zone: %q", line)
		}
		code := columns[0]
		places[code] = append(places[code], place{position: columns[1], zone: columns[2]})
	}
	return places, nil
}

// degrees turns ±DDMM±DDDMM or ±DDMMSS±DDDMMSS into decimal latitude and longitude.
func degrees(position string) (latitude, longitude string, err error) {
	second := strings.LastIndexAny(position, "+-")
	if second < 1 {
		return "", "", fmt.Errorf("position %q is not in the form ±DDMM±DDDMM", position)
	}
	latitude, err = decimal(position[:second], 2)
	if err != nil {
		return "", "", fmt.Errorf("latitude of position %q: %w", position, err)
	}
	longitude, err = decimal(position[second:], 3)
	if err != nil {
		return "", "", fmt.Errorf("longitude of position %q: %w", position, err)
	}
	return latitude, longitude, nil
}

// decimal turns a sign, degrees of the given width, minutes and perhaps seconds into decimal
// degrees. Four decimals are eleven metres, finer than the table's arc seconds.
func decimal(angle string, width int) (string, error) {
	sign, digits := strings.TrimPrefix(angle[:1], "+"), angle[1:]
	if len(digits) == width+2 {
		digits += "00"
	}
	if len(digits) != width+4 {
		return "", errors.New("it needs degrees and minutes, and may have seconds")
	}
	var parts [3]int
	for i, text := range []string{digits[:width], digits[width : width+2], digits[width+2:]} {
		n, err := strconv.ParseUint(text, 10, 8)
		if err != nil {
			return "", err
		}
		parts[i] = int(n)
	}
	seconds := parts[0]*3600 + parts[1]*60 + parts[2]
	tenThousandths := (seconds*10000 + 1800) / 3600 // rounded half up
	return fmt.Sprintf("%s%d.%04d", sign, tenThousandths/10000, tenThousandths%10000), nil
}
