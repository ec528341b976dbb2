package mockserver

import (
	"context"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/world"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// Schedule is one way in which the notifications of several events can reach a receiver.
type Schedule struct {
	// Events is the number of events.
	Events int
	// Steps are the deliveries in the order in which they arrive. An event without a step is lost; an event
	// with two steps is a duplicate, with the same delivery id.
	Steps []ScheduleStep
}

// ScheduleStep is one delivery.
type ScheduleStep struct {
	// Event is the number of the event, from 0.
	Event int
	// BeforeReply delivers while the response to the call that caused the events is held back.
	BeforeReply bool
	// After is the wait after the previous step, by the world's clock.
	After time.Duration
}

// Late is the delay of a late notification, longer than a receiver should wait.
const Late = time.Hour

// Schedules yields every way in which the notifications of n events can arrive: each event never,
// once or twice, in every order; for each of these, every number of deliveries before the
// response, and a late last delivery. The order is always the same. There are 89 schedules for two
// events and 1,840 for three, so a test can use them all.
func Schedules(n int) iter.Seq[Schedule] {
	return func(yield func(Schedule) bool) {
		left := make([]int, n)
		var arrange func(arrived []int) bool
		arrange = func(arrived []int) bool {
			for _, s := range variants(n, arrived) {
				if !yield(s) {
					return false
				}
			}
			for event := range n {
				if left[event] == 2 {
					continue
				}
				left[event]++
				if !arrange(append(arrived[:len(arrived):len(arrived)], event)) {
					return false
				}
				left[event]--
			}
			return true
		}
		arrange(nil)
	}
}

// variants returns the schedules of one order of arrival.
func variants(n int, arrived []int) []Schedule {
	steps := func(early int, late time.Duration) Schedule {
		s := Schedule{Events: n, Steps: make([]ScheduleStep, len(arrived))}
		for i, event := range arrived {
			s.Steps[i] = ScheduleStep{Event: event, BeforeReply: i < early}
		}
		if len(arrived) > 0 {
			s.Steps[len(arrived)-1].After = late
		}
		return s
	}
	var all []Schedule
	for early := range len(arrived) + 1 {
		all = append(all, steps(early, 0))
	}
	if len(arrived) > 0 {
		all = append(all, steps(0, Late))
	}
	return all
}

// String formats a schedule as "1 0 | 0 +1h0m0s; lost: 2": event 1 and event 0 arrive before the response, and
// event 0 again an hour after it; event 2 is lost.
func (s Schedule) String() string {
	var words []string
	arrived := make([]bool, s.Events)
	replied := false
	for _, step := range s.Steps {
		if !step.BeforeReply && !replied {
			words, replied = append(words, "|"), true
		}
		words = append(words, strconv.Itoa(step.Event))
		if step.After > 0 {
			words = append(words, "+"+step.After.String())
		}
		arrived[step.Event] = true
	}
	if !replied {
		words = append(words, "|")
	}
	text := strings.Join(words, " ")
	var lost []string
	for event, there := range arrived {
		if !there {
			lost = append(lost, strconv.Itoa(event))
		}
	}
	if len(lost) > 0 {
		text += "; lost: " + strings.Join(lost, " ")
	}
	return text
}

// RunSchedule delivers the notifications of events according to a schedule, to every subscribed webhook, with
// one attempt each and one after the other: the same schedule always arrives the same way.
//
// act makes the call that causes the events. The response to its first call is held back until the steps with
// BeforeReply are delivered. act may be nil without such steps. The other steps are delivered after act
// has returned. A virtual clock is advanced by the After of each step; with a real clock RunSchedule waits. It
// returns the deliveries in the order of the steps, and an error if the events cannot be sent, act fails, or
// the context ends.
func (w *World) RunSchedule(ctx context.Context, schedule Schedule, events []notify.Event, act func(context.Context) error) ([]notify.Delivery, error) {
	steps := make([]world.Step, len(schedule.Steps))
	for i, step := range schedule.Steps {
		steps[i] = world.Step(step)
	}
	return w.core.RunSchedule(ctx, steps, events, act)
}
