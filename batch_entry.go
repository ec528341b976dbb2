package shipping

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shipping-go/shipping/internal/workflow"
)

// batchEntry is one item on its way. Its record is what the journal knows; a step takes it from there
// to the next point where it waits or ends.
type batchEntry struct {
	run    *batchRun
	item   BatchItem
	claim  BatchClaim // nil while this process does not have the item
	record BatchRecord
	due    time.Time
	again  time.Duration // the interval between tries, if another process has the item
	poll   *workflow.Wait[*RegulatoryRequest]
	late   bool // no purchase of an earlier claim can still be sent in time
	err    error
	done   bool
}

// step returns how long to wait before the next one; 0 ends the item in this run.
func (e *batchEntry) step(ctx context.Context) time.Duration {
	wait, err := e.advance(ctx)
	if errors.Is(err, ErrBatchItemTaken) {
		return e.leave(ctx)
	}
	if err != nil || wait <= 0 {
		e.err, e.done = err, true
		e.poll = nil       // ten thousand ended items keep no records
		_ = e.release(ctx) // should it fail, others have the item once the journal is closed
		e.run.tell(e, PollEvent{Step: StepEnded, RequestID: e.record.RequestID, Err: err})
		return 0
	}
	return wait
}

// leave lets another process work on the item, and returns when to look at it again: it ends when the
// other one does, and is taken up when the other one died.
func (e *batchEntry) leave(ctx context.Context) time.Duration {
	_ = e.release(ctx) // if it was taken over, there is nothing left to release
	e.record, e.poll = BatchRecord{Key: e.record.Key}, nil
	return e.run.options.Poll.intervals().Next(&e.again)
}

// take claims the item.
func (e *batchEntry) take(ctx context.Context) error {
	claim, err := e.run.journal.Claim(ctx, e.record.Key)
	switch {
	case err != nil && ctx.Err() != nil:
		return withReason(ctx, context.Cause(ctx))
	case err != nil:
		return e.run.journalFailed(e.record.Key, err)
	}
	record := claim.Record()
	if record.Step != "" {
		if err := record.check(); err != nil {
			return errors.Join(e.run.journalFailed(e.record.Key, err), claim.Release(ctx))
		}
	}
	e.claim, e.record, e.again, e.late = claim, record, 0, false
	return nil
}

func (e *batchEntry) release(ctx context.Context) error {
	if e.claim == nil {
		return nil
	}
	claim := e.claim
	e.claim = nil
	return claim.Release(context.WithoutCancel(ctx))
}

func (e *batchEntry) advance(ctx context.Context) (time.Duration, error) {
	if e.claim == nil {
		if err := e.take(ctx); err != nil {
			return 0, err
		}
	}
	switch e.record.Step {
	case "":
		return e.analyze(ctx)
	case BatchAnalyzed:
		return e.resume(ctx)
	case BatchPurchasing:
		return e.settle(ctx)
	case BatchPurchased:
		return e.wait(ctx)
	default:
		return 0, nil // ended by another process
	}
}

func (e *batchEntry) analyze(ctx context.Context) (time.Duration, error) {
	draft, err := e.run.service.Analyze(ctx, &e.item.Analyze, e.run.call...)
	if failed, ok := errors.AsType[*FailedError](err); ok {
		e.record.RequestID = failed.Request.RequestID
		return 0, errors.Join(err, e.move(ctx, BatchStepFailed))
	}
	if err != nil {
		return 0, err
	}
	e.record.RequestID = draft.RequestID
	if err := e.move(ctx, BatchAnalyzed); err != nil {
		return 0, err
	}
	e.run.tell(e, PollEvent{Step: StepAnalyzed, RequestID: draft.RequestID, Request: draft})
	if draft.Status == "" {
		return e.resume(ctx)
	}
	return e.fromDraft(ctx, draft)
}

// resume reads a request that was analyzed and goes on from there.
func (e *batchEntry) resume(ctx context.Context) (time.Duration, error) {
	draft, err := e.get(ctx)
	if err != nil {
		return 0, err
	}
	return e.fromDraft(ctx, draft)
}

// fromDraft edits, selects, reserves the price and purchases.
func (e *batchEntry) fromDraft(ctx context.Context, draft *RegulatoryRequest) (time.Duration, error) {
	check := func(draft *RegulatoryRequest) error { return errors.Join(isDraft(draft), e.run.mayGoOn()) }
	if err := check(draft); err != nil {
		return 0, e.failed(StepSelected, draft, err)
	}
	wait := time.Duration(0)
	flow := workflow.Flow[*RegulatoryRequest, DocumentType]{
		Edit:    e.run.options.Edit,
		Read:    func(ctx context.Context) (*RegulatoryRequest, error) { return e.get(ctx) },
		Check:   check,
		Select:  e.run.options.Select,
		Reserve: e.intend,
		Purchase: func(ctx context.Context, _ []DocumentType) (err error) {
			wait, err = e.purchase(ctx)
			return err
		},
		Done: func(step workflow.Step, draft *RegulatoryRequest) {
			e.run.tell(e, PollEvent{Step: stepOf(step), RequestID: e.record.RequestID, Request: draft})
		},
	}
	draft, _, err := flow.Run(ctx, draft)
	failed, ok := errors.AsType[*workflow.Error](err)
	switch {
	case !ok:
		return wait, nil
	case failed.Step == workflow.Purchase, failed.Step == workflow.Reserve && !errors.Is(err, ErrOverBudget):
		return 0, failed.Err
	}
	return 0, e.failed(stepOf(failed.Step), draft, failed.Err)
}

func (e *batchEntry) get(ctx context.Context) (*RegulatoryRequest, error) {
	return e.run.service.Get(ctx, e.record.RequestID, e.run.call...)
}

// failed is the error of a step. It carries no more of the record than its status.
func (e *batchEntry) failed(step PollStep, record *RegulatoryRequest, err error) error {
	failed := &StepError{RequestID: e.record.RequestID, Step: step, Err: err}
	if record != nil {
		failed.Request = &RegulatoryRequest{RequestID: e.record.RequestID, Status: record.Status}
	}
	return failed
}

// isDraft reports a request that must not be purchased, because it is not a draft.
func isDraft(record *RegulatoryRequest) error {
	if record.Status == StatusDraft {
		return nil
	}
	return fmt.Errorf("the request has the status %q, and only a draft is purchased; it may have been purchased outside this batch: "+
		"follow it with Regulatory.Wait, and leave the item out of the batch", record.Status)
}

// intend reserves the price, and records the intent to purchase.
func (e *batchEntry) intend(ctx context.Context, draft *RegulatoryRequest, selected []DocumentType) error {
	intent := e.record
	intent.Step, intent.Documents, intent.WasDraft = BatchPurchasing, selected, true
	intent.Note = ""
	var err error
	intent.Amount, intent.Currency, err = e.run.price(draft, selected)
	if err == nil {
		err = errors.Join(e.run.mayPurchase(), e.run.mayGoOn())
	}
	if err == nil {
		// The intent is on the disk before the purchase is on the wire.
		err = e.run.note(ctx, e.claim, intent)
	}
	switch {
	case err == nil:
		e.record = intent
	case errors.Is(err, ErrOverBudget):
		e.record.Documents = selected
	}
	return err
}

// purchase sends the purchase once, if there is enough time in which no other process can settle it.
func (e *batchEntry) purchase(ctx context.Context) (time.Duration, error) {
	purchase := PurchaseRequest{
		RequestID: e.record.RequestID, DocumentTypes: e.record.Documents, WasDraft: e.record.WasDraft,
		PurchaseOptions: e.run.options.Purchase,
	}
	buying := ctx
	if lease := e.run.journal.Lease(); lease > 0 {
		if passed(e.claim.Until().Add(-lease / 2)) {
			return 0, ErrBatchItemTaken
		}
		var stop context.CancelFunc
		buying, stop = context.WithTimeout(ctx, purchaseTime(lease))
		defer stop()
	}
	bought, err := e.run.service.PurchaseWith(buying, &purchase, e.run.call...)
	if refusedUnsent(err) {
		return e.notCharged(ctx, err)
	}
	return e.bought(ctx, bought, err)
}

// refusedUnsent reports whether a purchase was refused by its own validation.
func refusedUnsent(err error) bool {
	_, tried := errors.AsType[*PurchaseError](err)
	_, invalid := errors.AsType[*ValidationError](err)
	return invalid && !tried
}

// purchaseTime is how long a purchase under a lease may take, and so how long one that was begun at the
// end of another process's claim may still be under way.
func purchaseTime(lease time.Duration) time.Duration { return lease / 4 }

// passed reports whether a moment is over by either clock: the monotonic one stands still while the
// machine sleeps, and the other one may be set back.
func passed(moment time.Time) bool {
	now := time.Now()
	return !now.Before(moment) || !now.Round(0).Before(moment.Round(0))
}

// bought goes on from the outcome of a purchase. Only "not charged" gives the reservation back. With any
// outcome that is not certain the journal keeps "purchasing".
func (e *batchEntry) bought(ctx context.Context, bought *PurchaseResult, err error) (time.Duration, error) {
	failed, _ := errors.AsType[*PurchaseError](err)
	switch {
	case err == nil:
		e.charge(bought.ChargedAmount, bought.Currency)
	case failed != nil && failed.Outcome == OutcomeCharged: // purchased before
		if failed.Request != nil {
			e.charge(failed.Request.ChargedAmount, failed.Request.Currency)
		}
	case failed != nil && failed.Outcome == OutcomeNotCharged:
		return e.notCharged(ctx, err)
	default:
		return 0, err
	}
	if err := e.move(ctx, BatchPurchased); err != nil {
		return 0, err
	}
	e.run.tell(e, PollEvent{Step: StepPurchased, RequestID: e.record.RequestID, Purchase: bought})
	return e.wait(ctx)
}

// notCharged ends the item, in this run, after a purchase that charged nothing.
func (e *batchEntry) notCharged(ctx context.Context, err error) (time.Duration, error) {
	return 0, errors.Join(err, e.giveBack(ctx))
}

// giveBack records that nothing was charged, which gives the reservation back.
func (e *batchEntry) giveBack(ctx context.Context) error {
	e.record = e.record.notCharged()
	return e.move(ctx, BatchAnalyzed)
}

// charge records what the service reports as charged. More than the price on the draft counts against
// the budget, and ends the purchases of this run. Anything else leaves the reservation as it is: a
// report that is less, or in another currency, does not show that less was taken.
func (e *batchEntry) charge(amount Amount, currency string) {
	if !amount.Known() {
		return
	}
	e.record.Charged, e.record.ChargedCurrency = amount, currency
	if currency != "" && e.record.Currency != "" && currency != e.record.Currency || amount.Cmp(e.record.Amount) <= 0 {
		return
	}
	if e.record.Amount.Known() {
		e.run.overcharged(e.record.Key, e.record.Amount, amount)
	}
	e.record.Amount = amount
	setDefault(&e.record.Currency, currency)
}

// settle finds out what became of a purchase that an earlier run, or another process, left open.
func (e *batchEntry) settle(ctx context.Context) (time.Duration, error) {
	if lease := e.run.journal.Lease(); lease > 0 {
		if !e.late {
			e.late = true
			return purchaseTime(lease), nil
		}
		if err := e.renew(ctx); err != nil {
			return 0, err
		}
	}
	settle := e.run.options.Settle
	settle.DocumentTypes, settle.WasDraft = e.record.Documents, e.record.WasDraft
	bought, err := e.run.service.SettlePurchase(ctx, e.record.RequestID, &settle, e.run.call...)
	failed, ok := errors.AsType[*PurchaseError](err)
	if !ok || failed.Outcome != OutcomeNotCharged {
		return e.bought(ctx, bought, err)
	}
	if err := e.giveBack(ctx); err != nil {
		return 0, err
	}
	return e.resume(ctx)
}

// renew begins the lease anew, and fails if another process has taken the item.
func (e *batchEntry) renew(ctx context.Context) error {
	_, err := e.claim.Append(context.WithoutCancel(ctx), e.record, nil)
	if err != nil {
		return e.run.journalFailed(e.record.Key, err)
	}
	return nil
}

// wait polls once.
func (e *batchEntry) wait(ctx context.Context) (time.Duration, error) {
	if e.poll == nil {
		e.poll = e.newWait()
	}
	record, next, end, err := e.poll.Poll(ctx)
	switch end {
	case workflow.NotYet:
		return next, nil
	case workflow.StillDraft:
		return 0, e.failed(StepPolled, record, ErrNotPurchased)
	case workflow.Broken:
		return 0, e.failed(StepPolled, nil, err)
	}
	e.charge(record.ChargedAmount, record.Currency)
	if record.Status == StatusFailed {
		return 0, errors.Join(&FailedError{Request: record, Operation: OpGetRequest}, e.move(ctx, BatchStepFailed))
	}
	return 0, e.move(ctx, BatchStepCompleted)
}

// newWait returns the wait for the item. It holds no record, because ten thousand items can wait.
func (e *batchEntry) newWait() *workflow.Wait[*RegulatoryRequest] {
	options := e.run.options.Poll
	return &workflow.Wait[*RegulatoryRequest]{
		Intervals: options.intervals(),
		Read:      e.get,
		State:     func(record *RegulatoryRequest) workflow.State { return record.Status.workflowState() },
		Retry:     e.run.service.core.retryPoll,
		Report: func(poll workflow.Poll[*RegulatoryRequest]) {
			event := PollEvent{
				Step: StepPolled, RequestID: e.record.RequestID, Request: poll.Record, Polls: poll.Polls, Elapsed: poll.Elapsed,
				Err: poll.Err, Next: poll.Next,
			}
			switch {
			case poll.Err != nil:
				event.Step = StepPollFailed
			case poll.AtEnd:
				event.Step = StepEnded
			}
			if own := options.Progress; own != nil {
				e.run.callback(func() { own(event) })
			}
			if event.Step != StepEnded {
				e.run.tell(e, event)
			}
		},
	}
}

func (e *batchEntry) move(ctx context.Context, step BatchStep) error {
	e.record.Step = step
	return e.run.note(ctx, e.claim, e.record)
}

// result is the item as it stands.
func (e *batchEntry) result() BatchResult {
	result := BatchResult{
		Key: e.record.Key, RequestID: e.record.RequestID, Documents: e.record.Documents,
		Amount: e.record.Amount, Currency: e.record.Currency,
		Charged: e.record.Charged, ChargedCurrency: e.record.ChargedCurrency, Err: e.err,
	}
	interrupted := errors.Is(e.err, context.Canceled) || errors.Is(e.err, context.DeadlineExceeded)
	switch {
	case e.record.Step == BatchStepCompleted:
		result.State = BatchCompleted
	case e.record.Step == BatchStepFailed:
		result.State = BatchFailed
		if result.Err == nil {
			result.Err = ErrRequestFailed // an earlier run saw it
		}
	case e.record.Step == BatchPurchasing && e.done:
		result.State = BatchUnknown
	case !e.done || interrupted || e.record.Step == BatchPurchased:
		result.State = BatchWaiting
	case errors.Is(e.err, ErrOverBudget):
		result.State = BatchOverBudget
	case e.err == nil:
		result.State = BatchDraft
	default:
		result.State = BatchError
	}
	return result
}
