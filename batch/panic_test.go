package batch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

// endOf is how a function ended: by returning, by a panic with a value, or by runtime.Goexit.
func endOf(call func()) (how any) {
	done := make(chan any)
	go func() {
		how := any("runtime.Goexit")
		defer func() {
			if value := recover(); value != nil {
				how = value
			}
			done <- how
		}()
		call()
		how = "returned"
	}()
	return <-done
}

var errPanic = errors.New("a bug in a callback")

// A panic in a user's function during a batch is raised again on the caller's goroutine, after the purchases under way
// have finished and are recorded. A panic on a goroutine of the batch would end the process and could not be recovered.
func TestBatch_APanicComesBackToTheCaller(t *testing.T) {
	for name, end := range map[string]struct {
		call func()
		want any
	}{"panic": {func() { panic(errPanic) }, errPanic}, "runtime.Goexit": {runtime.Goexit, "runtime.Goexit"}} {
		for place, set := range map[string]func(o *batch.Options, service *walletService, end func(key string)){
			"Edit": func(o *batch.Options, _ *walletService, end func(string)) {
				o.Edit = func(_ context.Context, draft *shipping.RegulatoryRequest) error { end(draft.RequestID); return nil }
			},
			"Select": func(o *batch.Options, _ *walletService, end func(string)) {
				o.Select = func(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
					end(draft.RequestID)
					return shipping.SelectAll(draft)
				}
			},
			"Progress": func(o *batch.Options, _ *walletService, end func(string)) {
				o.Progress = func(event batch.Event) { end(event.Item.RequestID) }
			},
			"Poll.Progress": func(o *batch.Options, _ *walletService, end func(string)) {
				o.Poll.Progress = func(event shipping.PollEvent) { end(event.RequestID) }
			},
			"the transport": nil,
		} {
			t.Run(name+" in "+place, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					// The first item's purchase takes long; the second item's function ends the batch meanwhile.
					service := &walletService{}
					journal := newMemoryJournal(t)
					options := batch.Options{Concurrency: 2, Select: shipping.SelectAll, Journal: journal}
					if set != nil {
						set(&options, service, func(id string) {
							if id == "RD-SH-2" {
								end.call()
							}
						})
					}
					// The second item begins when the first is being purchased.
					slow := roundTrip(func(r *http.Request) (*http.Response, error) {
						body := ""
						if r.Body != nil {
							text, err := io.ReadAll(r.Body)
							if err != nil {
								return nil, err
							}
							body, r.Body = string(text), io.NopCloser(bytes.NewReader(text))
						}
						switch purchase := strings.HasSuffix(r.URL.Path, "/purchase"); {
						case purchase && strings.Contains(body, "SH-1"):
							time.Sleep(10 * time.Second)
						case purchase && set == nil:
							end.call()
						case strings.Contains(body, "SH-2"):
							time.Sleep(time.Second)
						}
						return service.RoundTrip(r)
					})
					client := walletClient(t, slow)
					got := endOf(func() { _, _ = batch.Run(t.Context(), client, walletItems(4), &options) })
					if got != end.want {
						t.Errorf("the batch ended with %v", got)
					}
					if last := journal.last("SH-2"); set == nil && last.Step != batch.StepPurchasing {
						t.Errorf("the purchase that panicked: %+v", last)
					}
					if last := journal.last("SH-1"); last.Step != batch.StepPurchased && last.Step != batch.StepCompleted {
						t.Errorf("the purchase under way: %+v", last)
					}
					if last := journal.last("SH-3"); last.Step.Committed() || service.purchases > 2 {
						t.Errorf("%d purchases, and another item was begun: %+v", service.purchases, last)
					}
				})
			})
		}
	}
}

// A panic during Replay, too, is raised again on the caller's goroutine.
func TestReplayAll_APanicComesBackToTheCaller(t *testing.T) {
	for name, end := range map[string]struct {
		call func()
		want any
	}{"panic": {func() { panic(errPanic) }, errPanic}, "runtime.Goexit": {runtime.Goexit, "runtime.Goexit"}} {
		for place, set := range map[string]func(o *batch.ReplayOptions, end func()){
			"Progress": func(o *batch.ReplayOptions, end func()) {
				o.Progress = func(batch.ReplayOutcome, int, int) { end() }
			},
			"the transport": nil,
		} {
			t.Run(name+" in "+place, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					options := batch.ReplayOptions{Concurrency: 2}
					var ids []string
					for n := range 20 {
						ids = append(ids, fmt.Sprintf("WD-%d", n))
					}
					var sent atomic.Int32
					service := roundTrip(func(*http.Request) (*http.Response, error) {
						if sent.Add(1); set == nil {
							end.call()
						}
						return reply(200, queuedReplay)
					})
					if set != nil {
						set(&options, end.call)
					}
					got := endOf(func() {
						_, _ = batch.Replay(t.Context(), walletClient(t, service), replays(ids...), &options)
					})
					if got != end.want || sent.Load() == 20 {
						t.Errorf("it ended with %v after %d requests", got, sent.Load())
					}
				})
			})
		}
	}
}

// The batch calls Poll.Progress one call at a time, too: the callback may append to a slice without a lock.
func TestBatch_CallsPollProgressOneAtATime(t *testing.T) {
	t.Parallel()
	var steps []string
	report, err := batch.Run(t.Context(), walletClient(t, &walletService{}), walletItems(40), &batch.Options{
		Select: shipping.SelectAll,
		Poll:   shipping.PollOptions{Progress: func(event shipping.PollEvent) { steps = append(steps, event.Step) }},
	})
	if err != nil || report.Count(batch.StateCompleted) != 40 || len(steps) != 40 {
		t.Errorf("%d polls, %+v, %v", len(steps), report, err)
	}
}
