package account

import (
	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// Shipment is the data of a notification. The specification shows no shipment; the fields
// follow what receivers of such notifications read.
//
// Assumption: the whole shape.
type Shipment struct {
	ShipmentID     string             `json:"shipment_id"`
	Status         string             `json:"status"` // draft, pending, confirmed, in-transit, delivered, cancelled
	AddressFrom    Address            `json:"address_from"`
	AddressTo      Address            `json:"address_to"`
	Parcel         Parcel             `json:"parcel"`
	CarrierName    string             `json:"carrier_name"`
	CarrierSlug    string             `json:"carrier_slug"`
	TrackingNumber string             `json:"tracking_number"`
	Amount         shipping.Amount    `json:"amount"`
	Currency       string             `json:"currency"`
	Events         []Progress         `json:"events"`
	User           string             `json:"user"`
	CreatedAt      jsontext.Timestamp `json:"created_at"`
	UpdatedAt      jsontext.Timestamp `json:"updated_at"`

	// Offers are the documents that an analysis offers; nil selects documents by the rules.
	Offers []regulatory.AvailableDocument `json:"-"`
}

type Address struct {
	AddressID string `json:"address_id"`
	regulatory.Address
}

type Parcel struct {
	ParcelID string                `json:"parcel_id"`
	Items    []regulatory.LineItem `json:"items"`
}

// Progress is one line of a shipment's history.
type Progress struct {
	CreatedAt   jsontext.Timestamp `json:"created_at"`
	Description string             `json:"description"`
	Location    string             `json:"location"`
	Status      string             `json:"status"`
}

// Payload is the body of a notification. For shipment.delivered it shows the shipment as delivered.
//
// Assumption: {"event": …, "data": {the shipment}}, with no identifier of the event in it.
func (s *Shipment) Payload(event string) []byte {
	shown := *s
	if event == "shipment.delivered" {
		shown.Status = "delivered"
	}
	return jsontext.Of(struct {
		Event string    `json:"event"`
		Data  *Shipment `json:"data"`
	}{event, &shown})
}

// Consignment is the part of a shipment that package regulatory needs.
func (s *Shipment) Consignment() regulatory.Consignment {
	return regulatory.Consignment{
		Items:     s.Parcel.Items,
		Addresses: regulatory.Addresses{Origin: s.AddressFrom.Address, Destination: s.AddressTo.Address},
		Offers:    s.Offers,
	}
}
