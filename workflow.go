package shipping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/internal/workflow"
)

// AnalyzeAndPollOptions says what [RegulatoryService.AnalyzeAndPoll] does between analysis and
// completion. Nil, and the zero value, buy nothing.
type AnalyzeAndPollOptions struct {
	// Edit changes the draft on the service, for example with UpdateItems or UpdateProfile. The draft is
	// read again afterwards, so that Select and Budget see what a purchase will charge. Optional.
	Edit func(ctx context.Context, draft *RegulatoryRequest) error
	// Select chooses what to buy. Without it, and where it chooses nothing, nothing is bought and the
	// draft is returned.
	Select func(draft *RegulatoryRequest) ([]DocumentType, error)
	// Budget bounds the price of what Select chose, by the amounts stored on the draft. A price that is
	// missing or in another currency stops the purchase. Nil means no bound.
	Budget *Budget
	// Purchase holds the settings of the purchase.
	Purchase PurchaseOptions
	// Poll says how to wait. Its own Progress is called too.
	Poll PollOptions
	// Progress sees each step.
	Progress func(PollEvent)
}

func (o *AnalyzeAndPollOptions) validate() error {
	if _, err := o.Poll.withDefaults(); err != nil {
		return err
	}
	return o.Purchase.Validate()
}

// SelectAll selects every document that the draft offers, also manual ones: a request with such a document
// stays in processing until a third party has given evidence.
func SelectAll(draft *RegulatoryRequest) ([]DocumentType, error) {
	return selectDocuments(draft, func(AvailableDocument) bool { return true }), nil
}

// SelectAutomated selects the documents that the service generates on its own: those whose Mode is
// "automated" (assumption).
func SelectAutomated(draft *RegulatoryRequest) ([]DocumentType, error) {
	return selectDocuments(draft, func(offer AvailableDocument) bool { return offer.Mode == "automated" }), nil
}

// SelectOnly returns a function that selects the documents of these types that the draft offers.
func SelectOnly(types ...DocumentType) func(draft *RegulatoryRequest) ([]DocumentType, error) {
	return func(draft *RegulatoryRequest) ([]DocumentType, error) {
		return selectDocuments(draft, func(offer AvailableDocument) bool { return slices.Contains(types, offer.DocumentType) }), nil
	}
}

func selectDocuments(draft *RegulatoryRequest, wanted func(AvailableDocument) bool) (selected []DocumentType) {
	for _, offer := range draft.AvailableDocuments {
		if wanted(offer) {
			selected = append(selected, offer.DocumentType)
		}
	}
	return selected
}

// Budget is the most that may be spent, in one currency.
type Budget struct {
	Amount   Amount
	Currency string
	// AssumeCurrency accepts prices without a currency as prices in Currency. Without it they stop the
	// purchase.
	//
	// Assumption: such prices are in the wallet's currency ("amounts are converted into the user's wallet
	// currency at analyze time"), and Currency is the wallet's.
	AssumeCurrency bool
}

// ParseBudget reads a budget as [Budget.String] writes it, such as "150.00 NGN".
func ParseBudget(text string) (*Budget, error) {
	number, currency, found := strings.Cut(strings.TrimSpace(text), " ")
	currency = strings.TrimSpace(currency)
	amount, err := ParseAmount(number)
	switch {
	case err != nil:
		return nil, err
	case !found || currency == "" || strings.ContainsAny(currency, " \t"):
		return nil, invalidOption("ParseBudget", "needs an amount and a currency, such as \"150.00 NGN\"")
	case amount.Sign() < 0:
		return nil, invalidOption("ParseBudget", "needs an amount that is not negative")
	}
	return &Budget{Amount: amount, Currency: currency}, nil
}

// String writes the budget as "150.00 NGN", with more decimals where there are more.
func (b Budget) String() string { return inFull(b.Amount) + " " + b.Currency }

// inFull writes an amount with two decimals, and never rounds: a text that says why money is not spent
// must not hide the difference.
func inFull(a Amount) string {
	if a == a.Round(2) {
		return a.StringFixed(2)
	}
	return a.String()
}

// ErrOverBudget is a purchase that was stopped by its budget; see [BudgetError].
var ErrOverBudget = errors.New("shipping: over budget")

// BudgetError is a purchase that was stopped before anything was sent. It is [ErrOverBudget].
type BudgetError struct {
	Budget Budget
	// Needed is the price of what was selected; not known where Problem says why.
	Needed Amount
	// Problem says why the price cannot be held against the budget; empty where it is just too high.
	Problem string
}

// Error says what was needed and what there was.
func (e *BudgetError) Error() string {
	if e.Problem != "" {
		return "shipping: budget of " + e.Budget.String() + ": " + e.Problem + "; nothing was purchased"
	}
	return fmt.Sprintf("shipping: over budget: %s %s needed, %s allowed; nothing was purchased",
		inFull(e.Needed), e.Budget.Currency, e.Budget)
}

// Unwrap returns [ErrOverBudget].
func (e *BudgetError) Unwrap() error { return ErrOverBudget }

// Check returns what documents of a draft cost, or a [*BudgetError] if that is more than the budget, in another
// currency, or unclear; see [RegulatoryRequest.Price]. The price is read from the draft as the service sent it: a
// callback may have changed its fields.
func (b Budget) Check(draft *RegulatoryRequest, documents ...DocumentType) (Amount, error) {
	if draft.Raw != "" {
		draft = decodeRecord(draft.Raw)
	}
	if !b.Amount.Known() || b.Currency == "" {
		return Amount{}, &BudgetError{Budget: b, Problem: "the budget needs an amount and a currency"}
	}
	assumed := ""
	if b.AssumeCurrency {
		assumed = b.Currency
	}
	needed, currency, err := draft.price(assumed, documents)
	switch {
	case err != nil:
		return Amount{}, &BudgetError{Budget: b, Problem: oneLine(err.Error(), maxErrorMessage)}
	case currency != b.Currency:
		return Amount{}, &BudgetError{Budget: b, Problem: "the draft is priced in " + oneLine(currency, maxErrorID)}
	case needed.Cmp(b.Amount) > 0:
		return needed, &BudgetError{Budget: b, Needed: needed}
	}
	return needed, nil
}

// Fits says whether an amount can be spent in addition to what is committed already; the error is a
// [*BudgetError] that says what is left.
func (b Budget) Fits(committed, needed Amount) error {
	sum, err := committed.Add(needed)
	if err != nil {
		return err
	}
	if sum.Cmp(b.Amount) <= 0 {
		return nil
	}
	left, err := b.Amount.Sub(committed)
	if err != nil {
		return err
	}
	return &BudgetError{Budget: b, Needed: needed, Problem: fmt.Sprintf("%s needed, %s of it left", inFull(needed), inFull(left))}
}

// StepError is a step that failed after a request was made. It carries what is needed to go on:
// the request's id, for [RegulatoryService.ResumePoll] in this process or another.
type StepError struct {
	RequestID string
	// Step is the step that failed.
	Step PollStep
	// Request is the record as last read; nil where it was not.
	Request *RegulatoryRequest
	Err     error
}

// Error names the request, its last status, the step and the cause.
func (e *StepError) Error() string {
	text := "shipping: request " + oneLine(e.RequestID, maxErrorID)
	if e.Request != nil && e.Request.Status != "" {
		text += " (last seen " + oneLine(string(e.Request.Status), maxErrorID) + ")"
	}
	verbs := map[PollStep]string{StepEdited: "edit", StepSelected: "select", StepPurchased: "purchase", StepPolled: "wait"}
	return text + ": " + cmp.Or(verbs[e.Step], "unknown step") + causeText(e.Err, e.RequestID)
}

// causeText returns ": " and the text of a cause, without the request that the error around it names already;
// "" if there is no cause.
func causeText(cause error, requestID string) string {
	if cause == nil {
		return ""
	}
	text := strings.ReplaceAll(strings.TrimPrefix(cause.Error(), "shipping: "), "; shipping: ", "; ")
	if id := oneLine(requestID, maxErrorID); id != "" {
		text = strings.TrimPrefix(text, "purchase of request "+id+": ")
		text = strings.ReplaceAll(text, " (request "+id+")", "")
	}
	return ": " + text
}

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }

// AnalyzeAndPoll analyzes, lets the caller edit the draft and select documents, holds their price
// against the budget, purchases, and waits until the request is completed or failed. Without Select
// it buys nothing and returns the draft. A failed request is returned together with a
// [*FailedError].
//
// Every error after the analysis is a [*StepError] or [*FailedError] with the request's id;
// [RegulatoryService.ResumePoll] goes on from it. Where the purchase's outcome is not certain, a
// [*PurchaseError] is inside.
//
// Specification: "Typical regulatory workflow".
func (s RegulatoryService) AnalyzeAndPoll(ctx context.Context, analyze *AnalyzeRequest, opts *AnalyzeAndPollOptions, call ...CallOption) (*RegulatoryRequest, error) {
	flow := newFlow(s, opts, call)
	if err := flow.options.validate(); err != nil {
		return nil, err
	}
	draft, err := s.Analyze(ctx, analyze, call...)
	if err != nil {
		return nil, err
	}
	flow.id = draft.RequestID
	flow.tell(PollEvent{Step: StepAnalyzed, Request: draft})
	return flow.fromDraft(ctx, draft)
}

// ResumePoll goes on with a request wherever it stands: a draft is edited, selected, purchased and
// waited for as [RegulatoryService.AnalyzeAndPoll] does it, and returned as it is without Select; a
// purchased request is waited for. Nothing is purchased unless the request has just been read as a
// draft.
func (s RegulatoryService) ResumePoll(ctx context.Context, requestID string, opts *AnalyzeAndPollOptions, call ...CallOption) (*RegulatoryRequest, error) {
	flow := newFlow(s, opts, call)
	if err := flow.options.validate(); err != nil {
		return nil, err
	}
	flow.id = requestID
	waiting, err := flow.waiting()
	if err != nil {
		return nil, err
	}
	for { // until it has been read once
		next, done, err := waiting.poll(ctx)
		switch {
		case done:
			return waiting.last, err
		case waiting.last != nil && waiting.last.Status == StatusDraft:
			return flow.fromDraft(ctx, waiting.last)
		}
		if err := sleep(ctx, next, err); err != nil {
			return waiting.last, waiting.because(err)
		}
		if waiting.last != nil {
			return waiting.run(ctx)
		}
	}
}

// flow is one request on its way.
type flow struct {
	service RegulatoryService
	options AnalyzeAndPollOptions
	call    []CallOption
	id      string
	started time.Time
}

func newFlow(s RegulatoryService, opts *AnalyzeAndPollOptions, call []CallOption) *flow {
	f := &flow{service: s, call: call, started: time.Now()}
	if opts != nil {
		f.options = *opts
	}
	return f
}

func (f *flow) tell(event PollEvent) {
	if f.options.Progress != nil {
		event.RequestID = f.id
		event.Elapsed = time.Since(f.started)
		f.options.Progress(event)
	}
}

// fromDraft takes a draft to its end.
func (f *flow) fromDraft(ctx context.Context, draft *RegulatoryRequest) (*RegulatoryRequest, error) {
	steps := workflow.Flow[*RegulatoryRequest, DocumentType]{
		Edit:   f.options.Edit,
		Read:   func(ctx context.Context) (*RegulatoryRequest, error) { return f.service.Get(ctx, f.id, f.call...) },
		Check:  checkDraft,
		Select: f.options.Select,
		Reserve: func(_ context.Context, draft *RegulatoryRequest, selected []DocumentType) error {
			if f.options.Budget == nil {
				return nil
			}
			_, err := f.options.Budget.Check(draft, selected...)
			return err
		},
		Purchase: f.purchase,
		Done: func(step workflow.Step, draft *RegulatoryRequest) {
			f.tell(PollEvent{Step: stepOf(step), Request: draft})
		},
	}
	draft, purchased, err := steps.Run(ctx, draft)
	if failed, ok := errors.AsType[*workflow.Error](err); ok {
		return draft, &StepError{RequestID: f.id, Step: stepOf(failed.Step), Request: f.service.core.withoutKey(draft), Err: failed.Err}
	}
	if !purchased {
		return draft, nil
	}
	return f.wait(ctx)
}

// checkDraft returns an error for a request that is not a draft any more.
func checkDraft(record *RegulatoryRequest) error {
	if record.Status == StatusDraft {
		return nil
	}
	return fmt.Errorf("the request is not a draft any more: its status is %s; nothing was purchased", quoteShort(string(record.Status)))
}

// stepOf names the steps of internal/workflow.
func stepOf(step workflow.Step) PollStep {
	switch step {
	case workflow.Edit:
		return StepEdited
	case workflow.Purchase:
		return StepPurchased
	}
	return StepSelected // the budget is a part of it
}

func (f *flow) purchase(ctx context.Context, selected []DocumentType) error {
	bought, err := f.service.PurchaseWith(ctx, &PurchaseRequest{
		RequestID: f.id, DocumentTypes: selected, WasDraft: true, PurchaseOptions: f.options.Purchase,
	}, f.call...)
	if err == nil {
		f.tell(PollEvent{Step: StepPurchased, Request: bought.Request, Purchase: bought})
	}
	return err
}

func (f *flow) wait(ctx context.Context) (*RegulatoryRequest, error) {
	waiting, err := f.waiting()
	if err != nil {
		return nil, err
	}
	return waiting.run(ctx)
}

func (f *flow) waiting() (*waiting, error) {
	options, err := f.options.Poll.withDefaults()
	if err != nil {
		return nil, err
	}
	own := options.Progress
	options.Progress = func(event PollEvent) {
		if own != nil {
			own(event)
		}
		f.tell(event)
	}
	return newWaiting(f.service, f.id, options, f.call), nil
}
