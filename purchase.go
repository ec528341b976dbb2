package shipping

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shipping-go/shipping/internal/cost"
	"github.com/shipping-go/shipping/internal/evidence"
	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/internal/status"
	"github.com/shipping-go/shipping/internal/wait"
)

// PurchaseOutcome reports whether a purchase charged the wallet.
type PurchaseOutcome string

const (
	// OutcomeCharged: this purchase charged the wallet.
	OutcomeCharged PurchaseOutcome = "charged"
	// OutcomeNotCharged: this purchase charged nothing:
	//   - it was never sent;
	//   - the service refused it, and its regulatory request stayed a draft, or an expired one, for
	//     [PurchaseOptions.RefusedFor]; or
	//   - it was settled, and its request stayed a draft for [PurchaseOptions.QuietFor].
	//
	// Limit: "not charged" is wrong if the purchase, or a copy of it that a gateway sent, takes effect or is shown only
	// after that time: 5 minutes after a lost response (QuietFor), or 5 s after a refusal (RefusedFor).
	OutcomeNotCharged PurchaseOutcome = "not charged"
	// OutcomePurchasedBefore: the service refused this purchase, and the documents are purchased: by an earlier
	// purchase, by another client, or because a proxy sent this one twice. The wallet was charged for them once.
	OutcomePurchasedBefore PurchaseOutcome = "purchased before"
	// OutcomeUnknown: the evidence does not decide whether the wallet was charged. Settle it with
	// [RegulatoryService.SettlePurchase].
	OutcomeUnknown PurchaseOutcome = "unknown"
)

// PurchaseOptions are the settings of a purchase. Zero fields take the defaults.
type PurchaseOptions struct {
	// AllowUnknown sends document types that the specification does not list.
	AllowUnknown bool
	// SettleFor is how long the request is read back after a lost response, or after a refusal that the
	// record contradicts, until the outcome is reported as unknown. Default 10 s. If the context has a deadline, the
	// purchase itself gets at least three quarters of the time.
	SettleFor time.Duration
	// RefusedFor is how long a request must read as a draft, or as expired by the dialect, until its refused purchase
	// is reported as not charged. Default 5 s, or QuietFor if that is less. It is QuietFor instead after a refusal
	// that:
	//   - announces a purchase in progress (409, 423, 429, or a Retry-After); or
	//   - counts as a refusal only because of refusal.format of the dialect, and shows no code.
	//
	// Assumption: if a proxy has repeated the purchase, the copy that was not refused takes effect by then, and is shown.
	RefusedFor time.Duration
	// QuietFor is how long a request must read as a draft until [RegulatoryService.SettlePurchase] reports a purchase
	// whose response was lost as not charged. Default 5 min: gateways give up after 29 to 100 s, and the service may
	// continue. After a refusal that announces a purchase in progress, the default is 1 min.
	//
	// Assumption: a purchase that has not taken effect by then never will.
	QuietFor time.Duration
}

// Validate returns a [*ValidationError] if a purchase with these settings would be refused before it is sent.
func (o *PurchaseOptions) Validate() error {
	if o != nil && (o.SettleFor < 0 || o.RefusedFor < 0 || o.QuietFor < 0) {
		return invalidRequest(OpPurchase, "PurchaseOptions", "has a negative field: leave it 0 for the default")
	}
	if o == nil {
		return nil
	}
	if problem := withoutUnit("SettleFor RefusedFor QuietFor", o.SettleFor, o.RefusedFor, o.QuietFor); problem != "" {
		return invalidRequest(OpPurchase, "PurchaseOptions", problem)
	}
	return nil
}

// PurchaseRequest is a purchase. Its JSON contains all that [RegulatoryService.SettlePurchase] needs to find the
// outcome later, in this process or another; it omits the settings and most of the draft.
//
// Specification: POST /v1/regulatory-documents/purchase.
type PurchaseRequest struct {
	RequestID     string         `json:"request_id"`
	DocumentTypes []DocumentType `json:"document_types"`
	// Draft is the record as read before the purchase: only changes since then are evidence. If it is nil or has no
	// status, [RegulatoryService.Purchase] reads the request first.
	Draft *RegulatoryRequest `json:"draft,omitempty"`
	// Sole states that nobody else can have purchased from this draft, because this program created it and shares it
	// with nobody. If the request is no longer a draft, this purchase has purchased it, unless its analysis failed and
	// no reading showed a draft.
	Sole bool `json:"sole,omitempty"`
	// Refused is set if the service refused the purchase, and Contradicted if its refusal contradicted itself, for example
	// because it showed a transaction. A refused purchase is never reported as charged.
	Refused      bool `json:"refused,omitempty"`
	Contradicted bool `json:"contradicted,omitempty"`
	// UnderWay is set if the refusal announced, or may have announced, a purchase under way, or if a later reading
	// showed the status purchasing: see [PurchaseOptions.RefusedFor].
	UnderWay bool `json:"under_way,omitempty"`
	// Purchased is set if the response or a later reading has shown a purchase, this one or another: a charge, documents,
	// or a status that only a purchase leads to. If a draft is read after that, it is an older copy, and decides nothing.
	// This purchase is not sent again.
	Purchased       bool `json:"purchased,omitempty"`
	PurchaseOptions `json:"-"`
}

// plainPurchase has the fields of a PurchaseRequest and none of its methods.
type plainPurchase PurchaseRequest

// MarshalJSON encodes the fields that SettlePurchase needs.
func (p PurchaseRequest) MarshalJSON() ([]byte, error) {
	stored := struct {
		plainPurchase
		Draft map[string]any `json:"draft,omitzero"` // empty if the draft showed no evidence
	}{plainPurchase: plainPurchase(p)}
	if before := p.before(); before != nil {
		stored.Draft = before.Members()
	}
	return json.Marshal(stored)
}

// UnmarshalJSON decodes the output of MarshalJSON.
func (p *PurchaseRequest) UnmarshalJSON(text []byte) error {
	stored := struct {
		plainPurchase
		Draft RawJSON `json:"draft"`
	}{}
	err := jsonread.Unmarshal(text, &stored)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("shipping: PurchaseRequest: %s is a %s: read what MarshalJSON has written, such as "+
			`"document_types":["FDA"]`, wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:], wrong.Value)
	}
	if err != nil {
		return err
	}
	*p = PurchaseRequest(stored.plainPurchase)
	if !stored.Draft.IsNull() {
		p.Draft = decodeRecord(stored.Draft) // it has no status, so Purchase reads the request first
	}
	return nil
}

// Validate returns a [*ValidationError] if the purchase would be refused before it is sent.
func (p *PurchaseRequest) Validate() error {
	switch {
	case p == nil || strings.TrimSpace(p.RequestID) == "":
		return invalidRequest(OpPurchase, "RequestID", "is empty: pass the request_id that Analyze returned")
	case len(p.DocumentTypes) == 0:
		return invalidRequest(OpPurchase, "DocumentTypes", "is empty: name at least one of the draft's available documents")
	case p.Purchased:
		return invalidRequest(OpPurchase, "Purchased", "is set: call Regulatory.SettlePurchase instead")
	case p.Draft != nil && p.Draft.RequestID != "" && p.Draft.RequestID != p.RequestID:
		return invalidRequest(OpPurchase, "Draft",
			"is the record of another request: pass the one that Analyze or Get returned for this request")
	}
	if err := cmp.Or(validID(OpPurchase, "RequestID", p.RequestID), p.PurchaseOptions.Validate()); err != nil {
		return err
	}
	named := make(map[DocumentType]bool, len(p.DocumentTypes))
	for _, slug := range p.DocumentTypes {
		switch {
		case named[slug]:
			return invalidRequest(OpPurchase, "DocumentTypes", fmt.Sprintf("names %s twice: name each document once", slug))
		case slug == "":
			return invalidRequest(OpPurchase, "DocumentTypes", `has an empty type: name a document, such as "FDA"`)
		case !slug.Known() && !p.AllowUnknown:
			return invalidRequest(OpPurchase, "DocumentTypes",
				fmt.Sprintf("names %q, which the specification does not list (see DocumentTypes(), or set AllowUnknown to send "+
					"it anyway)%s", slug, slug.didYouMean()))
		}
		named[slug] = true
	}
	return nil
}

func (p PurchaseRequest) withDefaults() PurchaseRequest {
	p.DocumentTypes = slices.Clone(p.DocumentTypes)
	p.SettleFor = cmp.Or(p.SettleFor, 10*time.Second)
	return p
}

// longQuietFor is QuietFor with its default, which is shorter after a refusal. It applies after a lost response, and
// after a refusal that announces a purchase under way.
func (p PurchaseRequest) longQuietFor() time.Duration {
	if p.Refused {
		return cmp.Or(p.QuietFor, time.Minute)
	}
	return cmp.Or(p.QuietFor, wait.QuietFor)
}

// quietFor is how long the request must read as a draft until the purchase counts as not charged; 0 means that it
// never does.
func (p PurchaseRequest) quietFor() time.Duration {
	switch {
	case p.Contradicted, p.Purchased:
		return 0
	case p.Refused && !p.UnderWay:
		return cmp.Or(p.RefusedFor, min(5*time.Second, p.longQuietFor()))
	}
	return p.longQuietFor()
}

// slugs are the document types as texts.
func (p PurchaseRequest) slugs() []string { return slugsOf(p.DocumentTypes) }

func slugsOf(types []DocumentType) []string {
	slugs := make([]string, len(types))
	for i, slug := range types {
		slugs[i] = string(slug)
	}
	return slugs
}

// validID returns an error for an identifier under which nothing can be read: one that JSON would change, or that
// idProblem refuses.
func validID(operation, field, id string) error {
	problem := idProblem(id)
	if !utf8.ValidString(id) {
		problem = "is not valid UTF-8: pass it as the service sent it"
	}
	if problem == "" {
		return nil
	}
	return invalidRequest(operation, field, problem)
}

// idProblem returns why a URL with an identifier would name another resource; "" if it would not.
func idProblem(id string) string {
	switch {
	case id == "." || id == "..":
		return "is " + id + ", which would name another resource: pass the one that the service sent"
	case strings.TrimSpace(id) != id:
		return "begins or ends with a blank: remove it"
	}
	return ""
}

// PurchaseResult is a purchase that charged the wallet.
type PurchaseResult struct {
	RequestID string
	// ReadBack reports that the response was lost and the charge was found by reading the request.
	ReadBack bool
	// Status is the status of the request; empty if the confirmation has no status of the specification.
	Status RequestStatus
	// ChargedAmount, Currency and TransactionID describe the charge, if the service reports them
	// (assumption).
	ChargedAmount Amount
	Currency      string
	TransactionID string
	// Request is the record if it was read back; nil otherwise.
	Request *RegulatoryRequest
	// Raw is the data of the response to the purchase or, if ReadBack is true, the regulatory request as it was read.
	Raw RawJSON
}

// Purchase buys documents of a draft: the wallet is charged the amounts stored on the draft, and generation starts.
// The purchase is sent once and never retried. If the response is lost, or refuses it, the regulatory request is
// read back, and the result follows from the changes since the draft was read. After a lost response, a request
// that stays a draft is an unknown outcome: only SettlePurchase can report it as not charged.
//
// Only a draft that shows no purchase is purchased; for any other request, nothing is sent. Without
// [PurchaseRequest.Draft] the request is read first.
//
// A purchase that is invalid is a [*ValidationError]. Any other error is a [*RegulatoryError], whose
// Outcome reports whether the wallet was charged; it wraps the [*Error] of the call.
//
// Specification: POST /v1/regulatory-documents/purchase.
func (s RegulatoryService) Purchase(ctx context.Context, purchase *PurchaseRequest,
	call ...CallOption) (*PurchaseResult, error) {
	if err := purchase.Validate(); err != nil {
		return nil, err
	}
	if err := s.mayCall(ctx, OpPurchase, call); err != nil {
		return nil, err
	}
	p := *purchase
	p.Refused, p.Contradicted, p.UnderWay = false, false, false
	p = p.withDefaults()
	p.Draft = s.inDialect(p.Draft)
	reads := append(slices.Clip(call), WithResponse(nil)) // the caller wants the response of the purchase
	before, err := s.readBefore(ctx, &p, reads)
	if err != nil {
		return nil, err
	}
	if problem := cmp.Or(p.notDraft(before), p.notQuote(before)); problem != "" {
		return nil, s.failed(p, OutcomeNotCharged, p.Draft, errors.New("this purchase was not sent: "+problem))
	}
	result, response, err := s.send(ctx, p, before, call)
	reading := &readBack{service: s, purchase: p, sent: p.evidence(response, before), cause: err, call: reads,
		longest: p.SettleFor}
	switch response {
	case evidence.Confirmation:
		return result, nil
	case evidence.Unsent:
		return nil, s.failed(p, OutcomeNotCharged, nil, err)
	case evidence.Refusal:
		refused, _ := errors.AsType[*Error](err)
		reading.purchase.Refused, reading.purchase.UnderWay = true, refused.announces
		reading.sent.QuietFor = reading.purchase.quietFor()
	case evidence.Contradicted:
		reading.purchase.Refused, reading.purchase.Contradicted = true, true
	case evidence.Lost:
		failed, _ := errors.AsType[*Error](err)
		shown := s.core.decodeRecord(failed.Data).shown()
		id := cmp.Or(shown.Data.Get("request_id").Text, p.RequestID)
		reading.purchase.Purchased = id == p.RequestID && shown.Since(before).ShowsCharge()
	}
	return reading.decide(ctx)
}

// readBefore returns what the draft shows. It reads the request if the draft is not given, or shows no status.
func (s RegulatoryService) readBefore(ctx context.Context, p *PurchaseRequest, call []CallOption) (*evidence.Record,
	error) {
	if p.Draft != nil {
		if shown := p.Draft.shown(); shown.Status != "" {
			return shown, nil
		}
	}
	draft, err := s.Get(ctx, p.RequestID, call...)
	switch {
	case err == nil && p.Draft != nil && p.Draft.costsOtherwise(draft, p.DocumentTypes):
		return nil, s.failed(*p, OutcomeNotCharged, draft,
			errors.New("this purchase was not sent: the cost of the request differs from that of "+
				"the passed draft; compare it with your budget, and pass the record that Regulatory.Get returns"))
	case err == nil:
		p.Draft = later(p.Draft, draft)
		return p.Draft.shown(), nil
	case p.Draft != nil && p.Sole && errors.Is(err, ErrNotFound): // a new request may not be readable yet
		return p.Draft.shown(), nil
	}
	return nil, s.failed(*p, OutcomeNotCharged, nil,
		fmt.Errorf("this purchase was not sent, because the request could not be read: %w", err))
}

// inDialect returns a draft that follows the dialect of the client. One that was read from JSON follows none.
func (s RegulatoryService) inDialect(draft *RegulatoryRequest) *RegulatoryRequest {
	if draft == nil || draft.Dialect != nil || s.core.shown == nil {
		return draft
	}
	followed := *draft
	followed.Dialect = s.core.shown
	return &followed
}

// notQuote returns why a charge on the draft may come from a purchase; "" without a charge, or if it is only a quote.
func (p PurchaseRequest) notQuote(before *evidence.Record) string {
	switch draft := p.Draft; {
	case before.Charge == "" && draft.ChargedAmount.Sign() <= 0:
	case draft.Dialect == nil || !draft.Dialect.Purchase.Quoted:
		return "the draft shows a charged amount, so it may have been purchased already: if the wallet's " +
			"transactions show no charge, and drafts show their price as the charged amount, " +
			draft.declareLine("purchase.quoted", "true")
	case !p.quotes(draft):
		return fmt.Sprintf("the draft shows the charged amount %s, which is neither the price of all offers nor that of "+
			"the selected documents: it may have been purchased already", draft.ChargedAmount)
	case !p.Sole:
		return "the draft shows a charged amount, which is its price or the charge of somebody else's purchase: " +
			"if this program created the draft and shares it with nobody, call Regulatory.Prepare, set Sole of the purchase, " +
			"and call Regulatory.Purchase"
	}
	return ""
}

// quotes reports whether the charged amount of a draft is the cost of all its offers, or that of the purchase.
func (p PurchaseRequest) quotes(draft *RegulatoryRequest) bool {
	var all []DocumentType
	for _, offer := range draft.AvailableDocuments {
		all = append(all, offer.DocumentType)
	}
	return slices.ContainsFunc([][]DocumentType{all, p.DocumentTypes}, func(documents []DocumentType) bool {
		const none = "none" // the currency of a price without one
		sum, err := draft.cost(none, documents)
		charged := draft.ChargedAmount.Round(9) // without floating-point noise, as package cost reads
		foreign := sum.currency != none && cost.Foreign(draft.Currency, sum.currency)
		return err == nil && !foreign && (charged == sum.price.Round(9) || charged == sum.most.Round(9))
	})
}

// notDraft returns why the request is not a draft that can be purchased; "" if it is one.
func (p PurchaseRequest) notDraft(before *evidence.Record) string {
	draft := p.Draft
	switch {
	case status.Of(string(draft.Status)).Purchased && !draft.Status.failed():
		return fmt.Sprintf("the request is already purchased, its status is %s: call Regulatory.Wait for its documents, "+
			"or Regulatory.Analyze again for others", spelling.Quote(string(draft.Status)))
	case draft.Status != StatusDraft:
		return fmt.Sprintf("the request has the status %s, and only a draft is purchased: call Regulatory.Wait for its "+
			"documents, or Regulatory.Analyze again for others", spelling.Quote(string(draft.Status))) +
			draft.declareExpired()
	case before.Unclear != "":
		return "the record of the request " + before.Unclear + ", and does not show whether it is a draft"
	case before.Status != "" && before.Status != string(StatusDraft):
		return fmt.Sprintf("the service sent the status %s for the request, and only a draft is purchased",
			spelling.Quote(before.Status))
	case before.Transaction || draft.TransactionID != "":
		return "the draft shows a transaction, so it may have been purchased already: compare it with the wallet's " +
			"transactions"
	}
	return ""
}

// before returns what the draft showed before the purchase; nil if that is not known:
//   - Without Draft, such as when a purchase is settled with the id alone.
//   - If Draft is not a draft, such as one that shows a transaction: it may have been read after the purchase.
//
// A stored Draft has no status. It has the names of the members that listed documents, the charge and, only if the
// request was never read as a draft, its id.
func (p PurchaseRequest) before() *evidence.Record {
	if p.Draft == nil {
		return nil
	}
	shown := p.Draft.shown()
	if p.Draft.Status != "" && p.notDraft(shown) != "" {
		return nil
	}
	return shown
}

// evidence returns the purchase as evidence, without QuietFor.
func (p PurchaseRequest) evidence(response evidence.Response, before *evidence.Record) evidence.Purchase {
	return evidence.Purchase{Response: response, Documents: p.slugs(), Before: before, Sole: p.Sole}
}

// failed returns the error of a purchase, with the purchase to store. If the outcome is unknown, the stored Draft is
// the one that its JSON holds. Otherwise it is nil, so that another purchase reads the request first.
func (s RegulatoryService) failed(p PurchaseRequest, outcome PurchaseOutcome, record *RegulatoryRequest,
	err error) error {
	before := p.before()
	p.Draft, p.Purchased = nil, p.Purchased && outcome != OutcomeNotCharged
	if before != nil && outcome == OutcomeUnknown {
		text, _ := json.Marshal(before.Members())
		p.Draft = s.core.withoutKey(s.core.decodeRecord(RawJSON(text)))
	}
	return &RegulatoryError{
		RequestID: p.RequestID, Step: wait.StepPurchased, Outcome: outcome, Request: s.core.withoutKey(record), Purchase: &p,
		Err: err,
	}
}

// mayCall returns an error if the operation or the call options are refused before anything is sent.
func (s RegulatoryService) mayCall(ctx context.Context, operation string, call []CallOption) error {
	if ctx == nil {
		return nilContext(operation)
	}
	if _, err := newCallSettings(call); err != nil {
		return err
	}
	_, err := s.core.find(request{operation: operation})
	return err
}

// send sends the purchase once and classifies the response. It returns a result if the response is a confirmation, and
// otherwise an error.
func (s RegulatoryService) send(ctx context.Context, p PurchaseRequest, before *evidence.Record,
	call []CallOption) (*PurchaseResult, evidence.Response, error) {
	body := struct {
		RequestID     string         `json:"request_id"`
		DocumentTypes []DocumentType `json:"document_types"`
	}{p.RequestID, p.DocumentTypes}
	r := request{operation: OpPurchase, requestID: p.RequestID, body: jsonBody(body)}
	if deadline, bounded := ctx.Deadline(); bounded {
		// Leave time to read the request back if the response is lost.
		left := time.Until(deadline)
		r.timeout = left - min(p.SettleFor, left/4)
	}
	var record *RegulatoryRequest
	_, _, err := fetch(ctx, s.core, r, call, func(reply requestData, body []byte) *Error {
		data, problem := reply.raw, ""
		record = s.core.decodeRecord(data)
		switch {
		case evidence.StatesFailure(jsonread.Parse(string(body))):
			problem = "shows a failure"
		case data.isList():
			problem = evidence.ReadList(string(data), p.RequestID, p.slugs(), before)
		default:
			problem = record.shown().Unconfirmed(p.RequestID, p.slugs(), before)
		}
		if problem != "" {
			return &Error{Data: data, Message: "the confirmation " + problem}
		}
		return nil
	})
	if err != nil {
		return nil, responseOf(err, before), err
	}
	record = s.core.withoutKey(record)
	if !record.Status.known() {
		record.Status = ""
	}
	return &PurchaseResult{
		RequestID: p.RequestID, Status: record.Status, ChargedAmount: record.ChargedAmount,
		Currency: record.Currency, TransactionID: record.TransactionID, Raw: record.Raw,
	}, evidence.Confirmation, nil
}

func (r *RegulatoryRequest) showsPurchase() bool {
	return r.shown().ShowsPurchase(string(cmp.Or(r.Status, StatusDraft)))
}

// later returns the later reading, unless only the earlier one shows a purchase: the later one is then an older copy.
func later(before, again *RegulatoryRequest) *RegulatoryRequest {
	if before != nil && before.showsPurchase() && !again.showsPurchase() {
		return before
	}
	return again
}

// shown returns what Raw shows about a purchase or, without Raw, what the fields show.
func (r *RegulatoryRequest) shown() *evidence.Record {
	data := r.Raw
	switch {
	case data == jsonread.GivenTwice:
		return &evidence.Record{Unclear: "gives data twice"}
	case data == "": // a record that a caller has made
		text, _ := json.Marshal(r)
		data = RawJSON(text)
	}
	return evidence.Read(string(data), r.Dialect)
}

// responseOf classifies the error of a purchase. Once fetch has begun to send, each of its errors is an [*Error]
// itself; an error of another type came from the checks before that, so that nothing was sent.
func responseOf(err error, before *evidence.Record) evidence.Response {
	failed, ok := errors.AsType[*Error](err)
	switch {
	case !ok || failed.NotSent():
		return evidence.Unsent
	case failed.Refused() && failed.refusal.Contradiction(before) != "":
		return evidence.Contradicted
	case failed.Refused():
		return evidence.Refusal
	}
	return evidence.Lost
}

// readBack reads a request after its purchase until the result is known.
type readBack struct {
	service  RegulatoryService
	purchase PurchaseRequest
	// sent is the purchase as evidence. Purchase sets its QuietFor only after a refusal: only SettlePurchase reports a
	// lost purchase as not charged.
	sent  evidence.Purchase
	cause error // why the purchase was not confirmed; nil when settling
	call  []CallOption
	// longest limits the time of all readings. Only a request that reads as a draft may be read for longer; see left.
	longest time.Duration

	last   *RegulatoryRequest
	memory evidence.Memory
}

// decide returns the result of the purchase, or its *RegulatoryError.
func (b *readBack) decide(ctx context.Context) (*PurchaseResult, error) {
	// The interval starts at a fortieth of the wait, at most 1.5 s, and doubles. This allows six to eight readings.
	interval := min(cmp.Or(min(b.sent.QuietFor, b.longest), b.longest)/40, 1500*time.Millisecond)
	started := time.Now()
	for {
		sent := time.Now()
		record, err := b.service.Get(ctx, b.purchase.RequestID, b.call...)
		found := b.observe(sent, record, err)
		switch evidence.Decide(found) {
		case evidence.Success:
			return readBackResult(b.service.core.withoutKey(record)), nil
		case evidence.PurchasedBefore:
			return nil, b.failed(OutcomePurchasedBefore, b.cause)
		case evidence.NotCharged:
			if found.Quiet {
				return nil, b.failed(OutcomeNotCharged, joinErrors(b.cause, fmt.Errorf("the request has shown no purchase "+
					"for %s", b.sent.QuietFor)))
			}
			return nil, b.failed(OutcomeNotCharged, b.cause)
		}
		left := b.left(started, sent)
		switch {
		case ctx.Err() != nil:
			return nil, b.ended(wait.WithReason(ctx, cmp.Or(err, context.Cause(ctx))))
		case left <= 0, isRefusal(err) && !retryable(err) && !b.mayLag(err), found.Undecidable():
			return nil, b.failed(OutcomeUnknown, joinErrors(b.cause, cmp.Or(err, b.undecided())))
		}
		interval = max(0, min(2*interval+time.Millisecond, left-time.Since(sent)))
		if quiet := b.sent.QuietFor - time.Since(b.memory.DraftSince); !b.memory.DraftSince.IsZero() && quiet > 0 {
			interval = min(interval, quiet) // read the request when it has been a draft for QuietFor
		}
		if deadline, bounded := ctx.Deadline(); bounded && time.Until(deadline) > time.Second {
			interval = min(interval, time.Until(deadline)/2) // so that the last reading is near the deadline
		}
		if slept := sleep(ctx, interval, err); slept != nil {
			return nil, b.ended(slept)
		}
	}
}

// mayLag reports whether a reading did not find a request that is known to exist: it may come from an old copy.
func (b *readBack) mayLag(err error) bool { return b.sent.Before != nil && errors.Is(err, ErrNotFound) }

// ended returns the error if the context has ended, or would end before the next reading.
func (b *readBack) ended(err error) error {
	if b.cause != nil && contextEnded(b.cause) { // the cause states it already
		return b.failed(OutcomeUnknown, b.cause)
	}
	return b.failed(OutcomeUnknown, joinErrors(b.cause, err))
}

func (b *readBack) failed(outcome PurchaseOutcome, err error) error {
	return b.service.failed(b.purchase, outcome, b.last, err)
}

// left is how long the request may still be read: the rest of longest. A request that last read as a draft may be read
// until it has been a draft for QuietFor, even after longest. Because its status could alternate, reading ends after
// longest + QuietFor. Only the time until the last reading was sent counts, so that slow responses do not use it up.
func (b *readBack) left(started, sent time.Time) time.Duration {
	left := b.longest - sent.Sub(started)
	if b.memory.DraftSince.IsZero() {
		return left
	}
	return max(left, min(b.sent.QuietFor-sent.Sub(b.memory.DraftSince), left+b.sent.QuietFor))
}

// observe adds a reading to the memory, and returns the evidence after it.
func (b *readBack) observe(sent time.Time, record *RegulatoryRequest, err error) (found evidence.Case) {
	reading := evidence.Reading{Sent: sent}
	if err != nil {
		reading.Denied = b.last == nil && denied(b.cause, err)
	} else {
		b.last, reading.Record = record, record.shown()
		reading.Status, reading.Means = string(record.Status), record.means()
	}
	b.memory, found = b.memory.Observe(b.sent, reading)
	b.purchase.Purchased = b.purchase.Purchased || found.Purchased
	if b.purchase.Refused {
		b.purchase.UnderWay = b.purchase.UnderWay || found.State == status.Purchasing
		b.sent.QuietFor = b.purchase.quietFor()
	}
	return found
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
	return first.StatusCode == second.StatusCode && slices.Contains(
		[]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}, first.StatusCode)
}

// undecided returns why the last record does not decide the outcome.
func (b *readBack) undecided() error {
	record := b.last
	switch isDraft := record != nil && record.Status == StatusDraft && !record.showsPurchase(); {
	case record == nil:
		return nil
	case isDraft && b.purchase.Purchased:
		return errors.New("a response has shown a purchase, and the last reading shows a draft")
	case isDraft:
		return errors.New("the last reading shows a draft")
	}
	return fmt.Errorf("the request reads as %s, which does not show whether these documents were charged",
		spelling.Quote(string(record.Status)))
}

func readBackResult(record *RegulatoryRequest) *PurchaseResult {
	return &PurchaseResult{
		RequestID: record.RequestID, ReadBack: true, Status: record.Status, Request: record,
		ChargedAmount: record.ChargedAmount, Currency: record.Currency, TransactionID: record.TransactionID, Raw: record.Raw,
	}
}

// SettlePurchase finds the outcome of an earlier purchase, such as [RegulatoryError.Purchase]. It only reads. If the
// wallet was charged, it returns a result. Any other outcome is a [*RegulatoryError]; it is [OutcomeNotCharged] if the
// request stays a draft for QuietFor, or for RefusedFor if the purchase was refused. An invalid purchase is a
// [*ValidationError].
//
// A purchase can also be settled with the id of the request alone; then any purchase of the request counts. With
// document types, a record that can be the result of a purchase of other documents does not count.
func (s RegulatoryService) SettlePurchase(ctx context.Context, purchase *PurchaseRequest,
	call ...CallOption) (*PurchaseResult, error) {
	if purchase == nil || strings.TrimSpace(purchase.RequestID) == "" {
		return nil, invalidRequest(OpGetRequest, "RequestID", "is empty: pass the Purchase of the *RegulatoryError")
	}
	if err := cmp.Or(validID(OpGetRequest, "RequestID", purchase.RequestID), purchase.PurchaseOptions.Validate(),
		s.mayCall(ctx, OpGetRequest, call)); err != nil {
		return nil, err
	}
	p := purchase.withDefaults()
	p.Draft = s.inDialect(p.Draft)
	reading := &readBack{service: s, purchase: p, sent: p.evidence(evidence.Lost, p.before()), call: call,
		longest: p.longQuietFor()}
	reading.sent.QuietFor = p.quietFor()
	switch {
	case p.Contradicted:
		reading.sent.Response, reading.longest = evidence.Contradicted, p.SettleFor
	case p.Refused:
		reading.sent.Response = evidence.Refusal
	}
	return reading.decide(ctx)
}
