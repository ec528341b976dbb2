package benchmarks

import (
	"context"
	"fmt"
	"net/http"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/test/benchmarks/raw"
	"github.com/shipping-go/shipping/test/benchmarks/service"
)

// BenchmarkPages walks over pages of 100 transactions from a service that takes 20 ms a page. The slow consumer takes
// another 20 ms for each page.
func BenchmarkPages(b *testing.B) {
	const latency = 20 * time.Millisecond
	for _, walk := range []struct {
		name     string
		pages    int
		consumer time.Duration
	}{{"20-pages", 20, 0}, {"20-pages-slow-consumer", 20, latency}, {"200-pages", 200, 0}} {
		rows := 100 * walk.pages
		consume := func(row int) {
			if walk.consumer > 0 && row%100 == 0 {
				<-time.After(walk.consumer)
			}
		}
		b.Run("of="+walk.name+"/by=raw",
			func(b *testing.B) { measureWalk(b, walkByHand(newLedger(b, rows, latency)), rows, consume) })
		b.Run("of="+walk.name+"/by=client",
			func(b *testing.B) { measureWalk(b, walkByClient(b, rows, latency), rows, consume) })
	}
}

// BenchmarkWalk walks over a million transactions. The metric is the size of the heap at its largest, garbage that was
// not collected yet included.
func BenchmarkWalk(b *testing.B) {
	const rows = 1_000_000
	b.Run("of=million/by=raw", func(b *testing.B) { measureHeap(b, walkByHand(newLedger(b, rows, 0)), rows) })
	b.Run("of=million/by=client", func(b *testing.B) { measureHeap(b, walkByClient(b, rows, 0), rows) })
}

func measureHeap(b *testing.B, walk walk, rows int) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	var largest uint64
	measureWalk(b, walk, rows, func(row int) {
		if row%100 == 0 {
			metrics.Read(sample)
			largest = max(largest, sample[0].Value.Uint64())
		}
	})
	b.ReportMetric(float64(largest)/(1<<20), "heap-MiB")
}

func newLedger(tb testing.TB, rows int, delay time.Duration) http.RoundTripper {
	ledger, err := service.NewLedger(record(tb).Transactions, rows, delay)
	if err != nil {
		tb.Fatal(err)
	}
	return ledger
}

// walk calls visit with the identifier of each transaction.
type walk func(ctx context.Context, visit func(id string)) error

func measureWalk(b *testing.B, walk walk, rows int, consume func(row int)) {
	for b.Loop() {
		visited := 0
		err := walk(b.Context(), func(id string) {
			if id != service.TransactionID(visited) {
				b.Fatalf("row %d is %s", visited, id)
			}
			consume(visited)
			visited++
		})
		if err != nil || visited != rows {
			b.Fatalf("%d rows (%v), want %d", visited, err, rows)
		}
	}
}

// walkByHand reads a page after the page before it was consumed, as hand-written loops do.
func walkByHand(through http.RoundTripper) walk {
	client := &http.Client{Transport: through}
	return func(ctx context.Context, visit func(string)) error {
		for page, more := 1, true; more; page++ {
			url := fmt.Sprintf("%s/v1/transactions?wallet=%s&page=%d", address, wallet, page)
			response, err := raw.Get[raw.Transactions](ctx, client, url, key)
			if err != nil {
				return err
			}
			for i := range response.Data.Transactions {
				visit(response.Data.Transactions[i].TransactionID)
			}
			more = response.Data.Pagination.HasNextPage
		}
		return nil
	}
}

func walkByClient(tb testing.TB, rows int, delay time.Duration) walk {
	client := newClient(tb, newLedger(tb, rows, delay))
	return func(ctx context.Context, visit func(string)) error {
		for transaction, err := range client.Transactions.All(ctx, &shipping.TransactionListOptions{Wallet: wallet}) {
			if err != nil {
				return err
			}
			visit(transaction.TransactionID)
		}
		return nil
	}
}
