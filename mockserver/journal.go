package mockserver

import (
	"strconv"
	"sync"
	"time"
)

// Call is a request that the server has answered.
type Call struct {
	// RequestID is the X-Request-Id header of the answer.
	RequestID string `json:"request_id"`
	// At is when the answer was ready, by the world's clock.
	At time.Time `json:"at"`
	// Operation is the name in the operation table; empty where the request named none.
	Operation string `json:"operation"`
	// Method is the HTTP method.
	Method string `json:"method"`
	// Path is the path without the query, which may hold what a log should not.
	Path string `json:"path"`
	// Status is the HTTP status of the answer; 0 where the connection was dropped by a fault.
	Status int `json:"status"`
}

// journal remembers the latest calls, and how many there were of each operation. A call costs the
// same however many came before it.
type journal struct {
	mu     sync.Mutex
	ring   []entry
	next   int // where the next call goes
	total  uint64
	counts map[string]int
}

// entry is a call with its number in place of its id, whose text is made when it is read.
type entry struct {
	call   Call
	number uint64
}

func newJournal(size int) *journal {
	return &journal{ring: make([]entry, 0, size), counts: map[string]int{}}
}

// add journals a call and returns its id.
func (j *journal) add(c Call) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.total++
	j.counts[c.Operation]++
	e := entry{call: c, number: j.total}
	if len(j.ring) < cap(j.ring) {
		j.ring = append(j.ring, e)
	} else {
		j.ring[j.next] = e
	}
	j.next = (j.next + 1) % cap(j.ring)
	return requestID(j.total)
}

// latest returns the calls that are still remembered, oldest first.
func (j *journal) latest() []Call {
	j.mu.Lock()
	defer j.mu.Unlock()
	first := 0
	if len(j.ring) == cap(j.ring) {
		first = j.next
	}
	calls := make([]Call, 0, len(j.ring))
	for i := range j.ring {
		e := j.ring[(first+i)%len(j.ring)]
		e.call.RequestID = requestID(e.number)
		calls = append(calls, e.call)
	}
	return calls
}

func (j *journal) count(operation string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.counts[operation]
}

func requestID(number uint64) string { return "req-" + strconv.FormatUint(number, 10) }

// Calls returns how many requests named an operation, such as [shipping.OpPurchase], since the start.
// The empty name counts those that named none.
func (s *Server) Calls(operation string) int { return s.home.calls.count(operation) }

// Journal returns the latest calls, up to 1,024, oldest first.
func (s *Server) Journal() []Call { return s.home.calls.latest() }
