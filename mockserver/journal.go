package mockserver

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"time"
)

// journal remembers the latest calls, and how many there were of each operation. A call costs the
// same however many came before it: once the ring is full, a call is written over the oldest one, into
// the memory that held its bodies.
type journal struct {
	size int // calls remembered; 0 for none
	body int // bytes remembered of a body

	mu      sync.Mutex
	ring    []entry
	total   uint64
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
	refusal       refusal
	struck        *armedRule
	request       []byte // the beginning of the body
	response      []byte
	requestBytes  int // the length of the whole body
	responseBytes int
}

func newJournal(size, body int) *journal {
	return &journal{size: size, body: body, counts: map[string]int{}}
}

// add journals a call with its bodies, of which it keeps copies, and returns its number.
func (j *journal) add(e entry, request, response []byte) uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.total++
	j.counts[e.operation]++
	if j.size > 0 {
		e.number = j.total
		e.requestBytes, e.responseBytes = len(request), len(response)
		slot := j.slot()
		e.request = append(slot.request[:0], request[:min(len(request), j.body)]...)
		e.response = append(slot.response[:0], response[:min(len(response), j.body)]...)
		*slot = e
	}
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
	return j.total
}

// slot returns where the call with the present total goes.
func (j *journal) slot() *entry {
	if len(j.ring) < j.size {
		j.ring = append(j.ring, entry{})
		return &j.ring[len(j.ring)-1]
	}
	return &j.ring[(j.total-1)%uint64(j.size)]
}

// each calls fn with the remembered calls, oldest first, until it returns false. What fn keeps of an
// entry's bodies it has to copy. It returns a channel that closes at the next call.
func (j *journal) each(fn func(*entry) bool) <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.changed == nil {
		j.changed = make(chan struct{})
	}
	for n := j.total - uint64(len(j.ring)); n < j.total; n++ {
		if !fn(&j.ring[n%uint64(j.size)]) {
			break
		}
	}
	return j.changed
}

// last returns the number of the latest call.
func (j *journal) last() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.total
}

// changes returns a channel that closes at the next call.
func (j *journal) changes() <-chan struct{} { return j.each(func(*entry) bool { return false }) }

// remembered returns a copy of a call by its id.
func (j *journal) remembered(id string) (found entry, known bool) {
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
	found = j.ring[(number-1)%uint64(j.size)]
	found.request, found.response = bytes.Clone(found.request), bytes.Clone(found.response)
	return found, true
}

// clear forgets every call; the next one is the first again.
func (j *journal) clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ring, j.total, j.counts = nil, 0, map[string]int{}
}

// len returns how many calls are remembered.
func (j *journal) len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.ring)
}

func (j *journal) count(operation string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.counts[operation]
}

func requestID(number uint64) string { return "req-" + strconv.FormatUint(number, 10) }

// note shows an exchange to the world's instruments and returns the id that the journal gives it.
func (w *World) note(x *exchange) string {
	r := x.call.Request
	e := entry{
		at: w.clock.Now(), operation: x.operation, method: r.Method, path: r.URL.Path, query: r.URL.RawQuery,
		contentType: r.Header.Get("Content-Type"), key: w.fingerprint(r),
		status: x.reply.status, refusal: x.reply.refusal, struck: x.struck,
	}
	sent := x.reply.body
	if x.ending != endAnswered {
		e.status, sent = 0, nil
	}
	id := requestID(w.calls.add(e, x.call.body, sent))
	w.conduct.watch(x, id, e.at, w.clock.IsVirtual())
	w.coverage.see(x)
	return id
}
