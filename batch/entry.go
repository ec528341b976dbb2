package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/workflow"
)

// entry is one item on its way. Its record is what the journal knows; a step takes it from there
// to the next point where it waits or ends.
type entry struct {
	run    *run
	item   Item
	claim  Claim // nil while this process does not have the item
	record Record
	due    time.Time
	again  time.Duration // the interval between tries, if another process has the item
	poll   *workflow.Wait[*shipping.RegulatoryRequest]
	late   bool // no purchase of an earlier claim can still be sent in time
	err    error
	done   bool
}

// step returns how long to wait before the next one; 0 ends the item in this run.
func (e *entry) step(ctx context.Context) time.Duration {
	wait, err := e.advance(ctx)
	if errors.Is(err, ErrItemTaken) {
		return e.leave(ctx)
	}
	if err != nil || wait <= 0 {
		e.err, e.done = err, true
		e.poll = nil       // ten thousand ended items keep no records
		_ = e.release(ctx) // should it fail, others have the item once the journal is closed
		e.run.tell(e, shipping.PollEvent{Step: shipping.StepEnded, RequestID: e.record.RequestID, Err: err})
		return 0
	}
	return wait
}

// leave lets another process work on the item, and returns when to look at it again: it ends when the
// other one does, and is taken up when the other one died.
func (e *entry) leave(ctx context.Context) time.Duration {
	_ = e.release(ctx) // if it was taken over, there is nothing left to release
	e.record, e.poll = Record{Key: e.record.Key}, nil
	return e.run.intervals.Next(&e.again)
}

// take claims the item.
func (e *entry) take(ctx context.Context) error {
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

func (e *entry) release(ctx context.Context) error {
	if e.claim == nil {
		return nil
	}
	claim := e.claim
	e.claim = nil
	return claim.Release(context.WithoutCancel(ctx))
}

func (e *entry) advance(ctx context.Context) (time.Duration, error) {
	if e.claim == nil {
		if err := e.take(ctx); err != nil {
			return 0, err
		}
	}
	switch e.record.Step {
	case "":
		return e.analyze(ctx)
	case StepAnalyzed:
		return e.resume(ctx)
	case StepPurchasing:
		return e.settle(ctx)
	case StepPurchased:
		return e.wait(ctx)
	default:
		return 0, nil // ended by another process
	}
}

func (e *entry) analyze(ctx context.Context) (time.Duration, error) {
	draft, err := e.run.client.Regulatory.Analyze(ctx, &e.item.Analyze, e.run.call...)
	if failed, ok := errors.AsType[*shipping.FailedError](err); ok {
		e.record.RequestID = failed.Request.RequestID
		return 0, errors.Join(err, e.move(ctx, StepFailed))
	}
	if err != nil {
		return 0, err
	}
	e.record.RequestID = draft.RequestID
	if err := e.move(ctx, StepAnalyzed); err != nil {
		return 0, err
	}
	e.run.tell(e, shipping.PollEvent{Step: shipping.StepAnalyzed, RequestID: draft.RequestID, Request: draft})
	if draft.Status == "" {
		return e.resume(ctx)
	}
	return e.fromDraft(ctx, draft)
}

// resume reads a request that was analyzed and goes on from there.
func (e *entry) resume(ctx context.Context) (time.Duration, error) {
	draft, err := e.get(ctx)
	if err != nil {
		return 0, err
	}
	return e.fromDraft(ctx, draft)
}

// fromDraft edits, selects, reserves the price and purchases.
func (e *entry) fromDraft(ctx context.Context, draft *shipping.RegulatoryRequest) (time.Duration, error) {
	check := func(draft *shipping.RegulatoryRequest) error { return errors.Join(isDraft(draft), e.run.mayGoOn()) }
	if err := check(draft); err != nil {
		return 0, e.failed(shipping.StepSelected, draft, err)
	}
	wait := time.Duration(0)
	flow := workflow.Flow[*shipping.RegulatoryRequest, shipping.DocumentType]{
		Edit:    e.run.options.Edit,
		Read:    func(ctx context.Context) (*shipping.RegulatoryRequest, error) { return e.get(ctx) },
		Check:   check,
		Select:  e.run.options.Select,
		Reserve: e.intend,
		Purchase: func(ctx context.Context, _ []shipping.DocumentType) (err error) {
			wait, err = e.purchase(ctx)
			return err
		},
		Done: func(step workflow.Step, draft *shipping.RegulatoryRequest) {
			e.run.tell(e, shipping.PollEvent{Step: pollStep(step), RequestID: e.record.RequestID, Request: draft})
		},
	}
	draft, _, err := flow.Run(ctx, draft)
	failed, ok := errors.AsType[*workflow.Error](err)
	switch {
	case !ok:
		return wait, nil
	case failed.Step == workflow.Purchase, failed.Step == workflow.Reserve && !errors.Is(err, shipping.ErrOverBudget):
		return 0, failed.Err
	}
	return 0, e.failed(pollStep(failed.Step), draft, failed.Err)
}

func (e *entry) get(ctx context.Context) (*shipping.RegulatoryRequest, error) {
	return e.run.client.Regulatory.Get(ctx, e.record.RequestID, e.run.call...)
}

// failed is the error of a step. It carries no more of the record than its status.
func (e *entry) failed(step shipping.PollStep, record *shipping.RegulatoryRequest, err error) error {
	failed := &shipping.StepError{RequestID: e.record.RequestID, Step: step, Err: err}
	if record != nil {
		failed.Request = &shipping.RegulatoryRequest{RequestID: e.record.RequestID, Status: record.Status}
	}
	return failed
}

// isDraft reports a request that must not be purchased, because it is not a draft.
func isDraft(record *shipping.RegulatoryRequest) error {
	if record.Status == shipping.StatusDraft {
		return nil
	}
	return fmt.Errorf("the request has the status %q, and only a draft is purchased; it may have been purchased outside this batch: "+
		"follow it with Regulatory.Wait, and leave the item out of the batch", record.Status)
}

// intend reserves the price, and records the intent to purchase.
func (e *entry) intend(ctx context.Context, draft *shipping.RegulatoryRequest, selected []shipping.DocumentType) error {
	intent := e.record
	intent.Step, intent.Documents, intent.WasDraft = StepPurchasing, selected, true
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
	case errors.Is(err, shipping.ErrOverBudget):
		e.record.Documents = selected
	}
	return err
}

// purchase sends the purchase once, if there is enough time in which no other process can settle it.
func (e *entry) purchase(ctx context.Context) (time.Duration, error) {
	purchase := shipping.PurchaseRequest{
		RequestID: e.record.RequestID, DocumentTypes: e.record.Documents, WasDraft: e.record.WasDraft,
		PurchaseOptions: e.run.options.Purchase,
	}
	buying := ctx
	if lease := e.run.journal.Lease(); lease > 0 {
		if passed(e.claim.Until().Add(-lease / 2)) {
			return 0, ErrItemTaken
		}
		var stop context.CancelFunc
		buying, stop = context.WithTimeout(ctx, purchaseTime(lease))
		defer stop()
	}
	bought, err := e.run.client.Regulatory.PurchaseWith(buying, &purchase, e.run.call...)
	if refusedUnsent(err) {
		return e.notCharged(ctx, err)
	}
	return e.bought(ctx, bought, err)
}

// refusedUnsent reports whether a purchase was refused by its own validation.
func refusedUnsent(err error) bool {
	_, tried := errors.AsType[*shipping.PurchaseError](err)
	_, invalid := errors.AsType[*shipping.ValidationError](err)
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
func (e *entry) bought(ctx context.Context, bought *shipping.PurchaseResult, err error) (time.Duration, error) {
	failed, _ := errors.AsType[*shipping.PurchaseError](err)
	switch {
	case err == nil:
		e.charge(bought.ChargedAmount, bought.Currency)
	case failed != nil && failed.Outcome == shipping.OutcomeCharged: // purchased before
		if failed.Request != nil {
			e.charge(failed.Request.ChargedAmount, failed.Request.Currency)
		}
	case failed != nil && failed.Outcome == shipping.OutcomeNotCharged:
		return e.notCharged(ctx, err)
	default:
		return 0, err
	}
	if err := e.move(ctx, StepPurchased); err != nil {
		return 0, err
	}
	e.run.tell(e, shipping.PollEvent{Step: shipping.StepPurchased, RequestID: e.record.RequestID, Purchase: bought})
	return e.wait(ctx)
}

// notCharged ends the item, in this run, after a purchase that charged nothing.
func (e *entry) notCharged(ctx context.Context, err error) (time.Duration, error) {
	return 0, errors.Join(err, e.giveBack(ctx))
}

// giveBack records that nothing was charged, which gives the reservation back.
func (e *entry) giveBack(ctx context.Context) error {
	e.record = e.record.notCharged()
	return e.move(ctx, StepAnalyzed)
}

// charge records what the service reports as charged. More than the price on the draft counts against
// the budget, and ends the purchases of this run. Anything else leaves the reservation as it is: a
// report that is less, or in another currency, does not show that less was taken.
func (e *entry) charge(amount shipping.Amount, currency string) {
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
	e.record.Currency = cmp.Or(e.record.Currency, currency)
}

// settle finds out what became of a purchase that an earlier run, or another process, left open.
func (e *entry) settle(ctx context.Context) (time.Duration, error) {
	if lease := e.run.journal.Lease(); lease > 0 {
		if !e.late {
			e.late = true
			return purchaseTime(lease), nil
		}
		if err := e.renew(ctx); err != nil {
			return 0, err
		}
	}
	settle := shipping.SettleOptions{QuietFor: e.run.options.QuietFor, DocumentTypes: e.record.Documents, WasDraft: e.record.WasDraft}
	bought, err := e.run.client.Regulatory.SettlePurchase(ctx, e.record.RequestID, &settle, e.run.call...)
	failed, ok := errors.AsType[*shipping.PurchaseError](err)
	if !ok || failed.Outcome != shipping.OutcomeNotCharged {
		return e.bought(ctx, bought, err)
	}
	if err := e.giveBack(ctx); err != nil {
		return 0, err
	}
	return e.resume(ctx)
}

// renew begins the lease anew, and fails if another process has taken the item.
func (e *entry) renew(ctx context.Context) error {
	_, err := e.claim.Append(context.WithoutCancel(ctx), e.record, nil)
	if err != nil {
		return e.run.journalFailed(e.record.Key, err)
	}
	return nil
}

// wait polls once.
func (e *entry) wait(ctx context.Context) (time.Duration, error) {
	if e.poll == nil {
		e.poll = e.newWait()
	}
	record, next, end, err := e.poll.Poll(ctx)
	switch end {
	case workflow.NotYet:
		return next, nil
	case workflow.StillDraft:
		return 0, e.failed(shipping.StepPolled, record, shipping.ErrNotPurchased)
	case workflow.Broken:
		return 0, e.failed(shipping.StepPolled, nil, err)
	}
	e.charge(record.ChargedAmount, record.Currency)
	if record.Status == shipping.StatusFailed {
		return 0, errors.Join(&shipping.FailedError{Request: record, Operation: shipping.OpGetRequest}, e.move(ctx, StepFailed))
	}
	return 0, e.move(ctx, StepCompleted)
}

// newWait returns the wait for the item. It holds no record, because ten thousand items can wait.
func (e *entry) newWait() *workflow.Wait[*shipping.RegulatoryRequest] {
	options := e.run.options.Poll
	return &workflow.Wait[*shipping.RegulatoryRequest]{
		Intervals: e.run.intervals,
		Read:      e.get,
		State:     stateOf,
		Retry:     e.run.retryPoll,
		Report: func(poll workflow.Poll[*shipping.RegulatoryRequest]) {
			event := shipping.PollEvent{
				Step: shipping.StepPolled, RequestID: e.record.RequestID, Request: poll.Record, Polls: poll.Polls, Elapsed: poll.Elapsed,
				Err: poll.Err, Next: poll.Next,
			}
			switch {
			case poll.Err != nil:
				event.Step = shipping.StepPollFailed
			case poll.AtEnd:
				event.Step = shipping.StepEnded
			}
			if own := options.Progress; own != nil {
				e.run.callback(func() { own(event) })
			}
			if event.Step != shipping.StepEnded {
				e.run.tell(e, event)
			}
		},
	}
}

// stateOf returns what a wait makes of a record.
func stateOf(record *shipping.RegulatoryRequest) workflow.State {
	switch record.Status {
	case shipping.StatusDraft:
		return workflow.Draft
	case shipping.StatusCompleted:
		return workflow.Completed
	case shipping.StatusFailed:
		return workflow.Failed
	}
	return workflow.Pending
}

// pollStep names the steps of internal/workflow.
func pollStep(step workflow.Step) shipping.PollStep {
	if step == workflow.Edit {
		return shipping.StepEdited
	}
	return shipping.StepSelected // the budget is a part of it
}

func (e *entry) move(ctx context.Context, step Step) error {
	e.record.Step = step
	return e.run.note(ctx, e.claim, e.record)
}

// result is the item as it stands.
func (e *entry) result() Result {
	result := Result{
		Key: e.record.Key, RequestID: e.record.RequestID, Documents: e.record.Documents,
		Amount: e.record.Amount, Currency: e.record.Currency,
		Charged: e.record.Charged, ChargedCurrency: e.record.ChargedCurrency, Err: e.err,
	}
	interrupted := errors.Is(e.err, context.Canceled) || errors.Is(e.err, context.DeadlineExceeded)
	switch {
	case e.record.Step == StepCompleted:
		result.State = StateCompleted
	case e.record.Step == StepFailed:
		result.State = StateFailed
		if result.Err == nil {
			result.Err = shipping.ErrRequestFailed // an earlier run saw it
		}
	case e.record.Step == StepPurchasing && e.done:
		result.State = StateUnknown
	case !e.done || interrupted || e.record.Step == StepPurchased:
		result.State = StateWaiting
	case errors.Is(e.err, shipping.ErrOverBudget):
		result.State = StateOverBudget
	case e.err == nil:
		result.State = StateDraft
	default:
		result.State = StateError
	}
	return result
}
