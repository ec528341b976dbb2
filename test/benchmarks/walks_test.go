package benchmarks

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"runtime"
	"runtime/metrics"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/test/benchmarks/raw"
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
		for side, start := range walkers() {
			b.Run("of="+walk.name+"/by="+side, func(b *testing.B) { measureWalk(b, start(b, newLedger(b, rows, latency)), rows, consume) })
		}
	}
	b.Run("of=first-transaction/by=client", func(b *testing.B) {
		service := newLedger(b, 2000, latency)
		transactions := newClient(b, service).Transactions
		for b.Loop() {
			for _, err := range transactions.All(b.Context(), &shipping.TransactionListOptions{Wallet: wallet}) {
				if err != nil {
					b.Fatal(err)
				}
				break
			}
		}
		b.ReportMetric(float64(service.requests.Load())/float64(b.N), "requests/op")
	})
}

// BenchmarkWalk walks over a million transactions. The metrics are the size of the heap at its largest, and the ratio of
// its largest size in the second half of the walk to that in the first: 1 is flat.
func BenchmarkWalk(b *testing.B) {
	const rows = 1_000_000
	for side, start := range walkers() {
		b.Run("of=million/by="+side, func(b *testing.B) {
			var heap heapWatch
			measureWalk(b, start(b, newLedger(b, rows, 0)), rows, func(row int) {
				switch {
				case row == 0:
					heap = newHeapWatch()
				case row%100 == 0:
					heap.look(2*row > rows)
				}
			})
			b.ReportMetric(float64(max(heap.halves[0], heap.halves[1]))/(1<<20), "heap-MiB")
			b.ReportMetric(float64(heap.halves[1])/float64(cmp.Or(heap.halves[0], 1)), "heap-growth")
		})
	}
}

// walk calls visit with the identifier of each transaction.
type walk func(ctx context.Context, visit func(id string)) error

// walkers are the sides of the comparison.
func walkers() map[string]func(testing.TB, http.RoundTripper) walk {
	return map[string]func(testing.TB, http.RoundTripper) walk{"raw": walkByHand, "client": walkByClient}
}

func measureWalk(b *testing.B, walk walk, rows int, consume func(row int)) {
	for b.Loop() {
		visited := 0
		err := walk(b.Context(), func(id string) {
			if id != transactionID(visited) {
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
func walkByHand(_ testing.TB, through http.RoundTripper) walk {
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

func walkByClient(tb testing.TB, through http.RoundTripper) walk {
	client := newClient(tb, through)
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

// ledger responds with pages of 100 transactions, after a delay. A page is one of the reference server with its own
// identifiers and numbers, made on request: a million transactions take no memory.
type ledger struct {
	parts    [][]byte // of a page, between the identifiers
	rows     int
	delay    time.Duration
	requests atomic.Int64
}

func newLedger(tb testing.TB, rows int, delay time.Duration) *ledger {
	records, _, _ := bytes.Cut(get(tb, "transactions?perPage=100&wallet=WALLET"), []byte(`"pagination"`))
	l := &ledger{rows: rows, delay: delay}
	begin := 0
	for _, id := range regexp.MustCompile(`"transactionId":"[^"]*"`).FindAllIndex(records, -1) {
		l.parts, begin = append(l.parts, records[begin:id[0]]), id[1]
	}
	l.parts = append(l.parts, records[begin:])
	if len(l.parts) != 101 || rows%100 != 0 {
		tb.Fatalf("%d rows; a page has %d identifiers", rows, len(l.parts)-1)
	}
	return l
}

// transactionID returns the identifier of a row, from 0.
func transactionID(row int) string { return fmt.Sprintf("TR-%016d", row) }

// RoundTrip responds with the page asked for; a page past the end is the last one.
func (l *ledger) RoundTrip(r *http.Request) (*http.Response, error) {
	l.requests.Add(1)
	if l.delay > 0 {
		timer := time.NewTimer(l.delay)
		defer timer.Stop()
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-timer.C:
		}
	}
	asked, _ := strconv.Atoi(r.URL.Query().Get("page"))
	pages := l.rows / 100
	page := min(max(asked, 1), pages)
	body := make([]byte, 0, 128<<10)
	for i, part := range l.parts[:100] {
		body = append(body, part...)
		body = fmt.Appendf(body, `"transactionId":"%s"`, transactionID((page-1)*100+i))
	}
	body = append(body, l.parts[100]...)
	body = fmt.Appendf(body, `"pagination":{"page":%d,"perPage":100,"currentPage":%[1]d,"total":%d,"pageCount":%d,`+
		`"prevPage":%d,"nextPage":%d,"hasPrevPage":%t,"hasNextPage":%t}}}`, page, l.rows, pages, page-1, (page+1)%(pages+1), page > 1, page < pages)
	return respond(r, body), nil
}

// heapWatch records the largest heap of each half of a walk, garbage that was not collected yet included.
type heapWatch struct {
	sample []metrics.Sample
	halves [2]uint64
}

func newHeapWatch() heapWatch {
	runtime.GC()
	return heapWatch{sample: []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}}
}

func (h *heapWatch) look(second bool) {
	metrics.Read(h.sample)
	half := &h.halves[0]
	if second {
		half = &h.halves[1]
	}
	*half = max(*half, h.sample[0].Value.Uint64())
}
