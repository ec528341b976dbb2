// Package inject holds the fault rules of a world, decides which requests they strike, and applies the faults to
// exchanges. It does not import package world: the methods that faults need are in [World].
package inject

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/byname"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/splitmix"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
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
	bytes    int // of the faults that were added since the last reset
	changes  int
	analyses map[uint64]int    // how often the same thing was analyzed
	requests map[string]uint64 // by request_id: a number for the analyzed shipment or invoice and its repetition
}

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
	Event     string // of a notification
	Target    string // path and query
	Body      []byte
	Now       time.Time
	Point     fault.Point
}

// New returns empty Rules. The seed determines probabilities.
func New(seed uint64) *Rules {
	return &Rules{seed: seed, analyses: map[uint64]int{}, requests: map[string]uint64{}}
}

// Add adds rules, or none if one of them could never strike. stubs are the operations that are not in the table.
func (b *Rules) Add(rules []fault.Rule, now time.Time, stubs ...string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.rules)+len(rules) > maxRules {
		return fmt.Errorf("the world has %d rules, and at most %d are allowed: remove some", len(b.rules), maxRules)
	}
	var added []*rule
	var problems []error
	for i, given := range rules {
		r := b.rule(given, b.added+i+1)
		if problem := cmp.Or(r.problem(now, stubs), r.masked(slices.Concat(b.rules, added), now)); problem != "" {
			problems = append(problems, fmt.Errorf("rule %d of %d can never apply: %s", i+1, len(rules), problem))
		}
		added = append(added, r)
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	b.rules = append(b.rules, added...)
	b.added += len(rules)
	b.bytes += Size(rules)
	b.changes++
	return nil
}

func (b *Rules) rule(given fault.Rule, number int) *rule {
	given.Fault = given.Fault.Clone()
	if given.Point != "" && given.Point != fault.Generation && given.Fault.IsZero() {
		given.Fault = fault.Drop()
	}
	r := &rule{Injected: fault.Injected{Number: number, Rule: given}, all: b, effect: effects()[given.Fault.Kind],
		requests: map[uint64]int{}}
	switch {
	case r.Operation != "":
		r.on = []string{r.Operation}
	case r.effect.only != nil:
		r.on = r.effect.only
	case r.Point != "" && r.Point != fault.Generation:
		r.on = byname.Names(byname.Charges)
	}
	return r
}

func (b *Rules) Remove(number int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := len(b.rules)
	b.rules = slices.DeleteFunc(b.rules, func(r *rule) bool { return r.Number == number })
	b.changes++
	return len(b.rules) < before
}

func (b *Rules) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rules, b.bytes = nil, 0
	b.changes++
}

// Size returns how many bytes the bodies of rules have.
func Size(rules []fault.Rule) int {
	size := 0
	for _, r := range rules {
		size += len(r.Fault.Body) + len(r.Fault.BodyBase64)
	}
	return size
}

// Bytes returns the [Size] of the rules that were added since the last [Rules.Clear].
func (b *Rules) Bytes() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes
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
		if r.sees(request) && r.strikes(b.seed, same) &&
			!slices.ContainsFunc(matches, func(earlier *rule) bool { return earlier.excludes(r) }) {
			matches = append(matches, r)
		}
	}
	return matches
}

func (r *rule) sees(request Request) bool {
	on := slices.Contains(r.on, request.Operation) || r.on == nil && request.Operation != fault.Notification ||
		r.Operation == "" && r.effect.happensTo(request.Operation)
	return on && r.Point == request.Point && (r.Event == "" || r.Event == request.Event) &&
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

// World has the methods of a world that faults need.
type World interface {
	Now() time.Time
	Delay(x *wire.Exchange, d time.Duration, label string) error // waits for d, or returns an error
	InsertRows(operation string, query url.Values, rows int)     // at the head of a list
	RemoveRows(operation string, rows int)                       // from the head of a list
}

// Matches are the rules that strike one request, in the order in which they were added. No two of them exclude each
// other.
type Matches []*rule

// Before applies the faults that strike before the operation, and those at a point.
func (m Matches) Before(x *wire.Exchange, w World) { m.strike(x, w, false) }

// After applies the committed faults, after the operation.
func (m Matches) After(x *wire.Exchange, w World) { m.strike(x, w, true) }

func (m Matches) strike(x *wire.Exchange, w World, committed bool) {
	for _, r := range m {
		if r.Committed != committed {
			continue
		}
		r.count()
		x.Struck = append(x.Struck, wire.Strike{Kind: r.Fault.Kind, Text: r.String(), Defers: r.effect.defers})
		// An error: the world was closed, or the caller disconnected during a delay.
		if err := r.effect.strike(x, r.Fault, w); err != nil {
			x.Ending, x.Settled = wire.EndDropped, true
			return
		}
	}
}

// count counts a request that the rule strikes.
func (r *rule) count() {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	r.Struck++
	r.all.changes++
}

// Notification returns the fault that strikes a notification, the zero Fault without one, and a function that
// counts the strike and describes it.
func (m Matches) Notification() (f fault.Fault, count func() string) {
	if len(m) == 0 {
		return fault.Fault{}, nil
	}
	return m[0].Fault.Clone(), func() string {
		m[0].count()
		return m[0].String()
	}
}

// String describes the rule and its fault, for the journal.
func (r *rule) String() string {
	text := fmt.Sprintf("rule %d: %s", r.Number, r.Fault.Kind)
	switch {
	case r.Point != "":
		text += " at " + string(r.Point)
	case r.Committed:
		text += " after the change"
	}
	return text
}

// excludes reports whether a later rule cannot strike a request that r strikes. The documentation of package fault
// lists the pairs.
func (r *rule) excludes(later *rule) bool {
	a, b := r.effect, later.effect
	if a.notifies || b.notifies {
		return a.notifies && b.notifies
	}
	return r.prevents() && (later.Committed || b.only != nil) || r.Committed && later.prevents() ||
		a.decides && b.decides || a.ends && b.changes || a.changes && b.decides ||
		r.Fault.Kind == later.Fault.Kind && !a.repeats
}

// masked returns why an earlier rule strikes each request that the rule could strike; "" if none does.
func (r *rule) masked(earlier []*rule, now time.Time) string {
	for i, e := range earlier {
		excluded := e.Point == r.Point && e.excludes(r) || e.prevents() && r.Point != "" && r.Point != fault.Generation
		if excluded && e.covers(r, now) &&
			!slices.ContainsFunc(earlier[:i], func(first *rule) bool { return first.excludes(e) }) {
			return fmt.Sprintf("rule %d strikes all of its requests, and the faults exclude each other: limit or remove that "+
				"rule, or inject this one before it", e.Number)
		}
	}
	return ""
}

// covers reports whether a rule strikes, without a limit, all requests that another rule matches from now on.
func (r *rule) covers(other *rule, now time.Time) bool {
	requests := r.on == nil || other.on != nil &&
		!slices.ContainsFunc(other.on, func(name string) bool { return !slices.Contains(r.on, name) })
	from := !r.From.After(now) || !r.From.After(other.From)
	until := r.Until.IsZero() || !other.Until.IsZero() && !other.Until.After(r.Until)
	event := r.Event == "" || r.Event == other.Event
	return requests && event && from && until && r.Nth == 0 && r.First == 0 && (r.Probability == 0 || r.Probability == 1)
}

// prevents reports whether the operation is not performed for a request that the rule strikes.
func (r *rule) prevents() bool {
	return !r.Committed && r.Point == "" && (r.effect.decides || r.effect.changes)
}

// Interruption is the error of an operation that was interrupted at a point.
type Interruption struct {
	Matches
	text string
}

// Error returns the message of the response, if a response is sent.
func (i *Interruption) Error() string { return i.text }

// Reply returns the response, if one is sent.
func (i *Interruption) Reply() wire.Reply {
	return wire.Refused(http.StatusInternalServerError, wire.CodeInterrupted, i.text)
}

var errGeneration = errors.New("the generator failed (injected)")

// At returns an error if a rule strikes a request at its point: an [*Interruption], or the failure of a document.
func (b *Rules) At(request Request) error {
	matches := b.Match(request)
	switch {
	case len(matches) == 0:
		return nil
	case request.Point == fault.Generation:
		matches[0].count() // a rule at this point has no fault
		return errGeneration
	default:
		return &Interruption{matches, fmt.Sprintf("interrupted at %s by injected fault %d", request.Point, matches[0].Number)}
	}
}
