package benchmarks

import (
	"fmt"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
	"github.com/shipping-go/shipping/test/benchmarks/processor"
	"github.com/shipping-go/shipping/test/benchmarks/service"
)

// BenchmarkGrowth lets the server do the same work for 1,000, 10,000 and 100,000 rows. The metrics are the processor
// time of a row, and the memory that a row holds when the last one is done. Run it with -benchtime 1x.
func BenchmarkGrowth(b *testing.B) {
	for _, w := range []struct {
		name string
		most int
		work work
	}{
		{"worlds-with-a-purchase", 7_000, purchaseInWorlds}, // more reach the limit of records
		{"worlds-in-use", 2_000, useWorlds},
		{"first-purchases", 7_000, firstPurchases},
		{"waiting-requests-advanced", 100_000, advance},
	} {
		for _, rows := range []int{1_000, w.most} {
			b.Run(fmt.Sprintf("of=%s/n=%d", w.name, rows), func(b *testing.B) { measureGrowth(b, rows, w.work) })
		}
	}
}

// work prepares a measurement. The function that it returns is measured, and its result is held meanwhile.
type work func(b *testing.B, rows int) func() any

func measureGrowth(b *testing.B, rows int, prepare work) {
	var used time.Duration
	var kept int64
	for b.Loop() {
		b.StopTimer()
		do := prepare(b, rows)
		heap := liveHeap()
		b.StartTimer()
		before := processor.Time()
		held := do()
		used += processor.Time() - before
		b.StopTimer()
		kept = max(0, liveHeap()-heap)
		runtime.KeepAlive(held)
		runtime.KeepAlive(do)
		b.StartTimer()
	}
	b.ReportMetric(float64(used)/float64(b.N)/float64(rows), "cpu-ns/row")
	b.ReportMetric(float64(kept)/float64(rows), "kept-B/row")
}

func liveHeap() int64 {
	runtime.GC()
	runtime.GC() // the second one empties pools
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func openWorld(b *testing.B, srv *mockserver.Server, row int) *mockserver.World {
	w, err := srv.Open(fmt.Sprint("default_", row))
	if err != nil {
		b.Fatal(err)
	}
	return w
}

func purchaseInWorlds(b *testing.B, rows int) func() any {
	srv := newServer(b)
	return func() any {
		for row := range rows {
			newDraft(b, srv, openWorld(b, srv, row))()
		}
		return srv
	}
}

// useWorlds acts as a test in each of many worlds: it adds a webhook, reads three pages of rates, and makes three
// purchases. All of it is in the journals.
func useWorlds(b *testing.B, rows int) func() any {
	srv := newServer(b, mockserver.WithJournal(1024, 2<<10))
	return func() any {
		for row := range rows {
			w := openWorld(b, srv, row)
			_, err := w.AddWebhook(notify.Webhook{URL: "http://127.0.0.1:9/"})
			for page := 1; page <= 3 && err == nil; page++ {
				_, err = service.Request(srv, w, http.MethodGet, fmt.Sprintf("rates?perPage=100&page=%d", page), "")
			}
			if err != nil {
				b.Fatal(err)
			}
			for range 3 {
				newDraft(b, srv, w)()
			}
		}
		return srv
	}
}

// firstPurchases purchases a draft in each of many worlds that have one.
func firstPurchases(b *testing.B, rows int) func() any {
	srv := newServer(b)
	purchases := make([]func(), rows)
	for row := range purchases {
		purchases[row] = newDraft(b, srv, openWorld(b, srv, row))
	}
	return func() any {
		for _, purchase := range purchases {
			purchase()
		}
		return srv
	}
}

// advance moves a virtual clock past the generation of the documents of many requests.
func advance(b *testing.B, rows int) func() any {
	srv := newServer(b, mockserver.WithVirtualClock(time.Time{}))
	plenty, err := shipping.NewAmount(100_000_000_000, 0)
	if err == nil {
		err = srv.Fund(srv.Wallets()[0], plenty)
	}
	if err != nil {
		b.Fatal(err)
	}
	for range rows {
		newDraft(b, srv, srv.World)()
	}
	return func() any {
		fired, err := srv.Advance(time.Hour)
		if err != nil || len(fired) != rows {
			b.Fatalf("%d of %d were due (%v)", len(fired), rows, err)
		}
		return nil
	}
}

// newDraft returns the function that purchases a new draft.
func newDraft(b *testing.B, srv *mockserver.Server, w *mockserver.World) (purchase func()) {
	draft, err := service.Analyze(srv, w, srv.Shipments()[0])
	if err != nil {
		b.Fatal(err)
	}
	id := service.RequestID(draft)
	return func() {
		if err := service.Purchase(srv, w, id); err != nil {
			b.Fatal(err)
		}
	}
}

func newServer(b *testing.B, options ...mockserver.Option) *mockserver.Server {
	srv := service.New(options...)
	b.Cleanup(srv.Close)
	if err := srv.Err(); err != nil {
		b.Fatal(err)
	}
	return srv
}
