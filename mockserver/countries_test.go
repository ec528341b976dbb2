package mockserver_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"
	_ "time/tzdata" // the zones must load on a machine without its own database

	"github.com/shipping-go/shipping/mockserver"
)

// country has the fields of a country that the tests read.
type country struct {
	ISOCode, Flag, Latitude, Longitude string
	Timezones                          []struct {
		ZoneName      string
		GMTOffset     int
		GMTOffsetName string
		Abbreviation  string
		TZName        string
	}
}

func countries(t *testing.T) (all []country) {
	t.Helper()
	body := get(t, start(t, mockserver.WithoutListener()), "/v1/countries").want(t, http.StatusOK)
	if bytes.ContainsAny(body.body, "\n\t") {
		t.Error("the list has white space between its tokens")
	}
	body.data(t, &all)
	return all
}

// The list has the 249 countries of ISO 3166-1 and Kosovo, sorted by code, each with its flag, a place on the globe,
// and zones, if anybody lives there.
func TestTheListHas250CountriesSortedByCode(t *testing.T) {
	t.Parallel()
	within := func(degrees string, limit float64) bool {
		value, err := strconv.ParseFloat(degrees, 64)
		return err == nil && -limit <= value && value <= limit
	}
	var codes, without []string
	for _, c := range countries(t) {
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
	if len(slices.Compact(slices.Clone(codes))) != 250 || !slices.IsSorted(codes) ||
		!slices.Equal(without, []string{"BV", "HM"}) {
		t.Errorf("%d countries, without zones %q: %q", len(codes), without, codes)
	}
}

// The offset of a zone is its standard time, and it has its names.
func TestOffsetsAreTheStandardTimeOfGosOwnDatabase(t *testing.T) {
	t.Parallel()
	for _, c := range countries(t) {
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
			if want := fmt.Sprintf("UTC%s%02d:%02d", sign, minutes/60, minutes%60); zone.GMTOffsetName != want ||
				zone.Abbreviation == "" || zone.TZName == "" {
				t.Errorf("%s: %+v, want the offset %q and two names", c.ISOCode, zone, want)
			}
		}
	}
}
