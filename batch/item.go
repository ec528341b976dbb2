package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/cost"
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
	twin    *entry // the item that is purchased for this shipment or file instead; or nil
	claim   Claim  // nil while this process does not have the item
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
	case record.begun():
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

// errLacks is the error of an item that names other Documents than it was completed with.
var errLacks = errors.New("shipping: the item was completed without")

// lacks returns an error if the item is completed without one of its Documents.
func (e *entry) lacks(record Record) error {
	others := without(e.item.Documents, record.Documents)
	if record.Step != StepCompleted || len(others) == 0 {
		return nil
	}
	return fmt.Errorf("%w %s: name these in an item with a Key of its own", errLacks, spelling.Quote(listed(others)))
}

// listed returns documents as messages name them.
func listed(documents []shipping.DocumentType) string {
	names := make([]string, len(documents))
	for i, document := range documents {
		names[i] = string(document)
	}
	return strings.Join(names, ", ")
}

// errOtherShipment is the error of an item whose key belongs to another shipment: if that one is completed, this one
// would count as completed.
var errOtherShipment = errors.New("shipping: the key belongs to another shipment")

func otherShipment(record Record, source string) error {
	open := "; nothing was purchased for this item"
	if record.begun() && !record.final() {
		open += "; the purchase of the other one is not finished, so add an item for it to the next run"
	}
	had := spelling.Quote(record.ShipmentID)
	if record.ShipmentID == "" {
		had = "an invoice"
	}
	return fmt.Errorf("%w: %s in the journal, and %s in this item: give this item a Key that no other item has%s",
		errOtherShipment, had, spelling.Quote(source), open)
}

// source identifies the shipment or file of the item. Without either, the key is the shipment or file, as it is by
// default.
func (e *entry) source() string {
	given := Record{ShipmentID: e.item.Analyze.ShipmentID, FileHash: fileHash(e.item.Analyze.FileURL)}
	return cmp.Or(given.Source(), e.record.Source(), sourceOfKey(e.record.Key))
}

// sourceOfKey returns the source of an item that has a default key.
func sourceOfKey(key string) string {
	if strings.Contains(key, "://") {
		return fileHash(key)
	}
	return key
}

// compare orders items for one shipment or file: those whose purchase has begun come first, then those with Documents.
func (e *entry) compare(other *entry) int {
	rank := func(e *entry) int {
		switch {
		case e.record.begun():
			return 0
		case len(e.item.Documents) > 0:
			return 1
		}
		return 2
	}
	return cmp.Or(cmp.Compare(rank(e), rank(other)), cmp.Compare(e.record.Key, other.record.Key))
}

// excludes reports whether a later item for the same shipment or file must not be purchased in addition to this one.
func (e *entry) excludes(later *entry) bool {
	documents, others := e.item.Documents, later.item.Documents
	switch {
	case e.twin != nil:
		return false
	case len(documents) == 0 && len(others) == 0:
		return true
	case e.record.begun(): // the journal shows its documents
		return false
	}
	return len(others) == 0 || len(without(others, documents)) < len(others)
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

// repeated returns an error for an item that would buy the same documents as another item in this run or in the
// journal.
func (e *entry) repeated() error {
	switch twin := e.twin; {
	case twin == nil:
	case len(twin.item.Documents) == 0:
		return e.repeats(twin.item.key(), "leave it out")
	case len(e.item.Documents) == 0:
		return e.repeats(twin.item.key(), "name the Documents of this item, too, or leave it out")
	default:
		return e.differs(Record{Key: twin.item.key(), Documents: twin.item.Documents})
	}
	if unkeepable(e.record.Source()) {
		return nil
	}
	related, err := e.run.journal.Related(e.run.writing, e.record)
	if err != nil {
		return e.run.journalFailed(e.record.Key, err)
	}
	return e.alone(e.record)(related)
}

// alone returns the function that the journal calls before it records a draft or a purchase, with the records of the
// same source or request. If a proxy repeated the response to an analysis, several items would purchase one request.
// The service may return the draft of the same shipment again.
func (e *entry) alone(own Record) func(related []Record) error {
	return func(related []Record) error {
		for _, other := range related {
			if other.Key == own.Key {
				continue
			}
			sameSource := own.Source() != "" && other.Source() == own.Source()
			if sameSource && !e.item.Again && other.Committed() && other.bought() {
				if err := e.differs(other); err != nil {
					return err
				}
			}
			isOpen := own.Step == StepAnalyzed && other.Step == StepAnalyzed && !sameSource
			if own.RequestID != "" && other.RequestID == own.RequestID && (other.begun() || isOpen) {
				return e.repeatedRequest(own.RequestID, other.Key)
			}
		}
		return nil
	}
}

// errUnread is the error of an item whose shipment has a purchase that [Adopt] has added.
var errUnread = errors.New("its documents are not known until a run has read it")

// differs returns an error unless the Documents differ from those of another purchase of the shipment or file.
func (e *entry) differs(other Record) error {
	switch shared := without(e.item.Documents, without(e.item.Documents, other.Documents)); {
	case len(e.item.Documents) == 0:
	case len(other.Documents) == 0:
		return fmt.Errorf("shipping: the journal has the purchase %s of the shipment, and %w", spelling.Quote(other.Key),
			errUnread)
	case len(shared) > 0:
		return e.repeats(other.Key, fmt.Sprintf("leave %s out of Documents, or leave the item out; to buy these again, set "+
			"Again", spelling.Quote(listed(shared))))
	default:
		return nil
	}
	return e.repeats(other.Key, "use that Key, which the journal has, or leave the item out; to buy other documents, "+
		"name them in Documents; to buy these again, set Again")
}

// repeatedRequest returns the error of an item whose analysis returned the request of another item.
func (e *entry) repeatedRequest(id, key string) error {
	opens := ""
	if e.record.RequestID == id {
		opens = ", then batch.Resolve with OutcomeNotCharged lets the next run analyze it again"
	}
	return fmt.Errorf("shipping: the analysis returned the request %s of the item %s; nothing was purchased for this "+
		"item: check whether a proxy repeats responses%s", spelling.Quote(id), spelling.Quote(key), opens)
}

// repeats returns the error of an item whose documents another item has bought.
func (e *entry) repeats(key, advice string) error {
	source := "shipment"
	if e.item.Analyze.FileURL != "" || e.record.FileHash != "" {
		source, advice = "file", advice+"; if two invoices differ only in the query of the address, set Again"
	}
	return invalid("Item", fmt.Sprintf("with the key %s has the %s of the item with the key %s, whose documents would be "+
		"bought a second time: %s", spelling.Quote(e.record.Key), source, spelling.Quote(key), advice))
}

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
	if e.record.begun() {
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
	if e.record.keepPurchase(record); len(e.record.Documents) == 0 {
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

// reserve reserves the cost, and records the intent to purchase.
func (e *entry) reserve(draft *shipping.RegulatoryRequest, selected []shipping.DocumentType) error {
	if err := e.run.pays(draft); err != nil {
		return err
	}
	intent := e.record
	intent.Step, intent.Documents, intent.Note, intent.Period = StepPurchasing, selected, "", e.run.options.Period
	intent.Overcharge = ""
	intent.Earlier = e.earlier()
	var err error
	if intent.Purchase, err = remember(intent.RequestID, draft, selected); err != nil {
		return err
	}
	intent.Amount, intent.Currency, err = e.run.cost(draft, selected)
	if err == nil {
		err = e.run.mayContinue()
	}
	if err == nil {
		// The intent is on the disk before the purchase is sent.
		err = e.run.note(e.claim, intent, func(related []Record) error {
			return cmp.Or(e.run.mayPurchase(related), e.alone(intent)(related))
		})
	}
	switch {
	case err == nil:
		e.record = intent
		e.besides(draft)
	case errors.Is(err, shipping.ErrOverBudget):
		e.record.Documents = selected
		err = explained(err, draft, selected)
	}
	return err
}

// besides notes the amounts that are reserved beside the prices.
func (e *entry) besides(draft *shipping.RegulatoryRequest) {
	price, _, err := draft.Price(e.record.Documents...)
	if beside, failed := e.record.Amount.Sub(price); err == nil && failed == nil && e.record.Amount.Known() {
		e.beside = beside
	}
}

// explained adds to a journal's error the numbers that the cost counts beside the prices, and the dialect lines that
// make it fit the rest of the budget. The journal cannot add them, because it has no draft.
func explained(err error, draft *shipping.RegulatoryRequest, selected []shipping.DocumentType) error {
	over, ok := err.(*shipping.BudgetError)
	if !ok || len(over.Beside) > 0 || !over.Left.Known() {
		return err
	}
	_, whole := shipping.Budget{Amount: over.Left, Currency: over.Budget.Currency}.Check(draft, selected...)
	if whole, ok := errors.AsType[*shipping.BudgetError](whole); ok {
		over.Beside, over.Declare = whole.Beside, whole.Declare
	}
	return over
}

// remember returns a purchase as a record stores it: without most of the draft, because a batch can have many thousand
// items. It sets Sole, because the batch made the draft, and shares it with nobody.
func remember(requestID string, draft *shipping.RegulatoryRequest,
	selected []shipping.DocumentType) (*shipping.PurchaseRequest, error) {
	var small shipping.PurchaseRequest
	text, err := json.Marshal(shipping.PurchaseRequest{RequestID: requestID, DocumentTypes: selected, Draft: draft,
		Sole: true})
	return &small, errors.Join(err, json.Unmarshal(text, &small))
}

// purchase sends the purchase once, if enough time is left before another process can settle it.
func (e *entry) purchase(ctx context.Context, draft *shipping.RegulatoryRequest) (time.Duration, error) {
	purchase := e.remembered()
	purchase.Draft, e.dialect = draft, draft.Dialect
	buying, stop, err := e.claim.Within(ctx)
	if err != nil {
		return 0, err
	}
	defer stop()
	bought, err := e.run.client.Regulatory.Purchase(buying, purchase, e.run.call...)
	if _, invalid := err.(*shipping.ValidationError); invalid { // not sent
		return e.notCharged(ctx, err)
	}
	return e.bought(ctx, bought, err)
}

// remembered returns the purchase as the record holds it, with the settings of this run.
func (e *entry) remembered() *shipping.PurchaseRequest {
	purchase := shipping.PurchaseRequest{RequestID: e.record.RequestID, DocumentTypes: e.record.Documents}
	if e.record.Purchase != nil {
		purchase = *e.record.Purchase
	}
	purchase.PurchaseOptions = e.run.options.Purchase
	return &purchase
}

// settle finds out the outcome of a purchase that an earlier run, or another process, left open.
func (e *entry) settle(ctx context.Context) (time.Duration, error) {
	quietFor := cmp.Or(e.run.options.Purchase.QuietFor, wait.QuietFor)
	e.run.progress(e, shipping.PollEvent{Step: wait.StepSettling, RequestID: e.record.RequestID, Next: quietFor})
	var bought *shipping.PurchaseResult
	var err error
	e.run.aside(func() {
		bought, err = e.run.client.Regulatory.SettlePurchase(ctx, e.remembered(), e.run.call...)
	})
	failed, ok := err.(*shipping.RegulatoryError)
	if ok && failed.Outcome == shipping.OutcomeUnknown && e.refusal == nil {
		failed.Err = fmt.Errorf("%w: %w", errUnsettled, failed.Err)
		if last := failed.Request; last != nil {
			if e.dialect = last.Dialect; e.means(last.Status) == "expired" {
				failed.Err = fmt.Errorf("%w; %w", failed.Err, errGone)
			}
		}
	}
	if !ok || failed.Outcome != shipping.OutcomeNotCharged {
		return e.bought(ctx, bought, err)
	}
	if e.refusal != nil { // the service would refuse it again
		failed.Err = e.refusal
		return e.notCharged(ctx, failed)
	}
	if !e.refused() {
		e.record.Earlier = EarlierLost
	}
	if err := e.giveBack(); err != nil {
		return 0, err
	}
	return e.resume(ctx)
}

// bought continues after a purchase. Only the outcome "not charged" releases the reservation. If the outcome is
// uncertain, the journal keeps "purchasing".
func (e *entry) bought(ctx context.Context, bought *shipping.PurchaseResult, err error) (time.Duration, error) {
	failed, _ := err.(*shipping.RegulatoryError) // not errors.As: it wraps the errors of other calls too
	switch {
	case err == nil:
		e.charge(bought.ChargedAmount, bought.Currency, bought.Raw)
	case failed != nil && failed.Outcome == shipping.OutcomePurchasedBefore:
		if failed.Request != nil {
			e.charge(failed.Request.ChargedAmount, failed.Request.Currency, failed.Request.Raw)
		}
	case failed != nil && failed.Outcome == shipping.OutcomeNotCharged:
		return e.notCharged(ctx, failed)
	case failed != nil && e.learns(failed.Purchase):
		// A later run must not take a refused purchase for one whose response was lost, nor an older copy for a request that
		// stayed a draft.
		refused := failed.Purchase.Refused && !e.refused()
		e.record.Purchase = failed.Purchase
		stopped := errors.Join(e.move(StepPurchasing), e.run.mayContinue())
		if !refused || stopped != nil || e.run.journal.Lease() == 0 || ctx.Err() != nil {
			return 0, errors.Join(err, stopped)
		}
		// The rest of the lease may be too short to read the request for long enough, so it is settled under the renewed
		// claim. The purchase is recorded as refused now, so that the outcome of settle does not lead here again.
		e.refusal, _ = errors.AsType[*shipping.Error](failed.Err) // without the end of the lease's context
		return e.settle(ctx)
	default:
		return 0, err
	}
	if _, quoted := e.quote(); !quoted {
		e.record.Purchase = nil
	}
	if err := e.move(StepPurchased); err != nil {
		return 0, err
	}
	e.run.progress(e, shipping.PollEvent{Step: wait.StepPurchased, RequestID: e.record.RequestID, Purchase: bought})
	return e.wait(ctx)
}

// refused reports whether the record states that the service refused the purchase.
func (e *entry) refused() bool { return e.record.Purchase != nil && e.record.Purchase.Refused }

// learns reports whether the record lacks what the response to its purchase or a reading has shown.
func (e *entry) learns(shown *shipping.PurchaseRequest) bool {
	in := func(p *shipping.PurchaseRequest) [4]bool {
		return [...]bool{p.Refused, p.Contradicted, p.UnderWay, p.Purchased}
	}
	return in(shown) != in(cmp.Or(e.record.Purchase, &shipping.PurchaseRequest{}))
}

// notCharged ends the item, in this run, after a purchase that was refused or never sent. If it was refused because the
// draft has expired, the item is analyzed again.
func (e *entry) notCharged(ctx context.Context, err error) (time.Duration, error) {
	if errors.Is(err, shipping.ErrInsufficientFunds) {
		e.unpaid = money(e.record.Amount, e.record.Currency)
	}
	failed, ok := err.(*shipping.RegulatoryError)
	if ok && failed.Request != nil {
		e.record.Earlier, _ = e.shown(failed.Request)
	}
	if written := e.giveBack(); written != nil {
		return 0, errors.Join(err, written)
	}
	if !ok || !failed.Purchase.Refused {
		return 0, err
	}
	refusal, ok := errors.AsType[*shipping.Error](failed.Err)
	if !ok {
		return 0, failed
	}
	if e.dialect != nil && refusal.Code != "" && refusal.Code == e.dialect.Refusal.ExpiredCode {
		return e.expired(ctx, failed.Request, failed)
	}
	failed.Err = e.undeclaredCode(failed.Err, refusal.Code)
	return 0, failed
}

// giveBack records that nothing was charged, which releases the reservation.
func (e *entry) giveBack() error {
	e.record.Purchase, e.record.Amount, e.record.Currency, e.beside = nil, shipping.Amount{}, "", shipping.Amount{}
	return e.move(StepAnalyzed)
}

// quote returns the charge that the draft showed before the purchase.
func (e *entry) quote() (amount shipping.Amount, quoted bool) {
	if e.record.Purchase == nil || e.record.Purchase.Draft == nil {
		return shipping.Amount{}, false
	}
	amount = e.record.Purchase.Draft.ChargedAmount
	return amount, amount.Known()
}

// charge records the charge that the service reports, unless the draft showed it already. A charge above the cost of
// the draft counts against the budget, and ends all purchases until a person has compared it. A charge that is in
// another currency or cannot be read ends them, too; no journal keeps an unreadable one. Any other charge does not
// change the reservation: a lower one does not show that less was taken.
func (e *entry) charge(amount shipping.Amount, currency string, raw shipping.RawJSON) {
	if unreadable(amount) {
		if unread := evidence.Read(string(raw), e.dialect).UnreadCharge(); unread != "" && !e.record.elsewhere() {
			e.overcharge(cmp.Or(e.record.Overcharge, unread+e.dialect.CostText()))
		}
		return
	}
	currency = keepable(currency)
	quote, quoted := e.quote()
	isForeign := cost.Foreign(currency, e.record.Currency)
	// A later report that is not higher, or follows one in another currency, does not replace what a person compares.
	recorded := e.record.Charged.Known() && size(amount).Cmp(size(e.record.Charged)) <= 0 &&
		!cost.Foreign(currency, e.record.ChargedCurrency) || e.record.foreign()
	if !amount.Known() || quoted && amount == quote && !isForeign || recorded {
		return
	}
	e.record.Charged, e.record.ChargedCurrency = amount, currency
	if e.record.elsewhere() {
		return
	}
	amount = size(amount)
	if !e.record.foreign() && amount.Round(9).Cmp(e.record.Amount) > 0 { // without floating-point noise
		if e.record.Amount.Known() {
			e.record.Cost = cmp.Or(e.record.Cost, e.record.Amount)
		}
		e.record.Amount = amount
		e.record.Currency = cmp.Or(e.record.Currency, currency)
	}
	if over := e.record.overcharge(); over != "" {
		e.overcharge(over + e.dialect.CostText())
	}
}

// overcharge records why a charge is above the cost. The note of an earlier finding does not close it.
func (e *entry) overcharge(text string) {
	text = strings.ReplaceAll(shortened(text, 1000), "\x00", "") // so that each journal can keep it
	if text != e.record.Overcharge {
		e.record.Overcharge, e.record.Note = text, ""
	}
}

// size returns a charge without its sign, because a negative one is a debit.
func size(charge shipping.Amount) shipping.Amount {
	if charge.Sign() < 0 {
		return charge.Neg()
	}
	return charge
}

// elsewhere reports whether the item was purchased outside the batch, so that its charge has no cost to compare with.
func (r Record) elsewhere() bool { return r.Earlier == EarlierElsewhere && r.Amount == nothing }

// foreign reports whether the charge is in another currency than the draft, so that they cannot be compared.
func (r Record) foreign() bool {
	return r.Charged.Known() && r.Amount.Known() && cost.Foreign(r.ChargedCurrency, r.Currency) && !r.elsewhere()
}

// overcharge returns the charge and the cost of the draft, if the charge is more, or in another currency.
func (r Record) overcharge() string {
	switch {
	case r.Cost.Known():
		return fmt.Sprintf("%s, and the draft shows %s at most", money(r.Amount, r.Currency), money(r.Cost, r.Currency))
	case r.foreign():
		return fmt.Sprintf("%s, and the draft is priced in %s", money(r.Charged, r.ChargedCurrency), r.Currency)
	}
	return ""
}

// overcharged returns the error of an item whose charge is above its cost, until a person has closed it with a note.
func (e *entry) overcharged() error {
	if !e.record.Overcharged() {
		return nil
	}
	return &shipping.RegulatoryError{RequestID: e.record.RequestID, Step: wait.StepPurchased,
		Outcome: shipping.OutcomeCharged, Err: fmt.Errorf("%w: %s", shipping.ErrOvercharged, e.record.Overcharge)}
}

func money(amount shipping.Amount, currency string) shipping.Budget {
	return shipping.Budget{Amount: amount, Currency: currency}
}
