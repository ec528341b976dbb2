package batch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/wait"
)

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
			return 0, e.failed(shipping.StepPolled, nil, err)
		}
		e.polled(shipping.PollEvent{Step: shipping.StepPollFailed, Err: err}, poll)
		return poll.Next, nil
	}
	poll := e.polls.Found(ctx, record.Status == shipping.StatusDraft, record.Status.Final())
	switch poll.End {
	case wait.StillDraft:
		return 0, e.failed(shipping.StepPolled, record, shipping.ErrNotPurchased)
	case wait.NotYet:
		e.polled(shipping.PollEvent{Step: shipping.StepPolled, Request: record}, poll)
		return poll.Next, nil
	}
	e.polled(shipping.PollEvent{Step: shipping.StepEnded, Request: record}, poll)
	e.charge(record.ChargedAmount, record.Currency)
	switch record.Status {
	case shipping.StatusCompleted:
		return 0, e.move(ctx, StepCompleted)
	case shipping.StatusFailed:
		return 0, errors.Join(&shipping.FailedError{Request: record, Operation: shipping.OpGetRequest}, e.move(ctx, StepFailed))
	}
	return 0, e.failed(shipping.StepPolled, record, fmt.Errorf("the request has ended with the status %s, which is not a success", quoteShort(string(record.Status))))
}

// polled reports a poll. The end of an item is reported once it is in the journal.
func (e *entry) polled(event shipping.PollEvent, poll wait.Poll) {
	event.RequestID, event.Polls, event.Elapsed, event.Next = e.record.RequestID, poll.Number, poll.Elapsed, poll.Next
	if own := e.run.options.Poll.Progress; own != nil {
		e.run.callback(func() { own(event) })
	}
	if event.Step != shipping.StepEnded {
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
