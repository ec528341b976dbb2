package benchmarks

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/test/benchmarks/payload"
	"github.com/shipping-go/shipping/test/benchmarks/transport"
	"github.com/shipping-go/shipping/webhook"
)

// BenchmarkGrowth does the same work for 1,000, 10,000 and 100,000 rows. The metrics are the time of a row, and the
// heap that is held when the last one is done.
func BenchmarkGrowth(b *testing.B) {
	for _, work := range []struct {
		name string
		do   func(b *testing.B, rows int) (held any, release func() error)
	}{
		{"rows walked", walkRows}, {"webhooks received", receiveWebhooks},
		{"journal records appended, 100 at a time", appendRecords}, {"journal records read when it is opened", openJournal},
	} {
		for _, rows := range []int{1000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", work.name, rows), func(b *testing.B) {
				var held any
				release := nothing
				before := liveHeap()
				for b.Loop() {
					if err := release(); err != nil {
						b.Fatal(err)
					}
					held, release = work.do(b, rows)
				}
				after := liveHeap()
				runtime.KeepAlive(held)
				if err := release(); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(rows), "ns/row")
				b.ReportMetric(float64(max(after, before)-before)/(1<<20), "heap-MiB")
			})
		}
	}
}

func liveHeap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// walkRows holds the walk at its last row.
func walkRows(b *testing.B, rows int) (any, func() error) {
	ledger, err := transport.NewLedger(rows, 100)
	if err != nil {
		b.Fatal(err)
	}
	var last *shipping.Transaction
	walked := 0
	for row, err := range newClient(b, ledger).Transactions.All(b.Context(), &shipping.TransactionListOptions{Wallet: payload.Wallet}) {
		if err != nil {
			b.Fatal(err)
		}
		last = row
		walked++
	}
	if walked != rows {
		b.Fatalf("%d rows, want %d", walked, rows)
	}
	return last, nothing
}

// receiveWebhooks holds the receiver, which remembers accepted notifications.
func receiveWebhooks(b *testing.B, rows int) (any, func() error) {
	receiver, err := webhook.NewReceiver(func(context.Context, *webhook.Notification) error { return nil },
		webhook.WithKeys(key), webhook.WithInline(), webhook.WithStore(webhook.NewMemoryStore(rows, 0)))
	if err != nil {
		b.Fatal(err)
	}
	body := `{"event":"shipment.updated","data":{"shipment_id":"SH-1","status":"in-transit"}}`
	signature := webhook.Sign(key, []byte(body))
	for row := range rows {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set(webhook.DefaultSignatureHeader, signature)
		r.Header.Set(webhook.DefaultIDHeader, fmt.Sprint("WD-", row))
		if receiver.ServeHTTP(w, r); w.Code/100 != 2 {
			b.Fatalf("row %d: %d %s", row, w.Code, w.Body)
		}
	}
	return receiver, nothing
}

func nothing() error { return nil }

// appendRecords holds the journal.
func appendRecords(b *testing.B, rows int) (any, func() error) {
	journal := writeJournal(b, filepath.Join(b.TempDir(), "journal"), rows)
	return journal, journal.Close
}

func writeJournal(b *testing.B, path string, rows int) *batch.File {
	journal, err := batch.OpenFile(path)
	if err != nil {
		b.Fatal(err)
	}
	const writers = 100
	var all sync.WaitGroup
	for writer := range writers {
		all.Go(func() {
			for row := writer; row < rows; row += writers {
				item := fmt.Sprint("order-", row)
				claim, err := journal.Claim(b.Context(), item)
				if err == nil {
					_, err = claim.Append(b.Context(), batch.Record{Key: item, Step: batch.StepAnalyzed, RequestID: payload.RequestID, At: time.Now()}, nil)
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	return journal
}

// openJournal holds the journal.
func openJournal(b *testing.B, rows int) (any, func() error) {
	b.StopTimer()
	path := filepath.Join(b.TempDir(), "journal")
	if err := writeJournal(b, path, rows).Close(); err != nil {
		b.Fatal(err)
	}
	b.StartTimer()
	journal, err := batch.OpenFile(path)
	if err != nil {
		b.Fatal(err)
	}
	return journal, journal.Close
}
