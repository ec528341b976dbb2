package mockserver

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// Fault is one thing that can go wrong with an exchange; the Fault… functions make them.
type Fault interface {
	// strike spoils an exchange: before a handler was asked, or after it with the reply at hand.
	strike(x *exchange, w *world)
}

// FaultRule says when a fault strikes. A rule with no limit strikes every call.
type FaultRule struct {
	// Operation is a name such as [shipping.OpPurchase]. Empty: every operation.
	Operation string
	// Nth strikes only the nth call since the rule was injected, counted from 1.
	Nth int
	// First strikes only that many calls.
	First int
	// Probability strikes at random, with a chance between 0 and 1 that is the same in every run of a
	// seed. 0: always.
	Probability float64
	// Committed lets the operation do its work first: what it changes is changed, and only the answer
	// suffers. Without it the operation never happens.
	Committed bool
	// Fault is what happens.
	Fault Fault
}

// Inject adds rules. Of several that would strike the same call, the one injected first does. The
// paths under /_mock/ are never struck.
func (s *Server) Inject(rules ...FaultRule) {
	s.faults.add(rules)
}

// ClearFaults removes every rule.
func (s *Server) ClearFaults() { s.faults.clear() }

// FaultStatus answers with a status and, beside the usual ones, the given headers, such as
// Retry-After. The header may be nil.
func FaultStatus(code int, header http.Header) Fault { return faultStatus{code, header.Clone()} }

// FaultDrop closes the connection without an answer.
func FaultDrop() Fault { return faultDrop{} }

// FaultTruncate announces the whole body, sends its first n bytes and closes the connection.
func FaultTruncate(n int) Fault { return faultTruncate(max(0, n)) }

// FaultLatency delays by d on the world's clock: with a virtual clock until [Server.Advance] has
// moved it that far.
func FaultLatency(d time.Duration) Fault { return faultLatency(d) }

// FaultMalformed sends half of the body as if it were all of it: well-formed HTTP, broken JSON.
func FaultMalformed() Fault { return faultMalformed{} }

// FaultRedirect answers 308 with a Location, which a careful client does not follow.
func FaultRedirect(location string) Fault {
	return faultStatus{http.StatusPermanentRedirect, http.Header{"Location": {location}}}
}

type faultStatus struct {
	code   int
	header http.Header
}

func (f faultStatus) strike(x *exchange, _ *world) {
	// net/http answers nothing below 200 as final and panics beyond 999.
	code := f.code
	if code < 200 || code > 999 {
		code = http.StatusInternalServerError
	}
	x.reply = refused(code, "injected_fault", fmt.Sprintf("injected fault: %d %s", code, http.StatusText(code)))
	x.reply.header = f.header
	x.settled = true
}

type faultDrop struct{}

func (faultDrop) strike(x *exchange, _ *world) { x.dropped, x.settled = true, true }

type faultTruncate int

func (f faultTruncate) strike(x *exchange, _ *world) {
	x.standIn()
	x.cut = int(f)
}

type faultMalformed struct{}

func (faultMalformed) strike(x *exchange, _ *world) {
	x.standIn()
	x.reply.body = bytes.Clone(x.reply.body[:len(x.reply.body)/2])
}

type faultLatency time.Duration

func (f faultLatency) strike(x *exchange, w *world) {
	passed := make(chan struct{})
	w.clock.After(time.Duration(f), "injected latency", func() { close(passed) })
	select {
	case <-passed:
	case <-x.ctx.Done():
		x.dropped, x.settled = true, true // nobody listens any more
	}
}

// standIn gives a fault that spoils an answer one to spoil, where the operation never happens.
func (x *exchange) standIn() {
	if !x.settled {
		x.reply = succeed(nil, "OK", []byte("{}"))
		x.settled = true
	}
}

// truncate announces the whole body and keeps a part of it. net/http closes a connection whose
// answer came out shorter than announced.
func (x *exchange) truncate() {
	header := x.reply.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	// One byte more than there is keeps a cut that is not short of the end a cut.
	kept := min(x.cut, len(x.reply.body))
	header.Set("Content-Length", fmt.Sprint(max(len(x.reply.body), kept+1)))
	x.reply.header, x.reply.body = header, x.reply.body[:kept]
}

// faultBook holds the rules and counts the calls they have seen.
type faultBook struct {
	seed  uint64
	mu    sync.Mutex
	rules []*countedRule
	added uint64
}

type countedRule struct {
	FaultRule
	seen   int
	random *rand.Rand
}

func newFaultBook(seed uint64) *faultBook { return &faultBook{seed: seed} }

func (b *faultBook) add(rules []FaultRule) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, rule := range rules {
		if rule.Fault == nil {
			continue
		}
		b.added++
		b.rules = append(b.rules, &countedRule{FaultRule: rule, random: rand.New(rand.NewPCG(b.seed, b.added))})
	}
}

func (b *faultBook) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rules = nil
}

// next counts a call of an operation and returns the rule that strikes it, or nil. Every rule of the
// operation counts every call, whichever strikes, so that "the third call" means what it says.
func (b *faultBook) next(operation string) *FaultRule {
	b.mu.Lock()
	defer b.mu.Unlock()
	var struck *FaultRule
	for _, rule := range b.rules {
		if rule.Operation != "" && rule.Operation != operation {
			continue
		}
		if rule.strikes() && struck == nil {
			struck = &rule.FaultRule
		}
	}
	return struck
}

func (r *countedRule) strikes() bool {
	r.seen++
	if r.Probability > 0 && r.random.Float64() >= r.Probability {
		return false
	}
	return (r.Nth <= 0 || r.seen == r.Nth) && (r.First <= 0 || r.seen <= r.First)
}
