package batch

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/wait"
	"github.com/shipping-go/shipping/internal/workgroup"
)

// ReplayKey returns the key of a replay. It is the same in every run and unique for each replay: the delivery, or the
// shipment and the event, with the webhook if the request names one. An id that is empty or contains an unusual
// character, such as a space, is quoted.
func ReplayKey(r shipping.ReplayRequest) string {
	parts := []string{r.DeliveryID}
	if r.DeliveryID == "" {
		parts = []string{r.ShipmentID, string(r.Event)}
	}
	if r.WebhookID != "" {
		parts = append(parts, "to", r.WebhookID)
	}
	for i, part := range parts {
		if quoted := strconv.Quote(part); quoted != `"`+part+`"` || part == "" || strings.Contains(part, " ") {
			parts[i] = quoted
		}
	}
	return strings.Join(parts, " ")
}

// ReplayOptions configures [Replay]. Nil means the defaults.
type ReplayOptions struct {
	// Concurrency is how many replays are in progress at the same time. Default 4.
	Concurrency int
	// DryRun checks every request as [shipping.WebhooksService.Replay] does, and sends nothing.
	DryRun bool
	// Skip omits the requests with these keys, such as those that an earlier run has queued; see
	// [ReplayKey] and [QueuedReplays].
	Skip map[string]bool
	// Progress is called with each outcome as soon as it is known, one call at a time; total counts
	// the requests. Write the outcomes to a file as lines of JSON to continue later.
	Progress func(outcome ReplayOutcome, ended, total int)
}

// ReplayState is the outcome of a request of [Replay].
type ReplayState string

const (
	// ReplayQueued: the service accepted it.
	ReplayQueued ReplayState = "queued"
	// ReplayFailed: it was not sent, or refused; nothing was notified.
	ReplayFailed ReplayState = "failed"
	// ReplayUnknown: the response was lost. Sending it again may notify twice.
	ReplayUnknown ReplayState = "unknown"
	// ReplaySkipped: omitted by Skip, or the same as an earlier request.
	ReplaySkipped ReplayState = "skipped"
	// ReplayChecked: a dry run found nothing wrong with it.
	ReplayChecked ReplayState = "checked"
	// ReplayNotSent: the run ended before its turn.
	ReplayNotSent ReplayState = "not sent"
)

// ReplayOutcome is the outcome of one request. Its JSON is a line of a report from which a later run
// can continue.
type ReplayOutcome struct {
	Key     string                 `json:"key"`
	State   ReplayState            `json:"state"`
	Request shipping.ReplayRequest `json:"request"`
	// Result is the service's response with [ReplayQueued].
	Result *shipping.ReplayResult `json:"result,omitempty"`
	// Err is the reason why the state is [ReplayFailed] or [ReplayUnknown].
	Err error `json:"-"`
}

// MarshalJSON adds the error's text as "error".
func (o ReplayOutcome) MarshalJSON() ([]byte, error) {
	type plain ReplayOutcome
	line := struct {
		plain
		Error string `json:"error,omitempty"`
	}{plain: plain(o)}
	if o.Err != nil {
		line.Error = o.Err.Error()
	}
	return json.Marshal(line)
}

// ReplayReport holds an outcome for each request, in the order given.
type ReplayReport struct{ Outcomes []ReplayOutcome }

// Count returns how many requests are in a state.
func (r *ReplayReport) Count(state ReplayState) int {
	n := 0
	for i := range r.Outcomes {
		if r.Outcomes[i].State == state {
			n++
		}
	}
	return n
}

// QueuedReplays reads a report, one outcome in JSON per line, and returns the keys of the queued replays, for
// [ReplayOptions]. Blank lines are skipped. If a line cannot be read, the error contains its number.
func QueuedReplays(report io.Reader) (map[string]bool, error) {
	if report == nil {
		return nil, invalid("QueuedReplays", "needs a report: open the file that has the outcomes")
	}
	queued := map[string]bool{}
	lines := bufio.NewReader(report)
	for number := 1; ; number++ {
		line, end := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var outcome ReplayOutcome
			if err := shipping.RawJSON(line).Decode(&outcome); err != nil {
				return nil, fmt.Errorf("shipping: line %d of the replay report: %w; correct or remove that line", number, err)
			}
			if outcome.State == ReplayQueued {
				queued[outcome.Key] = true
			}
		}
		switch {
		case end == io.EOF:
			return queued, nil
		case end != nil:
			return nil, fmt.Errorf("shipping: line %d of the replay report: %w", number, end)
		}
	}
}

// Replay replays many notifications, a bounded number at a time. A replay that fails does not stop the others, except
// with [shipping.ErrUnauthorized], because all others would fail too. The error is the reason why the run ended early:
// this error, or the error of ctx. The report is complete even then; requests that were not reached are
// [ReplayNotSent]. Invalid options are a [*shipping.ValidationError].
//
// Each request is sent once, and retried only on evidence that nothing was sent. The call options apply to each;
// options that calls cannot share, such as [shipping.WithResponse], are refused.
//
// If Progress or the client's transport panics, the replays in progress are finished, and
// Replay panics with the same value on the caller's goroutine.
//
// Specification: POST /v1/webhooks/replay.
func Replay(ctx context.Context, client *shipping.Client, requests []shipping.ReplayRequest, opts *ReplayOptions,
	call ...shipping.CallOption) (*ReplayReport, error) {
	if err := validateCaller(ctx, client); err != nil {
		return nil, err
	}
	r := &replaying{client: client, call: call, total: len(requests)}
	if opts != nil {
		r.options = *opts
	}
	if r.options.Concurrency < 0 {
		return nil, invalid("ReplayOptions", "has a negative Concurrency: leave it 0 for 4")
	}
	if err := validateCall(call); err != nil {
		return nil, err
	}
	begin, stop := context.WithCancelCause(ctx) // a stop does not cancel the replays under way
	defer stop(nil)
	r.stop = stop
	report := &ReplayReport{Outcomes: make([]ReplayOutcome, len(requests))}
	slots := make(chan struct{}, cmp.Or(r.options.Concurrency, 4))
	workers := workgroup.Group{Crashed: r.crash}
	seen := make(map[string]bool, len(requests))
	for i, request := range requests {
		o := &report.Outcomes[i]
		*o = ReplayOutcome{Key: ReplayKey(request), State: ReplayNotSent, Request: request}
		skip := seen[o.Key] || r.options.Skip[o.Key]
		seen[o.Key] = true
		select {
		case slots <- struct{}{}:
		case <-begin.Done():
		}
		if begin.Err() != nil {
			continue
		}
		workers.Go(func() {
			if skip {
				o.State = ReplaySkipped
			} else {
				r.replay(ctx, o)
			}
			r.report(*o)
			<-slots
		})
	}
	workers.Wait()
	workers.Repanic()
	switch ended := report.Count(ReplayQueued) + report.Count(ReplayChecked) + report.Count(ReplaySkipped); {
	case ended == len(requests):
		return report, nil
	case ctx.Err() != nil:
		return report, wait.WithReason(ctx, context.Cause(ctx))
	}
	return report, context.Cause(begin) // nil if nothing stopped the run
}

// replaying is a run of [Replay].
type replaying struct {
	client  *shipping.Client
	options ReplayOptions
	call    []shipping.CallOption
	total   int
	stop    context.CancelCauseFunc // begins nothing more

	mu      sync.Mutex
	ended   int
	crashed bool
}

func (r *replaying) replay(ctx context.Context, o *ReplayOutcome) {
	if r.options.DryRun {
		o.State, o.Err = ReplayChecked, o.Request.Validate()
	} else {
		o.State = ReplayQueued
		o.Result, o.Err = r.client.Webhooks.Replay(ctx, &o.Request, r.call...)
	}
	switch {
	case o.Err == nil:
	case mayHaveBeenDone(o.Err):
		o.State = ReplayUnknown
	default:
		o.State = ReplayFailed
	}
	if errors.Is(o.Err, shipping.ErrUnauthorized) {
		r.stop(fmt.Errorf("shipping: the replay was stopped: %w", o.Err))
	}
}

// mayHaveBeenDone reports whether the service may have performed a call that failed.
func mayHaveBeenDone(err error) bool {
	failed, sent := errors.AsType[*shipping.Error](err)
	return sent && !failed.NotSent() && !failed.Refused()
}

func (r *replaying) report(o ReplayOutcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended++
	if r.options.Progress != nil && !r.crashed {
		r.options.Progress(o, r.ended, r.total)
	}
}

// crash ends the run after a panic: replays under way are finished, and none is begun.
func (r *replaying) crash() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.crashed = true
	r.stop(errStopped)
}
