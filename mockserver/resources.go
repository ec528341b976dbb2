package mockserver

import (
	"encoding/json"

	"github.com/shipping-go/shipping/mockserver/internal/jsontext"

	"github.com/shipping-go/shipping"
)

// rate is a record of GET /v1/rates.
//
// Specification: "Rate", in the order of its table.
type rate struct {
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
	Metadata          rateMetadata       `json:"metadata"`
	Used              bool               `json:"used"`
	User              string             `json:"user"`
	CreatedAt         jsontext.Timestamp `json:"created_at"`
	UpdatedAt         jsontext.Timestamp `json:"updated_at"`
}

type rateMetadata struct {
	LocalProductCode string `json:"localProductCode,omitempty"`
	ProductCode      string `json:"productCode,omitempty"`
}

// webhook is a record of GET /v1/webhooks.
//
// Specification: "Webhook", in the order of its table.
type webhook struct {
	WebhookID string             `json:"webhook_id"`
	StorageID string             `json:"_id"`
	ID        string             `json:"id"` // equal to _id
	Name      string             `json:"name"`
	URL       string             `json:"url"`
	Event     []string           `json:"event"`
	Active    bool               `json:"active"`
	Live      bool               `json:"live"`
	User      string             `json:"user"`
	CreatedAt jsontext.Timestamp `json:"created_at"`
	UpdatedAt jsontext.Timestamp `json:"updated_at"`
	Revision  int                `json:"__v"`

	order DeliveryOrder // of its notifications; the service does not show it
}

// transaction is a record of GET /v1/transactions.
//
// Specification: "Transaction", in the order of its table.
type transaction struct {
	TransactionID       string              `json:"transactionId"`
	StorageID           string              `json:"_id"`
	AccountID           string              `json:"accountId"`
	AccountReference    string              `json:"account_reference"`
	StoreReference      string              `json:"store_reference"`
	TxRef               string              `json:"txRef,omitempty"`
	Amount              shipping.Amount     `json:"amount"`
	AmountReceived      shipping.Amount     `json:"amount_received"`
	ConvertedAmount     shipping.Amount     `json:"converted_amount"`
	Currency            string              `json:"currency"`
	CurrencyConvertedTo string              `json:"currency_converted_to"`
	FlatAmount          int64               `json:"flat_amount"`
	Fee                 shipping.Amount     `json:"fee"`
	PlatformFee         shipping.Amount     `json:"platform_fee"`
	Description         string              `json:"description"`
	Flow                string              `json:"flow"`
	Status              string              `json:"status"`
	Metadata            transactionMetadata `json:"metadata"`
	Platform            string              `json:"platform"`
	Source              string              `json:"transaction_source"`
	Receiver            receiver            `json:"receiver"`
	Sender              sender              `json:"sender"`
	Recipient           string              `json:"recipient"`
	Reversed            bool                `json:"reversed"`
	Settled             bool                `json:"settled"`
	SettlementReference string              `json:"settlement_reference"`
	PayoutDate          *jsontext.Timestamp `json:"payout_date"`
	CreatedAt           jsontext.Timestamp  `json:"created_at"`
	UpdatedAt           jsontext.Timestamp  `json:"updated_at"`
	Revision            int                 `json:"__v"`
}

type transactionMetadata struct {
	ShipmentID string `json:"shipment_id,omitempty"`
	RequestID  string `json:"request_id,omitempty"` // assumption: of a purchase of regulatory documents
}

type receiver struct {
	Name      string `json:"name"`
	Reference string `json:"reference"`
	Type      string `json:"type"`
}

type sender struct {
	Name          string `json:"name"`
	ID            string `json:"id"`
	AccountNumber string `json:"account_number"`
}
