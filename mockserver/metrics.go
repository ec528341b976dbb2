package mockserver

import (
	"fmt"
	"net/http"
	"runtime"
	runtimemetrics "runtime/metrics"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// metrics counts what a server does. A request costs a few additions, however many came before it, and every
// label is one of a fixed set: operations of the table, statuses of the list below, kinds of faults.
type metrics struct {
	operations []string // of the table, and "none" for requests that named none
	statuses   []int
	requests   [][]atomic.Uint64
	seconds    []histogram // by operation
	faults     map[string]*atomic.Uint64
}

// Statuses that are counted by themselves: those that the server answers with of its own accord. 0 is a
// connection that was dropped. An injected fault can answer with any other, which counts as "other".
func countedStatuses() []int {
	return []int{0, 200, 304, 400, 401, 404, 405, 413, 415, 429, 431, 500, 502, 503, 504}
}

// upperBounds are where the buckets of durations end.
func upperBounds() []time.Duration {
	return []time.Duration{
		100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 5 * time.Millisecond,
		25 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond, time.Second, 10 * time.Second,
	}
}

// histogram counts durations, each in the first bucket that it fits and the longest in the last.
type histogram struct {
	bounds  []time.Duration
	buckets []atomic.Uint64
	sum     atomic.Int64 // nanoseconds
}

func newMetrics() *metrics {
	m := &metrics{statuses: countedStatuses(), faults: map[string]*atomic.Uint64{}}
	for _, op := range shipping.Operations() {
		m.operations = append(m.operations, op.Name)
	}
	m.operations = append(m.operations, "none")
	bounds := upperBounds()
	for range m.operations {
		m.requests = append(m.requests, make([]atomic.Uint64, len(m.statuses)+1))
		m.seconds = append(m.seconds, histogram{bounds: bounds, buckets: make([]atomic.Uint64, len(bounds)+1)})
	}
	for _, kind := range faultKinds() {
		m.faults[kind.Kind] = new(atomic.Uint64)
	}
	return m
}

// see counts an exchange that is about to be answered.
func (m *metrics) see(x *wire.Exchange) {
	operation := slices.Index(m.operations, x.Operation)
	if operation < 0 {
		operation = len(m.operations) - 1
	}
	status := x.Reply.Status
	if x.Ending != wire.EndAnswered {
		status = 0
	}
	place, counted := slices.BinarySearch(m.statuses, status)
	if !counted {
		place = len(m.statuses)
	}
	m.requests[operation][place].Add(1)
	m.seconds[operation].observe(time.Since(x.Began))
	for _, struck := range x.Struck {
		if counter := m.faults[struck.Kind]; counter != nil {
			counter.Add(1)
		}
	}
}

func (h *histogram) observe(d time.Duration) {
	at, _ := slices.BinarySearch(h.bounds, d)
	h.buckets[at].Add(1)
	h.sum.Add(int64(d))
}

// adminMetrics answers GET /_mock/metrics in the text format of Prometheus. What worlds hold is counted when
// it is asked for.
func (s *Server) adminMetrics(*control) wire.Reply {
	t := &metricsText{}
	s.metrics.write(t)
	worlds := s.Worlds()
	entries := s.strangers.calls.len()
	var transactions, waiting int
	for _, w := range worlds {
		entries += w.calls.len()
		waiting += w.Waiting()
		w.mu.Lock()
		transactions += w.account.Ledger.Len()
		w.mu.Unlock()
	}
	t.gauge("mockserver_worlds", "Worlds that are open.", len(worlds))
	t.gauge("mockserver_journal_entries", "Calls that the journals of the open worlds remember.", entries)
	t.gauge("mockserver_journal_bytes", "Memory that the journals of the open worlds take.", int(s.journals.used.Load()))
	t.gauge("mockserver_ledger_transactions", "Entries in the ledgers of the open worlds.", transactions)
	t.gauge("mockserver_waiting", "Things that wait for their time in the open worlds.", waiting)
	t.deliveries(worlds)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	t.gauge("go_goroutines", "Goroutines of the process.", runtime.NumGoroutine())
	t.gauge("go_memstats_heap_alloc_bytes", "Bytes of the heap that are in use.", int(memory.HeapAlloc))
	live := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	runtimemetrics.Read(live)
	t.gauge("go_gc_heap_live_bytes", "Bytes of the heap that the last garbage collection found in use.", int(live[0].Value.Uint64()))
	t.head("go_gc_cycles_total", "counter", "Garbage collections so far.")
	t.line("go_gc_cycles_total", "", memory.NumGC)
	return wire.Reply{Status: http.StatusOK, ContentType: "text/plain; version=0.0.4; charset=utf-8", Body: []byte(t.String())}
}

func (m *metrics) write(t *metricsText) {
	t.head("mockserver_requests_total", "counter", "Requests to the service by operation and status; 0 is a dropped connection.")
	for i, operation := range m.operations {
		for j := range m.requests[i] {
			status := "other"
			if j < len(m.statuses) {
				status = fmt.Sprint(m.statuses[j])
			}
			if n := m.requests[i][j].Load(); n > 0 {
				t.line("mockserver_requests_total", fmt.Sprintf("operation=%q,status=%q", operation, status), n)
			}
		}
	}
	t.head("mockserver_request_seconds", "histogram", "Time from the header of a request to its answer, on the machine's clock.")
	for i, operation := range m.operations {
		m.seconds[i].write(t, operation)
	}
	t.head("mockserver_faults_total", "counter", "Injected faults that struck, by kind.")
	for _, kind := range faultKinds() {
		t.line("mockserver_faults_total", fmt.Sprintf("kind=%q", kind.Kind), m.faults[kind.Kind].Load())
	}
}

func (h *histogram) write(t *metricsText, operation string) {
	const name = "mockserver_request_seconds"
	var seen uint64
	for i := range h.buckets {
		seen += h.buckets[i].Load()
		bound := "+Inf"
		if i < len(h.bounds) {
			bound = fmt.Sprint(h.bounds[i].Seconds())
		}
		t.line(name+"_bucket", fmt.Sprintf("operation=%q,le=%q", operation, bound), seen)
	}
	t.line(name+"_sum", fmt.Sprintf("operation=%q", operation), time.Duration(h.sum.Load()).Seconds())
	t.line(name+"_count", fmt.Sprintf("operation=%q", operation), seen)
}

// metricsText is a page of metrics in the making.
type metricsText struct{ strings.Builder }

func (t *metricsText) head(name, kind, help string) {
	fmt.Fprintf(t, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (t *metricsText) line(name, labels string, value any) {
	if labels != "" {
		labels = "{" + labels + "}"
	}
	fmt.Fprintf(t, "%s%s %v\n", name, labels, value)
}

func (t *metricsText) gauge(name, help string, value int) {
	t.head(name, "gauge", help)
	t.line(name, "", value)
}

// deliveries counts what the delivery logs of the open worlds hold.
func (t *metricsText) deliveries(worlds []*World) {
	states := []string{"queued", "delivered", "failed", "refused"}
	counts := map[string]int{}
	for _, w := range worlds {
		for _, d := range w.deliveries.Log() {
			counts[string(d.State)]++
		}
	}
	t.head("mockserver_deliveries", "gauge", "Notifications in the delivery logs of the open worlds, by outcome.")
	for _, state := range states {
		t.line("mockserver_deliveries", fmt.Sprintf("outcome=%q", state), counts[state])
	}
}
