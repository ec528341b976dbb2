package shipping

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// batchEntry is one item on its way. Its record is what the journal knows; a step takes it from there
// to the next point where it waits or ends.
type batchEntry struct {
	run    *batchRun
	item   BatchItem
	claim  BatchClaim // nil while the item is not, or no more, in the hands of this process
	record BatchRecord
	due    time.Time
	again  time.Duration // until the next try, when another process has the item
	poll   *waiting
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
		e.run.tell(e, PollEvent{Step: StepDone, RequestID: e.record.RequestID, Err: err})
		return 0
	}
	return wait
}

// leave lets another process work on the item, and returns when to look at it again: it ends when the
// other one does, and is taken up when the other one died.
func (e *batchEntry) leave(ctx context.Context) time.Duration {
	_ = e.release(ctx) // where it was taken over there is nothing left to release
	e.record, e.poll = BatchRecord{Key: e.record.Key}, nil
	poll := e.run.options.Poll
	e.again = min(max(e.again+e.again/2, poll.MinInterval), poll.MaxInterval)
	return time.Duration(float64(e.again) * (0.8 + 0.4*rand.Float64()))
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
	e.claim, e.record, e.again = claim, claim.Record(), 0
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
		draft, err := e.run.service.Get(ctx, e.record.RequestID, e.run.call...)
		if err != nil {
			return 0, err
		}
		return e.fromDraft(ctx, draft)
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
	if failed, ok := errors.AsType[*RequestFailedError](err); ok {
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
	return e.fromDraft(ctx, draft)
}

// fromDraft edits, selects, reserves the price and purchases.
func (e *batchEntry) fromDraft(ctx context.Context, draft *RegulatoryRequest) (time.Duration, error) {
	options := e.run.options
	flow := &workflow{service: e.run.service, call: e.run.call, id: draft.RequestID, started: time.Now()}
	flow.options.Edit = options.Edit
	draft, err := flow.edit(ctx, draft)
	if err != nil {
		return 0, flow.failed(StepEdited, draft, err)
	}
	if options.Select == nil {
		return 0, nil
	}
	selected, err := options.Select(draft)
	if err != nil {
		return 0, flow.failed(StepSelected, draft, err)
	}
	if len(selected) == 0 {
		return 0, nil
	}
	e.record.Documents = selected
	intent := e.record
	intent.Step = BatchPurchasing
	if intent.Amount, intent.Currency, err = e.run.price(draft, selected); err != nil {
		return 0, flow.failed(StepSelected, draft, err)
	}
	// The intent is on disk before the purchase is on the wire.
	if err := e.run.note(ctx, e.claim, intent); errors.Is(err, ErrOverBudget) {
		return 0, flow.failed(StepSelected, draft, err)
	} else if err != nil {
		return 0, err
	}
	e.record = intent
	return e.purchase(ctx)
}

// purchase buys, unless the time is up in which no other process can be about to.
func (e *batchEntry) purchase(ctx context.Context) (time.Duration, error) {
	purchase := e.run.options.Purchase
	purchase.RequestID, purchase.DocumentTypes = e.record.RequestID, e.record.Documents
	buying := ctx
	if until := e.claim.Until(); !until.IsZero() {
		if passed(until) {
			return 0, ErrBatchItemTaken
		}
		var stop context.CancelFunc
		buying, stop = context.WithDeadline(ctx, until)
		defer stop()
	}
	bought, err := e.run.service.PurchaseWith(buying, &purchase, e.run.call...)
	return e.bought(ctx, bought, err)
}

// passed reports whether a moment is over by either clock: the monotonic one stands still while the
// machine sleeps, and the other one may be set back.
func passed(moment time.Time) bool {
	now := time.Now()
	return !now.Before(moment) || !now.Round(0).Before(moment.Round(0))
}

// bought notes what became of a purchase.
func (e *batchEntry) bought(ctx context.Context, bought *PurchaseResult, err error) (time.Duration, error) {
	if failed, ok := errors.AsType[*PurchaseError](err); ok && failed.Outcome == OutcomeCharged {
		err = nil // bought by an earlier run
	}
	switch failed, ok := errors.AsType[*PurchaseError](err); {
	case err == nil:
		if bought != nil && bought.ChargedAmount.Known() {
			e.record.Amount = bought.ChargedAmount
		}
		if err := e.move(ctx, BatchPurchased); err != nil {
			return 0, err
		}
		e.run.tell(e, PollEvent{Step: StepPurchased, RequestID: e.record.RequestID, Purchase: bought})
		return e.wait(ctx)
	case ok && failed.Outcome == OutcomeUnknown:
		return 0, err // the reservation stays, and the journal says "purchasing"
	default:
		e.record.Amount = Amount{}
		return 0, errors.Join(err, e.move(ctx, BatchAnalyzed))
	}
}

// settle finds out what became of a purchase that an earlier run left open.
func (e *batchEntry) settle(ctx context.Context) (time.Duration, error) {
	bought, err := e.run.service.SettlePurchase(ctx, e.record.RequestID, &e.run.options.Settle, e.run.call...)
	failed, ok := errors.AsType[*PurchaseError](err)
	if !ok || failed.Outcome != OutcomeNotCharged {
		return e.bought(ctx, bought, err)
	}
	e.record.Amount = Amount{}
	if err := e.move(ctx, BatchAnalyzed); err != nil {
		return 0, err
	}
	return e.fromDraft(ctx, failed.Request)
}

// wait polls once.
func (e *batchEntry) wait(ctx context.Context) (time.Duration, error) {
	if e.poll == nil {
		options := e.run.options.Poll
		own := options.Progress
		options.Progress = func(event PollEvent) {
			if own != nil {
				own(event)
			}
			if event.Step != StepDone {
				e.run.tell(e, event)
			}
		}
		e.poll = newWaiting(e.run.service, e.record.RequestID, options, e.run.call)
	}
	next, done, err := e.poll.poll(ctx)
	defer func() { e.poll.last = nil }()
	switch {
	case !done:
		return next, nil
	case err == nil:
		return 0, e.move(ctx, BatchStepCompleted)
	case errors.Is(err, ErrRequestFailed):
		return 0, errors.Join(err, e.move(ctx, BatchStepFailed))
	default:
		return 0, err
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
		Amount: e.record.Amount, Currency: e.record.Currency, Err: e.err,
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
