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
	DocumentType string  `json:"document_type"`
	Name         string  `json:"name"`
	Mode         string  `json:"mode"`
	Amount       float64 `json:"amount"`
	Currency     string  `json:"currency"`
}

// RequestID is the identifier of the one request.
const RequestID = "RD-5FQJ2M81KD0XA7NB"

// Draft writes the response of GET /v1/regulatory-documents/request/:request_id: about 1 KB.
func Draft() []byte {
	m := newMaker(1)
	made := m.moment()
	return success("Request retrieved successfully", Request{
		RequestID: RequestID, Status: "draft", Source: "shipment", ShipmentID: m.text("SH-", letters, 16),
		Wallet: Wallet, Currency: "NGN", CreatedAt: made, UpdatedAt: made,
		LineItems: []LineItem{
			{m.text("IT-", letters, 16), "Ground roasted coffee, 500 g bags", "090121", 24, 7.5, "USD", 0.52, "ET"},
			{m.text("IT-", letters, 16), "Leather handbag with brass fittings", "420221", 3, 84.95, "USD", 0.8, "NG"},
		},
		AvailableDocuments: []AvailableDocument{
			{"CUSTOMS", "Customs invoice", "automated", 5250, "NGN"},
			{"FDA", "FDA prior notice", "automated", 18450.5, "NGN"},
			{"FISH-WILDLIFE", "Wildlife import declaration", "automated", 22999.99, "NGN"},
		},
	})
}
