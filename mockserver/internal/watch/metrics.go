package watch

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// Metrics counts the events of a server. The cost of a request is a few additions. Every label has a fixed set of values:
// operations of the table, statuses of the list below, kinds of faults.
type Metrics struct {
	operations []string // of the table, and "none" for requests that named none
	statuses   []int
	requests   [][]atomic.Uint64
	seconds    []histogram // by operation
	kinds      []string    // of faults
	faults     map[string]*atomic.Uint64
}

// countedStatuses returns the statuses that have a label: those that the server itself sends, and 0 for a
// dropped connection. A fault can send others, which count as "other".
func countedStatuses() []int {
	return []int{0, 200, 304, 400, 401, 404, 405, 413, 415, 429, 431, 500, 502, 503, 504}
}

// upperBounds returns the upper bounds of the buckets.
func upperBounds() []time.Duration {
	return []time.Duration{
		100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 5 * time.Millisecond,
		25 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond, time.Second, 10 * time.Second,
	}
}

// histogram counts durations, each in the first bucket whose bound it does not exceed, or in the last.
type histogram struct {
	bounds  []time.Duration
	buckets []atomic.Uint64
	sum     atomic.Int64 // nanoseconds
}

func NewMetrics(kinds []string) *Metrics {
	m := &Metrics{statuses: countedStatuses(), kinds: kinds, faults: map[string]*atomic.Uint64{}}
	for _, op := range shipping.Operations() {
		m.operations = append(m.operations, op.Name)
	}
	m.operations = append(m.operations, "none")
	bounds := upperBounds()
	for range m.operations {
		m.requests = append(m.requests, make([]atomic.Uint64, len(m.statuses)+1))
		m.seconds = append(m.seconds, histogram{bounds: bounds, buckets: make([]atomic.Uint64, len(bounds)+1)})
	}
	for _, kind := range kinds {
		m.faults[kind] = new(atomic.Uint64)
	}
	return m
}

// See counts an exchange before its response is sent.
func (m *Metrics) See(x *wire.Exchange) {
	operation := slices.Index(m.operations, x.Operation)
	if operation < 0 {
		operation = len(m.operations) - 1
	}
	place := slices.Index(m.statuses, x.Status())
	if place < 0 {
		place = len(m.statuses)
	}
	m.requests[operation][place].Add(1)
	m.seconds[operation].observe(x.Took)
	for _, struck := range x.Struck {
		if counter := m.faults[struck.Kind]; counter != nil {
			counter.Add(1)
		}
	}
}

func (h *histogram) observe(d time.Duration) {
	at := 0
	for at < len(h.bounds) && d > h.bounds[at] { // most requests are in the first bucket
		at++
	}
	h.buckets[at].Add(1)
	h.sum.Add(int64(d))
}

func (m *Metrics) Write(t *MetricsText) {
	t.Head("mockserver_requests_total", "counter", "Requests to the service by operation and status; 0 is a dropped connection.")
	for i, operation := range m.operations {
		for j := range m.requests[i] {
			status := "other"
			if j < len(m.statuses) {
				status = fmt.Sprint(m.statuses[j])
			}
			if n := m.requests[i][j].Load(); n > 0 {
				t.Line("mockserver_requests_total", fmt.Sprintf("operation=%q,status=%q", operation, status), n)
			}
		}
	}
	t.Head("mockserver_request_seconds", "histogram", "Time from the header of a request to its response, on the machine's clock.")
	for i, operation := range m.operations {
		m.seconds[i].Write(t, operation)
	}
	t.Head("mockserver_faults_total", "counter", "Injected faults that struck, by kind.")
	for _, kind := range m.kinds {
		t.Line("mockserver_faults_total", fmt.Sprintf("kind=%q", kind), m.faults[kind].Load())
	}
}

func (h *histogram) Write(t *MetricsText, operation string) {
	const name = "mockserver_request_seconds"
	var seen uint64
	for i := range h.buckets {
		seen += h.buckets[i].Load()
		bound := "+Inf"
		if i < len(h.bounds) {
			bound = fmt.Sprint(h.bounds[i].Seconds())
		}
		t.Line(name+"_bucket", fmt.Sprintf("operation=%q,le=%q", operation, bound), seen)
	}
	t.Line(name+"_sum", fmt.Sprintf("operation=%q", operation), time.Duration(h.sum.Load()).Seconds())
	t.Line(name+"_count", fmt.Sprintf("operation=%q", operation), seen)
}

// MetricsText builds a page of metrics.
type MetricsText struct{ strings.Builder }

func (t *MetricsText) Head(name, kind, help string) {
	fmt.Fprintf(t, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (t *MetricsText) Line(name, labels string, value any) {
	if labels != "" {
		labels = "{" + labels + "}"
	}
	fmt.Fprintf(t, "%s%s %v\n", name, labels, value)
}

func (t *MetricsText) Gauge(name, help string, value int) {
	t.Head(name, "gauge", help)
	t.Line(name, "", value)
}
