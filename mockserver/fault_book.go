package mockserver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// faultBook holds the rules of a world and counts the calls they have seen.
type faultBook struct {
	seed  uint64
	armed atomic.Bool // there are rules; read without the lock, so that a world without any pays nothing

	mu       sync.Mutex
	rules    []*armedRule
	added    int
	analyses map[uint64]int    // how often the same thing was analyzed
	requests map[string]uint64 // by request_id: what was analyzed, and the how manieth time
}

// armedRule is a rule and what it has seen.
type armedRule struct {
	FaultRule
	number   int      // by which the control surface calls it, from 1
	on       []string // operations it sees; nil for all
	off      bool     // sees no call and strikes none
	seen     int
	struck   int
	requests map[uint64]int // calls seen, by request
}

// maxRequests bounds what a rule remembers, and the book. A request beyond it counts as made for the first time.
const maxRequests = 1 << 17

// sighting is a call that rules are held against.
type sighting struct {
	operation string
	point     Failpoint
	target    string // path and query
	body      []byte
	now       time.Time
}

func newFaultBook(seed uint64) *faultBook {
	return &faultBook{seed: seed, analyses: map[uint64]int{}, requests: map[string]uint64{}}
}

// add arms rules, or none of them when one could never strike.
func (b *faultBook) add(rules []FaultRule, now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.rules)+len(rules) > maxFaultRules {
		return fmt.Errorf("the world has %d rules and takes %d at most: remove some", len(b.rules), maxFaultRules)
	}
	armed := slices.Clip(b.rules)
	size := 0
	var problems []error
	for i, rule := range rules {
		if problem := rule.problem(armed, now); problem != "" {
			problems = append(problems, fmt.Errorf("rule %d of %d can never strike: %s", i+1, len(rules), problem))
			continue
		}
		if rule.Point != "" && rule.Point != Generation && rule.Fault == nil {
			rule.Fault = FaultDrop()
		}
		armed = append(armed, &armedRule{FaultRule: rule, on: rule.operations(), number: b.added + i + 1, requests: map[uint64]int{}})
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	for _, rule := range armed {
		size += rule.size()
	}
	if size > maxFaultBytes {
		return fmt.Errorf("the rules of the world would take %d bytes as JSON, and take %d at most: shorten their headers, or remove some", size, maxFaultBytes)
	}
	b.rules = armed
	b.added += len(rules)
	b.armed.Store(len(armed) > 0)
	return nil
}

// size returns how many bytes the rule has as JSON.
func (r *armedRule) size() int {
	text, err := jsontext.Encode(r.form())
	if err != nil { // the control surface cannot show it, and nor can it bring it
		return 0
	}
	return len(text)
}

func (b *faultBook) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rules = nil
	b.armed.Store(false)
}

// reset makes the book what it was at first: no rules, and nothing seen.
func (b *faultBook) reset() {
	b.clear()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.added = 0
	clear(b.analyses)
	clear(b.requests)
}

// remove takes one rule away and reports whether it was there.
func (b *faultBook) remove(number int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := slices.DeleteFunc(slices.Clone(b.rules), func(r *armedRule) bool { return r.number == number })
	found := len(kept) < len(b.rules)
	b.rules = kept
	b.armed.Store(len(kept) > 0)
	return found
}

// switchTo turns a rule on or off, with what it has counted as it was, and reports whether it is there.
func (b *faultBook) switchTo(number int, on bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.rules, func(r *armedRule) bool { return r.number == number })
	if i < 0 {
		return false
	}
	b.rules[i].off = !on
	return true
}

// next counts a call and returns the rule that strikes it, or nil. Every rule of the operation counts
// every call, whichever strikes, so that "the third call" means what it says.
func (b *faultBook) next(s *sighting) *armedRule {
	if !b.armed.Load() {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	request := b.identify(s)
	var first *armedRule
	for _, rule := range b.rules {
		if rule.sees(s) && rule.strikes(b.seed, request) && first == nil {
			first = rule
		}
	}
	if first != nil {
		first.struck++
	}
	return first
}

func (r *armedRule) sees(s *sighting) bool {
	return !r.off && r.Point == s.point && (r.on == nil || slices.Contains(r.on, s.operation)) &&
		!s.now.Before(r.From) && (r.Until.IsZero() || s.now.Before(r.Until))
}

func (r *armedRule) strikes(seed, request uint64) bool {
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

// chance mixes numbers into one in [0, 1) that looks random (the finalizer of splitmix64).
func chance(parts ...uint64) float64 {
	var z uint64
	for _, part := range parts {
		z += part + 0x9e3779b97f4a7c15
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
	}
	return float64(z>>11) / (1 << 53)
}

// identify returns a number for what is asked. Request ids are drawn as analyses arrive, which differs
// from run to run when they arrive from many goroutines; so a request_id stands for what was analyzed
// under it. The caller holds mu.
func (b *faultBook) identify(s *sighting) uint64 {
	hash := fnv.New64a()
	write := func(text []byte) {
		hash.Write(text)
		hash.Write([]byte{0})
	}
	write([]byte(s.operation))
	for _, text := range [][]byte{[]byte(s.target), s.body} {
		before, id, after := wire.CutRequestID(text)
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

// analyzed notes what a request_id stands for: what was asked for, and the how manieth time.
func (b *faultBook) analyzed(requestID string, body []byte) {
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

// problem says why a rule can never strike, behind those that are armed, or nothing.
func (r *FaultRule) problem(armed []*armedRule, now time.Time) string {
	checks := []struct {
		broken bool
		text   string
	}{
		{r.Fault == nil && r.Point == "", "it has no fault: give it one, such as a status or a drop"},
		{r.Operation != "" && !isOperation(r.Operation), fmt.Sprintf("no operation is called %q: take a name from shipping.Operations or GET /_mock/faults", r.Operation)},
		{r.Nth < 0 || r.First < 0, "nth and first count from 1; 0 is every call"},
		{r.Nth > 0 && r.First > 0 && r.Nth > r.First, fmt.Sprintf("call %d is not among the first %d: leave one of them out", r.Nth, r.First)},
		{r.EachRequest && r.Nth == 0 && r.First == 0, "each_request counts nth or first for each request: give one of them"},
		{math.IsNaN(r.Probability) || r.Probability < 0 || r.Probability > 1, fmt.Sprintf("probability %v is not between 0 and 1", r.Probability)},
		{!r.Until.IsZero() && !r.Until.After(r.From), "until is not after from"},
		{!r.Until.IsZero() && !r.Until.After(now), fmt.Sprintf("until %s is over: in this world it is %s", r.Until.Format(time.RFC3339), now.Format(time.RFC3339))},
	}
	for _, check := range checks {
		if check.broken {
			return check.text
		}
	}
	if r.Point != "" {
		if problem := r.Point.problem(r); problem != "" {
			return problem
		}
	}
	if problem := r.faultProblem(); problem != "" {
		return problem
	}
	for _, earlier := range armed {
		if earlier.hides(r) {
			return fmt.Sprintf("rule %d strikes every such call first: remove that one, or limit it", earlier.number)
		}
	}
	return ""
}

// faultProblem asks the fault itself, where its kind has conditions.
func (r *FaultRule) faultProblem() string {
	if f, ok := r.Fault.(interface{ problem() string }); ok {
		if problem := f.problem(); problem != "" {
			return problem
		}
	}
	on := faultOperations(r.Fault)
	switch {
	case on == nil:
		return ""
	case r.Point != "":
		return "a fault of lists cannot happen at a failpoint"
	case r.Committed:
		return "a fault of lists changes what is asked for, so it is too late once the operation is done: leave committed out"
	case r.Operation != "" && !slices.Contains(on, r.Operation):
		return fmt.Sprintf("%s is no list with pages: name one of %v", r.Operation, on)
	}
	return ""
}

// operations returns the operations that a rule sees, or nil for all: the one that it names, or else those that
// its fault can happen to.
func (r *FaultRule) operations() []string {
	if r.Operation != "" {
		return []string{r.Operation}
	}
	return faultOperations(r.Fault)
}

// faultOperations returns the operations that a fault can happen to, or nil for all.
func faultOperations(f Fault) []string {
	if of, ok := f.(interface{ operates() []string }); ok {
		return of.operates()
	}
	return nil
}

// hides reports whether a rule strikes every call that a later one would see.
func (r *armedRule) hides(later *FaultRule) bool {
	return !r.off && r.Point == later.Point && (r.on == nil || containsAll(r.on, later.operations())) &&
		r.Nth == 0 && r.First == 0 && (r.Probability == 0 || r.Probability == 1) &&
		!r.From.After(later.From) && (r.Until.IsZero() || !later.Until.IsZero() && !r.Until.Before(later.Until))
}

// containsAll reports whether every one of some names is in a list. No names stand for all that there are.
func containsAll(list, some []string) bool {
	return some != nil && !slices.ContainsFunc(some, func(name string) bool { return !slices.Contains(list, name) })
}

func isOperation(name string) bool { return slices.Contains(operationNames(), name) }

// operationNames returns the names of the operation table.
func operationNames() []string {
	return each(shipping.Operations(), func(op shipping.Operation) string { return op.Name })
}
