// Package watch observes exchanges: it journals them, and lints the behaviour of the client. It changes nothing about an
// exchange except its ID, which the journal sets.
package watch

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// fewestCalls is the number of calls that each world records even if memory is short.
const fewestCalls = 8

// Log records the latest calls, and counts the calls of each operation. The cost of a call does not grow with the
// number of calls: once the ring is full, a call overwrites the oldest one. An
// overwritten call that was refused or struck by a fault moves to a smaller ring, so that many good calls do not drive
// out the few that somebody looks for.
type Log struct {
	size   int // number of calls recorded; 0 for none
	body   int // bytes recorded of a body
	memory *Memory

	mu      sync.Mutex
	ring    []entry // grows until it has its size or memory is full; call n is at n-1, modulo its length
	total   uint64
	kept    []entry // the calls that were moved, a ring too; the oldest is at moved, modulo its length, once it is full
	moved   uint64
	taken   int64 // of memory
	ended   bool  // no further calls are recorded
	counts  map[string]int
	changed chan struct{} // closed at the next call; nil while nobody waits
}

// entry is a recorded call.
type entry struct {
	journal.Entry
	number uint64
	rule   string // the sentence of the specification for a refusal
	struck []wire.Strike
}

// Memory is memory that all worlds share, in bytes.
type Memory struct {
	Most int64
	Used atomic.Int64
}

func (m *Memory) full() bool { return m.Used.Load() >= m.Most }

func NewLog(size, body int, memory *Memory) *Log {
	return &Log{size: size, body: body, memory: memory, counts: map[string]int{}}
}

// add records a call, and returns its request id.
func (j *Log) add(e entry) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.total++
	j.counts[e.Operation]++
	e.number, e.ID = j.total, requestID(j.total)
	if j.size > 0 && !j.ended {
		slot := j.slot()
		before := slot.memory()
		if j.memory.full() {
			e.shorten(before)
		}
		*slot = e
		j.take(e.memory() - before)
	}
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
	return e.ID
}

// slot returns the entry for the latest call.
func (j *Log) slot() *entry {
	n := len(j.ring)
	if n < j.size && uint64(n) == j.total-1 && (n < fewestCalls || !j.memory.full()) {
		before := cap(j.ring)
		j.ring = append(j.ring, entry{})
		j.take(int64(cap(j.ring)-before) * int64(reflect.TypeFor[entry]().Size()))
		return &j.ring[n]
	}
	slot := &j.ring[(j.total-1)%uint64(n)]
	if most := j.size / keptShare; most > 0 && slot.failed() && !j.memory.full() {
		j.keep(slot, most)
	}
	return slot
}

// keptShare is how many calls a journal records for each failed call that it keeps longer.
const keptShare = 4

// failed reports whether a call was refused or struck by a fault.
func (e *entry) failed() bool { return e.ErrorCode != "" || len(e.struck) > 0 }

// keep moves a call out of the ring.
func (j *Log) keep(e *entry, most int) {
	if len(j.kept) < most {
		before := cap(j.kept)
		j.kept = append(j.kept, *e)
		j.take(int64(cap(j.kept)-before) * int64(reflect.TypeFor[entry]().Size()))
	} else {
		oldest := &j.kept[j.moved%uint64(most)]
		j.take(-oldest.memory())
		*oldest = *e
	}
	j.moved++
	*e = entry{}
}

// at returns a recorded call; 0 is the oldest.
func (j *Log) at(i int) *entry {
	if n := len(j.kept); i < n {
		return &j.kept[(j.moved+uint64(i))%uint64(n)]
	}
	n := uint64(len(j.ring))
	return &j.ring[(j.total+uint64(i-len(j.kept)))%n]
}

// take accounts for memory that the journal allocates, or releases if bytes is negative.
func (j *Log) take(bytes int64) {
	if bytes != 0 {
		j.taken += bytes
		j.memory.Used.Add(bytes)
	}
}

// memory returns the bytes that an entry holds, in addition to its place in the ring.
func (e *entry) memory() int64 {
	return int64(len(e.RequestBody) + len(e.ResponseBody) + len(e.Path) + len(e.Query) + len(e.ContentType) + len(e.Message))
}

// shorten truncates the texts that a caller controls, and the bodies to a length in all.
func (e *entry) shorten(bodies int64) {
	const enough = 128
	for _, text := range []*string{&e.Path, &e.Query, &e.ContentType, &e.Message} {
		*text = cut(*text, enough)
	}
	e.RequestBody = cut(e.RequestBody, int(bodies))
	e.ResponseBody = cut(e.ResponseBody, int(bodies)-len(e.RequestBody))
}

// cut returns the start of a text as a copy.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.Clone(strings.ToValidUTF8(text[:most], ""))
}

// IsShort reports whether the journal records fewer calls than configured because memory is short.
func (j *Log) IsShort() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return uint64(len(j.ring)) < min(j.total, uint64(j.size))
}

// End releases the memory and stops recording. Recorded calls can still be read.
func (j *Log) End() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.take(-j.taken)
	j.ended = true
}

// each calls fn with the recorded calls, oldest first, until it returns false. each returns a channel that closes at the next call.
func (j *Log) each(fn func(*entry) bool) <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.changed == nil {
		j.changed = make(chan struct{})
	}
	for i := range len(j.kept) + len(j.ring) {
		if !fn(j.at(i)) {
			break
		}
	}
	return j.changed
}

// eachBack calls fn with the recorded calls, newest first, until it returns false.
func (j *Log) eachBack(fn func(*entry) bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := len(j.kept) + len(j.ring) - 1; i >= 0 && fn(j.at(i)); i-- {
	}
}

// Last returns the number of the latest call.
func (j *Log) Last() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.total
}

// ErrDropped is returned for an entry that the journal no longer has.
var ErrDropped = errors.New("the journal has dropped the request")

// Remembered returns an entry by its id, and the sentence of the specification for its refusal, if known.
func (j *Log) Remembered(id string) (found journal.Entry, rule string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := j.find(id)
	if e == nil {
		return found, "", j.absent(id)
	}
	return e.Entry, e.rule, nil
}

// find returns the entry of an id, or nil. The caller holds the lock.
func (j *Log) find(id string) *entry {
	number, err := numberOf(id)
	if err != nil || !strings.HasPrefix(id, "req-") {
		return nil
	}
	recorded := len(j.kept) + len(j.ring)
	i := sort.Search(recorded, func(i int) bool { return j.at(i).number >= number })
	if i == recorded || j.at(i).number != number {
		return nil
	}
	return j.at(i)
}

// absent returns the error for an id that no entry has. The caller holds the lock.
func (j *Log) absent(id string) error {
	number, err := numberOf(id)
	if err != nil || number == 0 || number > j.total {
		return fmt.Errorf("the journal has no request %q: use the X-Request-Id of one of the latest responses", id)
	}
	limit := "-journal (in Go: WithJournal)"
	if len(j.ring) < j.size {
		limit = "the option WithMaxMemory in Go"
	}
	return fmt.Errorf("%w %q: it keeps the latest %d, and refused ones longer; raise the limit with %s", ErrDropped, id, len(j.ring), limit)
}

// Clear removes every call and starts the numbering again.
func (j *Log) Clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.take(-j.taken)
	j.ring, j.total, j.kept, j.moved, j.counts = nil, 0, nil, 0, map[string]int{}
}

// Len returns the number of recorded calls.
func (j *Log) Len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.kept) + len(j.ring)
}

func (j *Log) Count(operation string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.counts[operation]
}

func requestID(number uint64) string {
	var memory [24]byte
	return string(strconv.AppendUint(append(memory[:0], "req-"...), number, 10))
}

// See journals an exchange and gives it its ID.
func (j *Log) See(x *wire.Exchange) {
	r, refusal := x.Request, &x.Reply.Refusal
	e := entry{rule: refusal.Rule, struck: slices.Clone(x.Struck), Entry: journal.Entry{
		At: x.At, Duration: fault.Duration(x.At.Sub(x.Arrived).Round(time.Microsecond)), Operation: x.Operation, Method: r.Method,
		Path: wire.Redact(r.URL.Path), Query: wire.Redact(r.URL.RawQuery), Key: x.Key, ContentType: r.Header.Get("Content-Type"),
		Status: x.Status(), ErrorCode: refusal.Code, Message: wire.Redact(refusal.Message), Fault: x.Faults(),
		RequestBytes: len(x.Body),
	}}
	e.RequestBody = j.start(x.Body)
	if x.Ending == wire.EndAnswered {
		e.ResponseBytes, e.ResponseBody = len(x.Reply.Body), j.start(x.Reply.Body)
	}
	x.ID = j.add(e)
}

// start returns what the journal records of a body.
func (j *Log) start(body []byte) string {
	if j.size == 0 {
		return ""
	}
	return wire.Redact(string(body[:min(len(body), j.body)]))
}

// Amend adds a text to the fault of a kind that struck an entry, if the journal still has the entry.
func (j *Log) Amend(id, kind, text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := j.find(id)
	if e == nil {
		return
	}
	for i := range e.struck {
		if e.struck[i].Kind == kind {
			e.struck[i].Text += ", " + text
		}
	}
	e.Fault = wire.Strikes(e.struck)
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
}

// matches reports whether a query selects an entry. The request ids in the query are in the choice.
func matches(q *journal.Query, e *entry) bool {
	return (q.Operation == "" || q.Operation == e.Operation) &&
		(q.Method == "" || q.Method == e.Method) &&
		(q.Status == 0 || q.Status == e.Status) &&
		(q.StatusClass == 0 || q.StatusClass == e.Status/100) &&
		(q.ID == "" || q.ID == e.ID) &&
		(q.Key == "" || q.Key == e.Key) &&
		(!q.Refused || e.ErrorCode != "") &&
		(!q.Faulted || len(e.struck) > 0) &&
		(q.Fault == "" || slices.ContainsFunc(e.struck, func(s wire.Strike) bool { return s.Kind == q.Fault })) &&
		(q.Contains == "" || e.contains(q.Contains))
}

// contains reports whether a recorded text contains another.
func (e *entry) contains(text string) bool {
	return e.Status != 0 && strconv.Itoa(e.Status) == text || slices.ContainsFunc(
		[]string{e.Path, e.Query, e.Operation, e.Message, e.ErrorCode, e.RequestBody, e.ResponseBody},
		func(has string) bool { return strings.Contains(has, text) })
}
