package shipping

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/internal/status"
	"github.com/shipping-go/shipping/internal/wait"
)

// RegulatoryService purchases customs and compliance documents ("regulatory documents"): it analyzes a shipment
// or an invoice, edits the draft, purchases from the wallet, and waits until the documents are generated.
//
// Specification: "Typical regulatory workflow".
type RegulatoryService struct{ core *core }

// RequestStatus is the state of a regulatory document request. It is an open type: unknown states stay as sent, and a
// wait continues for up to an hour.
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
func (s RequestStatus) known() bool { return status.Of(string(s)).State != status.Other }

// Final reports whether the state ends polling: completed or failed.
func (s RequestStatus) Final() bool { return status.Of(string(s)).Final }

// failed reports whether the generation or the analysis has failed.
func (s RequestStatus) failed() bool { return status.Of(string(s)).Failed }

// AnalyzeRequest names the source to analyze: exactly one of ShipmentID and FileURL.
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
	case strings.TrimSpace(r.ShipmentID) != r.ShipmentID, strings.TrimSpace(r.FileURL) != r.FileURL:
		return invalidRequest(OpAnalyze, "ShipmentID", "or FileURL begins or ends with a blank: remove it")
	case r.FileURL != "" && !isWebAddress(r.FileURL):
		return invalidRequest(OpAnalyze, "FileURL", "is not an http or https address: pass the URL of the uploaded invoice")
	}
	return nil
}

func isWebAddress(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != ""
}

// Analyze creates a draft: it finds the documents that a shipment or invoice needs, and prices them in the wallet's
// currency. It charges nothing. If the analysis failed and the service sent the id of the request, the error is a
// [*RegulatoryError] and [ErrRequestFailed]; other errors are a [*ValidationError] or an [*Error].
//
// Analyze is retried only on evidence that nothing was sent, because each analysis creates a record.
//
// Specification: POST /v1/regulatory-documents/analyze.
func (s RegulatoryService) Analyze(ctx context.Context, analyze *AnalyzeRequest,
	call ...CallOption) (*RegulatoryRequest, error) {
	if err := analyze.Validate(); err != nil {
		return nil, err
	}
	r := request{operation: OpAnalyze, shipmentID: analyze.ShipmentID, body: jsonBody(analyze)}
	record, err := s.record(ctx, r, call)
	if err == nil && record.Status == "" {
		record.Status = StatusDraft // the specification shows no status here: a successful analysis is a draft
	}
	switch failed, ok := errors.AsType[*Error](err); {
	case ok && RequestStatus(failed.Data.Get("status").Text()).failed() && failed.RequestID != "":
		record = s.core.decodeRecord(failed.Data)
		record.RequestID, record.Status = failed.RequestID, RequestStatus(failed.Data.Get("status").Text())
		return nil, analysisFailed(record, joinErrors(ErrRequestFailed, failed))
	case err == nil && record.Status.failed():
		return nil, analysisFailed(record, ErrRequestFailed)
	}
	return record, err
}

// analysisFailed returns the error of an analysis. A record that shows a purchase is not that of a new request.
func analysisFailed(record *RegulatoryRequest, err error) error {
	failed := &RegulatoryError{RequestID: record.RequestID, Step: wait.StepAnalyzed, Request: record, Err: err}
	if !record.shown().ShowsPurchase("") {
		failed.Outcome = OutcomeNotCharged
	}
	return failed
}

// Get reads a request. The error is a [*ValidationError] or an [*Error]; an unknown id is [ErrNotFound]. A request that
// failed is not an error here: check Status.
//
// Specification: GET /v1/regulatory-documents/request/:request_id.
func (s RegulatoryService) Get(ctx context.Context, requestID string, call ...CallOption) (*RegulatoryRequest, error) {
	return s.record(ctx, request{operation: OpGetRequest, requestID: requestID}, call)
}

// record performs an operation that returns the record. A record of another request is refused. Only the lookup
// requires a status, because the specification shows it nowhere else.
func (s RegulatoryService) record(ctx context.Context, r request, call []CallOption) (*RegulatoryRequest, error) {
	var record *RegulatoryRequest
	_, _, err := fetch(ctx, s.core, r, call, func(data requestData, _ []byte) *Error {
		record = s.core.recordOf(data)
		record.RequestID = cmp.Or(record.RequestID, r.requestID)
		if problem := r.mismatch(record); problem != "" {
			if strings.HasSuffix(problem, missing) {
				problem += s.core.declarePlace(r, data.raw, record)
			}
			return &Error{RequestID: record.RequestID, Data: data.raw, Message: problem}
		}
		return nil
	})
	if failed, ok := err.(*Error); ok {
		failed.lines = failed.undeclared()
	}
	if err != nil {
		return nil, err
	}
	return record, nil
}

// recordOf returns the record of a response, without the secret key, because errors and journals contain parts of it.
func (c *core) recordOf(data requestData) *RegulatoryRequest {
	record := data.record
	switch {
	case record == nil:
		record = &RegulatoryRequest{Raw: data.raw}
	case data.raw.sole() != "":
		record = c.decodeRecord(data.raw)
	}
	record.follow(c.shown)
	return c.withoutKey(record)
}

// missing is the end of the problem of a record without a member.
const missing = " is missing"

// mismatch returns why a record is not the one that was requested; "" if it is.
func (r request) mismatch(record *RegulatoryRequest) string {
	switch {
	case !record.Raw.isObject():
		return "the response holds no regulatory request"
	case r.requestID != "" && record.RequestID != r.requestID:
		return "the response is about another request, " + spelling.Quote(record.RequestID)
	case record.RequestID == "":
		return "the response holds no regulatory request: request_id" + missing
	case record.Status == "" && r.operation == OpGetRequest:
		return "the response holds no regulatory request: status" + missing
	case r.shipmentID != "" && record.ShipmentID != "" && record.ShipmentID != r.shipmentID:
		return "the response is about another shipment, " + spelling.Quote(record.ShipmentID)
	}
	return ""
}

// DocumentType is the slug of a regulatory document, such as "CUSTOMS"; see [DocumentTypes]. A slug that the
// specification does not list is refused before anything is sent, unless [PurchaseOptions] has AllowUnknown.
//
// Specification: "Supported document type slugs (exact values)".
type DocumentType string

// DocumentTypes returns the supported types in the specification's order. The caller may change the slice.
func DocumentTypes() []DocumentType {
	return []DocumentType{
		"AMS", "CUSTOMS", "FDA", "DROP-BALL", "FISH-WILDLIFE", "FOOTWEAR", "FUMIGATION", "LITHIUM-BATTERY",
		"MSDS", "MUSEUM", "OTHER", "QUARANTINE", "STEEL", "TEXTILE", "WATCH",
	}
}

// Known reports whether the specification lists the type.
func (t DocumentType) Known() bool { return slices.Contains(DocumentTypes(), t) }

// didYouMean returns a question with a known type that differs only in case, spaces, underscores or its end; ""
// without one.
func (t DocumentType) didYouMean() string {
	meant := strings.NewReplacer(" ", "-", "_", "-").Replace(strings.ToUpper(strings.TrimSpace(string(t))))
	near := func(known DocumentType) bool {
		return len(meant) > 2 && (strings.HasPrefix(string(known), meant) || strings.HasPrefix(meant, string(known)))
	}
	if i := slices.IndexFunc(DocumentTypes(), near); i >= 0 && DocumentTypes()[i] != t {
		return "; did you mean " + string(DocumentTypes()[i]) + "?"
	}
	return ""
}

// withoutKey returns record itself if it does not contain the key, else a copy without the texts that contain it.
func (c *core) withoutKey(record *RegulatoryRequest) *RegulatoryRequest {
	if c == nil || record == nil {
		return record
	}
	raw := RawJSON(c.key.JSON(string(record.Raw)))
	if raw == record.Raw {
		return record
	}
	safe := c.decodeRecord(raw)
	safe.RequestID = cmp.Or(safe.RequestID, record.RequestID) // the service may have left it out
	safe.Status = cmp.Or(safe.Status, record.Status)
	return safe
}

// The operations below are those that the specification names without a path. They send nothing and return
// a [*ValidationError] unless [WithDialect] has a route for them; routes, methods and bodies are assumptions
// of this project.

// UpdateItems replaces the line items of a draft. The service then offers other documents: an added
// wristwatch adds WATCH, with its price.
//
// Provisional: without a route in [WithDialect] the error is a [*ValidationError].
func (s RegulatoryService) UpdateItems(ctx context.Context, requestID string, items []LineItem,
	call ...CallOption) (*RegulatoryRequest, error) {
	if items == nil {
		items = []LineItem{}
	}
	body := struct {
		LineItems []LineItem `json:"line_items"`
	}{items}
	return s.edit(ctx, operations.UpdateItems, requestID, "", body, call)
}

// UpdateAddresses replaces the addresses of a draft. An address that is nil is not changed.
//
// Provisional: without a route in [WithDialect] the error is a [*ValidationError].
func (s RegulatoryService) UpdateAddresses(ctx context.Context, requestID string, addresses Addresses,
	call ...CallOption) (*RegulatoryRequest, error) {
	return s.edit(ctx, operations.UpdateAddresses, requestID, "", addresses, call)
}

// UpdateShipping replaces the shipping details of an invoice's goods. The service refuses it for a request
// made from a shipment.
//
// Provisional: without a route in [WithDialect] the error is a [*ValidationError].
func (s RegulatoryService) UpdateShipping(ctx context.Context, requestID string, shipping ShippingDetails,
	call ...CallOption) (*RegulatoryRequest, error) {
	return s.edit(ctx, operations.UpdateShipping, requestID, "", shipping, call)
}

// UpdateProfile fills in the profile of one document of a draft. fields is any value that marshals to a
// JSON object, such as a map; [AvailableDocument.ProfileFields] lists the fields of a document.
//
// Provisional: without a route in [WithDialect] the error is a [*ValidationError].
func (s RegulatoryService) UpdateProfile(ctx context.Context, requestID string, document DocumentType, fields any,
	call ...CallOption) (*RegulatoryRequest, error) {
	if fields == nil {
		return nil, invalidRequest(operations.UpdateProfile, "fields",
			"is missing: pass the fields of the document, such as a map")
	}
	return s.edit(ctx, operations.UpdateProfile, requestID, document, fields, call)
}

// Retry generates the failed automated documents of a failed request again. Nothing is charged.
//
// Provisional: without a route in [WithDialect] the error is a [*ValidationError]. Assumption: the request goes back to
// processing.
func (s RegulatoryService) Retry(ctx context.Context, requestID string,
	call ...CallOption) (*RegulatoryRequest, error) {
	return s.edit(ctx, operations.RetryRequest, requestID, "", struct{}{}, call)
}

func (s RegulatoryService) edit(ctx context.Context, operation, requestID string, document DocumentType, body any,
	call []CallOption) (*RegulatoryRequest, error) {
	r := request{operation: operation, requestID: requestID, document: document, body: jsonBody(body)}
	return s.record(ctx, r, call)
}

// PDF returns a generated document. The operation needs no authorization, and the key is not sent. A response that is
// not a PDF is [ErrUnexpectedBody].
//
// Provisional: without a route in [WithDialect] the error is a [*ValidationError]. Specification: "Authentication",
// rule 1.
func (s RegulatoryService) PDF(ctx context.Context, requestID string, document DocumentType,
	call ...CallOption) ([]byte, error) {
	call = append([]CallOption{WithHeader("Accept", "application/pdf")}, call...)
	body, _, err := fetch(ctx, s.core,
		request{operation: operations.DocumentPDF, requestID: requestID, document: document}, call,
		func(body rawBody, _ []byte) *Error {
			if bytes.HasPrefix(body, []byte("%PDF-")) {
				return nil
			}
			return &Error{Body: body, Message: "the response is not a PDF"}
		})
	if err != nil {
		return nil, err
	}
	return body, nil
}
