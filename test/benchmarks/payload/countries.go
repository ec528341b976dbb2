package payload

import "fmt"

// Country is a country as hand-written code would declare it.
//
// Specification: "Country".
type Country struct {
	ISOCode   string     `json:"isoCode"`
	Name      string     `json:"name"`
	PhoneCode string     `json:"phonecode"`
	Flag      string     `json:"flag"`
	Currency  string     `json:"currency"`
	Latitude  string     `json:"latitude"`
	Longitude string     `json:"longitude"`
	Timezones []Timezone `json:"timezones"`
}

// Timezone is one time zone of a country.
type Timezone struct {
	ZoneName      string `json:"zoneName"`
	GMTOffset     int    `json:"gmtOffset"`
	GMTOffsetName string `json:"gmtOffsetName"`
	Abbreviation  string `json:"abbreviation"`
	TZName        string `json:"tzName"`
}

// Countries writes the answer of GET /v1/countries with n countries of one to three time zones.
func Countries(n int) []byte {
	m := newMaker(1)
	return success("Countries retrieved successfully", list(n, func(int) Country { return m.country() }))
}

func (m maker) country() Country {
	place := func(limit int) string { return fmt.Sprintf("%d.%08d", m.random.IntN(limit), m.random.IntN(1e8)) }
	return Country{
		ISOCode: m.text("", letters[10:], 2), Name: pick(m, "Nigeria", "United Kingdom", "Côte d'Ivoire", "United States"),
		PhoneCode: m.text("", digits, 3), Flag: "🇳🇬", Currency: pick(m, "NGN", "GBP", "XOF", "USD"), Latitude: place(90), Longitude: place(180),
		Timezones: list(1+m.random.IntN(3), func(int) Timezone {
			return Timezone{"Africa/Lagos", 3600 * m.random.IntN(12), "UTC+01:00", "WAT", "West Africa Time"}
		}),
	}
}
