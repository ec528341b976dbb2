package shipping

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/shipping-go/shipping/internal/wait"
)

// ErrRequestFailed is a regulatory request whose analysis or generation failed; see
// [FailedError].
var ErrRequestFailed = errors.New("shipping: the regulatory request failed")

// ErrNotPurchased ends a wait for a request that stays a draft: nothing will happen to it until it is
// purchased.
var ErrNotPurchased = errors.New("shipping: the regulatory request is still a draft: purchase it first")

// FailedError is a request that ended in status failed. It is [ErrRequestFailed].
//
// Specification: "Regulatory analyze", "Regulatory generation" (under "Errors").
type FailedError struct {
	// Request is the record; with Analyze it may hold no more than its id.
	Request *RegulatoryRequest
	// Operation is the operation that returned the failure: [OpAnalyze] or [OpGetRequest].
	Operation string
	// Err is the service's answer where it was an error.
	Err error
}

// Error names the request that failed and the reason.
func (e *FailedError) Error() string {
	record := e.Request
	if record == nil {
		record = &RegulatoryRequest{}
	}
	text := "shipping: request " + record.RequestID + " failed"
	switch { // a failed request was purchased only if its record shows it
	case e.Operation == OpAnalyze:
		text = "shipping: analysis failed for request " + record.RequestID
	case len(record.Documents) > 0 || record.showsCharge():
		text = "shipping: generation failed for request " + record.RequestID
	}
	if record.FailureReason != "" {
		text += ": " + record.FailureReason
	}
	for _, document := range record.Documents {
		if document.Status == "failed" {
			text += fmt.Sprintf("; %s: %s", document.DocumentType, document.Failure)
		}
	}
	return oneLine(text, maxErrorMessage) + causeText(e.Err, record.RequestID)
}

// Unwrap gives [ErrRequestFailed] and the service's answer.
func (e *FailedError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrRequestFailed}
	}
	return []error{ErrRequestFailed, e.Err}
}

// analysisFailure recognises the error answer of an analysis that ended in status failed.
func analysisFailure(err error) (*FailedError, bool) {
	answer, ok := errors.AsType[*Error](err)
	if !ok || RequestStatus(answer.Data.Get("status").Text()) != StatusFailed || answer.RequestID == "" {
		return nil, false
	}
	record := &RegulatoryRequest{RequestID: answer.RequestID, Status: StatusFailed, Raw: answer.Data}
	return &FailedError{Request: record, Operation: OpAnalyze, Err: err}, true
}

// PollOptions says how [RegulatoryService.Wait] polls. Zero fields take the defaults; nil means all.
type PollOptions struct {
	// MinInterval and MaxInterval bound the time between polls, which grows by half each time and is
	// spread at random by a fifth. Defaults 1 s and 30 s.
	MinInterval, MaxInterval time.Duration
	// MaxFailures is how many failed polls in a row are tolerated while they may pass (no answer,
	// 5xx, 429). Default 10; the context always counts.
	MaxFailures int
	// DraftFor is how long a request may stay a draft before [ErrNotPurchased]. Default 1 min.
	DraftFor time.Duration
	// Progress is called after each poll.
	Progress func(PollEvent)
}

// Validate returns a [*ValidationError] if a wait with these settings would be refused.
func (o *PollOptions) Validate() error {
	_, err := o.withDefaults()
	return err
}

func (o *PollOptions) withDefaults() (PollOptions, error) {
	var p PollOptions
	if o != nil {
		p = *o
	}
	if p.MinInterval < 0 || p.MaxInterval < 0 || p.MaxFailures < 0 || p.DraftFor < 0 {
		return p, invalidRequest(OpGetRequest, "PollOptions", "has a negative field: leave it 0 for the default")
	}
	setDefault(&p.MinInterval, time.Second)
	setDefault(&p.MaxInterval, max(30*time.Second, p.MinInterval))
	p.MinInterval, p.MaxInterval = min(p.MinInterval, longestWait), min(p.MaxInterval, longestWait)
	setDefault(&p.MaxFailures, 10)
	setDefault(&p.DraftFor, time.Minute)
	return p, nil
}

// PollStep is what a [PollEvent] is about.
type PollStep string

// The steps of a request, in order.
const (
	StepAnalyzed   PollStep = "analyzed"
	StepEdited     PollStep = "edited"
	StepSelected   PollStep = "selected"
	StepPurchased  PollStep = "purchased"
	StepPolled     PollStep = "polled"
	StepPollFailed PollStep = "poll failed"
	StepEnded      PollStep = "ended"
)

// PollEvent tells what just happened to a request.
type PollEvent struct {
	Step      PollStep
	RequestID string
	// Request is the record as last read; nil if it has not been read since the request was made or
	// purchased.
	Request *RegulatoryRequest
	// Polls counts polls so far, Elapsed the time since the first step.
	Polls   int
	Elapsed time.Duration
	// Err is why a poll failed; the wait goes on.
	Err error
	// Next is when the next poll follows; 0 when none does.
	Next time.Duration
	// Purchase is set with StepPurchased.
	Purchase *PurchaseResult
}

// Wait polls a purchased request until its status is completed or failed. A failed request is
// returned together with a [*FailedError]. A status this package does not know is waited on.
//
// Specification: "Poll: GET /v1/regulatory-documents/request/:request_id until status is completed or
// failed".
func (s RegulatoryService) Wait(ctx context.Context, requestID string, poll *PollOptions, call ...CallOption) (*RegulatoryRequest, error) {
	options, err := poll.withDefaults()
	if err != nil {
		return nil, err
	}
	if requestID == "" {
		return nil, invalidRequest(OpGetRequest, "requestID", "is empty: pass the request_id that Analyze returned")
	}
	return newWaiting(s, requestID, options, call).run(ctx)
}

// waiting is one wait for one request.
type waiting struct {
	service  RegulatoryService
	id       string
	options  PollOptions
	call     []CallOption
	started  time.Time
	interval time.Duration
	polls    int
	failures int
	last     *RegulatoryRequest
}

func newWaiting(s RegulatoryService, requestID string, options PollOptions, call []CallOption) *waiting {
	return &waiting{service: s, id: requestID, options: options, call: call, started: time.Now(), interval: options.MinInterval}
}

func (w *waiting) run(ctx context.Context) (*RegulatoryRequest, error) {
	for {
		next, done, err := w.poll(ctx)
		if done {
			return w.last, err
		}
		if err := sleep(ctx, next, err); err != nil {
			return w.last, w.because(err)
		}
	}
}

// poll reads the request once. It reports done with the result of the wait, or when to poll next
// together with a failure that may pass.
func (w *waiting) poll(ctx context.Context) (next time.Duration, done bool, err error) {
	record, err := w.service.Get(ctx, w.id, w.call...)
	w.polls++
	next = w.beforeDeadline(ctx, time.Duration(float64(w.interval)*(0.8+0.4*rand.Float64())))
	w.interval = min(w.interval+w.interval/2, w.options.MaxInterval)
	if err != nil {
		w.failures++
		if !retryable(err) || w.failures > w.options.MaxFailures || ctx.Err() != nil {
			return 0, true, w.because(err)
		}
		if answer, ok := errors.AsType[*Error](err); ok {
			next = max(next, min(answer.RetryAfter, w.service.core.policy.MaxRetryAfter))
		}
		w.tell(StepPollFailed, err, next)
		return next, false, err
	}
	w.failures, w.last = 0, record
	switch {
	case record.Status == StatusCompleted:
		w.tell(StepEnded, nil, 0)
		return 0, true, nil
	case record.Status == StatusFailed:
		w.tell(StepEnded, nil, 0)
		return 0, true, &FailedError{Request: record, Operation: OpGetRequest}
	case record.Status == StatusDraft && time.Since(w.started) >= w.options.DraftFor:
		return 0, true, w.because(ErrNotPurchased)
	}
	w.tell(StepPolled, nil, next)
	return next, false, nil
}

// beforeDeadline shortens the time to the next poll so that the time left is used for polls, down to
// the shortest interval.
func (w *waiting) beforeDeadline(ctx context.Context, next time.Duration) time.Duration {
	deadline, bounded := ctx.Deadline()
	if left := time.Until(deadline); bounded && left <= next && left > w.options.MinInterval {
		return left / 2
	}
	return next
}

func (w *waiting) tell(step PollStep, err error, next time.Duration) {
	if w.options.Progress != nil {
		w.options.Progress(PollEvent{
			Step: step, RequestID: w.id, Request: w.last, Polls: w.polls, Elapsed: time.Since(w.started), Err: err, Next: next,
		})
	}
}

func (w *waiting) because(err error) error {
	return &StepError{RequestID: w.id, Step: StepPolled, Request: w.service.core.withoutKey(w.last), Err: err}
}

// sleep waits, unless ctx ends first or is bound to: then it returns at once, joined with what the
// service said last.
func sleep(ctx context.Context, d time.Duration, last error) error {
	err := wait.Sleep(ctx, d)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = withReason(ctx, err)
	}
	return both(err, last)
}
