// Package watch observes exchanges: it journals them, and lints the behaviour of the client. It changes nothing about
// an exchange except its ID, which the journal sets.
package watch

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/byname"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Log records the latest calls, and counts the calls of each operation. If it is full, it drops the oldest call. Failed
// calls, which were refused or struck by a fault, are kept longer, so that many successful calls do not replace them.
type Log struct {
	size int           // number of calls recorded, without failed ones that are kept longer; 0 for none
	body int           // bytes recorded of a body
	all  *atomic.Int64 // calls recorded by all logs
	most int64         // as many as all logs may record; beyond it a log keeps its latest few calls

	mu      sync.Mutex
	calls   []*entry // oldest first
	kept    int      // how many of the first calls are failed ones that are kept longer
	total   uint64
	ended   bool // no further calls are recorded
	counts  map[string]int
	changed chan struct{} // closed at the next call
}

type entry struct {
	journal.Entry
	number uint64
	rule   string // the sentence of the specification for a refusal
	struck []wire.Strike
}

// NewLog returns a log. all counts the calls of all logs; most is about their limit.
func NewLog(size, body int, all *atomic.Int64, most int) *Log {
	return &Log{size: size, body: body, all: all, most: int64(max(size, most)), counts: map[string]int{},
		changed: make(chan struct{})}
}

// add records a call, and returns its request id.
func (j *Log) add(e entry) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.total++
	j.counts[e.Operation]++
	e.number, e.ID = j.total, requestID(j.total)
	if j.size > 0 && !j.ended {
		j.calls = append(j.calls, &e)
		j.all.Add(1)
		j.trim()
	}
	j.wake()
	return e.ID
}

// wake ends the waits for a change. The caller holds the lock.
func (j *Log) wake() {
	close(j.changed)
	j.changed = make(chan struct{})
}

// few is how many calls a log keeps, even if the other logs are full.
const few = 8

// keptShare is how many calls a journal records for each failed call that it keeps longer.
const keptShare = 4

// trim drops the calls beyond the limit. The caller holds the lock.
func (j *Log) trim() {
	if len(j.calls)-j.kept > j.size {
		if j.calls[j.kept].failed() {
			j.kept++
		} else {
			j.drop(j.kept)
		}
	}
	for j.kept > j.size/keptShare || len(j.calls) > few && j.all.Load() > j.most {
		j.drop(0)
		j.kept = max(0, j.kept-1)
	}
}

func (j *Log) drop(i int) {
	j.all.Add(-1)
	copy(j.calls[1:], j.calls[:i]) // few entries: the oldest are dropped first
	j.calls[0] = nil
	j.calls = j.calls[1:]
}

func (e *entry) failed() bool { return e.ErrorCode != "" || len(e.struck) > 0 }

// End stops recording and counting of calls. Recorded calls can still be read.
func (j *Log) End() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended = true
	j.all.Add(-int64(len(j.calls)))
}

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
	i, found := slices.BinarySearchFunc(j.calls, number,
		func(e *entry, number uint64) int { return cmp.Compare(e.number, number) })
	if !found {
		return nil
	}
	return j.calls[i]
}

// absent returns the error for an id that no entry has. The caller holds the lock.
func (j *Log) absent(id string) error {
	number, err := numberOf(id)
	if err != nil || number == 0 || number > j.total {
		return fmt.Errorf("the journal has no request %q: use the X-Request-Id of one of the latest responses", id)
	}
	return fmt.Errorf("%w %q: it keeps the latest %d, and refused ones longer; raise the limit with WithJournal in Go",
		ErrDropped, id, j.size)
}

// Clear removes every call and starts the numbering again.
func (j *Log) Clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.ended {
		j.all.Add(-int64(len(j.calls)))
	}
	j.calls, j.kept, j.total, j.counts = nil, 0, 0, map[string]int{}
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
		At: x.At, Duration: fault.Duration(x.At.Sub(x.Arrived).Round(time.Microsecond)), Operation: x.Operation,
		Method: r.Method,
		Path:   short(r.URL.Path), Query: short(r.URL.RawQuery), Key: x.Key, ContentType: short(r.Header.Get("Content-Type")),
		Console: x.FromConsole(),
		Status:  x.Status(), ErrorCode: refusal.Code, Message: wire.Redact(refusal.Message), Fault: x.Faults(),
		RequestBytes: len(x.Body),
	}}
	about(&e.Entry, x)
	e.RequestBody = j.start(x.Body)
	if x.Ending == wire.EndAnswered {
		e.ResponseBytes, e.ResponseBody = x.Reply.Length(), j.start(x.Reply.Start(j.body))
	}
	x.ID = j.add(e)
}

// short returns the part of a request's text that the journal records.
func short(text string) string { return wire.Redact(wire.Bounded(text, 2048)) }

// about sets the subject of a request.
func about(e *journal.Entry, x *wire.Exchange) {
	record := x.Reply.Record
	if record == nil {
		var named struct {
			ShipmentID string `json:"shipment_id"`
			RequestID  string `json:"request_id"`
		}
		_ = json.Unmarshal(x.Body, &named) // a body without these ids is about no record
		e.ShipmentID, e.RegulatoryRequestID = name(named.ShipmentID), name(named.RequestID)
		return
	}
	e.ShipmentID, e.RegulatoryRequestID = name(record.ShipmentID), record.RequestID
	if byname.Has(x.Operation, byname.Charges) && record.TransactionID != "" {
		e.Charged = record.ChargedAmount.StringFixed(2) + " " + record.Currency
	}
}

// name shortens and redacts an identifier for the journal.
func name(id string) string { return wire.Redact(wire.Bounded(id, wire.MaxReason)) }

// start returns what the journal records of a body.
func (j *Log) start(body []byte) string {
	if j.size == 0 {
		return ""
	}
	return wire.Redact(string(body[:min(len(body), j.body)]))
}

// Amend adds a text to the fault that deferred the operation of an entry, if the journal still has the entry.
func (j *Log) Amend(id, text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := j.find(id)
	if e == nil {
		return
	}
	for i := range e.struck {
		if e.struck[i].Defers {
			e.struck[i].Text += ", " + text
		}
	}
	e.Fault = wire.Strikes(e.struck)
}

// matches reports whether a query selects an entry. It does not check After and Before: the choice has them.
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
