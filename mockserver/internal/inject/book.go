// Package inject holds the fault rules of a world, decides which requests they strike, and applies the faults to
// exchanges. It does not import package world: the functions that faults need are in [World].
package inject

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/splitmix"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// Limits of a book.
const (
	maxRules    = 1_000
	maxBytes    = 1 << 20 // of the rules as JSON
	maxRequests = 1 << 17 // remembered by a rule, and by the book; further ones count as new
)

// Book holds the rules of a world and counts the requests that they match.
type Book struct {
	seed  uint64
	armed atomic.Bool // there are rules; read without the lock, so that a world without rules is as fast as possible

	mu       sync.Mutex
	rules    []*armed
	added    int
	replaced int
	analyses map[uint64]int    // how often the same thing was analyzed
	requests map[string]uint64 // by request_id: a number for the analyzed shipment or invoice and its repetition
}

// armed is a rule and its counters.
type armed struct {
	fault.Rule
	effect   effect
	number   int      // the number of the rule on the control surface, from 1
	on       []string // operations that it matches; nil for all
	off      bool     // matches no request
	seen     int
	struck   atomic.Int64
	requests map[uint64]int // how often each request was matched
}

// Listed is a rule and its counters, as GET /_mock/faults lists it.
type Listed struct {
	Number int `json:"number"`
	fault.Rule
	Disabled bool  `json:"disabled,omitempty"`
	Seen     int   `json:"seen,omitempty"`   // requests that it has counted
	Struck   int64 `json:"struck,omitempty"` // requests that it has struck
}

// NewBook returns a book without rules. The seed determines probabilities.
func NewBook(seed uint64) *Book {
	return &Book{seed: seed, analyses: map[uint64]int{}, requests: map[string]uint64{}}
}

// Add arms rules, or none of them if one could never strike.
func (b *Book) Add(rules []fault.Rule, now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.rules)+len(rules) > maxRules {
		return fmt.Errorf("the world has %d rules, and at most %d are allowed: remove some", len(b.rules), maxRules)
	}
	all := slices.Clip(b.rules)
	var problems []error
	for i, rule := range rules {
		r := arm(rule, b.added+i+1)
		if problem := r.problem(all, now); problem != "" {
			problems = append(problems, fmt.Errorf("rule %d of %d can never strike: %s", i+1, len(rules), problem))
			continue
		}
		all = append(all, r)
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	if err := b.set(all); err != nil {
		return err
	}
	b.added += len(rules)
	return nil
}

// Replace replaces the rule of a number by another one with the same number and place, which begins to count at zero.
// It reports whether the number exists, and changes nothing if the new rule, or a later one behind it, could never
// strike.
func (b *Book) Replace(number int, rule fault.Rule, now time.Time) (known bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.find(number)
	if at < 0 {
		return false, nil
	}
	r := arm(rule, number)
	r.off = b.rules[at].off
	if problem := r.problem(b.rules[:at], now); problem != "" {
		return true, fmt.Errorf("rule %d could never strike: %s", number, problem)
	}
	for _, later := range b.rules[at+1:] {
		if reason := r.alwaysExcludes(later); reason != "" {
			return true, fmt.Errorf("rule %d could never strike behind it, because %s: limit rule %d, or remove rule %d first", later.number, reason, number, later.number)
		}
	}
	all := slices.Clone(b.rules)
	all[at] = r
	if err := b.set(all); err != nil {
		return true, err
	}
	b.replaced++
	return true, nil
}

// set replaces the rules, unless they are too long. The caller holds mu.
func (b *Book) set(all []*armed) error {
	size := 0
	for _, r := range all {
		size += r.size()
	}
	if size > maxBytes {
		return fmt.Errorf("the rules of the world would have %d bytes as JSON, and at most %d are allowed: shorten their headers and bodies, or remove some", size, maxBytes)
	}
	b.rules = all
	b.armed.Store(len(all) > 0)
	return nil
}

// find returns the index of the rule of a number, or -1. The caller holds mu.
func (b *Book) find(number int) int {
	return slices.IndexFunc(b.rules, func(r *armed) bool { return r.number == number })
}

// arm returns an armed rule, which shares no memory with the caller's.
func arm(rule fault.Rule, number int) *armed {
	rule.Fault = rule.Fault.Clone()
	if rule.Point != "" && rule.Point != fault.Generation && rule.Fault.IsZero() {
		rule.Fault = fault.Drop()
	}
	r := &armed{Rule: rule, effect: effects()[rule.Fault.Kind], number: number, requests: map[uint64]int{}}
	r.on = r.operations()
	return r
}

// size returns the length of the rule as JSON.
func (r *armed) size() int {
	text, err := jsontext.Encode(r.listed())
	if err != nil { // a rule without JSON cannot come from the control surface
		return 0
	}
	return len(text)
}

// Clear removes every rule.
func (b *Book) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rules = nil
	b.armed.Store(false)
}

// Reset removes every rule and clears all counters.
func (b *Book) Reset() {
	b.Clear()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.added = 0
	clear(b.analyses)
	clear(b.requests)
}

// Remove removes a rule and reports whether it existed.
func (b *Book) Remove(number int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := slices.DeleteFunc(slices.Clone(b.rules), func(r *armed) bool { return r.number == number })
	found := len(kept) < len(b.rules)
	b.rules = kept
	b.armed.Store(len(kept) > 0)
	return found
}

// Switch turns a rule on or off, keeps its counts, and reports whether it exists.
func (b *Book) Switch(number int, on bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.find(number)
	if at < 0 {
		return false
	}
	b.rules[at].off = !on
	return true
}

// Rules returns the rules in the order in which they were added.
func (b *Book) Rules() []Listed {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]Listed, len(b.rules))
	for i, r := range b.rules {
		all[i] = r.listed()
	}
	return all
}

func (r *armed) listed() Listed {
	return Listed{Number: r.number, Rule: r.Rule, Disabled: r.off, Seen: r.seen, Struck: r.struck.Load()}
}

// Mark returns a number that changes if a rule is added, replaced, removed, switched or matches a request.
func (b *Book) Mark() uint32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	hash := fnv.New32a()
	_, _ = fmt.Fprintln(hash, b.added, b.replaced) // a hash does not fail
	for _, r := range b.rules {
		_, _ = fmt.Fprintln(hash, r.number, r.off, r.seen, r.struck.Load())
	}
	return hash.Sum32()
}

// Due counts a request and returns the rules that strike it. Every matching rule counts every request, whether or
// not it strikes, so that "the third request" does not depend on other rules.
func (b *Book) Due(x *wire.Exchange, now time.Time) Due {
	return b.due("", x.Operation, now, []byte(x.RequestURI), x.Body)
}

// due is like Due, for a point inside an operation. The texts identify the request.
func (b *Book) due(point fault.Point, operation string, now time.Time, texts ...[]byte) Due {
	if !b.armed.Load() {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	request := b.identify(operation, texts)
	var due Due
	for _, rule := range b.rules {
		if rule.sees(point, operation, now) && rule.strikes(b.seed, request) && !slices.ContainsFunc(due, func(earlier *armed) bool { return earlier.excludes(rule) != "" }) {
			due = append(due, rule)
		}
	}
	return due
}

func (r *armed) sees(point fault.Point, operation string, now time.Time) bool {
	return !r.off && r.Point == point && (r.on == nil || slices.Contains(r.on, operation)) &&
		!now.Before(r.From) && (r.Until.IsZero() || now.Before(r.Until))
}

// strikes counts a request and reports whether the counts and the probability of the rule are met.
func (r *armed) strikes(seed, request uint64) bool {
	r.seen++
	nth := r.seen
	if r.EachRequest || r.Probability > 0 {
		own := r.requests[request] + 1
		if own > 1 || len(r.requests) < maxRequests {
			r.requests[request] = own
		}
		if r.EachRequest {
			nth = own
		}
		if r.Probability > 0 && chance(seed, uint64(r.number), request, uint64(own)) >= r.Probability {
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
func (b *Book) identify(operation string, texts [][]byte) uint64 {
	hash := fnv.New64a()
	write := func(text []byte) {
		hash.Write(text)
		hash.Write([]byte{0})
	}
	write([]byte(operation))
	for _, text := range texts {
		before, id, after := regulatory.CutRequestID(text)
		write(before)
		if request, known := b.requests[string(id)]; known {
			write(binary.BigEndian.AppendUint64(nil, request))
		} else {
			write(id)
		}
		write(after)
	}
	return hash.Sum64()
}

// Analyzed records the shipment or invoice of a request_id, for identify.
func (b *Book) Analyzed(requestID string, body []byte) {
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
