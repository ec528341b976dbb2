package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/shipping-go/shipping/mockserver/internal/country"
)

// exception is what the sources leave out, or get wrong, about one country.
type exception struct {
	// skip drops an entity without a code in ISO 3166-1.
	skip bool
	// phonecode and currency replace those of countries-list.
	phonecode, currency string
	// principal is the zone that comes first and whose city stands for the country. Without it,
	// that is the first one of zone.tab, which is usually but not always the most populous.
	principal string
	// extra is a place that zone.tab doesn't have.
	extra place
}

// exceptions returns every exception by country code. The three extra positions are the
// "Geographic coordinates" of the CIA World Factbook.
func exceptions() map[string]exception {
	return map[string]exception{
		"AC": {skip: true}, // part of SH
		"TA": {skip: true}, // part of SH
		"AQ": {currency: "XXX"},
		"AU": {principal: "Australia/Sydney"},
		"BR": {principal: "America/Sao_Paulo"},
		"BV": {extra: place{position: "-5426+00324"}},
		"CA": {principal: "America/Toronto"},
		"HM": {extra: place{position: "-5306+07231"}},
		"RU": {principal: "Europe/Moscow"},
		"UA": {principal: "Europe/Kyiv"},
		"UZ": {principal: "Asia/Tashkent"},
		// The database has no code XK. Clocks follow Belgrade's; +383 replaced three borrowed codes.
		"XK": {phonecode: "383", extra: place{position: "+4235+02100", zone: "Europe/Belgrade"}},
	}
}

// assemble joins the sources into the list, sorted by code. A country that lacks a fact after all
// exceptions is an error: nothing is made up.
func assemble(sources *packages, places map[string][]place, zones *zoneDatabase) ([]country.Country, error) {
	exceptions := exceptions()
	var countries []country.Country
	for _, code := range slices.Sorted(maps.Keys(sources.Details)) {
		except := exceptions[code]
		if except.skip {
			continue
		}
		c, err := entry(code, sources, places[code], except, zones)
		if err != nil {
			return nil, fmt.Errorf("country %s: %w", code, err)
		}
		countries = append(countries, c)
	}
	return countries, nil
}

// entry joins the sources into the entry of one country.
func entry(code string, sources *packages, places []place, except exception, zones *zoneDatabase) (country.Country, error) {
	details := sources.Details[code]
	if except.extra.position != "" {
		places = append(slices.Clone(places), except.extra)
	}
	c := country.Country{
		ISOCode:   code,
		Name:      cmp.Or(sources.Names[code].Name, details.Name),
		Phonecode: cmp.Or(except.phonecode, phonecode(details.Phone)),
		Flag:      flagOf(code),
		Currency:  cmp.Or(append([]string{except.currency}, details.Currency...)...),
		Timezones: []country.Timezone{},
	}
	if c.Name == "" || c.Phonecode == "" || c.Currency == "" {
		return c, fmt.Errorf("no source has its name (%q), dialling code (%q) or currency (%q): add an exception", c.Name, c.Phonecode, c.Currency)
	}
	places, err := principalFirst(places, except.principal)
	if err != nil {
		return c, err
	}
	if c.Latitude, c.Longitude, err = degrees(places[0].position); err != nil {
		return c, err
	}
	for _, p := range places {
		if p.zone == "" {
			continue
		}
		zone, err := zones.timezone(p.zone)
		if err != nil {
			return c, err
		}
		c.Timezones = append(c.Timezones, zone)
	}
	return c, nil
}

// principalFirst returns the places with the named zone's moved to the front. Without a name the
// order stays. There is at least one place.
func principalFirst(places []place, zone string) ([]place, error) {
	at := slices.IndexFunc(places, func(p place) bool { return zone == "" || p.zone == zone })
	if at < 0 {
		return nil, fmt.Errorf("zone.tab has no place for it (principal zone %q): add an exception", zone)
	}
	return slices.Concat(places[at:at+1], places[:at], places[at+1:]), nil
}

// phonecode writes a dialling code. countries-list has a member of the North American plan as one
// number (1684); written out it is country code 1 and area code 684.
func phonecode(numbers []int) string {
	if len(numbers) == 0 {
		return ""
	}
	number := numbers[0]
	if 1000 <= number && number <= 1999 {
		return fmt.Sprintf("1-%03d", number-1000)
	}
	return strconv.Itoa(number)
}

// flagOf returns the flag emoji of a two-letter code: each letter as its regional indicator.
func flagOf(code string) string {
	const regionalIndicatorA = '\U0001F1E6'
	flag := make([]rune, 0, 2)
	for _, letter := range code {
		flag = append(flag, regionalIndicatorA+letter-'A')
	}
	return string(flag)
}
