package watch

import (
	"bytes"
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
// number of calls: once the ring is full, a call overwrites the oldest one and reuses the memory of its bodies. An
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

// entry is a recorded call. Values that can be computed from it are computed when it is read.
type entry struct {
	number        uint64
	at            time.Time
	duration      time.Duration
	operation     string
	method        string
	path          string
	query         string
	contentType   string
	key           string // its fingerprint
	status        int
	refusal       wire.Refusal
	struck        []wire.Strike
	request       []byte // the beginning of the body
	response      []byte
	requestBytes  int // the length of the whole body
	responseBytes int
}

// Memory is the memory of the journals of all worlds, in bytes.
type Memory struct {
	Most int64
	Used atomic.Int64
}

func (m *Memory) full() bool { return m.Used.Load() >= m.Most }

func NewLog(size, body int, memory *Memory) *Log {
	return &Log{size: size, body: body, memory: memory, counts: map[string]int{}}
}

// add records a call with copies of its bodies, and returns its number.
func (j *Log) add(e entry, request, response []byte) uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.total++
	j.counts[e.operation]++
	if j.size > 0 && !j.ended {
		e.number = j.total
		e.requestBytes, e.responseBytes = len(request), len(response)
		slot := j.slot()
		before := slot.memory()
		if j.memory.full() {
			e.shorten()
			request, response = request[:min(len(request), cap(slot.request))], response[:min(len(response), cap(slot.response))]
		}
		e.request = append(slot.request[:0], request[:min(len(request), j.body)]...)
		e.response = append(slot.response[:0], response[:min(len(response), j.body)]...)
		*slot = e
		j.take(e.memory() - before)
	}
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
	return j.total
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
func (e *entry) failed() bool { return e.refusal.Code != "" || len(e.struck) > 0 }

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
	*e = entry{} // its bodies are not reused
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
	return int64(cap(e.request) + cap(e.response) + len(e.path) + len(e.query) + len(e.contentType) + len(e.refusal.Message))
}

// shorten truncates the texts that a caller controls.
func (e *entry) shorten() {
	const enough = 128
	for _, text := range []*string{&e.path, &e.query, &e.contentType, &e.refusal.Message} {
		if len(*text) > enough {
			*text = strings.Clone(strings.ToValidUTF8((*text)[:enough], ""))
		}
	}
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

// each calls fn with the recorded calls, oldest first, until it returns false. fn must copy the bodies that it
// keeps. each returns a channel that closes at the next call.
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

// Changes returns a channel that closes at the next call.
func (j *Log) Changes() <-chan struct{} { return j.each(func(*entry) bool { return false }) }

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
	return e.call(), e.refusal.Rule, nil
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
		limit = "-max-journal (in Go: WithMaxJournal)"
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
	sent := x.Reply.Body
	if x.Ending != wire.EndAnswered {
		sent = nil
	}
	x.ID = requestID(j.add(entry{
		at: x.At, duration: x.At.Sub(x.Arrived), operation: x.Operation, method: x.Method, path: x.URL.Path, query: x.URL.RawQuery,
		contentType: x.Header.Get("Content-Type"), key: x.Key,
		status: x.Status(), refusal: x.Reply.Refusal, struck: x.Struck,
	}, x.Body, sent))
}

// Amend adds a text to the fault of a kind that struck an entry, if the journal still has the entry.
func (j *Log) Amend(id, kind, text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := j.find(id)
	if e == nil {
		return
	}
	e.struck = slices.Clone(e.struck) // which a reader of the journal may share
	for i := range e.struck {
		if e.struck[i].Kind == kind {
			e.struck[i].Text += ", " + text
		}
	}
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
}

// call converts an entry to a [journal.Entry].
func (e *entry) call() journal.Entry {
	c := journal.Entry{
		RequestID: requestID(e.number), At: e.at, Duration: fault.Duration(e.duration.Round(time.Microsecond)), Operation: e.operation, Method: e.method, Path: wire.Redact(e.path),
		Query: wire.Redact(e.query), Key: e.key, ContentType: e.contentType, Status: e.status,
		ErrorCode: e.refusal.Code, Message: wire.Redact(e.refusal.Message),
		RequestBody: wire.Redact(string(e.request)), RequestBytes: e.requestBytes,
		ResponseBody: wire.Redact(string(e.response)), ResponseBytes: e.responseBytes,
	}
	c.Fault = wire.Strikes(e.struck)
	return c
}

// matches reports whether a query selects an entry. The request ids in the query are in the choice.
func matches(q *journal.Query, e *entry) bool {
	return (q.Operation == "" || q.Operation == e.operation) &&
		(q.Method == "" || q.Method == e.method) &&
		(q.Status == 0 || q.Status == e.status) &&
		(q.StatusClass == 0 || q.StatusClass == e.status/100) &&
		(q.RequestID == "" || q.RequestID == requestID(e.number)) &&
		(q.Key == "" || q.Key == e.key) &&
		(!q.Refused || e.refusal.Code != "") &&
		(!q.Faulted || len(e.struck) > 0) &&
		(q.Fault == "" || slices.ContainsFunc(e.struck, func(s wire.Strike) bool { return s.Kind == q.Fault })) &&
		(q.Contains == "" || e.contains(q.Contains))
}

// contains reports whether a recorded text contains another.
func (e *entry) contains(text string) bool {
	var status [4]byte
	return strings.Contains(e.path, text) || strings.Contains(e.query, text) || strings.Contains(e.operation, text) ||
		strings.Contains(e.refusal.Message, text) || strings.Contains(e.refusal.Code, text) ||
		e.status != 0 && string(strconv.AppendInt(status[:0], int64(e.status), 10)) == text ||
		bytes.Contains(e.request, []byte(text)) || bytes.Contains(e.response, []byte(text))
}
