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
