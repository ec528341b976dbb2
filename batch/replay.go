package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/workgroup"
)

// ReplayKey names what is replayed, the same in every run: the delivery, or the shipment and the event, and
// the webhook if there is one.
func ReplayKey(r shipping.ReplayRequest) string {
	key := r.DeliveryID
	if key == "" {
		key = r.ShipmentID + " " + string(r.Event)
	}
	if r.WebhookID != "" {
		key += " to " + r.WebhookID
	}
	return key
}

// ReplayOptions says how [Replay] works. Nil means the defaults.
type ReplayOptions struct {
	// Concurrency is how many replays are under way at the same time. Default 4.
	Concurrency int
	// DryRun checks every request as [shipping.WebhooksService.Replay] would, and sends nothing.
	DryRun bool
	// Skip leaves out a request by its key, such as one that an earlier run has queued; see
	// [Queued].
	Skip func(key string) bool
	// Progress is called with each outcome as soon as it is known, one call at a time; total counts
	// the requests. Write the outcomes down as lines of JSON to go on later.
	Progress func(outcome ReplayOutcome, ended, total int)
}

// ReplayState is what became of a request of [Replay].
type ReplayState string

const (
	// ReplayQueued: the service took it.
	ReplayQueued ReplayState = "queued"
	// ReplayFailed: it was not sent, or refused; nobody was notified.
	ReplayFailed ReplayState = "failed"
	// ReplayUnknown: the answer was lost. Sending it again may notify twice, leaving it not at all.
	ReplayUnknown ReplayState = "unknown"
	// ReplaySkipped: left out by Skip, or the same as an earlier request.
	ReplaySkipped ReplayState = "skipped"
	// ReplayChecked: a dry run found nothing wrong with it.
	ReplayChecked ReplayState = "checked"
	// ReplayNotSent: the run ended before its turn.
	ReplayNotSent ReplayState = "not sent"
)

// ReplayOutcome is what became of one request. Its JSON is a line of a report that a later run can go
// on from.
type ReplayOutcome struct {
	Key     string                 `json:"key"`
	State   ReplayState            `json:"state"`
	Request shipping.ReplayRequest `json:"request"`
	// Result is the service's answer with [ReplayQueued].
	Result *shipping.ReplayResult `json:"result,omitempty"`
	// Err is why the state is [ReplayFailed] or [ReplayUnknown].
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

// Queued reads outcomes, a line of JSON each, and returns a Skip for [ReplayOptions] that
// leaves out what was queued. A line that cannot be read is an error that names it.
func Queued(lines io.Reader) (skip func(key string) bool, err error) {
	queued := map[string]bool{}
	decoder := json.NewDecoder(lines)
	for line := 1; ; line++ {
		var text shipping.RawJSON
		var outcome ReplayOutcome
		err := decoder.Decode(&text)
		if err == nil {
			err = text.Decode(&outcome)
		}
		switch {
		case errors.Is(err, io.EOF):
			return func(key string) bool { return queued[key] }, nil
		case err != nil:
			return nil, fmt.Errorf("shipping: line %d of the replay report: %w; mend or remove that line", line, err)
		}
		queued[outcome.Key] = queued[outcome.Key] || outcome.State == ReplayQueued
	}
}

// Replay replays many notifications, a bounded number at a time. One that fails does not stop the
// others, except by [shipping.ErrUnauthorized]: no other would fare better. The report is complete also when the
// error says that the run was cut short, by that or by ctx; those whose turn had not come are
// [ReplayNotSent].
//
// Each request is sent once, repeated only on evidence that nothing was sent.
//
// If Progress, Skip or the client's transport panics, the replays that are under way are finished, and
// Replay panics with the same value on the caller's goroutine.
//
// Specification: POST /v1/webhooks/replay.
func Replay(ctx context.Context, client *shipping.Client, requests []shipping.ReplayRequest, opts *ReplayOptions, call ...shipping.CallOption) (*ReplayReport, error) {
	if client.BaseURL() == "" {
		return nil, shipping.ErrNoClient
	}
	options := ReplayOptions{}
	if opts != nil {
		options = *opts
	}
	if options.Concurrency < 0 {
		return nil, invalid("ReplayOptions", "has a negative Concurrency: leave it 0 for 4")
	}
	options.Concurrency = cmp.Or(options.Concurrency, 4)

	handing, stop := context.WithCancelCause(ctx) // what is under way is not cut off by a stop
	defer stop(nil)
	report := &ReplayReport{Outcomes: make([]ReplayOutcome, len(requests))}
	var telling sync.Mutex
	crashed, ended := false, 0
	tell := func(o ReplayOutcome) {
		telling.Lock()
		defer telling.Unlock()
		ended++
		if options.Progress != nil && !crashed {
			options.Progress(o, ended, len(requests))
		}
	}
	turns := make(chan *ReplayOutcome)
	workers := workgroup.Group{Crashed: func() {
		telling.Lock()
		defer telling.Unlock()
		crashed = true
		stop(errStopped)
	}}
	for range min(options.Concurrency, len(requests)) {
		workers.Go(func() {
			for o := range turns {
				replayOne(ctx, client, o, options.DryRun, call)
				if errors.Is(o.Err, shipping.ErrUnauthorized) {
					stop(fmt.Errorf("shipping: the replay was stopped: %w", o.Err))
				}
				tell(*o)
			}
		})
	}
	workers.Go(func() {
		defer close(turns)
		seen := make(map[string]bool, len(requests))
		for i, request := range requests {
			o := &report.Outcomes[i]
			*o = ReplayOutcome{Key: ReplayKey(request), State: ReplayNotSent, Request: request}
			if handing.Err() != nil {
				continue
			}
			if seen[o.Key] || options.Skip != nil && options.Skip(o.Key) {
				o.State = ReplaySkipped
				tell(*o)
				continue
			}
			seen[o.Key] = true
			select {
			case turns <- o:
			case <-handing.Done():
			}
		}
	})
	workers.Wait()
	workers.Repanic()
	if report.Count(ReplayQueued)+report.Count(ReplayChecked)+report.Count(ReplaySkipped) < len(requests) {
		if ctx.Err() != nil {
			return report, withReason(ctx, context.Cause(ctx))
		}
		return report, context.Cause(handing) // nil where nothing ended the run
	}
	return report, nil
}

func replayOne(ctx context.Context, client *shipping.Client, o *ReplayOutcome, dryRun bool, call []shipping.CallOption) {
	if dryRun {
		o.State, o.Err = ReplayChecked, o.Request.Validate()
	} else {
		o.State = ReplayQueued
		o.Result, o.Err = client.Webhooks.Replay(ctx, &o.Request, call...)
	}
	switch {
	case o.Err == nil:
	case mayHaveBeenDone(o.Err):
		o.State = ReplayUnknown
	default:
		o.State = ReplayFailed
	}
}

// mayHaveBeenDone reports whether the service may have performed a call that failed.
func mayHaveBeenDone(err error) bool {
	failed, sent := errors.AsType[*shipping.Error](err)
	return sent && !failed.NotSent() && !failed.Refused()
}
