package account

import (
	"encoding/json"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
)

// Rate is a record of GET /v1/rates.
//
// Specification: "Rate", in the order of its table.
type Rate struct {
	RateID            string             `json:"rate_id"`
	Amount            shipping.Amount    `json:"amount"`
	Currency          string             `json:"currency"`
	Breakdown         json.RawMessage    `json:"breakdown"`
	CarrierName       string             `json:"carrier_name"`
	CarrierSlug       string             `json:"carrier_slug"`
	CarrierLogo       string             `json:"carrier_logo"`
	Description       string             `json:"carrier_rate_description"`
	CarrierReference  string             `json:"carrier_reference"`
	DeliveryAddress   string             `json:"delivery_address"`
	PickupAddress     string             `json:"pickup_address"`
	Parcel            string             `json:"parcel"`
	DeliveryDate      jsontext.Timestamp `json:"delivery_date"`
	DeliveryETA       int                `json:"delivery_eta"` // assumption: minutes
	DeliveryTime      string             `json:"delivery_time"`
	PickupETA         int                `json:"pickup_eta"` // assumption: minutes
	PickupTime        string             `json:"pickup_time"`
	IncludesInsurance bool               `json:"includes_insurance"`
	InsuranceFee      shipping.Amount    `json:"insurance_fee"`
	InsuranceCoverage shipping.Amount    `json:"insurance_coverage"`
	Metadata          RateMetadata       `json:"metadata"`
	Used              bool               `json:"used"`
	User              string             `json:"user"`
	CreatedAt         jsontext.Timestamp `json:"created_at"`
	UpdatedAt         jsontext.Timestamp `json:"updated_at"`
}

type RateMetadata struct {
	LocalProductCode string `json:"localProductCode,omitempty"`
	ProductCode      string `json:"productCode,omitempty"`
}

// AppendRate appends a rate as JSON.
func AppendRate(dst []byte, r *Rate) []byte {
	o := jsontext.NewObject(dst)
	o.Text("rate_id", r.RateID)
	o.Amount("amount", r.Amount)
	o.Text("currency", r.Currency)
	o.Raw("breakdown", r.Breakdown)
	o.Text("carrier_name", r.CarrierName)
	o.Text("carrier_slug", r.CarrierSlug)
	o.Text("carrier_logo", r.CarrierLogo)
	o.Text("carrier_rate_description", r.Description)
	o.Text("carrier_reference", r.CarrierReference)
	o.Text("delivery_address", r.DeliveryAddress)
	o.Text("pickup_address", r.PickupAddress)
	o.Text("parcel", r.Parcel)
	o.Time("delivery_date", r.DeliveryDate)
	o.Number("delivery_eta", int64(r.DeliveryETA))
	o.Text("delivery_time", r.DeliveryTime)
	o.Number("pickup_eta", int64(r.PickupETA))
	o.Text("pickup_time", r.PickupTime)
	o.Boolean("includes_insurance", r.IncludesInsurance)
	o.Amount("insurance_fee", r.InsuranceFee)
	o.Amount("insurance_coverage", r.InsuranceCoverage)
	o.Open("metadata")
	o.TextUnlessEmpty("localProductCode", r.Metadata.LocalProductCode)
	o.TextUnlessEmpty("productCode", r.Metadata.ProductCode)
	o.Close()
	o.Boolean("used", r.Used)
	o.Text("user", r.User)
	o.Time("created_at", r.CreatedAt)
	o.Time("updated_at", r.UpdatedAt)
	return o.End()
}
