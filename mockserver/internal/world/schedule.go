package world

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shipping-go/shipping/mockserver/notify"
)

// Step is one delivery of a schedule.
type Step struct {
	Event       int           // its number, from 0
	BeforeReply bool          // delivers while the response to the call that caused the events is held back
	After       time.Duration // the wait after the previous step, by the world's clock
}

// RunSchedule delivers the notifications of events according to a schedule, to every subscribed webhook, with one
// attempt each and one after the other: the same schedule always arrives the same way.
func (w *World) RunSchedule(ctx context.Context, steps []Step, events []notify.Event, act func(context.Context) error) ([]notify.Delivery, error) {
	if err := checkSteps(steps, len(events), act != nil); err != nil {
		return nil, fmt.Errorf("mockserver: nothing was sent: %w", err)
	}
	outgoing := make([][]notify.Delivery, len(events))
	for i, e := range events {
		var err error
		w.mu.Lock()
		outgoing[i], err = w.notifications(e)
		w.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
	early := 0
	for early < len(steps) && steps[early].BeforeReply {
		early++
	}
	var done []notify.Delivery
	var failed error
	deliver := func(steps []Step) {
		for _, step := range steps {
			if failed = w.pass(ctx, step.After); failed != nil {
				return
			}
			for _, out := range outgoing[step.Event] {
				done = append(done, w.Dispatcher.Once(out))
			}
		}
	}
	if act != nil {
		delivered := make(chan struct{})
		held := func() {
			defer close(delivered)
			deliver(steps[:early])
		}
		if early > 0 {
			w.BeforeReply.Store(&held)
		}
		err := act(ctx)
		switch unused := w.BeforeReply.Swap(nil); {
		case unused == nil && early > 0:
			<-delivered // act may have returned before its response
		case unused != nil && err == nil:
			err = errors.New("mockserver: the act made no call, so nothing could arrive before its response")
		}
		if err != nil {
			return done, err
		}
	}
	if failed == nil {
		deliver(steps[early:])
	}
	return done, failed
}

// checkSteps refuses steps that cannot be delivered.
func checkSteps(steps []Step, events int, hasAct bool) error {
	late := false
	for i, step := range steps {
		switch {
		case step.Event < 0 || step.Event >= events:
			return fmt.Errorf("step %d delivers event %d of %d events, counted from 0", i+1, step.Event, events)
		case step.BeforeReply && !hasAct:
			return fmt.Errorf("step %d comes before the response, but there is no request: add one (in Go: act)", i+1)
		case step.BeforeReply && late:
			return fmt.Errorf("step %d comes before the response, but a previous step comes after it", i+1)
		}
		late = late || !step.BeforeReply
	}
	return nil
}

// pass advances a virtual clock, or waits.
func (w *World) pass(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	if w.Clock.IsVirtual() {
		_, err := w.Advance(d)
		return err
	}
	return w.wait(ctx, d, "the next step of a schedule", func() {})
}
