package batch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// bubbleServer is a reference server inside a synctest bubble, without a socket.
func bubbleServer(t *testing.T, opts ...mockserver.Option) (*mockserver.Server, *shipping.Client) {
	t.Helper()
	server := mockserver.New(append([]mockserver.Option{mockserver.WithoutListener()}, opts...)...)
	t.Cleanup(server.Close)
	return server, server.Client(t)
}

func shipmentItems(server *mockserver.Server, n int) []batch.Item {
	items := make([]batch.Item, n)
	for i := range items {
		items[i].Analyze.ShipmentID = server.Shipments()[i]
	}
	return items
}

// debits is what the wallet paid for regulatory documents, and how many times for each request.
func debits(t *testing.T, c *shipping.Client, wallet string) (shipping.Amount, map[string]int) {
	t.Helper()
	var sum shipping.Amount
	count := map[string]int{}
	for transaction, err := range c.Transactions.All(t.Context(), &shipping.TransactionListOptions{Wallet: wallet}) {
		if err != nil {
			t.Fatal(err)
		}
		if request, ok := strings.CutPrefix(transaction.Description, "Regulatory documents for "); ok {
			count[request]++
			if sum, err = sum.Add(transaction.Amount); err != nil {
				t.Fatal(err)
			}
		}
	}
	return sum, count
}

func TestBatch_CompletesEveryItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := bubbleServer(t)
		items := append(shipmentItems(server, 16), batch.Item{Analyze: shipping.AnalyzeRequest{FileURL: server.Invoices()[0]}},
			batch.Item{Key: "broken", Analyze: shipping.AnalyzeRequest{ShipmentID: "SH-MAGICFAILANALYSIS"}},
			batch.Item{Key: "unknown", Analyze: shipping.AnalyzeRequest{ShipmentID: "SH-NOSUCH"}})
		ended := 0
		report, err := batch.Run(t.Context(), client, items, &batch.Options{
			Select: shipping.SelectAutomated,
			Budget: &shipping.Budget{Amount: shippingtest.Amount(t, "10000000"), Currency: "NGN"},
			Progress: func(event batch.Event) {
				if event.Ended < ended || event.Total != len(items) {
					t.Errorf("progress goes back: %d after %d, of %d", event.Ended, ended, event.Total)
				}
				ended = event.Ended
			},
		})
		if err != nil || ended != len(items) {
			t.Fatalf("%d ended, %v", ended, err)
		}
		sum, count := debits(t, client, server.Wallets()[0])
		if sum != report.Committed || len(count) != report.Count(batch.StateCompleted) {
			t.Errorf("the ledger contains %s for %d requests, the report %s for %d", sum, len(count), report.Committed, report.Count(batch.StateCompleted))
		}
		for _, result := range report.Results {
			switch {
			case result.Key == "broken":
				if result.State != batch.StateFailed || !errors.Is(result.Err, shipping.ErrRequestFailed) || result.RequestID == "" {
					t.Errorf("analysis that fails: %+v", result)
				}
			case result.Key == "unknown":
				if result.State != batch.StateError || !errors.Is(result.Err, shipping.ErrNotFound) {
					t.Errorf("unknown shipment: %+v", result)
				}
			case result.State == batch.StateDraft:
				if len(result.Documents) > 0 || result.Err != nil {
					t.Errorf("draft: %+v", result)
				}
			case result.State != batch.StateCompleted || result.Err != nil:
				t.Errorf("%+v", result)
			}
		}
		if err := server.Check(); err != nil {
			t.Error(err)
		}
	})
}

var errCrash = errors.New("crash")

// crashing is a journal of a process that dies at its nth append, before or after the record is kept.
type crashing struct {
	batch.Journal
	left  atomic.Int64
	kept  bool
	crash context.CancelCauseFunc
}

func (j *crashing) Claim(ctx context.Context, key string) (batch.Claim, error) {
	claim, err := j.Journal.Claim(ctx, key)
	return crashingClaim{claim, j}, err
}

type crashingClaim struct {
	batch.Claim
	journal *crashing
}

func (c crashingClaim) Append(ctx context.Context, record batch.Record, budget *shipping.Budget) (committed shipping.Amount, err error) {
	left := c.journal.left.Add(-1)
	if left > 0 || left == 0 && c.journal.kept {
		if committed, err = c.Claim.Append(ctx, record, budget); err != nil {
			return committed, err
		}
	}
	if left <= 0 {
		c.journal.crash(errCrash)
		return committed, errCrash
	}
	return committed, nil
}

func TestBatch_JournalThatCannotBeWrittenStopsBuying(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := bubbleServer(t)
		journal := &crashing{Journal: batch.Memory(), crash: func(error) {}}
		report, err := batch.Run(t.Context(), client, shipmentItems(server, 3), &batch.Options{Select: shipping.SelectAutomated, Journal: journal})
		if failed, ok := errors.AsType[*batch.JournalError](err); !ok || !strings.Contains(failed.Error(), "run the batch again") {
			t.Errorf("got %v", err)
		}
		if len(report.Results) != 3 || server.Requests(shipping.OpPurchase) != 0 {
			t.Errorf("%d results, %d purchases", len(report.Results), server.Requests(shipping.OpPurchase))
		}
	})
}

func TestBatch_CancelledEndsAtOnceAndSaysWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := bubbleServer(t)
		ctx, cancel := context.WithCancel(t.Context())
		started := time.Now()
		report, err := batch.Run(ctx, client, shipmentItems(server, 4), &batch.Options{
			Select: shipping.SelectAutomated,
			Progress: func(event batch.Event) {
				if event.Waiting == 3 { // and the one of this event
					cancel()
				}
			},
		})
		if !errors.Is(err, context.Canceled) || report.Count(batch.StateWaiting) == 0 {
			t.Errorf("%v, %+v", err, report)
		}
		for _, result := range report.Results {
			if result.State == batch.StateWaiting && result.RequestID == "" {
				t.Errorf("nothing to continue with: %+v", result)
			}
		}
		if took := time.Since(started); took > 10*time.Second {
			t.Errorf("ended %s after it was cancelled", took)
		}
	})
}

// Items and settings are checked before anything is analyzed, settled or purchased. A negative QuietFor would settle an open
// purchase as not charged and free money that may be spent.
func TestBatch_RefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	item := batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: "SH-1"}}
	keyed := func(key string) []batch.Item { return []batch.Item{item, {Key: key, Analyze: item.Analyze}} }
	for name, tc := range map[string]struct {
		items   []batch.Item
		options batch.Options
		message string
	}{
		"same key twice":          {[]batch.Item{item, item}, batch.Options{}, "2 has the key"},
		"nothing to analyze":      {[]batch.Item{item, {}}, batch.Options{}, "item 2"},
		"key that is not UTF-8":   {keyed("M\xfcller"), batch.Options{}, "is not UTF-8"},
		"key with NUL":            {keyed("a\x00b"), batch.Options{}, "contains a NUL character"},
		"long address as a key":   {[]batch.Item{{Analyze: shipping.AnalyzeRequest{FileURL: "https://files.test/" + strings.Repeat("x", 4981)}}}, batch.Options{}, "5000 bytes"},
		"budget without currency": {nil, batch.Options{Budget: &shipping.Budget{Amount: shippingtest.Amount(t, "1")}}, "currency"},
		"budget without amount":   {nil, batch.Options{Budget: &shipping.Budget{Currency: "NGN"}}, "amount"},
		"negative concurrency":    {nil, batch.Options{Concurrency: -1}, "Concurrency"},
		"negative QuietFor":       {keyed("b"), batch.Options{Purchase: shipping.PurchaseOptions{QuietFor: -1}}, "negative"},
		"negative SettleFor":      {keyed("b"), batch.Options{Purchase: shipping.PurchaseOptions{SettleFor: -1}}, "negative"},
		"negative RefusedFor":     {keyed("b"), batch.Options{Purchase: shipping.PurchaseOptions{RefusedFor: -1}}, "negative"},
		"negative MinInterval":    {keyed("b"), batch.Options{Poll: shipping.PollOptions{MinInterval: -1}}, "negative"},
	} {
		service := &walletService{}
		tc.options.Select, tc.options.Journal = shipping.SelectAll, newMemoryJournal(t, purchasing(t, "SH-1"))
		report, err := batch.Run(t.Context(), walletClient(t, service), tc.items, &tc.options)
		if report != nil || !errors.Is(err, shipping.ErrInvalidRequest) || !strings.Contains(err.Error(), tc.message) {
			t.Errorf("%s: %v", name, err)
		}
		if service.reads+service.purchases+len(service.requests) > 0 {
			t.Errorf("%s: something was sent", name)
		}
	}
	if report, err := batch.Run(t.Context(), walletClient(t, &walletService{}), nil, nil); err != nil || len(report.Results) != 0 {
		t.Errorf("an empty batch: %v, %v", report, err)
	}
}

// Ten thousand requests wait at once in bounded memory, and their polls are spread over time. It tries 1,000 unless
// SHIPPING_WAITING is another number.
func TestBatch_TenThousandWaiting(t *testing.T) {
	requests := randomtest.New(t).Number("SHIPPING_WAITING", 1_000)
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		service := &slowService{started: started, until: started.Add(90 * time.Second)}
		client, err := shipping.NewClient("sk_test_x", shipping.WithBaseURL("http://service.test"),
			shipping.WithHTTPClient(&http.Client{Transport: service}))
		if err != nil {
			t.Fatal(err)
		}
		items := make([]batch.Item, requests)
		for i := range items {
			items[i].Analyze.ShipmentID = fmt.Sprintf("SH-%05d", i)
		}
		var before, during runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		waiting := 0
		report, err := batch.Run(t.Context(), client, items, &batch.Options{
			Concurrency: 64, Select: shipping.SelectAll, Poll: shipping.PollOptions{MinInterval: 15 * time.Second},
			Progress: func(event batch.Event) {
				if event.Waiting > waiting {
					if waiting = event.Waiting; waiting == requests-1 {
						runtime.GC()
						runtime.ReadMemStats(&during)
					}
				}
			},
		})
		if err != nil || report.Count(batch.StateCompleted) != requests {
			t.Fatalf("%d completed, %v", report.Count(batch.StateCompleted), err)
		}
		held := int64(during.HeapInuse+during.StackInuse) - int64(before.HeapInuse+before.StackInuse)
		if waiting < requests-64 || during.HeapInuse == 0 || held > 200<<20 {
			t.Errorf("%d waited at once, holding %d MB", waiting, held>>20)
		}
		busiest, total := 0, 0
		for second, polls := range service.polls {
			if second > 40 && second < 90 { // the start and the end no longer show
				busiest, total = max(busiest, polls), total+polls
			}
		}
		// Four times the average, and three standard deviations of a count of that size.
		average := float64(total) / 50
		if float64(busiest) > 4*average+3*math.Sqrt(4*average) {
			t.Errorf("%d polls in the busiest second, %.1f on average", busiest, average)
		}
		t.Logf("%d requests held %.1f MB; %d polls in the busiest second", requests, float64(held)/(1<<20), busiest)
	})
}

// slowService responds from memory: every request is processed until a moment, then completed.
type slowService struct {
	started, until time.Time
	mu             sync.Mutex
	polls          map[int]int // by second
	next           int
}

func (s *slowService) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var data string
	switch {
	case strings.HasSuffix(r.URL.Path, "/analyze"):
		s.next++
		data = fmt.Sprintf(`{"request_id":"RD-%d","status":"draft","source":"shipment","available_documents":[{"document_type":"CUSTOMS","amount":1,"currency":"NGN"}],"line_items":[]}`, s.next)
	case strings.HasSuffix(r.URL.Path, "/purchase"):
		data = `{"status":"processing"}`
	default:
		if s.polls == nil {
			s.polls = map[int]int{}
		}
		s.polls[int(time.Since(s.started)/time.Second)]++
		status := "processing"
		if !time.Now().Before(s.until) {
			status = "completed"
		}
		data = fmt.Sprintf(`{"request_id":%q,"status":%q,"source":"shipment","available_documents":[]}`, filepath.Base(r.URL.Path), status)
	}
	body := `{"status":true,"message":"ok","data":` + data + `}`
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r}, nil
}
