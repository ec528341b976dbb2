package admin

import (
	"fmt"
	"net/http"
	"runtime"
	runtimemetrics "runtime/metrics"

	"github.com/shipping-go/shipping/mockserver/internal/watch"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// getMetrics serves GET /_mock/metrics in the text format of Prometheus. The contents of worlds are counted on
// request.
func (s *Admin) getMetrics(*control) wire.Reply {
	t := &watch.MetricsText{}
	s.Metrics.Write(t)
	worlds := s.Worlds.Worlds()
	entries := s.Worlds.Unauthenticated.Log.Len()
	var transactions, waiting int
	for _, w := range worlds {
		entries += w.Log.Len()
		waiting += w.Waiting()
		w.Lock()
		transactions += w.Account.Ledger.Len()
		w.Unlock()
	}
	t.Gauge("mockserver_worlds", "Worlds that are open.", len(worlds))
	t.Gauge("mockserver_journal_entries", "Requests in the journals of the open worlds.", entries)
	t.Gauge("mockserver_journal_bytes", "Memory of the journals of the open worlds.", int(s.Memory.Used.Load()))
	t.Gauge("mockserver_ledger_transactions", "Entries in the ledgers of the open worlds.", transactions)
	t.Gauge("mockserver_pending", "Timers that are pending in the open worlds, such as generated documents and delivery retries.", waiting)
	writeDeliveries(t, worlds)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	t.Gauge("go_goroutines", "Goroutines of the process.", runtime.NumGoroutine())
	t.Gauge("go_memstats_heap_alloc_bytes", "Bytes of the heap that are in use.", int(memory.HeapAlloc))
	live := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	runtimemetrics.Read(live)
	t.Gauge("go_gc_heap_live_bytes", "Bytes of the heap that the last garbage collection found in use.", int(live[0].Value.Uint64()))
	t.Head("go_gc_cycles_total", "counter", "Garbage collections so far.")
	t.Line("go_gc_cycles_total", "", memory.NumGC)
	return wire.Reply{Status: http.StatusOK, ContentType: "text/plain; version=0.0.4; charset=utf-8", Body: []byte(t.String())}
}

// writeDeliveries counts the deliveries of the open worlds.
func writeDeliveries(t *watch.MetricsText, worlds []*world.World) {
	states := []string{"queued", "delivered", "failed", "refused"}
	counts := map[string]int{}
	for _, w := range worlds {
		for _, d := range w.Dispatcher.Log() {
			counts[string(d.State)]++
		}
	}
	t.Head("mockserver_deliveries", "gauge", "Notifications in the delivery logs of the open worlds, by outcome.")
	for _, state := range states {
		t.Line("mockserver_deliveries", fmt.Sprintf("outcome=%q", state), counts[state])
	}
}
