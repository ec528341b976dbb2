package batch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/workflow"
)

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
	switch record.Status {
	case shipping.StatusCompleted:
		return 0, e.move(ctx, StepCompleted)
	case shipping.StatusFailed:
		return 0, errors.Join(&shipping.FailedError{Request: record, Operation: shipping.OpGetRequest}, e.move(ctx, StepFailed))
	}
	return 0, e.failed(shipping.StepPolled, record, fmt.Errorf("the request has ended with the status %s, which is not a success", quoteShort(string(record.Status))))
}

// newWait returns the wait for the item. It holds no record, because ten thousand items can wait.
func (e *entry) newWait() *workflow.Wait[*shipping.RegulatoryRequest] {
	options := e.run.options.Poll
	return &workflow.Wait[*shipping.RegulatoryRequest]{
		Intervals: e.run.intervals,
		Read:      e.get,
		Draft:     func(record *shipping.RegulatoryRequest) bool { return record.Status == shipping.StatusDraft },
		Final:     func(record *shipping.RegulatoryRequest) bool { return record.Status.Final() },
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
				e.run.progress(e, event)
			}
		},
	}
}

// retryPoll reports whether a failed poll may be followed by another, and the shortest time until then.
func (r *run) retryPoll(err error) (after time.Duration, retry bool) {
	failed, ok := errors.AsType[*shipping.Error](err)
	if !ok || !failed.Retryable() {
		return 0, false
	}
	return min(failed.RetryAfter, r.client.RetryPolicy().MaxRetryAfter), true
}
