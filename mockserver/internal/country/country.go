// Package country holds the countries that the reference server lists: the real ones, with their
// dialling codes, currencies, coordinates and time zones.
//
// The list is countries.json beside this file. Its data is from sources whose licences allow it (see
// THIRD_PARTY_LICENSES), and is edited by hand. It has 250 entries: the 249 of ISO 3166-1 and Kosovo under its
// user-assigned code XK, sorted by code.
//
// Assumption: the specification ("Country") gives names and types of the fields and little about their values. The list
// decides the rest as follows. To change a decision, edit the file.
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
	"strings"
)

//go:embed countries.json
var encoded string

// JSON returns the list as the server sends it: a compact JSON array of about 90 KB. The slice is
// the caller's own; a server calls JSON once and keeps it.
func JSON() []byte {
	return []byte(strings.ReplaceAll(encoded, "\n", ""))
}
