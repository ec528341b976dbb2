package payload

import "time"

// Request is a regulatory document request as hand-written code would declare it.
//
// Specification: "Regulatory document request (draft record)"; fields beyond those it names are
// assumptions of this project.
type Request struct {
	RequestID          string              `json:"request_id"`
	Status             string              `json:"status"`
	Source             string              `json:"source"`
	ShipmentID         string              `json:"shipment_id"`
	Wallet             string              `json:"wallet"`
	Currency           string              `json:"currency"`
	LineItems          []LineItem          `json:"line_items"`
	AvailableDocuments []AvailableDocument `json:"available_documents"`
	Addresses          *Addresses          `json:"addresses,omitempty"`
	CreatedAt          time.Time           `json:"created_at"`
	UpdatedAt          time.Time           `json:"updated_at"`
}

// LineItem is an item of the shipment.
type LineItem struct {
	ItemID        string  `json:"item_id"`
	Description   string  `json:"description"`
	HSCode        string  `json:"hs_code"`
	Quantity      float64 `json:"quantity"`
	UnitPrice     float64 `json:"unit_price"`
	Currency      string  `json:"currency"`
	Weight        float64 `json:"weight"`
	OriginCountry string  `json:"origin_country"`
}

// AvailableDocument is a form that the request can buy.
type AvailableDocument struct {
	DocumentType  string         `json:"document_type"`
	Name          string         `json:"name"`
	Mode          string         `json:"mode"`
	Amount        float64        `json:"amount"`
	Currency      string         `json:"currency"`
	Reasons       []MatchReason  `json:"reasons,omitempty"`
	ProfileFields []ProfileField `json:"profile_fields,omitempty"`
}

// MatchReason is why a form was offered.
type MatchReason struct {
	ItemID string `json:"item_id"`
	Rule   string `json:"rule"`
	Match  string `json:"match"`
}

// ProfileField is a field of a form.
type ProfileField struct {
	Name     string `json:"name"`
	Label    string `json:"label"`
	Type     string `json:"type"`
	Required bool   `json:"required"`
}

// Addresses are the ends of the consignment.
type Addresses struct {
	Origin      Address `json:"origin"`
	Destination Address `json:"destination"`
}

// Address is a postal address.
type Address struct {
	Name       string `json:"name"`
	Company    string `json:"company"`
	Line1      string `json:"line1"`
	City       string `json:"city"`
	State      string `json:"state"`
	PostalCode string `json:"postal_code"`
	Country    string `json:"country"`
	Phone      string `json:"phone"`
	Email      string `json:"email"`
}

// RequestID is the identifier of the one request.
const RequestID = "RD-5FQJ2M81KD0XA7NB"

// Draft writes the response of GET /v1/regulatory-documents/request/:request_id: about 1 KB.
func Draft() []byte {
	return success("Request retrieved successfully", newMaker(1).draft())
}

// SmallestDraft writes the shortest answer that is a request: about 130 bytes.
func SmallestDraft() []byte {
	return encode(Envelope[map[string]string]{true, "Request retrieved successfully", map[string]string{"request_id": RequestID, "status": "draft"}})
}

// FullDraft writes a request with many items and forms: about 6 KB.
func FullDraft() []byte {
	m := newMaker(2)
	r := m.draft()
	address := Address{
		"Adaeze Okafor", "Adaeze Okafor Trading Company", "14 Harbour Row, warehouse 3", "Lagos", "Lagos State", "101241", "NG",
		"+2348031234567", "orders@harbour-row.example",
	}
	r.Addresses = &Addresses{address, address}
	for len(r.LineItems) < 14 {
		r.LineItems = append(r.LineItems, LineItem{m.text("IT-", letters, 16), "Carved wooden figure, varnished", "442019", 12, 21.25, "USD", 0.35, "NG"})
	}
	for i := range r.AvailableDocuments {
		d := &r.AvailableDocuments[i]
		for _, item := range r.LineItems[:5] {
			d.Reasons = append(d.Reasons, MatchReason{item.ItemID, "hs-chapter", item.HSCode[:2]})
		}
		d.ProfileFields = []ProfileField{
			{"importer_number", "Importer of record number", "text", true}, {"arrival_port", "Port of arrival", "text", true},
			{"arrival_date", "Expected date of arrival", "date", true}, {"container_count", "Number of containers", "number", false},
			{"is_commercial", "Commercial shipment", "boolean", false},
		}
	}
	return success("Request retrieved successfully", r)
}

func (m maker) draft() Request {
	made := m.moment()
	return Request{
		RequestID: RequestID, Status: "draft", Source: "shipment", ShipmentID: m.text("SH-", letters, 16),
		Wallet: Wallet, Currency: "NGN", CreatedAt: made, UpdatedAt: made,
		LineItems: []LineItem{
			{m.text("IT-", letters, 16), "Ground roasted coffee, 500 g bags", "090121", 24, 7.5, "USD", 0.52, "ET"},
			{m.text("IT-", letters, 16), "Leather handbag with brass fittings", "420221", 3, 84.95, "USD", 0.8, "NG"},
		},
		AvailableDocuments: []AvailableDocument{
			{DocumentType: "CUSTOMS", Name: "Customs invoice", Mode: "automated", Amount: 5250, Currency: "NGN"},
			{DocumentType: "FDA", Name: "FDA prior notice", Mode: "automated", Amount: 18450.5, Currency: "NGN"},
			{DocumentType: "FISH-WILDLIFE", Name: "Wildlife import declaration", Mode: "automated", Amount: 22999.99, Currency: "NGN"},
		},
	}
}
