package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/evidence"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/internal/status"
	"github.com/shipping-go/shipping/internal/wait"
)

// entry is one item of a run. Its record is the last one in the journal; a step continues from there
// until the item waits or ends.
type entry struct {
	run     *run
	item    Item
	twin    *entry        // the item that is purchased for this shipment or file instead; or nil
	unread  bool          // the documents of twin, which Adopt has added, are not known
	after   []*entry      // an item with Again begins after these: the others for its shipment or file
	decided chan struct{} // closed when the item is purchased or has ended in this run
	claim   Claim         // nil while this process does not have the item
	record  Record
	again   time.Duration    // the interval between tries, if another process has the item
	polls   *wait.Polls      // of the wait for its documents
	refusal *shipping.Error  // the refusal of this run's purchase, which is settled now; or nil
	dialect *dialect.Dialect // of the record as last read; or nil
	fresh   bool             // the draft was made in this run
	other   bool             // it is none of the given items: only its charge is reported
	// unlisted holds the status as last read, if neither the specification nor the dialect lists it; otherwise nil.
	unlisted *shipping.RegulatoryRequest
	evidence string    // the documents that wait for evidence, as last read
	lacking  time.Time // when a reading first showed that only evidence is missing
	err      error
	done     bool

	beside shipping.Amount // what this run reserved beside the prices; not given if it reserved nothing
	unpaid shipping.Budget // what the purchase costs, if the wallet did not suffice for it
}

// step does the next step, and returns how long to wait before the one after it; 0 ends the item in this run.
func (e *entry) step(ctx context.Context) time.Duration {
	next, err := e.advance(ctx)
	if errors.Is(err, ErrItemTaken) {
		return e.leave()
	}
	if err == nil && next > 0 {
		return next
	}
	// If another process has continued with the item, the result of this one is not its outcome: a request that was a
	// draft may have been purchased there. If the release fails, the claim expires.
	if released := e.release(); errors.Is(released, ErrItemTaken) && !e.record.final() {
		return e.leave()
	}
	e.err, e.done = err, true
	e.run.itemEnded(err)
	e.run.progress(e, shipping.PollEvent{Step: wait.StepEnded, RequestID: e.record.RequestID, Err: err})
	return 0
}

// leave lets another process work on the item, and returns the time until the next try: then the item has ended, or
// this process claims it because the other one died.
func (e *entry) leave() time.Duration {
	_ = e.release() // if another process has taken it over, there is nothing to release
	e.record, e.polls, e.fresh = Record{Key: e.record.Key}, nil, false
	next := e.run.intervals.Next(&e.again)
	e.run.progress(e, shipping.PollEvent{Step: wait.StepTaken, Next: next})
	return next
}

// take claims the item.
func (e *entry) take(ctx context.Context) error {
	claim, err := e.run.journal.Claim(ctx, e.record.Key)
	switch {
	case err != nil && ctx.Err() != nil:
		return wait.WithReason(ctx, context.Cause(ctx))
	case err != nil:
		return e.run.journalFailed(e.record.Key, err)
	}
	record := claim.Record()
	if record.Step != "" {
		if err := record.check(); err != nil {
			return errors.Join(e.run.journalFailed(e.record.Key, err), claim.Release(ctx))
		}
	}
	id, hash := e.item.Analyze.ShipmentID, fileHash(e.item.Analyze.FileURL)
	switch source := cmp.Or(id, hash); {
	case record.Source() == "": // a new item, or a record of an earlier version
		record.ShipmentID, record.FileHash = id, hash
	case source == "" || record.Source() == source: // not known, or the same one
	case record.ShipmentID == "" && id == "": // an invoice that has moved
	case record.Begun():
		return errors.Join(otherShipment(record, e.item.source()), claim.Release(ctx))
	default: // of another source, for which nothing was purchased
		record = Record{Key: record.Key, ShipmentID: id, FileHash: hash}
	}
	if lacks := e.lacks(record); lacks != nil {
		e.record = record // the report shows what was purchased
		return errors.Join(lacks, claim.Release(ctx))
	}
	e.claim, e.record, e.again, e.refusal = claim, record, 0, nil
	return nil
}

// listed returns documents as messages name them.
func listed(documents []shipping.DocumentType) string {
	names := make([]string, len(documents))
	for i, document := range documents {
		names[i] = string(document)
	}
	return strings.Join(names, ", ")
}

func (e *entry) release() error {
	if e.claim == nil {
		return nil
	}
	claim := e.claim
	e.claim = nil
	return claim.Release(e.run.writing)
}

func (e *entry) advance(ctx context.Context) (time.Duration, error) {
	if e.claim == nil {
		if err := e.take(ctx); err != nil {
			return 0, err
		}
	}
	if err := e.run.maySend(); err != nil && !e.record.final() {
		return 0, err
	}
	switch step := e.record.Step; {
	case step == "", step == StepAnalyzed && e.record.RequestID == "", step == StepFailed && !e.record.bought():
		return e.analyze(ctx)
	case step == StepAnalyzed:
		return e.resume(ctx)
	case step == StepPurchasing:
		return e.settle(ctx)
	case step == StepPurchased, step == StepFailed: // a retry may have completed it
		return e.wait(ctx)
	}
	return 0, nil // ended by another process
}

func (e *entry) analyze(ctx context.Context) (time.Duration, error) {
	if err := e.repeated(); err != nil {
		return 0, err
	}
	draft, err := e.run.client.Regulatory.Analyze(ctx, &e.item.Analyze, e.run.call...)
	// Not errors.As: the error of a call can wrap the cause of its context, which may be about another request.
	if failed, ok := err.(*shipping.RegulatoryError); ok {
		return 0, e.analysisFailed(failed)
	}
	if err != nil {
		return 0, err
	}
	e.fresh = true
	analyzed := e.record
	analyzed.Step, analyzed.RequestID = StepAnalyzed, draft.RequestID
	analyzed.Earlier, _ = e.shown(draft)
	if err := e.run.note(e.claim, analyzed, e.alone(analyzed)); err != nil {
		return 0, err
	}
	e.record = analyzed
	e.run.progress(e, shipping.PollEvent{Step: wait.StepAnalyzed, RequestID: draft.RequestID, Request: draft})
	return e.fromDraft(ctx, draft)
}

// analysisFailed records that the analysis failed. If its record shows a purchase without documents, the item is not
// analyzed again. The documents of an earlier purchase, which was not charged, are dropped.
func (e *entry) analysisFailed(failed *shipping.RegulatoryError) error {
	e.record.RequestID, e.record.Documents, e.record.Amount = failed.RequestID, nil, shipping.Amount{}
	e.foundPurchased(failed.Request)
	shown := evidence.Read(string(failed.Request.Raw), failed.Request.Dialect)
	step := StepFailed
	if len(e.record.Documents) == 0 && shown.ShowsPurchase("") {
		step, e.record.Earlier = StepAnalyzed, EarlierElsewhere
	}
	err := e.move(step)
	if step == StepAnalyzed || err != nil && len(e.record.Documents) > 0 {
		failed.Err, failed.Outcome = fmt.Errorf("%w; %w", failed.Err, errElsewhere), ""
	}
	return errors.Join(failed, err)
}

// foundPurchased records the purchase that a failed analysis shows, if its record lists documents: somebody else has
// purchased them, so the item is not analyzed again. This does not count against the budget of the batch.
func (e *entry) foundPurchased(record *shipping.RegulatoryRequest) {
	if len(record.Documents) == 0 {
		return
	}
	e.record.Amount, e.record.Earlier = nothing, EarlierElsewhere
	if record.ChargedAmount.Known() {
		e.record.Charged, e.record.ChargedCurrency = record.ChargedAmount, keepable(record.Currency)
	}
	e.record.keepDocuments(record)
}

// keepDocuments records the documents that a request shows as purchased.
func (r *Record) keepDocuments(request *shipping.RegulatoryRequest) {
	for _, document := range request.Documents {
		if !unkeepable(document.DocumentType) {
			r.Documents = append(r.Documents, document.DocumentType)
		}
	}
}

// keepPurchase records what a request shows of a purchase that no run of the journal has made.
func (r *Record) keepPurchase(request *shipping.RegulatoryRequest) {
	if r.Source() == "" {
		r.ShipmentID, r.FileHash = request.ShipmentID, fileHash(request.FileURL)
	}
	if request.Status != shipping.StatusDraft { // an older copy
		r.keepDocuments(request)
		r.NotSelected = notSelected(request, r.Documents)
	}
}

// keepable returns the currency of a charge, or "" if no journal can store it: the charge must be recorded
// nevertheless.
func keepable(currency string) string {
	if unkeepable(currency) {
		return ""
	}
	return currency
}

// nothing is the amount 0.
var nothing, _ = shipping.ParseAmount("0")

// resume reads a request that was analyzed, and continues with it.
func (e *entry) resume(ctx context.Context) (time.Duration, error) {
	if err := e.repeated(); err != nil {
		return 0, err
	}
	draft, err := e.get(ctx)
	switch {
	case errors.Is(err, shipping.ErrNotFound):
		return e.expired(ctx, nil, err)
	case err != nil:
		return 0, err
	}
	e.dialect = draft.Dialect
	if err := e.foundElsewhere(draft); err != nil {
		return 0, err
	}
	if e.means(draft.Status) == "expired" {
		return e.expired(ctx, draft, fmt.Errorf("the draft has expired: its status is %s",
			spelling.Quote(string(draft.Status))))
	}
	return e.fromDraft(ctx, draft)
}

// fromDraft edits, selects, reserves the cost and purchases.
func (e *entry) fromDraft(ctx context.Context, draft *shipping.RegulatoryRequest) (time.Duration, error) {
	if err := e.run.mayContinue(); err != nil {
		return 0, e.failed(wait.StepSelected, draft, err)
	}
	// Prepare returns an error if the request is not a draft, and waits for the end of its analysis. The budget is
	// compared when the cost is reserved.
	poll := e.run.options.Poll
	poll.Progress = func(event shipping.PollEvent) { e.run.progress(e, event) }
	choose := e.run.options.Select
	if len(e.item.Documents) > 0 {
		choose = e.documents
	}
	purchase, err := e.run.client.Regulatory.Prepare(ctx, draft, &shipping.AnalyzeAndPollOptions{
		Edit: e.run.options.Edit, Select: choose, Purchase: e.run.options.Purchase, Poll: poll,
	}, e.run.call...)
	if failed, ok := err.(*shipping.RegulatoryError); ok {
		if failed.Step == wait.StepAnalyzed && errors.Is(failed.Err, shipping.ErrRequestFailed) {
			return 0, e.analysisFailed(failed)
		}
		if found := e.foundElsewhere(failed.Request); found != nil {
			return 0, found
		}
		if failed.Step == wait.StepAnalyzed {
			return 0, e.failed(failed.Step, failed.Request, failed.Err)
		}
		return 0, e.failed(failed.Step, failed.Request, cmp.Or(notDraft(failed.Request), failed.Err))
	}
	if err == nil {
		err = e.foundElsewhere(purchase.Draft)
	}
	if err != nil {
		return 0, err
	}
	if err := notDraft(purchase.Draft); err != nil {
		return 0, e.failed(wait.StepEdited, purchase.Draft, err)
	}
	e.record.NotSelected = notSelected(purchase.Draft, purchase.DocumentTypes)
	if len(purchase.DocumentTypes) == 0 {
		return 0, nil
	}
	err = e.reserve(purchase.Draft, purchase.DocumentTypes)
	switch {
	case err == nil:
		return e.purchase(ctx, purchase.Draft)
	case errors.Is(err, shipping.ErrOverBudget), errors.Is(err, ErrOtherWallet):
		return 0, e.failed(wait.StepSelected, purchase.Draft, err)
	}
	return 0, err
}

// documents selects the documents of the item.
func (e *entry) documents(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
	selected, err := shipping.SelectOnly(e.item.Documents...)(draft)
	if text, isOwn := strings.CutPrefix(fmt.Sprint(err), "shipping: SelectOnly"); isOwn {
		err = fmt.Errorf("%w%s", errDocuments, text)
	}
	return selected, err
}

// errDocuments is the error of an item with Documents that are not on offer.
var errDocuments = errors.New("shipping: batch: Item.Documents")

// notSelected returns the offers of a draft that were not selected, without types that no journal can keep.
func notSelected(draft *shipping.RegulatoryRequest, selected []shipping.DocumentType) []shipping.DocumentType {
	offered, _ := shipping.SelectAll(draft) // none if it is an error
	return without(slices.DeleteFunc(offered, unkeepable), selected)
}

// without returns the documents that others do not contain; nil if there are none.
func without(documents, others []shipping.DocumentType) (left []shipping.DocumentType) {
	isOther := map[shipping.DocumentType]bool{}
	for _, document := range others {
		isOther[document] = true
	}
	for _, document := range documents {
		if !isOther[document] {
			left = append(left, document)
		}
	}
	return left
}

func (e *entry) get(ctx context.Context) (*shipping.RegulatoryRequest, error) {
	return e.run.client.Regulatory.Get(ctx, e.record.RequestID, e.run.call...)
}

// failed returns the error of a step. It contains only the status of the record.
func (e *entry) failed(step shipping.Step, record *shipping.RegulatoryRequest, err error) error {
	failed := &shipping.RegulatoryError{RequestID: e.record.RequestID, Step: step, Outcome: e.outcome(), Err: err}
	if record != nil {
		failed.Request = &shipping.RegulatoryRequest{RequestID: e.record.RequestID, Status: record.Status,
			Dialect: record.Dialect}
	}
	return failed
}

// outcome returns whether the wallet was charged for an item whose step is not StepPurchasing.
func (e *entry) outcome() shipping.PurchaseOutcome {
	if e.record.Step == StepPurchased || e.record.Step == StepFailed && e.record.bought() {
		return shipping.OutcomeCharged
	}
	return shipping.OutcomeNotCharged
}

// notDraft returns an error if a request must not be purchased, because it is not a draft.
func notDraft(record *shipping.RegulatoryRequest) error {
	if record == nil || record.Status == shipping.StatusDraft {
		return nil
	}
	return fmt.Errorf("the request has the status %q, and only a draft is purchased; %w", record.Status, errElsewhere)
}

// errElsewhere is the error of an item whose request is not a draft, although the batch has not purchased it.
var errElsewhere = errors.New("it may have been purchased outside this batch, or by a run whose records this journal " +
	"lacks; if the journal is an older copy, put the latest one in its place")

// move records the next step. If it cannot record the end of an item, the item keeps its step for the next run. A
// failed generation counts as an end even then: the next run reads the request again.
func (e *entry) move(step shipping.Step) error {
	before := e.record.Step
	e.record.Step = step
	err := e.run.note(e.claim, e.record, nil)
	if err != nil && (step == StepCompleted || step == StepFailed && !e.record.bought()) {
		e.record.Step = before
	}
	return err
}

// result is the outcome of the item so far.
func (e *entry) result() Result {
	result := Result{
		Key: e.record.Key, RequestID: e.record.RequestID, Documents: e.record.Documents, NotSelected: e.record.NotSelected,
		Amount: e.record.commitment(), Currency: e.record.Currency, Note: e.record.Note,
		Charged: e.record.Charged, ChargedCurrency: e.record.ChargedCurrency, Beside: e.beside, Err: e.err,
	}
	if e.record.Begun() {
		result.Period = e.record.Period
	}
	interrupted := errors.Is(e.err, context.Canceled) || errors.Is(e.err, context.DeadlineExceeded)
	_, unanalyzed := e.err.(*shipping.Error) // the error of the analysis that would follow
	unanalyzed = unanalyzed && !e.record.bought()
	switch {
	case e.record.Step == StepCompleted && !errors.Is(e.err, errLacks):
		result.State = StateCompleted
	case e.record.Step == StepClosed:
		result.State = StateClosed
	case e.record.Step == StepFailed && !interrupted && !unanalyzed && (e.done || e.polls == nil):
		result.State = StateFailed
		if result.Err == nil {
			result.Err = shipping.ErrRequestFailed // an earlier run saw it
		}
	case e.record.Step == StepPurchasing && e.done:
		result.State = StateUnknown
	case !e.done || interrupted || e.record.Step == StepPurchased || e.again > 0: // another process may have it
		result.State = StateWaiting
		if !e.record.Committed() {
			result.Documents = nil // of an earlier purchase that was not charged
		}
	case errors.Is(e.err, shipping.ErrOverBudget):
		result.State = StateOverBudget
	case e.err == nil:
		result.State, result.Documents = StateDraft, nil
	default:
		result.State = StateError
	}
	return result
}

// wait polls once, and does not keep the request, so that ten thousand items can wait.
func (e *entry) wait(ctx context.Context) (time.Duration, error) {
	if e.polls == nil {
		e.polls = &wait.Polls{Intervals: e.run.intervals}
	}
	e.polls.Begin()
	record, err := e.get(ctx)
	if err != nil {
		retry, after := e.run.retryPoll(err)
		isBehind := e.record.Step == StepPurchased && errors.Is(err, shipping.ErrNotFound) // it was purchased, so it exists
		poll := e.polls.Failed(ctx, retry || isBehind, after)
		if poll.End == wait.Broken {
			return 0, e.failed(wait.StepPolled, nil, err)
		}
		e.polled(shipping.PollEvent{Step: wait.StepPollFailed, Err: err}, poll)
		return poll.Next, nil
	}
	if e.record.Step == StepFailed && record.Status == shipping.StatusDraft {
		return 0, e.failed(wait.StepPolled, record, errDraftAgain)
	}
	if err := e.adopted(record); err != nil {
		return 0, err
	}
	e.dialect = record.Dialect
	state := wait.StateOf(string(record.Status), e.means(record.Status))
	poll := e.polls.Found(ctx, state)
	if e.unlisted = nil; state == wait.Unlisted {
		e.unlisted = &shipping.RegulatoryRequest{Status: record.Status, Dialect: record.Dialect}
	}
	known := e.record
	if e.record.Step == StepPurchased && record.Status != shipping.StatusDraft {
		e.charge(record.ChargedAmount, record.Currency, record.Raw) // early, so that purchases can stop
		if e.record.Overcharge != known.Overcharge {
			if err := e.move(StepPurchased); err != nil {
				return 0, err
			}
		}
	}
	switch poll.End {
	case wait.StillDraft:
		return 0, e.failed(wait.StepPolled, record, wait.ErrStale)
	case wait.StillUnlisted:
		return 0, e.failed(wait.StepPolled, record, wait.ErrUnlisted)
	case wait.NotYet:
		if e.lacksEvidence(record) {
			return 0, e.failed(wait.StepPolled, record, fmt.Errorf("%s %w", spelling.Quote(e.evidence), errEvidence))
		}
		e.polled(shipping.PollEvent{Step: wait.StepPolled, Request: record}, poll)
		return poll.Next, nil
	}
	e.polled(shipping.PollEvent{Step: wait.StepEnded, Request: record}, poll)
	e.charge(record.ChargedAmount, record.Currency, record.Raw)
	switch {
	case record.Status == shipping.StatusCompleted:
		return 0, errors.Join(e.move(StepCompleted), e.lacks(e.record))
	case status.Of(string(record.Status)).Failed:
		failed := &shipping.RegulatoryError{
			RequestID: e.record.RequestID, Step: wait.StepPolled, Outcome: e.outcome(), Request: record,
			Err: shipping.ErrRequestFailed,
		}
		if known.Step == StepFailed && known.Charged == e.record.Charged &&
			known.ChargedCurrency == e.record.ChargedCurrency && known.Overcharge == e.record.Overcharge {
			return 0, failed // the journal has it
		}
		return 0, errors.Join(failed, e.move(StepFailed))
	}
	return 0, e.failed(wait.StepPolled, record,
		fmt.Errorf("the request has ended with the status %s, which is not a success", spelling.Quote(string(record.Status))))
}

// adopted records the documents of a purchase that [Adopt] has added, so that no other item buys them.
func (e *entry) adopted(record *shipping.RegulatoryRequest) error {
	if e.record.Step != StepPurchased || len(e.record.Documents) > 0 {
		return nil
	}
	source := e.record.Source()
	if e.record.keepPurchase(record); len(e.record.Documents) == 0 && e.record.Source() == source {
		return nil
	}
	return e.move(StepPurchased)
}

// lacksEvidence reports whether, for as long as DraftFor, the documents of a request have waited for nothing but
// evidence. The wait then ends, because the evidence can take days.
func (e *entry) lacksEvidence(record *shipping.RegulatoryRequest) bool {
	var types []shipping.DocumentType
	generates := false
	for _, document := range record.Documents {
		if generates = generates || document.Status == "generating"; document.Status == "awaiting_evidence" {
			types = append(types, document.DocumentType)
		}
	}
	if e.evidence = shortened(listed(types), 200); e.evidence == "" || generates {
		e.lacking = time.Time{}
		return false
	}
	e.lacking = cmp.Or(e.lacking, time.Now())
	return time.Since(e.lacking) >= e.run.intervals.DraftFor
}

// errDraftAgain is the error of an item whose generation failed, and whose request is a draft again.
var errDraftAgain = errors.New("the generation failed after a purchase, and the request reads as a draft again: the " +
	"batch does not purchase it a second time")

// polled reports a poll. The end of an item is reported once it is in the journal.
func (e *entry) polled(event shipping.PollEvent, poll wait.Poll) {
	event.RequestID, event.Polls, event.Elapsed, event.Next = e.record.RequestID, poll.Number, poll.Elapsed, poll.Next
	if own := e.run.options.Poll.Progress; own != nil {
		e.run.callback(func() { own(event) })
	}
	if event.Step != wait.StepEnded {
		e.run.progress(e, event)
	}
}

// retryPoll reports whether another poll may follow a failed one, and the shortest time until then.
func (r *run) retryPoll(err error) (retry bool, after time.Duration) {
	failed, ok := errors.AsType[*shipping.Error](err)
	if !ok || !failed.Retryable() {
		return false, 0
	}
	return true, min(failed.RetryAfter, r.client.RetryPolicy().MaxRetryAfter)
}
