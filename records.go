package shipping

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/jsonread"
)

// RegulatoryRequest is the record of a regulatory document request: a draft until it is purchased.
//
// Specification: "Regulatory document request (draft record)". It names RequestID, Status, AvailableDocuments, the
// line items and Source; the other fields are assumptions of this project, read if a service sends them under these
// names. Raw holds the record as it was sent.
type RegulatoryRequest struct {
	RequestID string        `json:"request_id"`
	Status    RequestStatus `json:"status"`
	Source    string        `json:"source"` // "shipment" or "invoice"
	// AvailableDocuments are the documents matched by the analysis or the last edit, with the prices that a purchase
	// charges.
	AvailableDocuments []AvailableDocument `json:"available_documents"`
	// LineItems are the items of the shipment or invoice. They are read from "line_items" or "items":
	// the specification does not show the field's name.
	LineItems []LineItem `json:"line_items" alias:"items" spec:"optional"`

	ShipmentID string `json:"shipment_id" spec:"optional"`
	FileURL    string `json:"file_url" spec:"optional"`
	// Wallet is the wallet that a purchase charges, Currency its currency.
	Wallet   string `json:"wallet" spec:"optional"`
	Currency string `json:"currency" spec:"optional"`
	// Documents are the purchased documents and the state of each.
	Documents []PurchasedDocument `json:"documents" spec:"optional"`
	Addresses *Addresses          `json:"addresses" spec:"optional"`
	Shipping  *ShippingDetails    `json:"shipping" spec:"optional"`
	// Profiles holds the fields filled in so far, by document.
	Profiles map[DocumentType]RawJSON `json:"profiles" spec:"optional"`
	// ChargedAmount is the amount that the purchase took from the wallet, in Currency, and TransactionID is
	// its transaction. A text such as "46.86 GBP" is read, too.
	ChargedAmount Amount `json:"charged_amount" spec:"optional"`
	TransactionID string `json:"transaction_id" spec:"optional"`
	// FailureReason is the reason why the request failed.
	FailureReason string    `json:"failure_reason" spec:"optional"`
	CreatedAt     time.Time `json:"created_at" spec:"optional"`
	UpdatedAt     time.Time `json:"updated_at" spec:"optional"`

	// Raw is the data of the response that held the record, as the service sent it: the record itself, or an object with
	// the record as its member "request". If the data is a list of one record, Raw is that record.
	Raw RawJSON `json:"-" read:"raw"`
	// Dialect is that of [WithDialect], which [RegulatoryRequest.Price], [RegulatoryRequest.Cost] and [Budget.Check]
	// follow. It may be nil.
	Dialect *dialect.Dialect `json:"-"`
}

// MarshalJSON writes Raw, so that a stored draft costs the same when it is read back; changes of its fields are not
// written. A record without Raw, made by a program, is written from its fields.
func (r RegulatoryRequest) MarshalJSON() ([]byte, error) {
	if r.Raw != "" {
		return r.Raw.MarshalJSON()
	}
	type plain RegulatoryRequest
	return json.Marshal(plain(r))
}

// UnmarshalJSON reads a record as the client does, and keeps the text in Raw. The text has no dialect: set Dialect to
// that of the client. Null changes nothing.
func (r *RegulatoryRequest) UnmarshalJSON(text []byte) error {
	raw := RawJSON(bytes.TrimSpace(text))
	switch {
	case raw == "null":
		return nil
	case !raw.isObject():
		return errors.New("shipping: a regulatory request is a JSON object")
	}
	*r = *decodeRecord(raw)
	return nil
}

// Offer returns the available document of a type. If the type is listed more than once, its price is
// ambiguous: the amount of the document is unreadable.
func (r *RegulatoryRequest) Offer(t DocumentType) (document AvailableDocument, offered bool) {
	if r == nil {
		return document, false
	}
	for _, available := range r.AvailableDocuments {
		switch {
		case available.DocumentType == t && offered:
			document.Amount = Amount{state: amountUnreadable}
		case available.DocumentType == t:
			document, offered = available, true
		}
	}
	return document, offered
}

// AvailableDocument is a document that the service can generate for a request, with its price.
type AvailableDocument struct {
	DocumentType DocumentType `json:"document_type" alias:"slug,type" read:"bare"`
	Name         string       `json:"name" spec:"optional"`
	// Mode is "automated" if a failed generation can be retried, and "manual" if the evidence of a third
	// party is needed (assumption).
	Mode string `json:"mode" spec:"optional"`
	// Amount is the price, converted into Currency (the wallet's) when the request was analyzed.
	// [Amount.Known] distinguishes a missing price from 0.
	Amount   Amount `json:"amount,omitzero" alias:"price"`
	Currency string `json:"currency" spec:"optional"`
	// Reasons are the items and rules that made the document necessary.
	Reasons []struct {
		// ItemID is empty if the whole consignment is the reason.
		ItemID string `json:"item_id" spec:"optional"`
		Rule   string `json:"rule"`
		Match  string `json:"match"`
	} `json:"reasons" spec:"optional"`
	// ProfileFields are the fields of the document's profile; see [RegulatoryService.UpdateProfile].
	ProfileFields []struct {
		Name     string `json:"name"`
		Label    string `json:"label"`
		Type     string `json:"type"`
		Required bool   `json:"required"`
	} `json:"profile_fields" spec:"optional"`
}

// UnmarshalJSON reads an available document. It accepts a bare slug and other member names: "type" or "slug" for
// the type, and "price" for the amount. Two prices that differ are unreadable.
func (d *AvailableDocument) UnmarshalJSON(data []byte) error {
	*d = AvailableDocument{}
	return readJSON(data, d)
}

// LineItem is an item of a shipment or invoice. Its fields are assumptions.
type LineItem struct {
	ItemID      string `json:"item_id,omitempty"`
	Description string `json:"description"`
	// Name is sent by some services in addition to Description. It is read, not written.
	Name     string  `json:"-" alias:"name"`
	HSCode   string  `json:"hs_code,omitempty"`
	Quantity float64 `json:"quantity"`
	// UnitPrice is in Currency. It is omitted if it is not given.
	UnitPrice Amount `json:"unit_price,omitzero"`
	Currency  string `json:"currency,omitempty"`
	// Weight is in kilograms. It is not documented whether it is for one piece or for all.
	Weight float64 `json:"weight,omitempty"`
	// OriginCountry is a two-letter country code. The name "manufacturer_country" is read too.
	OriginCountry string `json:"origin_country,omitempty" alias:"manufacturer_country"`
}

// PurchasedDocument is a purchased document. Its fields are assumptions.
type PurchasedDocument struct {
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

// ShippingDetails describes the transport of an invoice's goods (invoice flow only). Its fields are
// assumptions.
type ShippingDetails struct {
	CarrierSlug     string `json:"carrier_slug,omitempty"`
	Service         string `json:"service,omitempty"`
	Incoterm        string `json:"incoterm,omitempty"`
	ReasonForExport string `json:"reason_for_export,omitempty"`
	PortOfEntry     string `json:"port_of_entry,omitempty"`
	// EstimatedArrival is a date, YYYY-MM-DD.
	EstimatedArrival string `json:"estimated_arrival,omitempty"`
}

// requestData is the data of a response that holds a record, as it was sent and as it was read. If a response gives
// data twice, neither is read as a record, because one of the two may be a draft.
type requestData struct {
	raw    RawJSON
	record *RegulatoryRequest
	// wrapped is true if the record is data.request.
	wrapped bool
}

func (d *requestData) givenTwice() {
	d.raw = jsonread.GivenTwice
	d.record = &RegulatoryRequest{Raw: d.raw}
}

// requestWire is a record that is data itself or data.request. A request within that request is not read: there could
// be thousands.
type requestWire struct {
	RegulatoryRequest
	Request *RegulatoryRequest `json:"request" spec:"optional"`
}

// readRequestData accepts any JSON value. Parts of a record that cannot be read are left out. A charge may be
// shown beside data.request.
func readRequestData(d *jsonread.Decoder, data *requestData) (read bool) {
	var wire requestWire
	if text := d.Read(&wire); wire.Raw == "" { // not an object
		wire.Raw = RawJSON(text)
	}
	data.raw, data.record = wire.Raw, &wire.RegulatoryRequest
	if wire.Request == nil || wire.RequestID != "" {
		return true
	}
	data.record, data.wrapped = wire.Request, true
	data.record.Raw = data.raw
	data.record.TransactionID = cmp.Or(data.record.TransactionID, wire.TransactionID)
	if data.record.ChargedAmount == (Amount{}) && wire.ChargedAmount != (Amount{}) {
		data.record.ChargedAmount = wire.ChargedAmount
		data.record.Currency = cmp.Or(data.record.Currency, wire.Currency)
	}
	return true
}

// decodeRecord reads the record from the data of a response, which may be a list of one.
func decodeRecord(raw RawJSON) *RegulatoryRequest { return decodeWith(responses(), raw) }

func decodeWith(reader *jsonread.Reader, raw RawJSON) *RegulatoryRequest {
	raw = cmp.Or(raw.sole(), raw)
	var data requestData
	if reader.Read([]byte(raw), &data, jsonread.Options{}) != nil {
		return &RegulatoryRequest{Raw: raw}
	}
	return data.record
}

// decodeRecord decodes a record with the member names of the client's dialect.
func (c *core) decodeRecord(raw RawJSON) *RegulatoryRequest {
	record := decodeWith(c.reader, raw)
	record.follow(c.shown)
	return record
}

// follow sets the dialect of a record, and reads a charge that is a text with a currency.
func (r *RegulatoryRequest) follow(d *dialect.Dialect) {
	r.Dialect = d
	if r.ChargedAmount.state != amountUnreadable {
		return
	}
	if n, currency, read := r.shown().ReadCharge(); read {
		r.ChargedAmount, r.Currency = knownAmount(n), cmp.Or(currency, r.Currency)
	}
}

// RawJSON is a JSON value kept exactly as the service sent it, for fields whose shape the
// specification leaves open: a rate's breakdown, metadata, the error's data. It is immutable and
// comparable; the zero value means the field was absent.
type RawJSON string

// Decode reads the value into v as [json.Unmarshal] does, except that a member is read into a field only if
// their names are equal byte for byte: a struct without tags does not read "name" into Name. If a member is
// given twice, the last one counts, and an [Amount] is unreadable. An absent value leaves v as it is.
func (r RawJSON) Decode(v any) error {
	if r == "" {
		return nil
	}
	return jsonread.Unmarshal([]byte(r), v)
}

// Get returns the value under key of a JSON object, the last one if there are several, or "" if there is
// none.
func (r RawJSON) Get(key string) RawJSON {
	return r.members()[key]
}

// members returns the members of a JSON object; none of any other value.
func (r RawJSON) members() map[string]RawJSON {
	var members map[string]RawJSON
	if readJSON([]byte(r), &members) != nil {
		return nil
	}
	return members
}

// Text returns the text of a JSON string, "" for null and absent, and any other value as written.
func (r RawJSON) Text() string {
	if r == "null" {
		return ""
	}
	var text string
	if len(r) > 0 && r[0] == '"' && readJSON([]byte(r), &text) == nil {
		return text
	}
	return string(r)
}

// IsNull reports whether the value was absent or null.
func (r RawJSON) IsNull() bool { return r == "" || r == "null" }

// MarshalJSON writes the value as the service sent it; absent is null.
func (r RawJSON) MarshalJSON() ([]byte, error) {
	if r == "" {
		return []byte("null"), nil
	}
	if !json.Valid([]byte(r)) {
		return nil, errors.New("shipping: RawJSON does not hold valid JSON")
	}
	return []byte(r), nil
}

// UnmarshalJSON keeps a copy of data.
func (r *RawJSON) UnmarshalJSON(data []byte) error {
	*r = RawJSON(bytes.TrimSpace(data))
	return nil
}

// sole returns the element of a list with one object, or "".
func (r RawJSON) sole() RawJSON {
	if !r.isList() {
		return ""
	}
	var elements []RawJSON
	if readJSON([]byte(r), &elements) != nil || len(elements) != 1 || !elements[0].isObject() {
		return ""
	}
	return elements[0]
}

func (r RawJSON) isObject() bool { return r.startsWith('{') }

func (r RawJSON) isList() bool { return r.startsWith('[') }

func (r RawJSON) startsWith(bracket byte) bool {
	i := 0
	for i < len(r) && strings.IndexByte(" \t\r\n", r[i]) >= 0 {
		i++
	}
	return i < len(r) && r[i] == bracket
}
