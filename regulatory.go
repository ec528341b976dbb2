package shipping

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/shipping-go/shipping/internal/jsonexact"
)

// RegulatoryService makes customs and compliance forms ("regulatory documents"): analyze a shipment
// or an invoice, edit the draft, purchase from the wallet, wait until the documents are generated.
//
// Specification: "Typical regulatory workflow".
type RegulatoryService struct{ core *core }

// RequestStatus is the state of a regulatory document request. It is an open type: a state that this
// package does not know is kept, and waiting goes on.
type RequestStatus string

// The states of a request (specification: "Regulatory document request states").
const (
	// StatusDraft: analyzed, not yet purchased, editable.
	StatusDraft RequestStatus = "draft"
	// StatusPurchasing: purchase in progress; transient.
	StatusPurchasing RequestStatus = "purchasing"
	// StatusProcessing: purchased; generation in progress.
	StatusProcessing RequestStatus = "processing"
	// StatusCompleted: all purchased documents have been generated.
	StatusCompleted RequestStatus = "completed"
	// StatusFailed: analyze or generation failed.
	StatusFailed RequestStatus = "failed"
)

// known reports whether the specification lists the state.
func (s RequestStatus) known() bool {
	switch s {
	case StatusDraft, StatusPurchasing, StatusProcessing, StatusCompleted, StatusFailed:
		return true
	}
	return false
}

// Final reports whether the state is completed or failed, where polling ends.
func (s RequestStatus) Final() bool { return s == StatusCompleted || s == StatusFailed }

// Source says what a request was made from.
type Source string

// The two flows (specification: "Regulatory flows").
const (
	// SourceShipment is an existing shipment of the service.
	SourceShipment Source = "shipment"
	// SourceInvoice is an uploaded commercial invoice.
	SourceInvoice Source = "invoice"
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

// AnalyzeRequest says what to analyze: exactly one of ShipmentID and FileURL.
//
// Specification: POST /v1/regulatory-documents/analyze.
type AnalyzeRequest struct {
	// ShipmentID names an existing shipment (shipment flow).
	ShipmentID string `json:"shipment_id,omitempty"`
	// FileURL is the address of the uploaded commercial invoice (invoice flow).
	FileURL string `json:"file_url,omitempty"`
}

// Validate returns a [*ValidationError] if the analysis would be refused before it is sent.
func (r *AnalyzeRequest) Validate() error {
	switch {
	case r == nil || r.ShipmentID == "" && r.FileURL == "":
		return invalidRequest(OpAnalyze, "ShipmentID", "and FileURL are both empty: set exactly one of them")
	case r.ShipmentID != "" && r.FileURL != "":
		return invalidRequest(OpAnalyze, "ShipmentID", "and FileURL are both set: set exactly one of them")
	case r.FileURL != "" && !strings.HasPrefix(r.FileURL, "https://") && !strings.HasPrefix(r.FileURL, "http://"):
		return invalidRequest(OpAnalyze, "FileURL", "is not an http or https address")
	}
	return nil
}

// Analyze creates a draft: it finds the documents that a shipment or invoice needs, and prices them in
// the wallet's currency. It charges nothing. An analysis that fails is an error of type
// [*FailedError], with the request's id where the service gave one.
//
// Analyze is retried only on evidence that nothing was sent, since each analysis makes a record.
//
// Specification: POST /v1/regulatory-documents/analyze.
func (s RegulatoryService) Analyze(ctx context.Context, analyze *AnalyzeRequest, call ...CallOption) (*RegulatoryRequest, error) {
	if err := analyze.Validate(); err != nil {
		return nil, err
	}
	record, err := s.record(ctx, request{operation: OpAnalyze, body: analyze}, call)
	if err == nil && record.ShipmentID != "" && analyze.ShipmentID != "" && record.ShipmentID != analyze.ShipmentID {
		return nil, s.core.redacted(&Error{
			Operation: OpAnalyze, StatusCode: http.StatusOK, RequestID: record.RequestID, Data: record.Raw, kind: ErrUnexpectedBody,
			Message: "the response is about another shipment, " + quoteShort(record.ShipmentID),
		})
	}
	if err == nil && record.Status == "" {
		record.Status = StatusDraft // the endpoint's table names no status: a successful analysis is a draft
	}
	if failed, ok := analysisFailure(err); ok {
		return nil, failed
	}
	if err == nil && record.Status == StatusFailed {
		return nil, &FailedError{Request: record, Operation: OpAnalyze}
	}
	return record, err
}

// Get reads a request.
//
// Specification: GET /v1/regulatory-documents/request/:request_id.
func (s RegulatoryService) Get(ctx context.Context, requestID string, call ...CallOption) (*RegulatoryRequest, error) {
	record, _, err := s.lookup(ctx, requestID, call)
	return record, err
}

// lookup is Get that also returns the data of the response.
func (s RegulatoryService) lookup(ctx context.Context, requestID string, call []CallOption) (*RegulatoryRequest, RawJSON, error) {
	return s.read(ctx, request{operation: OpGetRequest, params: map[string]string{regulatoryRequestID: requestID}}, call)
}

// record performs an operation that returns the record.
func (s RegulatoryService) record(ctx context.Context, r request, call []CallOption) (*RegulatoryRequest, error) {
	record, _, err := s.read(ctx, r, call)
	return record, err
}

// read performs an operation that returns the record, and returns the data of the response too. A record
// of another request is refused. The status is required of the lookup alone: the specification names it
// nowhere else.
func (s RegulatoryService) read(ctx context.Context, r request, call []CallOption) (*RegulatoryRequest, RawJSON, error) {
	data, response, err := fetch[requestData](ctx, s.core, r, call)
	if err != nil {
		return nil, "", err
	}
	if s.core.drift != nil {
		reportDrift[RegulatoryRequest](s.core.drift, r.operation, "data", []byte(data.raw))
	}
	record := data.record
	if record == nil {
		record = &RegulatoryRequest{Raw: data.raw}
	}
	record = s.core.redactedRecord(record)
	asked := r.params[regulatoryRequestID]
	setDefault(&record.RequestID, asked)
	problem := ""
	switch {
	case jsonKind(json.RawMessage(data.raw)) != "object":
		problem = "the response holds no regulatory request"
	case asked != "" && record.RequestID != asked:
		problem = "the response is about another request, " + quoteShort(record.RequestID)
	case record.RequestID == "":
		problem = "the response holds no regulatory request: request_id is missing"
	case record.Status == "" && r.operation == OpGetRequest:
		problem = "the response holds no regulatory request: status is missing"
	}
	if problem != "" {
		return nil, "", s.core.redacted(&Error{
			Operation: r.operation, StatusCode: response.StatusCode, RequestID: cmp.Or(asked, record.RequestID),
			Data: data.raw, Attempts: response.Attempts, kind: ErrUnexpectedBody, Message: problem,
		})
	}
	return record, data.raw, nil
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
