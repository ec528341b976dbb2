package main

import (
	"slices"
	"testing"
	"time"
	_ "time/tzdata" // the zones must load on a machine without its own database

	"github.com/shipping-go/shipping/mockserver/internal/country"
)

func TestPositionsBecomeDecimalDegrees(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ position, latitude, longitude string }{
		{"+0627+00324", "6.4500", "3.4000"},         // Lagos, in minutes
		{"+404251-0740023", "40.7142", "-74.0064"},  // New York, in seconds
		{"-0031+16655", "-0.5167", "166.9167"},      // Nauru, less than a degree south
		{"-690022+0393524", "-69.0061", "39.5900"},  // Syowa
		{"+513030-0000731", "51.5083", "-0.1253"},   // London, less than a degree west
		{"+000000+0000000", "0.0000", "0.0000"},     // the origin
		{"-5426+00324", "-54.4333", "3.4000"},       // an exception's position has the same form
		{"+895959-1795959", "89.9997", "-179.9997"}, // a second short of the edge
		{"+900000+1800000", "90.0000", "180.0000"},  // the edge
	} {
		latitude, longitude, err := degrees(test.position)
		if err != nil || latitude != test.latitude || longitude != test.longitude {
			t.Errorf("degrees(%q) = %q, %q, %v; want %q, %q",
				test.position, latitude, longitude, err, test.latitude, test.longitude)
		}
	}
}

func TestPositionsThatAreNotOnesAreRefused(t *testing.T) {
	t.Parallel()
	for _, position := range []string{"", "+", "+0627", "+-", "0627+00324", "+06+003", "+06x7+00324", "+0627+0-324", "+0627+00324+"} {
		if latitude, longitude, err := degrees(position); err == nil {
			t.Errorf("degrees(%q) = %q, %q, want an error", position, latitude, longitude)
		}
	}
}

func TestMembersOfTheNorthAmericanPlanHaveAnAreaCode(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		numbers []int
		want    string
	}{
		{[]int{234}, "234"},
		{[]int{1}, "1"},
		{[]int{1684}, "1-684"},
		{[]int{1809, 1829, 1849}, "1-809"},
		{[]int{4779}, "4779"},
		{nil, ""},
	} {
		if got := phonecode(test.numbers); got != test.want {
			t.Errorf("phonecode(%v) = %q, want %q", test.numbers, got, test.want)
		}
	}
}

func TestTheNamedZoneComesFirst(t *testing.T) {
	t.Parallel()
	places := []place{{zone: "a"}, {zone: "b"}, {zone: "c"}}
	for zone, want := range map[string][]place{
		"":  places,
		"a": places,
		"b": {{zone: "b"}, {zone: "a"}, {zone: "c"}},
		"c": {{zone: "c"}, {zone: "a"}, {zone: "b"}},
	} {
		if got, err := principalFirst(places, zone); err != nil || !slices.Equal(got, want) {
			t.Errorf("principalFirst(%q) = %v, %v; want %v", zone, got, err, want)
		}
	}
	if _, err := principalFirst(places, "d"); err == nil {
		t.Error("an unknown zone of a country is not an error")
	}
	if _, err := principalFirst(nil, ""); err == nil {
		t.Error("a country without a place is not an error")
	}
}

func TestTimesWithoutLettersAreNamedForTheirCity(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ zone, abbreviation, offsetName, want string }{
		{"Africa/Lagos", "WAT", "UTC+01:00", "West Africa Time"},
		{"America/Havana", "CST", "UTC-05:00", "Cuba Standard Time"},
		{"Asia/Shanghai", "CST", "UTC+08:00", "China Standard Time"},
		{"America/Argentina/Buenos_Aires", "-03", "UTC-03:00", "Buenos Aires Time"},
		{"Antarctica/DumontDUrville", "+10", "UTC+10:00", "Dumont d'Urville Time"},
	} {
		if got, err := timeName(test.zone, test.abbreviation, test.offsetName); err != nil || got != test.want {
			t.Errorf("timeName(%q, %q, %q) = %q, %v; want %q",
				test.zone, test.abbreviation, test.offsetName, got, err, test.want)
		}
	}
	if name, err := timeName("Mars/Olympus", "OST", "UTC+01:00"); err == nil {
		t.Errorf("an unknown abbreviation is named %q, want an error", name)
	}
}

func TestStandardTimeIsTheLesserOffsetOfTheYear(t *testing.T) {
	t.Parallel()
	for zone, want := range map[string]string{
		"Europe/Berlin":    "CET UTC+01:00",
		"Australia/Sydney": "AEST UTC+10:00",
		"Europe/Dublin":    "GMT UTC+00:00",
		"America/St_Johns": "NST UTC-03:30",
	} {
		location, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		abbreviation, offset := standardTime(location)
		if got := abbreviation + " " + offsetName(offset); got != want {
			t.Errorf("%s: %s, want %s", zone, got, want)
		}
	}
}

func TestTheListHasEveryZoneOfTheTable(t *testing.T) {
	t.Parallel()
	places, err := readPlaces()
	if err != nil {
		t.Fatal(err)
	}
	countries, err := country.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range countries {
		var want, got []string
		for _, p := range places[c.ISOCode] {
			want = append(want, p.zone)
		}
		for _, zone := range c.Timezones {
			got = append(got, zone.ZoneName)
		}
		if exceptions()[c.ISOCode].extra.zone != "" {
			want = append(want, exceptions()[c.ISOCode].extra.zone)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("zones of %s: got %q, want %q", c.ISOCode, got, want)
		}
		delete(places, c.ISOCode)
	}
	for code := range places {
		t.Errorf("zone.tab has %s, the list does not", code)
	}
}

func TestTheListIsWrittenOneCountryALine(t *testing.T) {
	t.Parallel()
	got, err := encode([]country.Country{
		{ISOCode: "AA", Name: "One & One", Timezones: []country.Timezone{}},
		{ISOCode: "BB", Timezones: []country.Timezone{{ZoneName: "B/B", GMTOffset: -60}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `[
{"isoCode":"AA","name":"One & One","phonecode":"","flag":"","currency":"","latitude":"","longitude":"","timezones":[]},
{"isoCode":"BB","name":"","phonecode":"","flag":"","currency":"","latitude":"","longitude":"","timezones":[{"zoneName":"B/B","gmtOffset":-60,"gmtOffsetName":"","abbreviation":"","tzName":""}]}
]
`
	if string(got) != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
