package country_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"
	_ "time/tzdata" // the zones must load on a machine without its own database

	"github.com/shipping-go/shipping/mockserver/internal/country"
)

// Country and Timezone are those of the specification, written once more: the list is checked by its text.
type Country struct {
	ISOCode   string     `json:"isoCode"`
	Name      string     `json:"name"`
	Phonecode string     `json:"phonecode"`
	Flag      string     `json:"flag"`
	Currency  string     `json:"currency"`
	Latitude  string     `json:"latitude"`
	Longitude string     `json:"longitude"`
	Timezones []Timezone `json:"timezones"`
}

type Timezone struct {
	ZoneName      string `json:"zoneName"`
	GMTOffset     int    `json:"gmtOffset"`
	GMTOffsetName string `json:"gmtOffsetName"`
	Abbreviation  string `json:"abbreviation"`
	TZName        string `json:"tzName"`
}

// all returns the list, or ends the test.
func all(t *testing.T) []Country {
	t.Helper()
	if bytes.ContainsAny(country.JSON(), "\n\t") {
		t.Error("JSON has white space between its tokens")
	}
	var countries []Country
	if err := json.Unmarshal(country.JSON(), &countries); err != nil {
		t.Fatal(err)
	}
	return countries
}

// The list has the 249 countries of ISO 3166-1 and Kosovo, sorted by code, each with its flag, a place on the globe, and
// zones, if anybody lives there.
func TestTheListHas250CountriesSortedByCode(t *testing.T) {
	t.Parallel()
	within := func(degrees string, limit float64) bool {
		value, err := strconv.ParseFloat(degrees, 64)
		return err == nil && -limit <= value && value <= limit
	}
	var codes, without []string
	for _, c := range all(t) {
		codes = append(codes, c.ISOCode)
		var letters []rune
		for _, indicator := range c.Flag {
			letters = append(letters, indicator-0x1F1E6+'A')
		}
		if string(letters) != c.ISOCode || !within(c.Latitude, 90) || !within(c.Longitude, 180) || c.Timezones == nil {
			t.Errorf("%+v", c)
		}
		if len(c.Timezones) == 0 {
			without = append(without, c.ISOCode)
		}
	}
	if len(slices.Compact(slices.Clone(codes))) != 250 || !slices.IsSorted(codes) || !slices.Equal(without, []string{"BV", "HM"}) {
		t.Errorf("%d countries, without zones %q: %q", len(codes), without, codes)
	}
}

// The offset of a zone is its standard time, and it has its names.
func TestOffsetsAreTheStandardTimeOfGosOwnDatabase(t *testing.T) {
	t.Parallel()
	for _, c := range all(t) {
		for _, zone := range c.Timezones {
			location, err := time.LoadLocation(zone.ZoneName)
			if err != nil {
				t.Errorf("%s: %v", c.ISOCode, err)
				continue
			}
			_, january := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC).In(location).Zone()
			_, july := time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC).In(location).Zone()
			if want := min(january, july); zone.GMTOffset != want {
				t.Errorf("%s: gmtOffset of %s is %d, want %d", c.ISOCode, zone.ZoneName, zone.GMTOffset, want)
			}
			minutes, sign := zone.GMTOffset/60, "+"
			if minutes < 0 {
				sign, minutes = "-", -minutes
			}
			if want := fmt.Sprintf("UTC%s%02d:%02d", sign, minutes/60, minutes%60); zone.GMTOffsetName != want || zone.Abbreviation == "" || zone.TZName == "" {
				t.Errorf("%s: %+v, want the offset %q and two names", c.ISOCode, zone, want)
			}
		}
	}
}

// A country has its own values, and its principal zone first.
func TestCountries_HaveTheirValues(t *testing.T) {
	t.Parallel()
	want := map[string]Country{}
	for _, c := range []Country{
		{"IN", "India", "91", "🇮🇳", "INR", "22.5333", "88.3667", []Timezone{{"Asia/Kolkata", 19800, "UTC+05:30", "IST", "India Standard Time"}}},
		{"IE", "Ireland", "353", "🇮🇪", "EUR", "53.3333", "-6.2500", []Timezone{{"Europe/Dublin", 0, "UTC+00:00", "GMT", "Greenwich Mean Time"}}},
		{"AS", "American Samoa", "1-684", "🇦🇸", "USD", "-14.2667", "-170.7000", []Timezone{{"Pacific/Pago_Pago", -39600, "UTC-11:00", "SST", "Samoa Standard Time"}}},
		{"XK", "Kosovo", "383", "🇽🇰", "EUR", "42.5833", "21.0000", []Timezone{{"Europe/Belgrade", 3600, "UTC+01:00", "CET", "Central European Time"}}},
	} {
		want[c.ISOCode] = c
	}
	first := map[string]string{"AU": "12 Australia/Sydney", "BR": "16 America/Sao_Paulo", "RU": "26 Europe/Moscow", "US": "29 America/New_York"}
	for _, c := range all(t) {
		if known, ok := want[c.ISOCode]; ok && !reflect.DeepEqual(c, known) {
			t.Errorf("got %+v, want %+v", c, known)
		}
		if zones := first[c.ISOCode]; zones != "" && fmt.Sprint(len(c.Timezones), " ", c.Timezones[0].ZoneName) != zones {
			t.Errorf("%s has %d zones, first %s; want %s", c.ISOCode, len(c.Timezones), c.Timezones[0].ZoneName, zones)
		}
	}
}
