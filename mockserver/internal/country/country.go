// Package country holds the countries that the reference server lists: the real ones, with their
// dialling codes, currencies, coordinates and time zones.
//
// The list is countries.json beside this file. Its data is from sources whose licences allow it (see NOTICE), and is edited
// by hand. It has 250 entries: the 249 of ISO 3166-1 and Kosovo under its
// user-assigned code XK, sorted by code.
//
// Assumption: the specification ("Country") gives names and types of the fields and little about
// their values. The list settles the rest so; to switch any of it, change the file:
//
//   - A dialling code is digits, except that a member of the North American plan reads
//     "1-684": country code, hyphen, area code. If it has several area codes, this is the first.
//   - A country's coordinates are those of its principal time zone's city, to four decimals; the
//     three places that zone.tab lacks have the World Factbook's.
//   - An offset is the zone's standard time of 2026, never its summer time.
//   - Antarctica, which has no money, has XXX, ISO 4217's code for "no currency".
//   - Bouvet Island and Heard Island, which are uninhabited, have no time zones: an empty array.
package country

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// Country is one entry of the list, as the specification's table "Country" has it.
type Country struct {
	// ISOCode is the two-letter code of ISO 3166-1, upper case.
	ISOCode string `json:"isoCode"`
	// Name is the country's name in English, with the letters it is spelled with (Åland, Curaçao).
	Name string `json:"name"`
	// Phonecode is the dialling code without a plus sign, such as "234" or "1-684".
	Phonecode string `json:"phonecode"`
	// Flag is the flag emoji: the code's two letters as regional indicators.
	Flag string `json:"flag"`
	// Currency is the country's principal currency, three letters of ISO 4217.
	Currency string `json:"currency"`
	// Latitude is in decimal degrees, north positive, such as "6.4500".
	Latitude string `json:"latitude"`
	// Longitude is in decimal degrees, east positive.
	Longitude string `json:"longitude"`
	// Timezones are the country's zones, the principal one first, the others in the order of the
	// time zone database. Empty, never nil, where the database has none.
	Timezones []Timezone `json:"timezones"`
}

// Timezone is one entry of [Country.Timezones].
type Timezone struct {
	// ZoneName is the name in the IANA time zone database, such as "Africa/Lagos".
	ZoneName string `json:"zoneName"`
	// GMTOffset is the standard time's distance from UTC in seconds, east positive.
	GMTOffset int `json:"gmtOffset"`
	// GMTOffsetName is GMTOffset in words: "UTC+01:00", "UTC-03:30", "UTC+00:00".
	GMTOffsetName string `json:"gmtOffsetName"`
	// Abbreviation is the database's abbreviation of the standard time: "WAT", or "+04" if it has no letters.
	Abbreviation string `json:"abbreviation"`
	// TZName is the standard time's name in English, such as "West Africa Time". Where the
	// abbreviation has no letters it is the zone's city: "Sao Paulo Time".
	TZName string `json:"tzName"`
}

// encoded is the list with one country a line, which makes a change of the data readable.
//
//go:embed countries.json
var encoded string

// JSON returns the list as the server sends it: a compact JSON array of about 90 KB. The slice is
// the caller's own; a server calls JSON once and keeps it.
func JSON() []byte {
	return []byte(strings.ReplaceAll(encoded, "\n", ""))
}

// All returns the list decoded, in the same order. It fails only where countries.json was edited by
// hand and is no longer valid.
func All() ([]Country, error) {
	var countries []Country
	if err := json.Unmarshal([]byte(encoded), &countries); err != nil {
		return nil, fmt.Errorf("countries.json is not a list of countries, run go generate in its folder: %w", err)
	}
	return countries, nil
}
