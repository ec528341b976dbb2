package shipping

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/shipping-go/shipping/internal/jsonexact"
)

// RegulatoryRequest is the record of a regulatory document request: a draft until it is purchased.
//
// Specification: "Regulatory document request (draft record)". It names RequestID, Status,
// AvailableDocuments, the line items and Source; the other fields are assumptions of this project,
// read where a service sends them under these names, and Raw holds the record as it came.
type RegulatoryRequest struct {
	RequestID string        `json:"request_id"`
	Status    RequestStatus `json:"status"`
	Source    Source        `json:"source"`
	// AvailableDocuments are the documents matched at analyze time, with the prices that a purchase
	// charges.
	AvailableDocuments []AvailableDocument `json:"available_documents"`
	// LineItems are the items of the shipment or invoice. They are read from "line_items" or "items":
	// the specification does not show the field's name.
	LineItems []LineItem `json:"line_items" spec:"optional"`

	ShipmentID string `json:"shipment_id" spec:"optional"`
	FileURL    string `json:"file_url" spec:"optional"`
	// Wallet is the wallet that a purchase charges, Currency its currency.
	Wallet   string `json:"wallet" spec:"optional"`
	Currency string `json:"currency" spec:"optional"`
	// Documents are the purchased documents and how far they are.
	Documents []Document `json:"documents" spec:"optional"`
	Addresses *Addresses `json:"addresses" spec:"optional"`
	Shipping  *Shipping  `json:"shipping" spec:"optional"`
	// Profiles holds the fields filled in so far, a form each.
	Profiles map[DocumentType]RawJSON `json:"profiles" spec:"optional"`
	// ChargedAmount is what the purchase took from the wallet, in Currency, and TransactionID the
	// transaction that shows it.
	ChargedAmount Amount `json:"charged_amount" spec:"optional"`
	TransactionID string `json:"transaction_id" spec:"optional"`
	// FailureReason says why the request failed.
	FailureReason string    `json:"failure_reason" spec:"optional"`
	CreatedAt     time.Time `json:"created_at" spec:"optional"`
	UpdatedAt     time.Time `json:"updated_at" spec:"optional"`

	// Raw is the whole record as the service sent it.
	Raw RawJSON `json:"-"`
}

// Offer returns the available document of a type. If the type is listed more than once, its price is
// ambiguous: the amount of the document is unreadable.
func (r *RegulatoryRequest) Offer(t DocumentType) (document AvailableDocument, offered bool) {
	for _, available := range r.AvailableDocuments {
		switch {
		case available.DocumentType != t:
		case offered:
			document.Amount = Amount{state: amountUnreadable}
		default:
			document, offered = available, true
		}
	}
	return document, offered
}

// AvailableDocument is a form that the service can make for a request, with its price.
type AvailableDocument struct {
	DocumentType DocumentType `json:"document_type"`
	Name         string       `json:"name" spec:"optional"`
	// Mode is "automated" where a failed generation can be retried, "manual" where a third party's
	// evidence is needed (assumption).
	Mode string `json:"mode" spec:"optional"`
	// Amount is the price, converted into Currency (the wallet's) when the request was analyzed.
	// Amount.Known tells a missing price from 0.
	Amount   Amount `json:"amount"`
	Currency string `json:"currency" spec:"optional"`
	// Reasons say why the form was matched.
	Reasons []MatchReason `json:"reasons" spec:"optional"`
	// ProfileFields are the fields of the form's profile; see [RegulatoryService.UpdateProfile].
	ProfileFields []ProfileField `json:"profile_fields" spec:"optional"`
}

// UnmarshalJSON also reads a bare slug, and the names that such an entry may have elsewhere: "type"
// or "slug" for the type, "price" for the amount. Two prices that disagree are no price.
func (d *AvailableDocument) UnmarshalJSON(data []byte) error {
	if jsonKind(data) == "string" {
		*d = AvailableDocument{}
		return json.Unmarshal(data, &d.DocumentType)
	}
	wire := availableWire{plainAvailable: (*plainAvailable)(d)}
	err := jsonexact.Unmarshal(data, &wire)
	for _, slug := range []DocumentType{wire.Slug, wire.Type} {
		if d.DocumentType == "" {
			d.DocumentType = slug
		}
	}
	switch {
	case d.Amount == (Amount{}):
		d.Amount = wire.Price
	case wire.Price != (Amount{}) && wire.Price != d.Amount:
		d.Amount = Amount{state: amountUnreadable}
	}
	return err
}

// availableWire is an available document with the other names of its fields.
type availableWire struct {
	*plainAvailable
	Type  DocumentType `json:"type"`
	Slug  DocumentType `json:"slug"`
	Price Amount       `json:"price"`
}

type plainAvailable AvailableDocument // without UnmarshalJSON

// MatchReason says which item made a form necessary, and by which rule.
type MatchReason struct {
	// ItemID is empty where the whole consignment is the reason.
	ItemID string `json:"item_id" spec:"optional"`
	Rule   string `json:"rule"`
	Match  string `json:"match"`
}

// ProfileField describes a field of a form's profile.
type ProfileField struct {
	Name     string `json:"name"`
	Label    string `json:"label"`
	Type     string `json:"type"`
	Required bool   `json:"required"`
}

// LineItem is an item of a shipment or invoice. Its fields are assumptions.
type LineItem struct {
	ItemID      string  `json:"item_id,omitempty"`
	Description string  `json:"description"`
	HSCode      string  `json:"hs_code,omitempty"`
	Quantity    float64 `json:"quantity"`
	// UnitPrice is in Currency; one that is not given is not sent.
	UnitPrice Amount `json:"unit_price,omitzero"`
	Currency  string `json:"currency,omitempty"`
	// Weight is in kilograms.
	Weight float64 `json:"weight,omitempty"`
	// OriginCountry is a two-letter country code.
	OriginCountry string `json:"origin_country,omitempty"`
}

// Document is a purchased document. Its fields are assumptions.
type Document struct {
	DocumentType DocumentType `json:"document_type"`
	Name         string       `json:"name"`
	Mode         string       `json:"mode"`
	Amount       Amount       `json:"amount"`
	Currency     string       `json:"currency"`
	// Status is "generating", "awaiting_evidence", "generated" or "failed".
	Status string `json:"status"`
	// Attempts counts generations, retries included.
	Attempts    int       `json:"attempts"`
	Failure     string    `json:"failure" spec:"optional"`
	GeneratedAt time.Time `json:"generated_at" spec:"optional"`
}

// Addresses are the two ends of a consignment.
type Addresses struct {
	Origin      *Address `json:"origin,omitempty"`
	Destination *Address `json:"destination,omitempty"`
}

// Address is a postal address. Its fields are assumptions.
type Address struct {
	Name       string `json:"name,omitempty"`
	Company    string `json:"company,omitempty"`
	Line1      string `json:"line1,omitempty"`
	Line2      string `json:"line2,omitempty"`
	City       string `json:"city,omitempty"`
	State      string `json:"state,omitempty"`
	PostalCode string `json:"postal_code,omitempty"`
	// Country is a two-letter country code.
	Country string `json:"country,omitempty"`
	Phone   string `json:"phone,omitempty"`
	Email   string `json:"email,omitempty"`
}

// Shipping says how an invoice's goods travel (invoice flow only). Its fields are assumptions.
type Shipping struct {
	CarrierSlug     string `json:"carrier_slug,omitempty"`
	Service         string `json:"service,omitempty"`
	Incoterm        string `json:"incoterm,omitempty"`
	ReasonForExport string `json:"reason_for_export,omitempty"`
	PortOfEntry     string `json:"port_of_entry,omitempty"`
	// EstimatedArrival is a date, YYYY-MM-DD.
	EstimatedArrival string `json:"estimated_arrival,omitempty"`
}

// requestData is the data of an answer that holds a record: as it came, and read. Data that is given twice
// is no record: one of them may be a draft.
type requestData struct {
	_      jsonexact.Once
	raw    RawJSON
	record *RegulatoryRequest
}

// UnmarshalJSON takes anything: what cannot be read of a record is left out of it.
func (d *requestData) UnmarshalJSON(data []byte) error {
	d.raw = RawJSON(bytes.TrimSpace(data))
	d.record = decodeRecord(d.raw)
	return nil
}

// decodeRecord reads the record tolerantly: under data itself or data.request, line items under either
// name. A charge may be shown beside data.request.
func decodeRecord(raw RawJSON) *RegulatoryRequest {
	record, wrapped := decodeObject(raw)
	if jsonKind(json.RawMessage(wrapped)) != "object" || record.RequestID != "" {
		return record
	}
	inner, _ := decodeObject(wrapped) // once: a service could nest them thousands of times
	setDefault(&inner.TransactionID, record.TransactionID)
	if inner.ChargedAmount == (Amount{}) && record.ChargedAmount != (Amount{}) {
		inner.ChargedAmount = record.ChargedAmount
		setDefault(&inner.Currency, record.Currency)
	}
	return inner
}

// decodeObject reads a record from an object, and returns the object's member "request".
func decodeObject(raw RawJSON) (record *RegulatoryRequest, wrapped RawJSON) {
	var wire struct {
		RegulatoryRequest
		Items   []LineItem `json:"items"`
		Request RawJSON    `json:"request"`
	}
	text := jsonexact.Text([]byte(raw), &wire)
	err := json.Unmarshal(text, &wire)
	if err != nil {
		wire.RegulatoryRequest, wire.Items = RegulatoryRequest{}, nil
		_ = json.Unmarshal(straighten[RegulatoryRequest](text), &wire.RegulatoryRequest)
		_ = json.Unmarshal(straighten[[]LineItem]([]byte(RawJSON(text).Get("items"))), &wire.Items)
	}
	if wire.LineItems == nil {
		wire.LineItems = wire.Items
	}
	wire.Raw = raw
	return &wire.RegulatoryRequest, wire.Request
}
