package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/wait"
)

// entry is one item of a run. Its record is the last one in the journal; a step continues from there
// until the item waits or ends.
type entry struct {
	run     *run
	item    Item
	claim   Claim // nil while this process does not have the item
	record  Record
	again   time.Duration   // the interval between tries, if another process has the item
	polls   *wait.Polls     // of the wait for its documents
	refusal *shipping.Error // why the service refused the purchase of this run, which is settled now; nil if it did not
	err     error
	done    bool
}

// step returns how long to wait before the next one; 0 ends the item in this run.
func (e *entry) step(ctx context.Context) time.Duration {
	next, err := e.advance(ctx)
	if errors.Is(err, ErrItemTaken) {
		return e.leave()
	}
	if err == nil && next > 0 {
		return next
	}
	e.polls = nil // ten thousand ended items keep no records
	// What this process found is not the outcome of an item that another one went on with: a request that is not a draft
	// any more may have been purchased there. If the release fails, others have the item once its claim has expired.
	if released := e.release(); errors.Is(released, ErrItemTaken) && !e.record.Step.Final() {
		return e.leave()
	}
	e.err, e.done = err, true
	e.run.ended.Add(1)
	e.run.progress(e, shipping.PollEvent{Step: wait.StepEnded, RequestID: e.record.RequestID, Err: err})
	return 0
}

// leave lets another process work on the item, and returns the time until this one tries again: the item has
// ended then, or is claimed if the other process died.
func (e *entry) leave() time.Duration {
	_ = e.release() // if it was taken over, there is nothing left to release
	e.record, e.polls = Record{Key: e.record.Key}, nil
	return e.run.intervals.Next(&e.again)
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
	e.claim, e.record, e.again, e.refusal = claim, record, 0, nil
	return nil
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
	// Not errors.As: the error of a call can wrap the cause of its context, which may be about another request.
	if failed, ok := err.(*shipping.FailedError); ok {
		e.record.RequestID = failed.Request.RequestID
		return 0, errors.Join(err, e.move(StepFailed))
	}
	if err != nil {
		return 0, err
	}
	e.record.RequestID = draft.RequestID
	if err := e.move(StepAnalyzed); err != nil {
		return 0, err
	}
	e.run.progress(e, shipping.PollEvent{Step: wait.StepAnalyzed, RequestID: draft.RequestID, Request: draft})
	if draft.Status == "" {
		return e.resume(ctx)
	}
	return e.fromDraft(ctx, draft)
}

// resume reads a request that was analyzed, and continues with it.
func (e *entry) resume(ctx context.Context) (time.Duration, error) {
	draft, err := e.get(ctx)
	if err != nil {
		return 0, err
	}
	return e.fromDraft(ctx, draft)
}

// fromDraft edits, selects, reserves the price and purchases.
func (e *entry) fromDraft(ctx context.Context, draft *shipping.RegulatoryRequest) (time.Duration, error) {
	if err := errors.Join(isDraft(draft), e.run.mayContinue()); err != nil {
		return 0, e.failed(wait.StepSelected, draft, err)
	}
	// The budget is compared when the price is reserved.
	purchase, err := e.run.client.Regulatory.Prepare(ctx, draft, &shipping.AnalyzeAndPollOptions{
		Edit: e.run.options.Edit, Select: e.run.options.Select, Purchase: e.run.options.Purchase,
		Progress: func(event shipping.PollEvent) { e.run.progress(e, event) },
	}, e.run.call...)
	if failed, ok := errors.AsType[*shipping.StepError](err); ok {
		return 0, e.failed(failed.Step, failed.Request, cmp.Or(isDraft(failed.Request), failed.Err))
	}
	if err != nil {
		return 0, err
	}
	if err := isDraft(purchase.Draft); err != nil {
		return 0, e.failed(wait.StepEdited, purchase.Draft, err)
	}
	if len(purchase.DocumentTypes) == 0 {
		return 0, nil
	}
	err = e.reserve(purchase.Draft, purchase.DocumentTypes)
	switch {
	case err == nil:
		return e.purchase(ctx, purchase.Draft)
	case errors.Is(err, shipping.ErrOverBudget):
		return 0, e.failed(wait.StepSelected, purchase.Draft, err)
	}
	return 0, err
}

func (e *entry) get(ctx context.Context) (*shipping.RegulatoryRequest, error) {
	return e.run.client.Regulatory.Get(ctx, e.record.RequestID, e.run.call...)
}

// failed returns the error of a step. Of the record it contains only the status.
func (e *entry) failed(step string, record *shipping.RegulatoryRequest, err error) error {
	failed := &shipping.StepError{RequestID: e.record.RequestID, Step: step, Err: err}
	if record != nil {
		failed.Request = &shipping.RegulatoryRequest{RequestID: e.record.RequestID, Status: record.Status}
	}
	return failed
}

// isDraft reports a request that must not be purchased, because it is not a draft.
func isDraft(record *shipping.RegulatoryRequest) error {
	if record == nil || record.Status == shipping.StatusDraft {
		return nil
	}
	return fmt.Errorf("the request has the status %q, and only a draft is purchased; it may have been purchased outside this batch: "+
		"follow it with Regulatory.Wait, and leave the item out of the batch", record.Status)
}

// move records the next step.
func (e *entry) move(step Step) error {
	e.record.Step = step
	return e.run.note(e.claim, e.record)
}

// result is the outcome of the item so far.
func (e *entry) result() Result {
	result := Result{
		Key: e.record.Key, RequestID: e.record.RequestID, Documents: e.record.Documents,
		Amount: e.record.commitment(), Currency: e.record.Currency,
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

// wait polls once. It keeps no record, because ten thousand items can wait.
func (e *entry) wait(ctx context.Context) (time.Duration, error) {
	if e.polls == nil {
		e.polls = &wait.Polls{Intervals: e.run.intervals}
	}
	e.polls.Begin()
	record, err := e.get(ctx)
	if err != nil {
		retry, after := e.run.retryPoll(err)
		poll := e.polls.Failed(ctx, retry, after)
		if poll.End == wait.Broken {
			return 0, e.failed(wait.StepPolled, nil, err)
		}
		e.polled(shipping.PollEvent{Step: wait.StepPollFailed, Err: err}, poll)
		return poll.Next, nil
	}
	poll := e.polls.Found(ctx, record.Status == shipping.StatusDraft, record.Status.Final())
	switch poll.End {
	case wait.StillDraft:
		return 0, e.failed(wait.StepPolled, record, shipping.ErrNotPurchased)
	case wait.NotYet:
		e.polled(shipping.PollEvent{Step: wait.StepPolled, Request: record}, poll)
		return poll.Next, nil
	}
	e.polled(shipping.PollEvent{Step: wait.StepEnded, Request: record}, poll)
	e.charge(record.ChargedAmount, record.Currency)
	switch record.Status {
	case shipping.StatusCompleted:
		return 0, e.move(StepCompleted)
	case shipping.StatusFailed:
		return 0, errors.Join(&shipping.FailedError{Request: record, Operation: shipping.OpGetRequest}, e.move(StepFailed))
	}
	return 0, e.failed(wait.StepPolled, record, fmt.Errorf("the request has ended with the status %s, which is not a success", quoteShort(string(record.Status))))
}

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

// retryPoll reports whether a failed poll may be followed by another, and the shortest time until then.
func (r *run) retryPoll(err error) (retry bool, after time.Duration) {
	failed, ok := errors.AsType[*shipping.Error](err)
	if !ok || !failed.Retryable() {
		return false, 0
	}
	return true, min(failed.RetryAfter, r.client.RetryPolicy().MaxRetryAfter)
}
