package shipping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shipping-go/shipping/internal/evidence"
	"github.com/shipping-go/shipping/internal/jsonexact"
)

// PurchaseOutcome reports whether a purchase charged the wallet.
type PurchaseOutcome string

const (
	// OutcomeCharged: the wallet was charged. In a [PurchaseError] it means that the service refused
	// this purchase because the documents had been purchased before.
	OutcomeCharged PurchaseOutcome = "charged"
	// OutcomeNotCharged: this purchase charged nothing: it was never sent, or the service refused it.
	OutcomeNotCharged PurchaseOutcome = "not charged"
	// OutcomeUnknown: the evidence does not decide whether the wallet was charged. Settle it with
	// [RegulatoryService.SettlePurchase].
	OutcomeUnknown PurchaseOutcome = "unknown"
)

// PurchaseOptions are the settings of a purchase. Zero fields take the defaults.
type PurchaseOptions struct {
	// AllowUnknown sends document types that the specification does not list.
	AllowUnknown bool
	// SettleFor is how long the request is read back after a lost response, or after a refusal that the
	// record contradicts, until the outcome is reported as unknown. Default 10 s. The context's deadline
	// leaves room for it: the purchase itself gets at least three quarters of the time.
	SettleFor time.Duration
	// RefusedFor is how long a refused request must read as a draft until the purchase is reported as
	// not charged. Default 1 s.
	RefusedFor time.Duration
}

// Validate returns a [*ValidationError] if a purchase with these settings would be refused before it is sent.
func (o *PurchaseOptions) Validate() error {
	if o.SettleFor < 0 || o.RefusedFor < 0 {
		return invalidRequest(OpPurchase, "PurchaseOptions", "has a negative field: leave it 0 for the default")
	}
	return nil
}

// PurchaseRequest is a purchase with all its settings; see [RegulatoryService.PurchaseWith].
//
// Specification: POST /v1/regulatory-documents/purchase.
type PurchaseRequest struct {
	RequestID     string
	DocumentTypes []DocumentType
	// WasDraft states that the request has been read as a draft before this purchase. A request that
	// turns out as failed was then purchased: its analysis had succeeded.
	WasDraft bool
	PurchaseOptions
}

// Validate returns a [*ValidationError] if the purchase would be refused before it is sent.
func (p *PurchaseRequest) Validate() error {
	switch {
	case p == nil || strings.TrimSpace(p.RequestID) == "":
		return invalidRequest(OpPurchase, "RequestID", "is empty: pass the request_id that Analyze returned")
	case len(p.DocumentTypes) == 0:
		return invalidRequest(OpPurchase, "DocumentTypes", "is empty: name at least one of the draft's available documents")
	}
	if err := cmp.Or(validID(OpPurchase, "RequestID", p.RequestID), p.PurchaseOptions.Validate()); err != nil {
		return err
	}
	for i, slug := range p.DocumentTypes {
		switch {
		case slices.Contains(p.DocumentTypes[:i], slug):
			return invalidRequest(OpPurchase, "DocumentTypes", fmt.Sprintf("names %s twice", slug))
		case slug == "" || !slug.Known() && !p.AllowUnknown:
			return invalidRequest(OpPurchase, "DocumentTypes",
				fmt.Sprintf("names %q, which the specification does not list (see DocumentTypes()); set AllowUnknown to send it anyway%s", slug, slug.didYouMean()))
		}
	}
	return nil
}

// validID returns an error for an identifier under which a request cannot be read back: JSON cannot carry it as
// it is, or a URL would name another resource.
func validID(operation, field, id string) error {
	switch {
	case !utf8.ValidString(id):
		return invalidRequest(operation, field, "is not valid UTF-8: pass the request_id that Analyze returned")
	case id == "." || id == "..":
		return invalidRequest(operation, field, "is "+id+", which would name another resource: pass the request_id that Analyze returned")
	}
	return nil
}

// PurchaseResult is a purchase that charged the wallet.
type PurchaseResult struct {
	RequestID string
	// Outcome is [OutcomeCharged].
	Outcome PurchaseOutcome
	// ReadBack reports that the response was lost and the charge was found by reading the request.
	ReadBack bool
	// Status is the request's status; empty if the confirmation has none that the specification lists.
	Status RequestStatus
	// ChargedAmount, Currency and TransactionID describe the charge, if the service reports them
	// (assumption).
	ChargedAmount Amount
	Currency      string
	TransactionID string
	// Request is the record if it was read back; nil otherwise.
	Request *RegulatoryRequest
	// Raw is the data of the response or, with ReadBack, the record.
	Raw RawJSON
}

// PurchaseError is returned for a purchase without a confirmation. Outcome reports whether the wallet was
// charged.
type PurchaseError struct {
	RequestID     string
	DocumentTypes []DocumentType
	Outcome       PurchaseOutcome
	// Request is the record as last read back; nil if it could not be read.
	Request *RegulatoryRequest
	// Err is the reason why the purchase was not confirmed.
	Err error
}

// Error names the request and the outcome, and what to do.
func (e *PurchaseError) Error() string {
	text := fmt.Sprintf("shipping: purchase of request %s: outcome %s%s",
		oneLine(e.RequestID, maxErrorID), cmp.Or(e.Outcome, OutcomeUnknown), causeText(e.Err, e.RequestID))
	switch e.Outcome {
	case OutcomeCharged:
		text += "; the documents were purchased before: call Regulatory.Wait to wait for them"
	case OutcomeUnknown:
		text += "; do not purchase again: call Regulatory.SettlePurchase when the service responds"
	}
	return text
}

// Unwrap returns the cause.
func (e *PurchaseError) Unwrap() error { return e.Err }

// Purchase buys documents of a draft: the wallet is charged the amounts stored on the draft, and
// generation starts. The request is sent once and never retried. If the response is lost, or refuses the
// purchase, the request is read back, and the result follows from both.
//
// A purchase that is refused before it is sent is a [*ValidationError]. Any other error is a [*PurchaseError], whose
// Outcome reports whether the wallet was charged; it wraps the [*Error] of the call.
//
// Specification: POST /v1/regulatory-documents/purchase.
func (s RegulatoryService) Purchase(ctx context.Context, requestID string, documents ...DocumentType) (*PurchaseResult, error) {
	return s.PurchaseWith(ctx, &PurchaseRequest{RequestID: requestID, DocumentTypes: documents})
}

// PurchaseWith is [RegulatoryService.Purchase] with all settings.
func (s RegulatoryService) PurchaseWith(ctx context.Context, purchase *PurchaseRequest, call ...CallOption) (*PurchaseResult, error) {
	if err := purchase.Validate(); err != nil {
		return nil, err
	}
	if ctx == nil {
		return nil, nilContext(OpPurchase)
	}
	p := *purchase
	p.DocumentTypes = slices.Clone(p.DocumentTypes)
	setDefault(&p.SettleFor, 10*time.Second)
	setDefault(&p.RefusedFor, time.Second)
	result, response, err := s.send(ctx, p, call)
	switch response {
	case evidence.Confirmation:
		return result, nil
	case evidence.Unsent:
		return nil, p.failed(OutcomeNotCharged, nil, err)
	}
	call = append(slices.Clip(call), WithResponse(nil)) // the caller wants the response of the purchase
	reading := &readBack{service: s, purchase: p, response: response, cause: err, call: call, longest: p.SettleFor}
	if response == evidence.Refusal {
		reading.quietFor, reading.longest = p.RefusedFor, max(p.SettleFor, p.RefusedFor)
	}
	return reading.decide(ctx)
}

func (p PurchaseRequest) failed(outcome PurchaseOutcome, record *RegulatoryRequest, err error) error {
	return &PurchaseError{RequestID: p.RequestID, DocumentTypes: p.DocumentTypes, Outcome: outcome, Request: record, Err: err}
}

// send sends the purchase once and classifies what came back. The result is set with a confirmation, the
// error otherwise.
func (s RegulatoryService) send(ctx context.Context, p PurchaseRequest, call []CallOption) (*PurchaseResult, evidence.Response, error) {
	body := struct {
		RequestID     string         `json:"request_id"`
		DocumentTypes []DocumentType `json:"document_types"`
	}{p.RequestID, p.DocumentTypes}
	r := request{operation: OpPurchase, body: jsonBody(body)}
	if deadline, bounded := ctx.Deadline(); bounded {
		// Leave time to read the request back if the response is lost.
		left := time.Until(deadline)
		r.timeout = left - min(p.SettleFor, left/4)
	}
	reply, response, err := fetch[requestData](ctx, s.core, r, call)
	if err != nil {
		if failed, ok := errors.AsType[*Error](err); ok && failed.RequestID == "" {
			failed.RequestID = p.RequestID
		}
		return nil, responseOf(err), err
	}
	data, record := reply.raw, decodeRecord(reply.raw)
	if problem := p.contradiction(record, data); problem != "" {
		return nil, evidence.Lost, s.core.redacted(&Error{
			Operation: OpPurchase, StatusCode: response.StatusCode, RequestID: p.RequestID, Attempts: response.Attempts,
			Data: data, kind: ErrUnexpectedBody, Message: "the confirmation " + problem,
		})
	}
	if !record.Status.known() {
		record.Status = ""
	}
	return &PurchaseResult{
		RequestID: p.RequestID, Outcome: OutcomeCharged, Status: record.Status, ChargedAmount: record.ChargedAmount,
		Currency: record.Currency, TransactionID: record.TransactionID, Raw: data,
	}, evidence.Confirmation, nil
}

// contradiction returns why a successful response does not confirm this purchase; "" if it does.
func (p PurchaseRequest) contradiction(record *RegulatoryRequest, data RawJSON) string {
	problem := unclear(data)
	switch {
	case record.RequestID != "" && record.RequestID != p.RequestID:
		problem = "is about the request " + quoteShort(record.RequestID)
	case problem != "":
	case evidence.ShowsStatus(evidence.Value(data), string(StatusDraft)):
		problem = "shows the request as a draft"
	case evidence.Contradicts(evidence.ListOf(evidence.Value(data)), p.DocumentTypes):
		problem = "lists documents that were not purchased"
	}
	return problem
}

// unclear returns the reason why the data of a response is not evidence; "" if it is evidence.
func unclear(data RawJSON) string {
	if data == jsonexact.GivenTwice {
		return "gives data twice"
	}
	return evidence.Unclear(evidence.Value(data))
}

// showsCharge reports whether the record shows that the wallet was charged (assumption: the fields that
// show it).
func (r *RegulatoryRequest) showsCharge() bool {
	return r.TransactionID != "" || r.ChargedAmount.Sign() > 0
}

// isCharge reports whether a text is an amount that may have been charged.
func isCharge(text string) bool {
	amount, err := ParseAmount(text)
	return err == nil && amount.Sign() >= 0
}

// responseOf classifies the error of a call that is not safe to retry.
func responseOf(err error) evidence.Response {
	failed, ok := errors.AsType[*Error](err)
	switch {
	case !ok || failed.NotSent():
		return evidence.Unsent
	case isRefusal(err):
		return evidence.Refusal
	}
	return evidence.Lost
}

// readBack reads a request after its purchase until the result is known.
type readBack struct {
	service  RegulatoryService
	purchase PurchaseRequest
	response evidence.Response
	cause    error // why the purchase was not confirmed; nil when settling
	call     []CallOption
	// quietFor is how long the request must read as a draft to count as not charged; 0 never counts.
	quietFor time.Duration
	// longest bounds the whole reading.
	longest time.Duration

	last       *RegulatoryRequest
	others     bool      // a record listed other documents
	charged    bool      // a record showed a charge, or one that could not be read
	draftSince time.Time // when the first of the drafts in a row was requested
}

// decide returns the purchase's result, or its *PurchaseError.
func (b *readBack) decide(ctx context.Context) (*PurchaseResult, error) {
	started, wait := time.Now(), cmp.Or(b.quietFor, b.longest)/40
	for {
		sent := time.Now()
		record, data, err := b.service.lookup(ctx, b.purchase.RequestID, b.call)
		switch evidence.Decide(b.observe(sent, record, data, err)) {
		case evidence.Success:
			return readBackResult(record), nil
		case evidence.ChargedBefore:
			return nil, b.failed(OutcomeCharged, b.cause)
		case evidence.NotCharged:
			return nil, b.failed(OutcomeNotCharged, cmp.Or(b.cause, error(quietError{b.quietFor})))
		}
		left := b.left(started, sent)
		switch {
		case ctx.Err() != nil:
			return nil, b.failed(OutcomeUnknown, joinErrors(b.cause, cmp.Or(err, withReason(ctx, context.Cause(ctx)))))
		case left <= 0, isRefusal(err) && !retryable(err):
			return nil, b.failed(OutcomeUnknown, joinErrors(b.cause, cmp.Or(err, undecided(b.last))))
		}
		wait = max(0, min(2*wait+time.Millisecond, left-time.Since(sent)))
		if slept := sleep(ctx, wait, err); slept != nil {
			return nil, b.failed(OutcomeUnknown, joinErrors(b.cause, slept))
		}
	}
}

func (b *readBack) failed(outcome PurchaseOutcome, err error) error {
	return b.purchase.failed(outcome, b.service.core.withoutKey(b.last), err)
}

// left is how long the request may still be read. It counts from the time at which the reading was sent, so that
// slow responses do not use the time up; a draft that was first read late can still become quiet.
func (b *readBack) left(started, sent time.Time) time.Duration {
	left := b.longest - sent.Sub(started)
	if b.draftSince.IsZero() {
		return left
	}
	return max(left, min(b.quietFor-sent.Sub(b.draftSince), left+b.quietFor))
}

// observe returns the evidence after one more reading.
func (b *readBack) observe(sent time.Time, record *RegulatoryRequest, data RawJSON, err error) evidence.Case {
	c := evidence.Case{Response: b.response, State: evidence.Unread, WasDraft: b.purchase.WasDraft}
	if err != nil {
		c.Denied = b.last == nil && denied(b.cause, err)
		return c
	}
	b.last = record
	if unclear(data) != "" {
		b.draftSince = time.Time{}
		return c
	}
	c.State = evidenceState(record.Status)
	c.Charge = record.showsCharge()
	b.charged = b.charged || c.Charge || evidence.UnreadableCharge(evidence.Value(data), isCharge)
	switch c.Documents = evidence.Compare(evidence.ListOf(evidence.Value(data)), b.purchase.DocumentTypes); c.Documents {
	case evidence.Others, evidence.Some:
		b.others = true
	case evidence.NoList:
		if b.others { // a list does not vanish: one of the two records is wrong
			c.Documents = evidence.Some
		}
	}
	if c.State != evidence.Draft {
		b.draftSince = time.Time{}
		return c
	}
	c.Charge = b.charged // a charge does not vanish, and one that cannot be read may be one
	setDefault(&b.draftSince, sent)
	c.Quiet = b.quietFor > 0 && sent.Sub(b.draftSince) >= b.quietFor // a slow response is old
	return c
}

func evidenceState(status RequestStatus) evidence.State {
	switch status {
	case StatusDraft:
		return evidence.Draft
	case StatusPurchasing:
		return evidence.Purchasing
	case StatusProcessing:
		return evidence.Processing
	case StatusCompleted:
		return evidence.Completed
	case StatusFailed:
		return evidence.Failed
	}
	return evidence.Other
}

// isRefusal reports whether an error is the service's own refusal.
func isRefusal(err error) bool {
	failed, ok := errors.AsType[*Error](err)
	return ok && failed.Refused()
}

// denied reports whether the service refused both the purchase and the reading for the same reason, which
// has nothing to do with the request's state: the key is not accepted, or the request does not exist.
func denied(purchase, reading error) bool {
	if !isRefusal(purchase) || !isRefusal(reading) {
		return false
	}
	first, _ := errors.AsType[*Error](purchase)
	second, _ := errors.AsType[*Error](reading)
	if first.StatusCode != second.StatusCode {
		return false
	}
	switch first.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return true
	}
	return false
}

// undecided returns why a record decides nothing.
func undecided(record *RegulatoryRequest) error {
	switch {
	case record == nil:
		return nil
	case record.Status == StatusDraft && !record.showsCharge():
		return errors.New("the request still reads as a draft")
	}
	return fmt.Errorf("the request reads as %s, which does not show whether these documents were charged", quoteShort(string(record.Status)))
}

// quietError reports that a request stayed a draft.
type quietError struct{ quietFor time.Duration }

func (e quietError) Error() string {
	return "the request has stayed a draft for " + e.quietFor.String() + ": it can be purchased"
}

func readBackResult(record *RegulatoryRequest) *PurchaseResult {
	return &PurchaseResult{
		RequestID: record.RequestID, Outcome: OutcomeCharged, ReadBack: true, Status: record.Status, Request: record,
		ChargedAmount: record.ChargedAmount, Currency: record.Currency, TransactionID: record.TransactionID, Raw: record.Raw,
	}
}

// SettleOptions are the settings of [RegulatoryService.SettlePurchase]. Zero fields take the defaults.
type SettleOptions struct {
	// QuietFor is how long a request must read as a draft, with the purchase long over, until it counts
	// as not charged. Default 1 min.
	//
	// Assumption: a purchase that has not begun by then never will.
	QuietFor time.Duration
	// DocumentTypes are the documents of the purchase. Without them, any purchase of the request counts.
	DocumentTypes []DocumentType
	// WasDraft states that the request was read as a draft before the purchase; see [PurchaseRequest].
	WasDraft bool
}

func (o *SettleOptions) withDefaults() (SettleOptions, error) {
	var options SettleOptions
	if o != nil {
		options = *o
	}
	if options.QuietFor < 0 {
		return options, invalidRequest(OpGetRequest, "SettleOptions", "has a negative QuietFor: leave it 0 for a minute")
	}
	setDefault(&options.QuietFor, time.Minute)
	return options, nil
}

// SettlePurchase finds the outcome of a purchase whose outcome was unknown. It only reads. A charge
// is returned as a result; a request that stays a draft is a [*PurchaseError] with [OutcomeNotCharged];
// anything else is one with [OutcomeUnknown]. Invalid options are a [*ValidationError].
func (s RegulatoryService) SettlePurchase(ctx context.Context, requestID string, settle *SettleOptions, call ...CallOption) (*PurchaseResult, error) {
	options, err := settle.withDefaults()
	if err != nil {
		return nil, err
	}
	switch {
	case strings.TrimSpace(requestID) == "":
		return nil, invalidRequest(OpGetRequest, "requestID", "is empty: pass the request_id of the purchase")
	case ctx == nil:
		return nil, nilContext(OpGetRequest)
	}
	if err := validID(OpGetRequest, "requestID", requestID); err != nil {
		return nil, err
	}
	if _, err := newCallSettings(call); err != nil {
		return nil, err
	}
	if _, err := s.core.find(request{operation: OpGetRequest}); err != nil {
		return nil, err
	}
	return (&readBack{
		service: s, response: evidence.Lost, call: call, quietFor: options.QuietFor, longest: options.QuietFor,
		purchase: PurchaseRequest{RequestID: requestID, DocumentTypes: slices.Clone(options.DocumentTypes), WasDraft: options.WasDraft},
	}).decide(ctx)
}
