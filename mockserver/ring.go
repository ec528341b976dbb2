package mockserver

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// callLog remembers the latest calls, and how many there were of each operation. A call costs the
// same however many came before it: once the ring is full, a call is written over the oldest one, into
// the memory that held its bodies.
type callLog struct {
	size   int // calls remembered; 0 for none
	body   int // bytes remembered of a body
	memory *journalMemory

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

// journalMemory is what the journals of all worlds take together, in bytes.
type journalMemory struct {
	most int64
	used atomic.Int64
}

func (m *journalMemory) full() bool { return m.used.Load() >= m.most }

func newJournal(size, body int, memory *journalMemory) *callLog {
	return &callLog{size: size, body: body, memory: memory, counts: map[string]int{}}
}

// add journals a call with its bodies, of which it keeps copies, and returns its number.
func (j *callLog) add(e entry, request, response []byte) uint64 {
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
func (j *callLog) slot() *entry {
	n := len(j.ring)
	if n < j.size && uint64(n) == j.total-1 && (n < fewestJournalCalls || !j.memory.full()) {
		before := cap(j.ring)
		j.ring = append(j.ring, entry{})
		j.take(int64(cap(j.ring)-before) * int64(reflect.TypeFor[entry]().Size()))
		return &j.ring[n]
	}
	return &j.ring[(j.total-1)%uint64(n)]
}

// take accounts for memory that the journal takes, or gives back where it is below zero.
func (j *callLog) take(bytes int64) {
	if bytes != 0 {
		j.taken += bytes
		j.memory.used.Add(bytes)
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

// isShort reports whether the journal remembers fewer calls than it should, since there is no room for more.
func (j *callLog) isShort() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return uint64(len(j.ring)) < min(j.total, uint64(j.size))
}

// end gives the memory back and remembers no further call; what is there can still be read.
func (j *callLog) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.take(-j.taken)
	j.ended = true
}

// each calls fn with the remembered calls, oldest first, until it returns false. What fn keeps of an
// entry's bodies it has to copy. It returns a channel that closes at the next call.
func (j *callLog) each(fn func(*entry) bool) <-chan struct{} {
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

// last returns the number of the latest call.
func (j *callLog) last() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.total
}

// changes returns a channel that closes at the next call.
func (j *callLog) changes() <-chan struct{} { return j.each(func(*entry) bool { return false }) }

// remembered returns a copy of a call by its id.
func (j *callLog) remembered(id string) (found entry, known bool) {
	digits, isID := strings.CutPrefix(id, "req-")
	number, err := strconv.ParseUint(digits, 10, 64)
	if !isID || err != nil {
		return found, false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if number == 0 || number > j.total || number+uint64(len(j.ring)) <= j.total {
		return found, false
	}
	found = j.ring[(number-1)%uint64(len(j.ring))]
	found.request, found.response = bytes.Clone(found.request), bytes.Clone(found.response)
	return found, true
}

// clear forgets every call; the next one is the first again.
func (j *callLog) clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.take(-j.taken)
	j.ring, j.total, j.counts = nil, 0, map[string]int{}
}

// len returns how many calls are remembered.
func (j *callLog) len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.ring)
}

func (j *callLog) count(operation string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.counts[operation]
}

func requestID(number uint64) string {
	var memory [24]byte
	return string(strconv.AppendUint(append(memory[:0], "req-"...), number, 10))
}

// note shows an exchange to the world's instruments and returns the id that the journal gives it.
func (w *World) note(x *wire.Exchange) string {
	r := x.Call.Request
	e := entry{
		at: w.clock.Now(), operation: x.Operation, method: r.Method, path: r.URL.Path, query: r.URL.RawQuery,
		contentType: r.Header.Get("Content-Type"), key: w.fingerprint(r),
		status: x.Reply.Status, refusal: x.Reply.Refusal, struck: x.Struck,
	}
	sent := x.Reply.Body
	if x.Ending != wire.EndAnswered {
		e.status, sent = 0, nil
	}
	id := requestID(w.calls.add(e, x.Call.Body, sent))
	w.conduct.watch(x, id, e.at, w.clock.IsVirtual())
	w.coverage.see(x)
	return id
}
