package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/country"
)

// goZoneDatabase is the SHA-256 of lib/time/zoneinfo.zip in Go 1.26.8: release 2025c of the time
// zone database.
const goZoneDatabase = "8f55634d05f8bca1f7bc7c69c5933428c69357e0bdf565e5ba224e3f88ff12e8"

// year is the one whose standard times are recorded.
const year = 2026

// zoneDatabase is the time zone database that Go is distributed with. The system's own, which
// time.LoadLocation prefers, differs from machine to machine.
type zoneDatabase struct{ files fs.FS }

// openZoneDatabase opens the database of the Go toolchain in use.
func openZoneDatabase() (*zoneDatabase, error) {
	root, err := output("", "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip")
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	if hex.EncodeToString(sum[:]) != goZoneDatabase {
		return nil, fmt.Errorf("%s is another release of the time zone database (SHA-256 %x): use Go 1.26.8, or set goZoneDatabase and review what changes", path, sum)
	}
	files, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	return &zoneDatabase{files}, nil
}

// timezone describes a zone's standard time.
func (d *zoneDatabase) timezone(zone string) (country.Timezone, error) {
	content, err := fs.ReadFile(d.files, zone)
	if err != nil {
		return country.Timezone{}, err
	}
	location, err := time.LoadLocationFromTZData(zone, content)
	if err != nil {
		return country.Timezone{}, fmt.Errorf("zone %s: %w", zone, err)
	}
	abbreviation, offset := standardTime(location)
	name, err := timeName(zone, abbreviation, offsetName(offset))
	if err != nil {
		return country.Timezone{}, err
	}
	return country.Timezone{
		ZoneName:      zone,
		GMTOffset:     offset,
		GMTOffsetName: offsetName(offset),
		Abbreviation:  abbreviation,
		TZName:        name,
	}, nil
}

// standardTime returns the lesser offset of 1 January and 1 July, UTC: standard time in both
// hemispheres. The database's own summer-time mark won't do: for Ireland it marks the winter.
func standardTime(location *time.Location) (abbreviation string, offset int) {
	abbreviation, offset = time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC).In(location).Zone()
	july, inJuly := time.Date(year, time.July, 1, 0, 0, 0, 0, time.UTC).In(location).Zone()
	if inJuly < offset {
		return july, inJuly
	}
	return abbreviation, offset
}

// offsetName writes an offset in seconds as UTC±hh:mm.
func offsetName(offset int) string {
	sign := '+'
	if offset < 0 {
		sign, offset = '-', -offset
	}
	return fmt.Sprintf("UTC%c%02d:%02d", sign, offset/3600, offset%3600/60)
}

// standard is a standard time. The abbreviation alone is ambiguous: CST is three of them.
type standard struct{ abbreviation, offsetName string }

// standardNames returns the English name of every standard time that has letters for an abbreviation.
func standardNames() map[standard]string {
	return map[standard]string{
		{"SST", "UTC-11:00"}:  "Samoa Standard Time",
		{"HST", "UTC-10:00"}:  "Hawaii-Aleutian Standard Time",
		{"AKST", "UTC-09:00"}: "Alaska Standard Time",
		{"PST", "UTC-08:00"}:  "Pacific Standard Time",
		{"MST", "UTC-07:00"}:  "Mountain Standard Time",
		{"CST", "UTC-06:00"}:  "Central Standard Time",
		{"CST", "UTC-05:00"}:  "Cuba Standard Time",
		{"EST", "UTC-05:00"}:  "Eastern Standard Time",
		{"AST", "UTC-04:00"}:  "Atlantic Standard Time",
		{"NST", "UTC-03:30"}:  "Newfoundland Standard Time",
		{"GMT", "UTC+00:00"}:  "Greenwich Mean Time",
		{"WET", "UTC+00:00"}:  "Western European Time",
		{"CET", "UTC+01:00"}:  "Central European Time",
		{"WAT", "UTC+01:00"}:  "West Africa Time",
		{"CAT", "UTC+02:00"}:  "Central Africa Time",
		{"EET", "UTC+02:00"}:  "Eastern European Time",
		{"IST", "UTC+02:00"}:  "Israel Standard Time",
		{"SAST", "UTC+02:00"}: "South Africa Standard Time",
		{"EAT", "UTC+03:00"}:  "East Africa Time",
		{"MSK", "UTC+03:00"}:  "Moscow Standard Time",
		{"PKT", "UTC+05:00"}:  "Pakistan Standard Time",
		{"IST", "UTC+05:30"}:  "India Standard Time",
		{"WIB", "UTC+07:00"}:  "Western Indonesia Time",
		{"AWST", "UTC+08:00"}: "Australian Western Standard Time",
		{"CST", "UTC+08:00"}:  "China Standard Time",
		{"HKT", "UTC+08:00"}:  "Hong Kong Time",
		{"PST", "UTC+08:00"}:  "Philippine Standard Time",
		{"WITA", "UTC+08:00"}: "Central Indonesia Time",
		{"JST", "UTC+09:00"}:  "Japan Standard Time",
		{"KST", "UTC+09:00"}:  "Korea Standard Time",
		{"WIT", "UTC+09:00"}:  "Eastern Indonesia Time",
		{"ACST", "UTC+09:30"}: "Australian Central Standard Time",
		{"AEST", "UTC+10:00"}: "Australian Eastern Standard Time",
		{"ChST", "UTC+10:00"}: "Chamorro Standard Time",
		{"NZST", "UTC+12:00"}: "New Zealand Standard Time",
	}
}

// timeName returns the English name of a zone's standard time. Where the database has only digits
// for an abbreviation ("+04"), people have no settled name either and the zone's city gives one.
func timeName(zone, abbreviation, offsetName string) (string, error) {
	if strings.HasPrefix(abbreviation, "+") || strings.HasPrefix(abbreviation, "-") {
		city := zone[strings.LastIndex(zone, "/")+1:]
		city = strings.NewReplacer("_", " ", "DumontDUrville", "Dumont d'Urville").Replace(city)
		return city + " Time", nil
	}
	name, found := standardNames()[standard{abbreviation, offsetName}]
	if !found {
		return "", fmt.Errorf("no English name for %s at %s, the time of %s: add it to standardNames", abbreviation, offsetName, zone)
	}
	return name, nil
}
