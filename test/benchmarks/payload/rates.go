package payload

import (
	"encoding/json"
	"fmt"
	"time"
)

// Rate is a rate as hand-written code would declare it: no exact amounts, no tolerance.
//
// Specification: "Rate".
type Rate struct {
	RateID                 string          `json:"rate_id"`
	Amount                 float64         `json:"amount"`
	Currency               string          `json:"currency"`
	Breakdown              json.RawMessage `json:"breakdown"`
	CarrierName            string          `json:"carrier_name"`
	CarrierSlug            string          `json:"carrier_slug"`
	CarrierLogo            string          `json:"carrier_logo"`
	CarrierRateDescription string          `json:"carrier_rate_description"`
	CarrierReference       string          `json:"carrier_reference"`
	DeliveryAddress        string          `json:"delivery_address"`
	PickupAddress          string          `json:"pickup_address"`
	Parcel                 string          `json:"parcel"`
	DeliveryDate           time.Time       `json:"delivery_date"`
	DeliveryETA            float64         `json:"delivery_eta"`
	DeliveryTime           string          `json:"delivery_time"`
	PickupETA              float64         `json:"pickup_eta"`
	PickupTime             string          `json:"pickup_time"`
	IncludesInsurance      bool            `json:"includes_insurance"`
	InsuranceFee           float64         `json:"insurance_fee"`
	InsuranceCoverage      float64         `json:"insurance_coverage"`
	Metadata               RateMetadata    `json:"metadata"`
	Used                   bool            `json:"used"`
	User                   string          `json:"user"`
	CreatedAt              time.Time       `json:"created_at"`
	UpdatedAt              time.Time       `json:"updated_at"`
}

// RateMetadata holds the keys that occur (specification: "Rate", metadata).
type RateMetadata struct {
	LocalProductCode string `json:"localProductCode"`
	ProductCode      string `json:"productCode"`
}

// RateList is the data of GET /v1/rates.
type RateList struct {
	Rates      []Rate `json:"rates"`
	Pagination struct {
		Total     int `json:"total"`
		PerPage   int `json:"perPage"`
		Page      int `json:"page"`
		PageCount int `json:"pageCount"`
	} `json:"pagination"`
}

// Rates writes page number page of so many pages, n rates on each.
func Rates(n, page, pages int) []byte {
	m := newMaker(uint64(page))
	var data RateList
	data.Rates = list(n, func(int) Rate { return m.rate() })
	data.Pagination.Total, data.Pagination.PerPage = n*pages, n
	data.Pagination.Page, data.Pagination.PageCount = page, pages
	return success("Rates retrieved successfully", data)
}

func (m maker) rate() Rate {
	carrier := pick(m,
		struct{ name, slug string }{"DHL Express Worldwide", "dhl-express"},
		struct{ name, slug string }{"FedEx International Priority", "fedex"},
		struct{ name, slug string }{"UPS Worldwide Saver", "ups"},
		struct{ name, slug string }{"Aramex Priority Parcel", "aramex"})
	days, created := 1+m.random.IntN(9), m.moment()
	return Rate{
		RateID: m.numbered("RT"), Amount: m.money(250_000), Currency: pick(m, "NGN", "USD", "GHS", "KES"),
		Breakdown: json.RawMessage("[]"), CarrierName: carrier.name, CarrierSlug: carrier.slug,
		CarrierLogo: fmt.Sprintf("https://assets.carriers.example/logos/%s/colour/%s-480x120.png", carrier.slug, carrier.slug),
		CarrierRateDescription: fmt.Sprintf("Door to door with customs clearance, delivered within %d business days, "+
			"tracked at every step, signed for by the recipient and insured against loss up to the declared value", days),
		CarrierReference: m.numbered("CA"), DeliveryAddress: m.numbered("AD"), PickupAddress: m.numbered("AD"), Parcel: m.numbered("PC"),
		DeliveryDate: m.moment(), DeliveryETA: float64(days*1440 - m.random.IntN(300)), DeliveryTime: fmt.Sprintf("Within %d days", days),
		PickupETA: 1440, PickupTime: "Within 24 hours", IncludesInsurance: m.yes(40),
		InsuranceFee: m.money(5_000), InsuranceCoverage: m.money(900_000),
		Metadata: RateMetadata{LocalProductCode: pick(m, "P", "D", "U"), ProductCode: pick(m, "P", "D", "Y")},
		Used:     m.yes(10), User: m.numbered("USER"), CreatedAt: created, UpdatedAt: created.Add(1740 * time.Millisecond),
	}
}
