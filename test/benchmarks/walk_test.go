package benchmarks

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/test/benchmarks/payload"
	"github.com/shipping-go/shipping/test/benchmarks/raw"
	"github.com/shipping-go/shipping/test/benchmarks/transport"
)

// serverVariable names a running server to walk instead of pages made in this process. Its value is
// the line that the reference server prints: mockserver serve -json.
const serverVariable = "BENCH_SERVER"

// ledgerRows is how many transactions the pages made in this process hold.
const ledgerRows = 1_000_000

// service is where the transactions are.
type service struct {
	URL       string   `json:"url"`
	SecretKey string   `json:"secret_key"`
	Wallets   []string `json:"wallets"`

	transport http.RoundTripper
}

func findService(tb testing.TB) service {
	tb.Helper()
	announced := os.Getenv(serverVariable)
	if announced == "" {
		ledger, err := transport.NewLedger(ledgerRows, 100)
		if err != nil {
			tb.Fatal(err)
		}
		return service{address, key, []string{payload.Wallet}, ledger}
	}
	s := service{transport: &http.Transport{MaxIdleConnsPerHost: 20}}
	if err := json.Unmarshal([]byte(announced), &s); err != nil || s.URL == "" || len(s.Wallets) == 0 {
		tb.Fatalf("%s must be the line that mockserver serve -json prints: %v", serverVariable, err)
	}
	return s
}

// BenchmarkWalk goes through every transaction of a wallet. The metrics are the size of the heap at
// its largest, and how much larger in the second half of the walk than in the first: 1 is flat.
func BenchmarkWalk(b *testing.B) {
	s := findService(b)
	b.Run("all transactions/raw", func(b *testing.B) { measureWalk(b, s.walkByHand()) })
	b.Run("all transactions/shipping", func(b *testing.B) { measureWalk(b, s.walkByClient(b)) })
}

// visit is called for each transaction. total is the total that the service reports.
type visit func(id string, total int)

func measureWalk(b *testing.B, walk func(context.Context, visit) error) {
	rows := 0
	var heap heapWatch
	for b.Loop() {
		rows, heap = 0, newHeapWatch()
		last := ""
		err := walk(b.Context(), func(id string, total int) {
			if id == last {
				b.Fatalf("row %d came twice: %s", rows, id)
			}
			last = id
			if rows++; rows%100 == 0 {
				heap.look(2*rows > total)
			}
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows), "rows")
	b.ReportMetric(heap.largest()/(1<<20), "heap-MiB")
	b.ReportMetric(heap.growth(), "heap-growth")
}

// heapWatch remembers the largest heap of the first and second half of a walk, dead objects that
// were not swept yet included.
type heapWatch struct {
	sample []metrics.Sample
	halves [2]uint64
}

func newHeapWatch() heapWatch {
	runtime.GC() // earlier allocations do not count
	return heapWatch{sample: []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}}
}

func (h *heapWatch) look(secondHalf bool) {
	metrics.Read(h.sample)
	half := &h.halves[0]
	if secondHalf {
		half = &h.halves[1]
	}
	*half = max(*half, h.sample[0].Value.Uint64())
}

func (h *heapWatch) largest() float64 { return float64(max(h.halves[0], h.halves[1])) }
func (h *heapWatch) growth() float64  { return float64(h.halves[1]) / float64(cmp.Or(h.halves[0], 1)) }

func (s service) walkByHand() func(context.Context, visit) error {
	client := &http.Client{Transport: s.transport}
	return func(ctx context.Context, visit visit) error {
		for page, more := 1, true; more; page++ {
			url := s.URL + "/v1/transactions?wallet=" + s.Wallets[0] + "&page=" + strconv.Itoa(page)
			answer, err := raw.Get[transactionAnswer](ctx, client, url, s.SecretKey)
			if err != nil {
				return err
			}
			for i := range answer.Data.Transactions {
				visit(answer.Data.Transactions[i].TransactionID, answer.Data.Pagination.Total)
			}
			more = answer.Data.Pagination.HasNextPage
		}
		return nil
	}
}

func (s service) walkByClient(tb testing.TB) func(context.Context, visit) error {
	client, err := shipping.NewClient(s.SecretKey,
		shipping.WithBaseURL(s.URL), shipping.WithHTTPClient(&http.Client{Transport: s.transport}))
	if err != nil {
		tb.Fatal(err)
	}
	return func(ctx context.Context, visit visit) error {
		pages := client.Transactions.Pages(ctx, &shipping.TransactionListOptions{Wallet: s.Wallets[0]})
		for page, err := range pages {
			if err != nil {
				return err
			}
			for i := range page.Items {
				visit(page.Items[i].TransactionID, page.Pagination.Total)
			}
		}
		return nil
	}
}
