// Package inject holds the fault rules of a world, decides which requests they strike, and applies the faults to
// exchanges. It does not import package world: the methods that faults need are in [World].
package inject

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/splitmix"
)

const (
	maxRules    = 1_000
	maxRequests = 1 << 17 // remembered by a rule, and by all rules together; further ones count as new
)

// Rules holds the rules of a world and counts the requests that they match.
type Rules struct {
	seed uint64

	mu       sync.Mutex
	rules    []*rule
	added    int
	changes  int
	analyses map[uint64]int    // how often the same thing was analyzed
	requests map[string]uint64 // by request_id: a number for the analyzed shipment or invoice and its repetition
}

// rule is a rule with its effect and its counters.
type rule struct {
	fault.Injected
	all      *Rules
	effect   effect
	on       []string       // operations that it matches; nil for all
	requests map[uint64]int // how often each request was matched
}

// Request is a request that is compared with the rules when it arrives, or when it reaches a point.
type Request struct {
	Operation string
	Target    string // path and query
	Body      []byte
	Now       time.Time
	Point     fault.Point
}

// New returns no rules. The seed determines probabilities.
func New(seed uint64) *Rules {
	return &Rules{seed: seed, analyses: map[uint64]int{}, requests: map[string]uint64{}}
}

// Add adds rules, or none of them if one could never strike.
func (b *Rules) Add(rules []fault.Rule, now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.rules)+len(rules) > maxRules {
		return fmt.Errorf("the world has %d rules, and at most %d are allowed: remove some", len(b.rules), maxRules)
	}
	var added []*rule
	var problems []error
	for i, given := range rules {
		r := b.rule(given, b.added+i+1)
		if problem := r.problem(now); problem != "" {
			problems = append(problems, fmt.Errorf("rule %d of %d can never apply: %s", i+1, len(rules), problem))
		}
		added = append(added, r)
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	b.rules = append(b.rules, added...)
	b.added += len(rules)
	b.changes++
	return nil
}

// rule returns a rule with a number, which shares no memory with the caller's.
func (b *Rules) rule(given fault.Rule, number int) *rule {
	given.Fault = given.Fault.Clone()
	if given.Point != "" && given.Point != fault.Generation && given.Fault.IsZero() {
		given.Fault = fault.Drop()
	}
	r := &rule{Injected: fault.Injected{Number: number, Rule: given}, all: b, effect: effects()[given.Fault.Kind], requests: map[uint64]int{}}
	switch {
	case r.Operation != "":
		r.on = []string{r.Operation}
	case r.effect.lists != nil:
		r.on = r.effect.lists
	case r.Point != "" && r.Point != fault.Generation:
		r.on = operations.Names(operations.Charges)
	}
	return r
}

// Remove removes a rule and reports whether it existed.
func (b *Rules) Remove(number int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := len(b.rules)
	b.rules = slices.DeleteFunc(b.rules, func(r *rule) bool { return r.Number == number })
	b.changes++
	return len(b.rules) < before
}

// Clear removes every rule.
func (b *Rules) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rules = nil
	b.changes++
}

// Reset removes every rule and clears all counters.
func (b *Rules) Reset() {
	b.Clear()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.added = 0
	clear(b.analyses)
	clear(b.requests)
}

// Rules returns the rules in the order in which they were added.
func (b *Rules) Rules() []fault.Injected {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]fault.Injected, len(b.rules))
	for i, r := range b.rules {
		all[i] = r.Injected
	}
	return all
}

// Changes returns a number that grows if a rule is added or removed, matches a request or strikes one.
func (b *Rules) Changes() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changes
}

// Match counts a request and returns the rules that strike it. Every matching rule counts every request, whether or
// not it strikes, so that "the third request" does not depend on other rules.
func (b *Rules) Match(request Request) Matches {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.rules) == 0 {
		return nil
	}
	same := b.identify(request)
	var matches Matches
	for _, r := range b.rules {
		if r.sees(request) && r.strikes(b.seed, same) && !slices.ContainsFunc(matches, func(earlier *rule) bool { return earlier.excludes(r) }) {
			matches = append(matches, r)
		}
	}
	return matches
}

func (r *rule) sees(request Request) bool {
	return r.Point == request.Point && (r.on == nil || slices.Contains(r.on, request.Operation)) &&
		!request.Now.Before(r.From) && (r.Until.IsZero() || request.Now.Before(r.Until))
}

// strikes counts a request and reports whether the counts and the probability of the rule are met. The caller holds mu.
func (r *rule) strikes(seed, request uint64) bool {
	r.Seen++
	r.all.changes++
	nth := r.Seen
	if r.EachRequest || r.Probability > 0 {
		own := r.requests[request] + 1
		if own > 1 || len(r.requests) < maxRequests {
			r.requests[request] = own
		}
		if r.EachRequest {
			nth = own
		}
		if r.Probability > 0 && chance(seed, uint64(r.Number), request, uint64(own)) >= r.Probability {
			return false
		}
	}
	return (r.Nth == 0 || nth == r.Nth) && (r.First == 0 || nth <= r.First)
}

// chance mixes numbers into one in [0, 1) that looks random.
func chance(parts ...uint64) float64 {
	var z uint64
	for _, part := range parts {
		z = splitmix.Mix(z + part)
	}
	return float64(z>>11) / (1 << 53)
}

// identify returns a number for a request. The values of request ids depend on the order in which analyses arrive, so
// a request_id is replaced by a number for the analyzed shipment or invoice. The caller holds mu.
func (b *Rules) identify(request Request) uint64 {
	hash := fnv.New64a()
	write := func(text []byte) {
		hash.Write(text)
		hash.Write([]byte{0})
	}
	write([]byte(request.Operation))
	for _, text := range [][]byte{[]byte(request.Target), request.Body} {
		before, id, after := regulatory.CutRequestID(text)
		write(before)
		if analyzed, known := b.requests[string(id)]; known {
			write(binary.BigEndian.AppendUint64(nil, analyzed))
		} else {
			write(id)
		}
		write(after)
	}
	return hash.Sum64()
}

// Analyzed records the shipment or invoice of a request_id, for identify.
func (b *Rules) Analyzed(requestID string, body []byte) {
	hash := fnv.New64a()
	hash.Write(body)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.requests) >= maxRequests {
		return
	}
	what := hash.Sum64()
	b.analyses[what]++
	hash.Write(binary.BigEndian.AppendUint64(nil, uint64(b.analyses[what])))
	b.requests[requestID] = hash.Sum64()
}
