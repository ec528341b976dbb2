package regulatory

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
)

// Flow is the kind of source of a request (specification: "Regulatory flows").
type Flow string

const (
	// FlowShipment starts from a shipment of the service.
	FlowShipment Flow = "shipment"
	// FlowInvoice starts from the URL of a commercial invoice.
	FlowInvoice Flow = "invoice"
)

// Record is one regulatory document request, as in responses of the service. It is immutable: every
// change of a request stores a new Record, so it may be read and encoded without a lock.
//
// Specification: "Regulatory document request (draft record)" names request_id, status,
// available_documents, line items and source.
//
// Assumption: every other field, and the shape of the entries. They hold the data that the rest of the
// specification mentions.
type Record struct {
	// RequestID has the format RD-<16 letters and digits>.
	RequestID string `json:"request_id"`
	Status    State  `json:"status"`
	Source    Flow   `json:"source"`
	// ShipmentID is set in the shipment flow, FileURL in the invoice flow.
	ShipmentID string `json:"shipment_id,omitempty"`
	FileURL    string `json:"file_url,omitempty"`
	// Wallet is the reference of the wallet that a purchase charges, and Currency its currency.
	Wallet    string     `json:"wallet"`
	Currency  string     `json:"currency"`
	LineItems []LineItem `json:"line_items"`
	// AvailableDocuments are offered for purchase at the amounts stored here.
	AvailableDocuments []AvailableDocument `json:"available_documents"`
	// Documents are the purchased documents, from the start of generation.
	Documents []Document `json:"documents,omitempty"`
	Addresses Addresses  `json:"addresses,omitzero"`
	// Shipping is present in the invoice flow only.
	Shipping *Shipping `json:"shipping,omitempty"`
	// Profiles are the profiles of the forms, by document type.
	Profiles map[string]Profile `json:"profiles"`
	// ChargedAmount and TransactionID are present after the charge.
	ChargedAmount shipping.Amount `json:"charged_amount,omitzero"`
	TransactionID string          `json:"transaction_id,omitempty"`
	// FailureReason is present while the status is failed.
	FailureReason string             `json:"failure_reason,omitempty"`
	CreatedAt     jsontext.Timestamp `json:"created_at"`
	UpdatedAt     jsontext.Timestamp `json:"updated_at"`

	exchangeRate shipping.Amount // USD to Currency, at analyze time
	purchased    []string        // document types, in the order of the purchase
	script       script          // the effect of a special input
	chosen       bool            // the offers were chosen by a test, and edits do not change them
	// encode returns the record's JSON, once the record is stored. It works on first use, because most records of a
	// request are replaced before they are served.
	encode func() ([]byte, error)
}

type LineItem struct {
	// ItemID has the format IT-<letters and digits>.
	ItemID      string `json:"item_id"`
	Description string `json:"description"`
	// HSCode is the item's tariff code in digits, or empty if it is unknown.
	HSCode   string   `json:"hs_code"`
	Quantity Quantity `json:"quantity"`
	// UnitPrice is the price of one piece, in major units of Currency.
	UnitPrice shipping.Amount `json:"unit_price"`
	Currency  string          `json:"currency"`
	// Weight of one piece, in kilograms: an exact decimal, like an amount.
	Weight shipping.Amount `json:"weight"`
	// OriginCountry is the country of origin, as a two-letter ISO code, or empty.
	OriginCountry string `json:"origin_country"`
}

// AvailableDocument is a form that the consignment requires, and its price.
type AvailableDocument struct {
	DocumentType string `json:"document_type"`
	Name         string `json:"name"`
	// Mode is automated or manual.
	Mode string `json:"mode"`
	// Amount is the price in the wallet's Currency, converted at the rate of analyze time.
	Amount   shipping.Amount     `json:"amount"`
	Currency string              `json:"currency"`
	Reasons  []compliance.Reason `json:"reasons"`
	// ProfileFields are the fields of the form's profile. The drafts of a server share them with the rules.
	ProfileFields []compliance.Field `json:"profile_fields"`

	beside map[string]shipping.Amount // further amounts, by their names
}

// MarshalJSON also writes the amounts beside the price.
func (d AvailableDocument) MarshalJSON() ([]byte, error) {
	type own AvailableDocument
	text, err := jsontext.Encode(own(d))
	if err != nil || len(d.beside) == 0 {
		return text, err
	}
	beside, err := jsontext.Encode(d.beside)
	return slices.Concat(text[:len(text)-1], []byte{','}, beside[1:]), err
}

// Profile holds the values of a form's fields, by name.
type Profile map[string]json.RawMessage

type DocumentState string

// States of a document.
const (
	DocumentGenerating       DocumentState = "generating"
	DocumentAwaitingEvidence DocumentState = "awaiting_evidence"
	DocumentGenerated        DocumentState = "generated"
	DocumentFailed           DocumentState = "failed"
)

type Document struct {
	DocumentType string          `json:"document_type"`
	Name         string          `json:"name"`
	Mode         string          `json:"mode"`
	Amount       shipping.Amount `json:"amount"`
	Currency     string          `json:"currency"`
	Status       DocumentState   `json:"status"`
	// Attempts is the number of attempts to generate it.
	Attempts int `json:"attempts"`
	// Failure is the reason why the last attempt failed.
	Failure     string             `json:"failure,omitempty"`
	GeneratedAt jsontext.Timestamp `json:"generated_at,omitzero"`
}

type Addresses struct {
	Origin      Address `json:"origin"`
	Destination Address `json:"destination"`
}

type Address struct {
	Name       string `json:"name"`
	Company    string `json:"company"`
	Line1      string `json:"line1"`
	Line2      string `json:"line2"`
	City       string `json:"city"`
	State      string `json:"state"`
	PostalCode string `json:"postal_code"`
	// Country is a two-letter ISO code.
	Country string `json:"country"`
	Phone   string `json:"phone"`
	Email   string `json:"email"`
}

// Shipping holds the shipping details that an invoice does not have.
type Shipping struct {
	CarrierSlug string `json:"carrier_slug"`
	Service     string `json:"service"`
	// Incoterm is one of the three-letter Incoterms 2020 rules.
	Incoterm        string `json:"incoterm"`
	ReasonForExport string `json:"reason_for_export"`
	PortOfEntry     string `json:"port_of_entry"`
	// EstimatedArrival is a date (2026-01-31) or an ISO 8601 time.
	EstimatedArrival string `json:"estimated_arrival"`
}

// JSON returns the record's JSON, fields in the order of [Record], without copying it. The caller must not change it.
// Several goroutines may call JSON at once.
func (r *Record) JSON() []byte {
	text, err := r.encode()
	if err != nil { // input is validated, so this is a defect, which Check reports
		return []byte("null")
	}
	return text
}

// clone returns a copy that may be changed until it is stored: its struct, its list of documents and
// its profiles are not shared. Items, offers and the values of a profile are replaced as a whole.
func (r *Record) clone() *Record {
	next := *r
	next.Documents = slices.Clone(r.Documents)
	next.Profiles = maps.Clone(r.Profiles)
	return &next
}

func (r *Record) encodeOnce() {
	r.encode = sync.OnceValues(func() ([]byte, error) {
		text, err := jsontext.Encode(r)
		return bytes.Clone(text), err // without spare capacity
	})
}

func (r *Record) offered(slug string) (AvailableDocument, bool) {
	i := slices.IndexFunc(r.AvailableDocuments, func(d AvailableDocument) bool { return d.DocumentType == slug })
	if i < 0 {
		return AvailableDocument{}, false
	}
	return r.AvailableDocuments[i], true
}

func (r *Record) offers() string {
	if len(r.AvailableDocuments) == 0 {
		return "no documents"
	}
	slugs := make([]string, len(r.AvailableDocuments))
	for i, offer := range r.AvailableDocuments {
		slugs[i] = offer.DocumentType
	}
	return strings.Join(slugs, ", ")
}

// document returns the purchased document of that type inside r, or nil.
func (r *Record) document(slug string) *Document {
	i := slices.IndexFunc(r.Documents, func(d Document) bool { return d.DocumentType == slug })
	if i < 0 {
		return nil
	}
	return &r.Documents[i]
}

// purchasedDocument returns the purchased document of that type, or a refusal with the one that was perhaps meant.
func (r *Record) purchasedDocument(slug string) (*Document, error) {
	if doc := r.document(slug); doc != nil {
		return doc, nil
	}
	var slugs []string
	for _, doc := range r.Documents {
		slugs = append(slugs, doc.DocumentType)
	}
	meant := strings.TrimPrefix(spelling.Meant(slug, slugs), ": ")
	return nil, notFound("purchased document", slug,
		cmp.Or(meant, "purchase it first, or use one in documents of the request"))
}

const requestIDPrefix = "RD-"

// CutRequestID splits a text around the first request_id in it.
func CutRequestID(text []byte) (before, id, after []byte) {
	at := bytes.Index(text, []byte(requestIDPrefix))
	if at < 0 {
		return text, nil, nil
	}
	end := at + len(requestIDPrefix)
	for end < len(text) && (text[end] >= 'A' && text[end] <= 'Z' || text[end] >= '0' && text[end] <= '9') {
		end++
	}
	return text[:at], text[at:end], text[end:]
}

// RequestIDIn returns the first request_id in the first of the texts that has one, or "".
func RequestIDIn(texts ...string) string {
	for _, text := range texts {
		if _, id, _ := CutRequestID([]byte(text)); len(id) > 0 {
			return string(id)
		}
	}
	return ""
}
