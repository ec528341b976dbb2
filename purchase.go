package shipping

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Outcome is what is known about the money of a purchase.
type Outcome string

const (
	// OutcomeCharged: the wallet was charged. In a [PurchaseError] it means that the service refused
	// this purchase because the request had been purchased before.
	OutcomeCharged Outcome = "charged"
	// OutcomeNotCharged: this purchase charged nothing: it was never sent, or the service refused it.
	OutcomeNotCharged Outcome = "not charged"
	// OutcomeUnknown: the answer was lost and the request still reads as a draft. Settle it with
	// [RegulatoryService.SettlePurchase].
	OutcomeUnknown Outcome = "unknown"
)

// PurchaseRequest is a purchase with all its settings; see [RegulatoryService.PurchaseWith].
//
// Specification: POST /v1/regulatory-documents/purchase.
type PurchaseRequest struct {
	RequestID     string
	DocumentTypes []DocumentType
	// AllowUnknown sends document types that the specification does not list.
	AllowUnknown bool
	// SettleFor is how long, after a lost answer, the request is read back before the outcome is
	// reported as unknown. Default 10 s. The context's deadline leaves room for it: the purchase
	// itself gets at least three quarters of the time.
	SettleFor time.Duration
	// RefusedFor is how long a refused request must read as a draft until the purchase is reported as
	// not charged. Default 1 s.
	RefusedFor time.Duration
	// WasDraft states that the request has been read as a draft before this purchase. A request that
	// turns out as failed was then purchased: its analysis had succeeded.
	WasDraft bool
}

func (p *PurchaseRequest) validate() error {
	switch {
	case p == nil || strings.TrimSpace(p.RequestID) == "":
		return invalidRequest(OpPurchase, "RequestID", "is empty: pass the request_id that Analyze returned")
	case len(p.DocumentTypes) == 0:
		return invalidRequest(OpPurchase, "DocumentTypes", "is empty: name at least one of the draft's available documents")
	}
	if err := p.validateSettings(); err != nil {
		return err
	}
	for i, slug := range p.DocumentTypes {
		switch {
		case slices.Contains(p.DocumentTypes[:i], slug):
			return invalidRequest(OpPurchase, "DocumentTypes", fmt.Sprintf("names %s twice", slug))
		case slug == "" || !slug.Known() && !p.AllowUnknown:
			return invalidRequest(OpPurchase, "DocumentTypes",
				fmt.Sprintf("names %q, which the specification does not list (see DocumentTypes()); set AllowUnknown to send it anyway", slug))
		}
	}
	return nil
}

func (p *PurchaseRequest) validateSettings() error {
	if p.SettleFor < 0 || p.RefusedFor < 0 {
		return invalidRequest(OpPurchase, "PurchaseRequest", "has a negative field: leave it 0 for the default")
	}
	return nil
}

// PurchaseResult is a purchase that was charged.
type PurchaseResult struct {
	RequestID string
	// Outcome is [OutcomeCharged].
	Outcome Outcome
	// ReadBack is true where the answer was lost and the charge was learnt by reading the request.
	ReadBack bool
	// Status is the request's status as far as known.
	Status RequestStatus
	// ChargedAmount, Currency and TransactionID are what the service says about the charge, where it
	// does (assumption).
	ChargedAmount Amount
	Currency      string
	TransactionID string
	// Request is the record where it was read back; nil otherwise.
	Request *RegulatoryRequest
	// Raw is the data of the answer or, with ReadBack, the record.
	Raw RawJSON
}

// PurchaseError is a purchase without a confirmation. Outcome tells what is known about the money.
type PurchaseError struct {
	RequestID     string
	DocumentTypes []DocumentType
	Outcome       Outcome
	// Request is the record as last read back; nil where it could not be read.
	Request *RegulatoryRequest
	// Err is why the purchase was not confirmed.
	Err error
}

// Error says what is known about the money, and what to do.
func (e *PurchaseError) Error() string {
	text := fmt.Sprintf("shipping: purchase of request %s: outcome %s: %v", e.RequestID, e.Outcome, e.Err)
	switch e.Outcome {
	case OutcomeCharged:
		text += "; the request was purchased before: call Regulatory.Wait to go on"
	case OutcomeUnknown:
		text += fmt.Sprintf("; do not purchase again: call Regulatory.SettlePurchase(ctx, %q, nil) when the service answers", e.RequestID)
	}
	return text
}

// Unwrap returns the cause.
func (e *PurchaseError) Unwrap() error { return e.Err }

// Purchase buys documents of a draft: the wallet is charged the amounts stored on the draft, and
// generation starts. It is sent once and never enters a retry loop. When the answer is lost the
// request is read back, so that a charge is reported as one; see [PurchaseError] for the rest.
//
// Specification: POST /v1/regulatory-documents/purchase.
func (s RegulatoryService) Purchase(ctx context.Context, requestID string, documents ...DocumentType) (*PurchaseResult, error) {
	return s.PurchaseWith(ctx, &PurchaseRequest{RequestID: requestID, DocumentTypes: documents})
}

// PurchaseWith is [RegulatoryService.Purchase] with all settings.
func (s RegulatoryService) PurchaseWith(ctx context.Context, purchase *PurchaseRequest, call ...CallOption) (*PurchaseResult, error) {
	if err := purchase.validate(); err != nil {
		return nil, err
	}
	p := *purchase
	p.DocumentTypes = slices.Clone(p.DocumentTypes)
	setDefault(&p.SettleFor, 10*time.Second)
	setDefault(&p.RefusedFor, time.Second)
	result, err := s.purchaseOnce(ctx, p, call)
	if err == nil {
		return result, nil
	}
	verdict := verdictOn(err)
	if verdict == neverSent {
		return nil, p.failed(OutcomeNotCharged, nil, err)
	}
	settleFor := p.SettleFor
	if verdict == refused {
		settleFor = 0 // one look: was it refused because it had been purchased before?
	}
	record, readErr := s.readBack(ctx, p.RequestID, settleFor, call)
	switch {
	case verdict == refused && charged(record) && showsPurchase(record):
		return nil, p.failed(OutcomeCharged, record, err)
	case verdict == refused:
		return nil, p.failed(OutcomeNotCharged, record, err)
	case charged(record):
		return readBackResult(record), nil
	default:
		return nil, p.failed(OutcomeUnknown, record, both(err, readErr))
	}
}

func (p PurchaseRequest) failed(outcome Outcome, record *RegulatoryRequest, err error) error {
	return &PurchaseError{RequestID: p.RequestID, DocumentTypes: p.DocumentTypes, Outcome: outcome, Request: record, Err: err}
}

func (s RegulatoryService) purchaseOnce(ctx context.Context, p PurchaseRequest, call []CallOption) (*PurchaseResult, error) {
	body := struct {
		RequestID     string         `json:"request_id"`
		DocumentTypes []DocumentType `json:"document_types"`
	}{p.RequestID, p.DocumentTypes}
	r := request{operation: OpPurchase, body: body}
	if deadline, bounded := ctx.Deadline(); bounded {
		// Leave time to read the request back, should the answer be lost.
		left := time.Until(deadline)
		r.timeout = left - min(p.SettleFor, left/4)
	}
	raw, _, err := fetch[RawJSON](ctx, s.core, r, call)
	if err != nil {
		if answer, ok := errors.AsType[*Error](err); ok && answer.RequestID == "" {
			answer.RequestID = p.RequestID
		}
		return nil, err
	}
	record := decodeRecord(raw)
	return &PurchaseResult{
		RequestID: p.RequestID, Outcome: OutcomeCharged, Status: record.Status, ChargedAmount: record.ChargedAmount,
		Currency: record.Currency, TransactionID: record.TransactionID, Raw: raw,
	}, nil
}

// verdict is what a failed purchase proves about itself.
type verdict uint8

const (
	answerLost verdict = iota // nothing
	neverSent                 // nothing reached the service
	refused                   // the service itself said no
)

// verdictOn reads the evidence. A 4xx in the documented envelope is the service's own refusal.
// Everything else proves nothing, not even a 429 or a 500: they may come from between us and the
// service, or after the charge.
func verdictOn(err error) verdict {
	answer, ok := errors.AsType[*Error](err)
	if !ok || notSent(answer.Cause) {
		return neverSent
	}
	switch answer.StatusCode {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return answerLost
	}
	if answer.StatusCode/100 == 4 && answer.kind != ErrTruncated && envelopeSaysNo(answer) {
		return refused
	}
	return answerLost
}

// envelopeSaysNo reports whether the body is the service's own refusal, and not a proxy's page.
func envelopeSaysNo(answer *Error) bool {
	status := RawJSON(answer.Body).Get("status")
	return status == "false" || status == `"false"`
}

// charged reports whether a record shows a purchase. A failed request was charged when its documents
// were: an analysis that failed never gets as far as a purchase.
func charged(record *RegulatoryRequest) bool {
	if record == nil {
		return false
	}
	switch record.Status {
	case StatusPurchasing, StatusProcessing, StatusCompleted, StatusFailed:
		return true
	}
	return false
}

// showsPurchase tells a request that was purchased from one whose analysis failed.
func showsPurchase(record *RegulatoryRequest) bool {
	return record.Status != StatusFailed || len(record.Documents) > 0 || record.TransactionID != "" || record.ChargedAmount.Sign() > 0
}

func readBackResult(record *RegulatoryRequest) *PurchaseResult {
	return &PurchaseResult{
		RequestID: record.RequestID, Outcome: OutcomeCharged, ReadBack: true, Status: record.Status, Request: record,
		ChargedAmount: record.ChargedAmount, Currency: record.Currency, TransactionID: record.TransactionID, Raw: record.Raw,
	}
}

// readBack reads the request until it shows a charge, or has been a draft for settleFor.
func (s RegulatoryService) readBack(ctx context.Context, requestID string, settleFor time.Duration, call []CallOption) (*RegulatoryRequest, error) {
	started, wait := time.Now(), settleFor/40
	call = append(slices.Clip(call), WithResponse(nil)) // the caller asked for the purchase's
	for {
		record, err := s.Get(ctx, requestID, call...)
		if charged(record) {
			return record, nil
		}
		left := settleFor - time.Since(started)
		switch {
		case ctx.Err() != nil:
			return record, withReason(ctx, context.Cause(ctx))
		case left <= 0 || err != nil && !passing(err):
			return record, err
		}
		wait = min(2*wait+time.Millisecond, left)
		if slept := sleep(ctx, wait, err); slept != nil {
			return record, slept
		}
	}
}

// SettleOptions says how [RegulatoryService.SettlePurchase] decides. Zero fields take the defaults.
type SettleOptions struct {
	// QuietFor is how long a request must read as a draft, with the purchase long over, until it
	// counts as not charged. Default 1 min.
	//
	// Assumption: a purchase that has not begun by then never will.
	QuietFor time.Duration
	// DocumentTypes are the documents of the purchase, and WasDraft states that the request had been read
	// as a draft before it; see [PurchaseError] and [PurchaseRequest]. Without DocumentTypes, any
	// purchase of the request counts.
	DocumentTypes []DocumentType
	WasDraft      bool
}

// SettlePurchase finds out what became of a purchase whose outcome was unknown, from the request's id
// alone. It only reads. A charge is returned as a result; a request that stays a draft is a
// [*PurchaseError] with [OutcomeNotCharged]; a request that cannot be read stays [OutcomeUnknown].
func (s RegulatoryService) SettlePurchase(ctx context.Context, requestID string, settle *SettleOptions, call ...CallOption) (*PurchaseResult, error) {
	var options SettleOptions
	if settle != nil {
		options = *settle
	}
	p := PurchaseRequest{RequestID: requestID}
	if requestID == "" || options.QuietFor < 0 {
		return nil, invalidRequest(OpGetRequest, "SettlePurchase", "needs the request's id, and a QuietFor that is not negative")
	}
	setDefault(&options.QuietFor, time.Minute)
	record, err := s.readBack(ctx, requestID, options.QuietFor, call)
	switch {
	case charged(record):
		return readBackResult(record), nil
	case err == nil && record.Status == StatusDraft:
		return nil, p.failed(OutcomeNotCharged, record,
			fmt.Errorf("the request has stayed a draft for %s: it can be purchased", options.QuietFor))
	case err == nil:
		err = fmt.Errorf("the request has the unknown status %q", record.Status)
	}
	return nil, p.failed(OutcomeUnknown, record, err)
}
