package watch

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// fewestCalls is how many calls of a world are remembered, however little room there is.
const fewestCalls = 8

// Log remembers the latest calls, and how many there were of each operation. A call costs the
// same however many came before it: once the ring is full, a call is written over the oldest one, into
// the memory that held its bodies.
type Log struct {
	size   int // calls remembered; 0 for none
	body   int // bytes remembered of a body
	memory *Memory

	mu      sync.Mutex
	ring    []entry // grows until it has its size or memory is full; call n is at n-1, modulo its length
	taken   int64   // of memory
	total   uint64
	ended   bool // remembers no further call
	counts  map[string]int
	changed chan struct{} // closed at the next call; nil while nobody waits
}

// entry is a call as it is remembered. What can be made from it is made when it is read.
type entry struct {
	number        uint64
	at            time.Time
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

// Memory is what the journals of all worlds take together, in bytes.
type Memory struct {
	Most int64
	Used atomic.Int64
}

func (m *Memory) full() bool { return m.Used.Load() >= m.Most }

func NewLog(size, body int, memory *Memory) *Log {
	return &Log{size: size, body: body, memory: memory, counts: map[string]int{}}
}

// add journals a call with its bodies, of which it keeps copies, and returns its number.
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

// slot returns where the call with the present total goes.
func (j *Log) slot() *entry {
	n := len(j.ring)
	if n < j.size && uint64(n) == j.total-1 && (n < fewestCalls || !j.memory.full()) {
		before := cap(j.ring)
		j.ring = append(j.ring, entry{})
		j.take(int64(cap(j.ring)-before) * int64(reflect.TypeFor[entry]().Size()))
		return &j.ring[n]
	}
	return &j.ring[(j.total-1)%uint64(n)]
}

// take accounts for memory that the journal takes, or gives back where it is below zero.
func (j *Log) take(bytes int64) {
	if bytes != 0 {
		j.taken += bytes
		j.memory.Used.Add(bytes)
	}
}

// memory is what an entry holds on to, besides its place in the ring.
func (e *entry) memory() int64 {
	return int64(cap(e.request) + cap(e.response) + len(e.path) + len(e.query) + len(e.contentType) + len(e.refusal.Message))
}

// shorten leaves of what a caller can make long what tells the call from others.
func (e *entry) shorten() {
	const enough = 128
	for _, text := range []*string{&e.path, &e.query, &e.contentType, &e.refusal.Message} {
		if len(*text) > enough {
			*text = strings.Clone(strings.ToValidUTF8((*text)[:enough], ""))
		}
	}
}

// IsShort reports whether the journal remembers fewer calls than it should, since there is no room for more.
func (j *Log) IsShort() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return uint64(len(j.ring)) < min(j.total, uint64(j.size))
}

// End gives the memory back and remembers no further call; what is there can still be read.
func (j *Log) End() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.take(-j.taken)
	j.ended = true
}

// each calls fn with the remembered calls, oldest first, until it returns false. What fn keeps of an
// entry's bodies it has to copy. It returns a channel that closes at the next call.
func (j *Log) each(fn func(*entry) bool) <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.changed == nil {
		j.changed = make(chan struct{})
	}
	for n := j.total - uint64(len(j.ring)); n < j.total; n++ {
		if !fn(&j.ring[n%uint64(len(j.ring))]) {
			break
		}
	}
	return j.changed
}

// Last returns the number of the latest call.
func (j *Log) Last() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.total
}

// Changes returns a channel that closes at the next call.
func (j *Log) Changes() <-chan struct{} { return j.each(func(*entry) bool { return false }) }

// Remembered returns a call by its id, and the sentence of the specification that its refusal rests on, if that is known.
func (j *Log) Remembered(id string) (found journal.Entry, rule string, known bool) {
	digits, isID := strings.CutPrefix(id, "req-")
	number, err := strconv.ParseUint(digits, 10, 64)
	if !isID || err != nil {
		return found, "", false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if number == 0 || number > j.total || number+uint64(len(j.ring)) <= j.total {
		return found, "", false
	}
	e := &j.ring[(number-1)%uint64(len(j.ring))]
	return e.call(), e.refusal.Rule, true
}

// Clear forgets every call; the next one is the first again.
func (j *Log) Clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.take(-j.taken)
	j.ring, j.total, j.counts = nil, 0, map[string]int{}
}

// Len returns how many calls are remembered.
func (j *Log) Len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.ring)
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
	r := x.Call.Request
	sent := x.Reply.Body
	if x.Ending != wire.EndAnswered {
		sent = nil
	}
	x.ID = requestID(j.add(entry{
		at: x.At, operation: x.Operation, method: r.Method, path: r.URL.Path, query: r.URL.RawQuery,
		contentType: r.Header.Get("Content-Type"), key: x.Key,
		status: x.Status(), refusal: x.Reply.Refusal, struck: x.Struck,
	}, x.Call.Body, sent))
}

// call is what a reader sees of an entry.
func (e *entry) call() journal.Entry {
	c := journal.Entry{
		RequestID: requestID(e.number), At: e.at, Operation: e.operation, Method: e.method, Path: wire.Redact(e.path),
		Query: wire.Redact(e.query), Key: e.key, ContentType: e.contentType, Status: e.status,
		ErrorCode: e.refusal.Code, Message: wire.Redact(e.refusal.Message),
		RequestBody: wire.Redact(string(e.request)), RequestBytes: e.requestBytes,
		ResponseBody: wire.Redact(string(e.response)), ResponseBytes: e.responseBytes,
	}
	c.Fault = wire.Strikes(e.struck)
	return c
}

// matches reports whether a query chooses an entry.
func matches(q *journal.Query, e *entry) bool {
	return (q.Operation == "" || q.Operation == e.operation) &&
		(q.Status == 0 || q.Status == e.status) &&
		(q.RequestID == "" || q.RequestID == requestID(e.number)) &&
		(q.Key == "" || q.Key == e.key) &&
		(!q.Faulted || len(e.struck) > 0) &&
		(q.Contains == "" || strings.Contains(e.path, q.Contains) || strings.Contains(e.query, q.Contains) ||
			bytes.Contains(e.request, []byte(q.Contains)) || bytes.Contains(e.response, []byte(q.Contains)))
}
