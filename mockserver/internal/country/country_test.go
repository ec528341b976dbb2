package country_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
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
	var countries []Country
	if err := json.Unmarshal(country.JSON(), &countries); err != nil {
		t.Fatal(err)
	}
	return countries
}

// find returns one country, or ends the test.
func find(t *testing.T, code string) Country {
	t.Helper()
	countries := all(t)
	at := slices.IndexFunc(countries, func(c Country) bool { return c.ISOCode == code })
	if at < 0 {
		t.Fatalf("country %s is missing", code)
	}
	return countries[at]
}

func TestTheListHas250CountriesSortedByCode(t *testing.T) {
	t.Parallel()
	var codes []string
	for _, c := range all(t) {
		codes = append(codes, c.ISOCode)
	}
	if len(codes) != 250 {
		t.Errorf("%d countries, want the 249 of ISO 3166-1 and Kosovo", len(codes))
	}
	if !slices.IsSorted(codes) {
		t.Errorf("not sorted by code: %q", codes)
	}
	if unique := slices.Compact(codes); len(unique) != 250 {
		t.Errorf("%d different codes, want 250", len(unique))
	}
}

func TestEachFieldReadsAsTheSpecificationSays(t *testing.T) {
	t.Parallel()
	for _, field := range []struct {
		name    string
		pattern *regexp.Regexp
		of      func(Country) string
	}{
		{"isoCode", regexp.MustCompile(`^[A-Z]{2}$`), func(c Country) string { return c.ISOCode }},
		{"name", regexp.MustCompile(`^\S(.*\S)?$`), func(c Country) string { return c.Name }},
		{"phonecode", regexp.MustCompile(`^([2-9]\d{1,3}|7|1(-[2-9]\d\d)?)$`), func(c Country) string { return c.Phonecode }},
		{"currency", regexp.MustCompile(`^[A-Z]{3}$`), func(c Country) string { return c.Currency }},
		{"latitude", regexp.MustCompile(`^-?\d{1,2}\.\d{4}$`), func(c Country) string { return c.Latitude }},
		{"longitude", regexp.MustCompile(`^-?\d{1,3}\.\d{4}$`), func(c Country) string { return c.Longitude }},
	} {
		for _, c := range all(t) {
			if value := field.of(c); !field.pattern.MatchString(value) {
				t.Errorf("%s of %s is %q, want the form %s", field.name, c.ISOCode, value, field.pattern)
			}
		}
	}
}

func TestCoordinatesLieOnTheGlobe(t *testing.T) {
	t.Parallel()
	within := func(degrees string, limit float64) bool {
		value, err := strconv.ParseFloat(degrees, 64)
		return err == nil && -limit <= value && value <= limit
	}
	for _, c := range all(t) {
		if !within(c.Latitude, 90) || !within(c.Longitude, 180) {
			t.Errorf("%s lies at %s, %s", c.ISOCode, c.Latitude, c.Longitude)
		}
	}
}

func TestTheFlagIsTheCodeInRegionalIndicators(t *testing.T) {
	t.Parallel()
	for _, c := range all(t) {
		var letters []rune
		for _, indicator := range c.Flag {
			letters = append(letters, indicator-0x1F1E6+'A')
		}
		if string(letters) != c.ISOCode {
			t.Errorf("%s flies %q", c.ISOCode, c.Flag)
		}
	}
}

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
		}
	}
}

func TestEveryZoneNamesItsOffset(t *testing.T) {
	t.Parallel()
	for _, c := range all(t) {
		for _, zone := range c.Timezones {
			minutes := zone.GMTOffset / 60
			sign := "+"
			if minutes < 0 {
				sign, minutes = "-", -minutes
			}
			if want := fmt.Sprintf("UTC%s%02d:%02d", sign, minutes/60, minutes%60); zone.GMTOffsetName != want {
				t.Errorf("%s: gmtOffsetName of %s is %q, want %q", c.ISOCode, zone.ZoneName, zone.GMTOffsetName, want)
			}
			if zone.Abbreviation == "" || zone.TZName == "" {
				t.Errorf("%s: %s lacks a name: %+v", c.ISOCode, zone.ZoneName, zone)
			}
		}
	}
}

func TestCountriesWithOneZone(t *testing.T) {
	t.Parallel()
	for _, want := range []Country{
		{"NG", "Nigeria", "234", "🇳🇬", "NGN", "6.4500", "3.4000", []Timezone{
			{"Africa/Lagos", 3600, "UTC+01:00", "WAT", "West Africa Time"}}},
		{"IN", "India", "91", "🇮🇳", "INR", "22.5333", "88.3667", []Timezone{
			{"Asia/Kolkata", 19800, "UTC+05:30", "IST", "India Standard Time"}}},
		{"AF", "Afghanistan", "93", "🇦🇫", "AFN", "34.5167", "69.2000", []Timezone{
			{"Asia/Kabul", 16200, "UTC+04:30", "+0430", "Kabul Time"}}},
		{"GH", "Ghana", "233", "🇬🇭", "GHS", "5.5500", "-0.2167", []Timezone{
			{"Africa/Accra", 0, "UTC+00:00", "GMT", "Greenwich Mean Time"}}},
		{"IE", "Ireland", "353", "🇮🇪", "EUR", "53.3333", "-6.2500", []Timezone{
			{"Europe/Dublin", 0, "UTC+00:00", "GMT", "Greenwich Mean Time"}}},
		{"CW", "Curaçao", "5999", "🇨🇼", "XCG", "12.1833", "-69.0000", []Timezone{
			{"America/Curacao", -14400, "UTC-04:00", "AST", "Atlantic Standard Time"}}},
		{"AS", "American Samoa", "1-684", "🇦🇸", "USD", "-14.2667", "-170.7000", []Timezone{
			{"Pacific/Pago_Pago", -39600, "UTC-11:00", "SST", "Samoa Standard Time"}}},
		{"XK", "Kosovo", "383", "🇽🇰", "EUR", "42.5833", "21.0000", []Timezone{
			{"Europe/Belgrade", 3600, "UTC+01:00", "CET", "Central European Time"}}},
	} {
		if got := find(t, want.ISOCode); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestCountriesWithManyZonesHaveThePrincipalOneFirst(t *testing.T) {
	t.Parallel()
	for _, want := range []struct {
		code  string
		zones int
		first string
	}{
		{"AU", 12, "Australia/Sydney"},
		{"BR", 16, "America/Sao_Paulo"},
		{"CA", 23, "America/Toronto"},
		{"RU", 26, "Europe/Moscow"},
		{"UA", 2, "Europe/Kyiv"},
		{"US", 29, "America/New_York"},
		{"UZ", 2, "Asia/Tashkent"},
	} {
		zones := find(t, want.code).Timezones
		if len(zones) != want.zones || zones[0].ZoneName != want.first {
			t.Errorf("%s has %d zones, first %s; want %d, first %s",
				want.code, len(zones), zones[0].ZoneName, want.zones, want.first)
		}
	}
}

func TestWhereNobodyLivesThereAreNoZones(t *testing.T) {
	t.Parallel()
	var without []string
	for _, c := range all(t) {
		if len(c.Timezones) > 0 {
			continue
		}
		without = append(without, c.ISOCode)
		if c.Timezones == nil {
			t.Errorf("%s: timezones is null, want an empty array", c.ISOCode)
		}
	}
	if !slices.Equal(without, []string{"BV", "HM"}) {
		t.Errorf("without zones: %q, want Bouvet Island and Heard Island only", without)
	}
}

func TestAntarcticaHasNoCurrency(t *testing.T) {
	t.Parallel()
	if got := find(t, "AQ").Currency; got != "XXX" {
		t.Errorf("got %q, want XXX, ISO 4217's code for no currency", got)
	}
}

func TestEachEntryHasExactlyTheFieldsOfTheSpecification(t *testing.T) {
	t.Parallel()
	ofCountry := []string{"isoCode", "name", "phonecode", "flag", "currency", "latitude", "longitude", "timezones"}
	ofTimezone := []string{"zoneName", "gmtOffset", "gmtOffsetName", "abbreviation", "tzName"}
	for _, entry := range elements(t, country.JSON()) {
		names, values := fields(t, entry)
		if !slices.Equal(names, ofCountry) {
			t.Fatalf("fields %q, want %q, in %s", names, ofCountry, entry)
		}
		for _, zone := range elements(t, values["timezones"]) {
			if names, _ := fields(t, zone); !slices.Equal(names, ofTimezone) {
				t.Fatalf("fields %q, want %q, in %s", names, ofTimezone, zone)
			}
		}
	}
}

func TestJSONIsCompactAndTheCallersOwn(t *testing.T) {
	t.Parallel()
	sent := country.JSON()
	var compact bytes.Buffer
	if err := json.Compact(&compact, sent); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(sent, compact.Bytes()) {
		t.Error("JSON has white space between its tokens")
	}
	sent[0] = '!'
	if again := country.JSON(); again[0] != '[' {
		t.Error("changing the slice changed the list")
	}
}

// elements returns the elements of a JSON array.
func elements(t *testing.T, array []byte) []json.RawMessage {
	t.Helper()
	var elements []json.RawMessage
	if err := json.Unmarshal(array, &elements); err != nil {
		t.Fatal(err)
	}
	return elements
}

// fields returns the names of a JSON object's fields in their order, and the values.
func fields(t *testing.T, object []byte) (names []string, values map[string]json.RawMessage) {
	t.Helper()
	values = map[string]json.RawMessage{}
	decoder := json.NewDecoder(bytes.NewReader(object))
	if _, err := decoder.Token(); err != nil { // the opening brace
		t.Fatal(err)
	}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			t.Fatal(err)
		}
		name, _ := token.(string)
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			t.Fatal(err)
		}
		names, values[name] = append(names, name), value
	}
	return names, values
}
