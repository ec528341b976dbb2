package sweep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/byname"
)

// Strike is a fault at one request of a run.
type Strike struct {
	// Operation is the name of the operation, such as "regulatory.purchase".
	Operation string
	// Nth is the number of the request among those of this operation in the run, from 1.
	Nth int
	// Fault is a name of the table that [Faults] returns.
	Fault string
}

// String returns the strike as "regulatory.purchase#1:lost-after".
func (s Strike) String() string { return fmt.Sprintf("%s#%d:%s", s.Operation, s.Nth, s.Fault) }

// Schedule is a list of the faults of one run. It is empty for a run without faults.
type Schedule []Strike

// String returns the strikes with commas between them. [ParseSchedule] reads it.
func (s Schedule) String() string {
	words := make([]string, len(s))
	for i, strike := range s {
		words[i] = strike.String()
	}
	return strings.Join(words, ",")
}

// ParseSchedule reads a schedule such as "regulatory.purchase#1:lost-after,regulatory.get#1:500".
func ParseSchedule(text string) (Schedule, error) {
	var s Schedule
	for word := range strings.SplitSeq(text, ",") {
		strike, err := parseStrike(strings.TrimSpace(word))
		if err != nil {
			return nil, err
		}
		s = append(s, strike)
	}
	return s, nil
}

func parseStrike(text string) (Strike, error) {
	request, name, hasFault := strings.Cut(text, ":")
	operation, number, hasNumber := strings.Cut(request, "#")
	nth, err := strconv.Atoi(number)
	if !hasFault || !hasNumber || err != nil || nth < 1 {
		return Strike{}, fmt.Errorf("sweep: %q is not a fault at a request: write it as %s#1:lost-after", text,
			shipping.OpPurchase)
	}
	if operation != Notification && !byname.Exists(operation) {
		return Strike{}, fmt.Errorf("sweep: unknown operation %q%s", operation,
			spelling.Suggestion(operation, append(byname.Names(nil), Notification)))
	}
	f, err := (&Config{}).fault(name)
	if err == nil && !f.to(operation) {
		err = fmt.Errorf("sweep: the fault %s has no effect on %s", name, operation)
	}
	return Strike{operation, nth, name}, err
}

// rules returns the fault rules of a schedule. A [notifier] kills the program at a notification.
func (s Schedule) rules(c *Config) []fault.Rule {
	var rules []fault.Rule
	for _, strike := range s {
		f, err := c.fault(strike.Fault)
		if err != nil || f.Name == Kill && strike.Operation == Notification {
			continue
		}
		if f.rule.Point == "" { // otherwise no request is involved
			f.rule.Operation, f.rule.Nth = strike.Operation, strike.Nth
		}
		rules = append(rules, f.rule)
	}
	return rules
}

// kills reports whether the program is killed in the course of the schedule.
func (s Schedule) kills() bool {
	return slices.ContainsFunc(s, func(strike Strike) bool { return strike.Fault == Kill })
}

// retryAfter returns the longest wait that the faults of the schedule request, and a little more.
func (s Schedule) retryAfter() time.Duration {
	if slices.ContainsFunc(s, func(strike Strike) bool { return strike.Fault == "503" || strike.Fault == "429" }) {
		return retryAfter + retryAfter/10
	}
	return 0
}

// plan returns the schedules with one fault at each of the requests, in their order.
func plan(c *Config, requests []Request) []Schedule {
	var schedules []Schedule
	for i, r := range requests {
		for _, f := range faults(c.Patience) {
			if c.tries(f) && f.to(r.Operation) && f.strikes(r, requests[i+1:]) {
				schedules = append(schedules, Schedule{{r.Operation, r.Nth, f.Name}})
			}
		}
	}
	return schedules
}

// strikes reports whether a fault can strike a request or notification, given later ones.
func (f Fault) strikes(r Request, later []Request) bool {
	switch f.Name {
	case failed:
		return r.Nth == 1
	case outOfOrder:
		return slices.ContainsFunc(later, func(r Request) bool { return r.Operation == Notification })
	}
	return true
}

// planPairs returns the schedules that add a second fault, at a later request, to a run with one fault.
func planPairs(c *Config, first Schedule, requests []Request) []Schedule {
	var schedules []Schedule
	struck := first[0].at(requests)
	for _, second := range plan(c, thinned(requests)) {
		if struck >= 0 && second[0].at(requests) > struck && !(first.kills() && second.kills()) {
			schedules = append(schedules, Schedule{first[0], second[0]})
		}
	}
	return schedules
}
