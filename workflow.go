package shipping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/cost"
	"github.com/shipping-go/shipping/internal/evidence"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/internal/status"
	"github.com/shipping-go/shipping/internal/wait"
)

// AnalyzeAndPollOptions configures the steps of [RegulatoryService.AnalyzeAndPoll] between analysis and completion.
// Nil and the zero value purchase nothing.
type AnalyzeAndPollOptions struct {
	// Edit changes the draft on the service, for example with UpdateItems or UpdateProfile. The draft is
	// read again afterwards, so that Select and Budget get the prices that a purchase will charge. Optional.
	Edit func(ctx context.Context, draft *RegulatoryRequest) error
	// Select chooses the documents to purchase. If it is nil or chooses nothing, nothing is purchased and
	// the draft is returned.
	Select func(draft *RegulatoryRequest) ([]DocumentType, error)
	// Budget bounds the most that the selected documents can cost, by the amounts stored on the draft. A price that is
	// missing or in another currency stops the purchase. Nil means no bound. A budget without Select is a
	// [*ValidationError].
	Budget *Budget
	// Purchase holds the settings of the purchase.
	Purchase PurchaseOptions
	// Poll holds the settings of the wait. Its Progress is called after each step, too.
	Poll PollOptions
}

// Validate returns a [*ValidationError] if a workflow with these options would be refused before its analysis. It
// finds an unknown type in the arguments of [SelectOnly], and calls no other Select.
func (o *AnalyzeAndPollOptions) Validate() error {
	if o == nil {
		return nil
	}
	if err := cmp.Or(o.Poll.Validate(), o.Budget.validate(), o.Purchase.Validate()); err != nil {
		return err
	}
	switch {
	case o.Budget != nil && o.Select == nil:
		return invalidOption("Budget", "purchases nothing without Select: set Select, for example to SelectAutomated")
	case isSelectOnly(o.Select) && !o.Purchase.AllowUnknown:
		_, err := o.Select(nil)
		return err
	}
	return nil
}

// PollOptions are the settings of [RegulatoryService.Wait]. Zero fields and nil take the defaults.
type PollOptions struct {
	// MinInterval and MaxInterval bound the time between polls, which grows by half each time, and varies at random
	// by a fifth. Defaults 1 s and 30 s.
	MinInterval, MaxInterval time.Duration
	// MaxFailures is how many retryable failures of polls ([Error.Retryable]) in a row are tolerated. Default 10; the
	// context ends the wait earlier.
	MaxFailures int
	// DraftFor is how long a request may stay a draft before [ErrNotPurchased]. Default 1 min.
	DraftFor time.Duration
	// Progress is called after each poll, and by [RegulatoryService.AnalyzeAndPoll] after each step.
	Progress func(PollEvent)
}

// Validate returns a [*ValidationError] if a wait with these settings would be refused.
func (o *PollOptions) Validate() error {
	_, err := o.intervals()
	return err
}

// intervals returns the intervals with their defaults.
func (o *PollOptions) intervals() (wait.Intervals, error) {
	o = cmp.Or(o, &PollOptions{})
	intervals, err := wait.Intervals{MinInterval: o.MinInterval, MaxInterval: o.MaxInterval, MaxFailures: o.MaxFailures,
		DraftFor: o.DraftFor}.WithDefaults()
	if err != nil {
		return intervals, invalidRequest(OpGetRequest, "PollOptions", err.Error())
	}
	return intervals, nil
}

// Step is a step of a regulatory request: "analyzed", "edited", "selected", "purchased", "polled" and "ended",
// which occur in this order. A failed poll after which the wait continues is "poll failed". It is an open type.
type Step string

// PollEvent describes one step of a regulatory request, such as its purchase or a poll.
type PollEvent struct {
	Step      Step
	RequestID string
	// Request is the record as last read; nil if it has not been read since the request was made or
	// purchased.
	Request *RegulatoryRequest
	// Polls counts polls so far, Elapsed the time since the first step.
	Polls   int
	Elapsed time.Duration
	// Err is the error of a failed poll; the wait continues.
	Err error
	// Next is the time until the next poll; 0 if none follows.
	Next time.Duration
	// Purchase is set with the step "purchased".
	Purchase *PurchaseResult
}

// AnalyzeAndPoll analyzes, lets the caller edit the draft and select documents, compares their price with the budget,
// purchases, and waits until the request is completed or failed. If Select is nil or chooses nothing, it purchases
// nothing, and returns the draft without an error. A failed request is returned with [ErrRequestFailed], and one that
// charged more than its draft can cost, with [ErrOvercharged].
//
// Invalid options are a [*ValidationError], and a failed analysis returns the error of [RegulatoryService.Analyze].
// Every error after the analysis is a [*RegulatoryError] with the outcome of the purchase and the
// request's id, with which a later call continues. It wraps [ErrOverBudget] if the budget stopped
// the purchase.
//
// Specification: "Typical regulatory workflow".
func (s RegulatoryService) AnalyzeAndPoll(ctx context.Context, analyze *AnalyzeRequest, opts *AnalyzeAndPollOptions,
	call ...CallOption) (*RegulatoryRequest, error) {
	flow := newFlow(s, opts, call)
	if err := flow.options.Validate(); err != nil {
		return nil, err
	}
	draft, err := s.Analyze(ctx, analyze, call...)
	if err != nil {
		return nil, err
	}
	flow.id, flow.sole = draft.RequestID, true
	flow.report(PollEvent{Step: wait.StepAnalyzed, Request: draft})
	return flow.fromDraft(ctx, draft)
}

// Resume continues with a request in any state. For a draft, it edits, selects, purchases and waits as
// [RegulatoryService.AnalyzeAndPoll] does, and returns the draft if Select is nil. For a purchased request, it
// waits. Nothing is purchased unless the request has just been read as a draft; if the outcome of an earlier
// purchase is unknown, call [RegulatoryService.SettlePurchase] first. Its errors are those of AnalyzeAndPoll.
func (s RegulatoryService) Resume(ctx context.Context, requestID string, opts *AnalyzeAndPollOptions,
	call ...CallOption) (*RegulatoryRequest, error) {
	flow := newFlow(s, opts, call)
	if err := flow.options.Validate(); err != nil {
		return nil, err
	}
	if err := checkWait(ctx, requestID); err != nil {
		return nil, err
	}
	flow.id = requestID
	waiting := flow.waiting()
	for { // until it has been read once
		next, done, err := waiting.poll(ctx)
		switch record := waiting.last; {
		case record != nil && (record.Status == StatusDraft || record.mayBeAnalyzing()):
			return flow.fromDraft(ctx, record)
		case done:
			return record, err
		}
		if err := sleep(ctx, next, err); err != nil {
			return waiting.last, waiting.failed(err)
		}
		if waiting.last != nil {
			return waiting.run(ctx)
		}
	}
}

// mayBeAnalyzing reports whether the analysis may be under way: the request is not a draft, and neither its status nor
// anything else shows a purchase.
func (r *RegulatoryRequest) mayBeAnalyzing() bool {
	row := status.Of(string(r.Status))
	return row.State != status.Draft && !row.Purchased && !r.expired() && !r.showsPurchase()
}

// expired reports whether the dialect declares that a draft with this status has expired.
func (r *RegulatoryRequest) expired() bool { return r.means() == "expired" }

// unlisted reports whether neither the specification nor the dialect lists the status.
func (r *RegulatoryRequest) unlisted() bool {
	return wait.StateOf(string(r.Status), r.means()) == wait.Unlisted
}

// means returns the meaning of the status that the dialect declares; "" without one.
func (r *RegulatoryRequest) means() string {
	return cmp.Or(r.Dialect, new(dialect.Dialect)).Record.States[string(r.Status)]
}

// flow is one run of AnalyzeAndPoll or Resume.
type flow struct {
	service RegulatoryService
	options AnalyzeAndPollOptions
	call    []CallOption
	id      string
	sole    bool   // this flow made the draft
	most    Budget // what the selected documents can cost; no amount if that is unclear
	started time.Time
}

func newFlow(s RegulatoryService, opts *AnalyzeAndPollOptions, call []CallOption) *flow {
	f := &flow{service: s, call: call, started: time.Now()}
	if opts != nil {
		f.options = *opts
	}
	return f
}

func (f *flow) report(event PollEvent) {
	if f.options.Poll.Progress != nil {
		event.RequestID = f.id
		event.Elapsed = time.Since(f.started)
		f.options.Poll.Progress(event)
	}
}

// Prepare prepares a purchase, and purchases nothing: it edits the draft and reads it again, selects documents, and
// compares their price with the budget, as [RegulatoryService.AnalyzeAndPoll] does. Pass the result, which holds the
// draft as last read, to [RegulatoryService.Purchase]; without DocumentTypes, nothing was selected. The error is a
// [*ValidationError] or a [*RegulatoryError].
//
// Purchase relies on the draft as it was prepared. If time has passed since, such as for an approval, prepare it again
// right before the purchase: prices may have changed, and somebody else may have purchased. If nobody else can purchase
// from the draft, set [PurchaseRequest.Sole]: fewer outcomes are unknown then.
//
// Specification: "Typical regulatory workflow".
func (s RegulatoryService) Prepare(ctx context.Context, draft *RegulatoryRequest, opts *AnalyzeAndPollOptions,
	call ...CallOption) (*PurchaseRequest, error) {
	flow := newFlow(s, opts, call)
	if err := flow.options.Validate(); err != nil {
		return nil, err
	}
	switch {
	case ctx == nil:
		return nil, nilContext(OpPurchase)
	case draft == nil || draft.RequestID == "":
		return nil, invalidRequest(OpPurchase, "draft", "is missing: pass the record that Analyze or Get returned")
	}
	flow.id = draft.RequestID
	p, err := flow.prepare(ctx, draft)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// prepare is Prepare for a flow. Even with an error, the result holds the draft as last read.
func (f *flow) prepare(ctx context.Context, draft *RegulatoryRequest) (*PurchaseRequest, error) {
	draft, err := f.analyzed(ctx, draft)
	p := &PurchaseRequest{RequestID: f.id, Draft: draft, Sole: f.sole, PurchaseOptions: f.options.Purchase}
	switch {
	case err != nil:
		return p, err
	case f.options.Edit != nil:
		if err := f.edit(ctx, p); err != nil {
			return p, f.failed(wait.StepEdited, p.Draft, err)
		}
		f.report(PollEvent{Step: wait.StepEdited, Request: p.Draft})
	case f.options.Select != nil && (draft.shown().Status == "" || draft.withoutOffers() != nil):
		// Purchase would read a draft without a status, so Select gets the same reading, which may show the offers. A new
		// request may not be readable yet.
		if read, err := f.service.Get(ctx, f.id, f.call...); err == nil {
			p.Draft = later(p.Draft, read)
		}
	}
	if f.options.Select == nil {
		return p, nil
	}
	if err := f.choose(p); err != nil {
		return p, f.failed(wait.StepSelected, p.Draft, err)
	}
	return p, nil
}

// analyzed waits for the end of an analysis, for as long as a draft may stay one. It returns the record as last read.
func (f *flow) analyzed(ctx context.Context, record *RegulatoryRequest) (*RegulatoryRequest, error) {
	if !record.mayBeAnalyzing() {
		return record, nil
	}
	waiting := f.waiting()
	waiting.analysis, waiting.last = true, record
	waiting.polls.Begin()
	if err := sleep(ctx, waiting.polls.Found(ctx, wait.Draft).Next, nil); err != nil {
		return record, waiting.failed(err)
	}
	return waiting.run(ctx)
}

func (f *flow) edit(ctx context.Context, p *PurchaseRequest) error {
	if err := checkDraft(p.Draft); err != nil {
		return err
	}
	if err := f.options.Edit(ctx, p.Draft); err != nil {
		return err
	}
	edited, err := f.service.Get(ctx, f.id, f.call...)
	if err == nil {
		p.Draft = later(p.Draft, edited)
	}
	return err
}

// choose selects the documents, and compares their price with the budget.
func (f *flow) choose(p *PurchaseRequest) error {
	if err := checkDraft(p.Draft); err != nil {
		return err
	}
	selected, err := f.options.Select(p.Draft)
	if err != nil {
		return err
	}
	p.DocumentTypes = slices.Clone(selected) // the caller may change its slice
	f.report(PollEvent{Step: wait.StepSelected, Request: p.Draft})
	if len(selected) == 0 {
		return p.Draft.withoutOffers() // Select may have needed the offers
	}
	if err := p.Validate(); err != nil { // found here, before its cost is computed
		return err
	}
	f.most, err = f.cost(p)
	return err
}

// cost returns the most that a purchase can cost. An unclear cost is an error only with a budget.
func (f *flow) cost(p *PurchaseRequest) (most Budget, err error) {
	if budget := f.options.Budget; budget != nil {
		most.Currency = budget.Currency
		most.Amount, err = budget.Check(p.Draft, p.DocumentTypes...)
		return most, err
	}
	if needed, err := p.Draft.cost("", p.DocumentTypes); err == nil {
		most = Budget{Amount: needed.most, Currency: needed.currency}
	}
	return most, nil
}

// fromDraft prepares, purchases and waits.
func (f *flow) fromDraft(ctx context.Context, draft *RegulatoryRequest) (*RegulatoryRequest, error) {
	p, err := f.prepare(ctx, draft)
	if err != nil || len(p.DocumentTypes) == 0 {
		return p.Draft, err
	}
	bought, err := f.service.Purchase(ctx, p, f.call...)
	if err != nil {
		failed, ok := err.(*RegulatoryError) // not errors.As: an error can wrap that of another request
		if !ok {
			return p.Draft, f.failed(wait.StepPurchased, p.Draft, err)
		}
		failed.Request = cmp.Or(failed.Request, f.service.core.withoutKey(p.Draft))
		return failed.Request, failed
	}
	f.report(PollEvent{Step: wait.StepPurchased, Request: bought.Request, Purchase: bought})
	waiting := f.waiting()
	waiting.purchased, waiting.outcome = true, OutcomeCharged
	over := f.overcharge(p.Draft, bought.ChargedAmount, bought.Currency, bought.Raw)
	waiting.read = func(record *RegulatoryRequest) {
		over = cmp.Or(over, f.overcharge(p.Draft, record.ChargedAmount, record.Currency, record.Raw))
	}
	record, err := waiting.run(ctx)
	return record, f.overcharged(over, record, err)
}

// overcharged adds [ErrOvercharged] to the error of a wait, unless text is empty. text describes the first charge that
// is above the cost of the draft or cannot be read.
func (f *flow) overcharged(text string, record *RegulatoryRequest, err error) error {
	if text == "" {
		return err
	}
	over := fmt.Errorf("%w: %s%s", ErrOvercharged, text, f.service.core.dialect.CostText())
	if failed, ok := err.(*RegulatoryError); ok {
		failed.Err = joinErrors(failed.Err, over)
		return failed
	}
	return &RegulatoryError{RequestID: f.id, Step: wait.StepPurchased, Outcome: OutcomeCharged,
		Request: f.service.core.withoutKey(record), Err: over}
}

// overcharge returns why a charge is, or may be, above the cost of the draft; "" otherwise. The amount that the draft
// showed as charged is a quote. A negative charge is a debit.
func (f *flow) overcharge(draft *RegulatoryRequest, amount Amount, currency string, raw RawJSON) string {
	size := amount.Round(9) // without floating-point noise, as package cost reads
	if size.Sign() < 0 {
		size = size.Neg()
	}
	switch {
	case !f.most.Amount.Known(), amount.state == amountAbsent:
		return ""
	case !amount.Known():
		return evidence.Read(string(raw), f.service.core.shown).UnreadCharge()
	case amount == draft.ChargedAmount && !cost.Foreign(currency, draft.Currency):
		return ""
	case !cost.Foreign(currency, f.most.Currency) && size.Cmp(f.most.Amount) <= 0:
		return ""
	}
	charged := Budget{Amount: amount, Currency: cmp.Or(oneLine(currency, maxErrorID), f.most.Currency)}
	return fmt.Sprintf("the service charged %s, and the draft shows %s at most", charged, f.most)
}

// failed returns the error of a step before the purchase was sent.
func (f *flow) failed(step Step, record *RegulatoryRequest, err error) error {
	return &RegulatoryError{
		RequestID: f.id, Step: step, Outcome: OutcomeNotCharged, Request: f.service.core.withoutKey(record), Err: err,
	}
}

// checkDraft returns an error if the request is no longer a draft.
func checkDraft(record *RegulatoryRequest) error {
	if record.Status == StatusDraft {
		return nil
	}
	return fmt.Errorf("the request is no longer a draft (%s): call Regulatory.Wait",
		spelling.Quote(string(record.Status)))
}

func (f *flow) waiting() *waiting {
	intervals, _ := f.options.Poll.intervals() // the options of a flow are valid
	return &waiting{service: f.service, id: f.id, call: f.call, polls: wait.Polls{Intervals: intervals},
		progress: f.report}
}

// Wait polls a purchased request until its status is completed or failed. A failed request is returned together
// with [ErrRequestFailed]. A status that neither the specification nor the dialect lists may be a final one: it
// ends the wait after an hour. The error prints the line that declares it as not final. A poll that fails is
// retried if [Error.Retryable] reports true, up to MaxFailures times in a row. Every error but a [*ValidationError]
// is a [*RegulatoryError] with the record as last read. It wraps the [*Error] of the last poll, the context's
// error, or [ErrNotPurchased] for a request that stays a draft.
//
// Specification: "Poll: GET /v1/regulatory-documents/request/:request_id until status is completed or
// failed".
func (s RegulatoryService) Wait(ctx context.Context, requestID string, poll *PollOptions,
	call ...CallOption) (*RegulatoryRequest, error) {
	intervals, err := poll.intervals()
	if err != nil {
		return nil, err
	}
	if err := checkWait(ctx, requestID); err != nil {
		return nil, err
	}
	w := &waiting{service: s, id: requestID, call: call, polls: wait.Polls{Intervals: intervals},
		progress: cmp.Or(poll, &PollOptions{}).Progress}
	return w.run(ctx)
}

// checkWait returns a [*ValidationError] if no wait can begin.
func checkWait(ctx context.Context, requestID string) error {
	switch {
	case requestID == "":
		return invalidRequest(OpGetRequest, "requestID", "is empty: pass the request_id that Analyze returned")
	case ctx == nil:
		return nilContext(OpGetRequest)
	}
	return nil
}

// waiting is one wait for one request.
type waiting struct {
	service   RegulatoryService
	id        string
	call      []CallOption
	polls     wait.Polls
	progress  func(PollEvent)
	analysis  bool                     // it waits for the end of the analysis
	purchased bool                     // a purchase succeeded before the wait, or a poll has shown one
	outcome   PurchaseOutcome          // of the purchase before the wait; empty without one
	read      func(*RegulatoryRequest) // gets each record; nil without a purchase before the wait
	last      *RegulatoryRequest
	failure   error // of the last poll; nil if it went well
}

func (w *waiting) run(ctx context.Context) (*RegulatoryRequest, error) {
	for {
		next, done, err := w.poll(ctx)
		if done {
			return w.last, err
		}
		if err := sleep(ctx, next, err); err != nil {
			return w.last, w.failed(err)
		}
	}
}

// poll reads the request once. If the wait ends, it returns done and the error of the wait. Otherwise it returns the
// time until the next poll, and the error of this poll if it failed.
func (w *waiting) poll(ctx context.Context) (next time.Duration, done bool, err error) {
	w.polls.Begin()
	record, err := w.service.Get(ctx, w.id, w.call...)
	if err != nil {
		var after time.Duration
		if failed, ok := errors.AsType[*Error](err); ok {
			after = min(failed.RetryAfter, w.service.core.policy.MaxRetryAfter)
		}
		poll := w.polls.Failed(ctx, retryable(err) || w.isBehind(err), after)
		if poll.End == wait.Broken {
			return 0, true, w.failed(err)
		}
		w.failure = err
		w.report(wait.StepPollFailed, poll, err)
		return poll.Next, false, err
	}
	w.last, w.failure = record, nil
	if w.read != nil {
		w.read(record)
	}
	w.purchased = w.purchased || status.Of(string(record.Status)).Purchased
	if w.analysis && record.Status.failed() {
		return 0, true, analysisFailed(w.service.core.withoutKey(record), ErrRequestFailed)
	}
	if w.analysis && !record.mayBeAnalyzing() {
		return 0, true, nil
	}
	state := wait.StateOf(string(record.Status), record.means())
	if w.analysis {
		state = wait.Draft
	}
	poll := w.polls.Found(ctx, state)
	switch poll.End {
	case wait.StillDraft:
		if w.analysis {
			return 0, true, w.failed(fmt.Errorf("the analysis has not finished after %s", w.polls.DraftFor))
		}
		if w.purchased {
			return 0, true, w.failed(wait.ErrStale)
		}
		return 0, true, w.failed(fmt.Errorf("%w after %s: no reading shows a purchase: if nobody has purchased it, "+
			"call Regulatory.Purchase; if a purchase has just succeeded, call Regulatory.Wait again", ErrNotPurchased,
			w.polls.DraftFor))
	case wait.StillUnlisted:
		return 0, true, w.failed(wait.ErrUnlisted)
	case wait.NotYet:
		w.report(wait.StepPolled, poll, nil)
		return poll.Next, false, nil
	}
	w.report(wait.StepEnded, poll, nil)
	switch {
	case record.Status == StatusCompleted:
		return 0, true, nil
	case record.Status.failed():
		return 0, true, w.failed(ErrRequestFailed)
	case record.expired():
		return 0, true, w.failed(fmt.Errorf("the draft has expired: its status is %s; if nobody has purchased it, call "+
			"Regulatory.Analyze again; otherwise, compare the wallet's transactions", spelling.Quote(string(record.Status))))
	}
	return 0, true, w.failed(fmt.Errorf("the request has ended with the status %s, which is not a success",
		spelling.Quote(string(record.Status))))
}

// isBehind reports whether a reading did not find a request that was just purchased: it comes from an old copy.
func (w *waiting) isBehind(err error) bool {
	return w.outcome == OutcomeCharged && w.last == nil && errors.Is(err, ErrNotFound)
}

func (w *waiting) report(step Step, poll wait.Poll, err error) {
	if w.progress != nil {
		w.progress(PollEvent{Step: step, RequestID: w.id, Request: w.last, Polls: poll.Number, Elapsed: poll.Elapsed,
			Err: err, Next: poll.Next})
	}
}

func (w *waiting) failed(err error) error {
	if contextEnded(err) && w.failure != nil && !errors.Is(err, w.failure) {
		err = joinErrors(err, w.failure)
	}
	step, outcome := Step(wait.StepPolled), w.outcome
	if w.analysis {
		step, outcome = wait.StepAnalyzed, OutcomeNotCharged
	}
	return &RegulatoryError{
		RequestID: w.id, Step: step, Outcome: outcome, Request: w.service.core.withoutKey(w.last), Err: err,
	}
}

// sleep waits for d. If ctx ends first, or would, it returns the error of ctx and the last error of the
// service.
func sleep(ctx context.Context, d time.Duration, last error) error {
	err := wait.Sleep(ctx, d)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = wait.WithReason(ctx, err)
	}
	return joinErrors(err, last)
}

// ErrRequestFailed is returned, in a [*RegulatoryError], for a regulatory request whose analysis or generation failed.
//
// Specification: "Regulatory analyze", "Regulatory generation" (under "Errors").
var ErrRequestFailed = errors.New("shipping: the regulatory request failed")

// ErrOvercharged is returned, in a [*RegulatoryError] with [OutcomeCharged], for a purchase whose charge, as the
// service reports it, is above the most that its draft can cost (see [RegulatoryRequest.Cost]), is in another currency,
// or cannot be read. The purchase is made: compare it with the wallet's transactions. The error shows what the dialect,
// if any, declares about the cost of an offer.
var ErrOvercharged = errors.New("shipping: unexpected charge")

// ErrNotPurchased is returned by a wait for a request that stays a draft: nobody has purchased it, or the readings are
// older than its purchase.
var ErrNotPurchased = errors.New("shipping: the regulatory request still reads as a draft")
