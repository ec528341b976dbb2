package shipping

import "context"

// Country is a country available for shipping.
//
// Specification: "Country".
type Country struct {
	// ISOCode is the two-letter country code.
	ISOCode string `json:"isoCode"`
	Name    string `json:"name"`
	// PhoneCode is the dialling code without a plus sign. It is text: some are not plain digits.
	PhoneCode string `json:"phonecode"`
	Flag      string `json:"flag"`
	// Currency is a currency code.
	Currency string `json:"currency"`
	// Latitude and Longitude are decimal degrees, as text.
	Latitude  string `json:"latitude"`
	Longitude string `json:"longitude"`
	Timezones []struct {
		// ZoneName is the IANA zone, such as Africa/Lagos.
		ZoneName string `json:"zoneName"`
		// GMTOffset is in seconds east of Greenwich.
		GMTOffset int `json:"gmtOffset"`
		// GMTOffsetName is the offset as text, such as UTC+01:00.
		GMTOffsetName string `json:"gmtOffsetName"`
		Abbreviation  string `json:"abbreviation"`
		// TZName is the zone's name for people.
		TZName string `json:"tzName"`
	} `json:"timezones"`
}

// CountriesService lists the countries available for shipping.
type CountriesService struct{ core *core }

// List returns all countries; the list has no pages. The error is a [*ValidationError] or an [*Error].
//
// Specification: GET /v1/countries.
//
// Assumption: the key is sent although the specification does not show whether this operation
// requires it; a service that does not need it ignores it.
func (s CountriesService) List(ctx context.Context, call ...CallOption) ([]Country, error) {
	countries, _, err := fetch(ctx, s.core, request{operation: OpListCountries}, call,
		func(countries []Country, _ []byte) *Error { return checkList(countries, true) })
	if err != nil {
		return nil, err
	}
	return countries, nil
}
