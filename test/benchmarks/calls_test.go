package benchmarks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/test/benchmarks/raw"
	"github.com/shipping-go/shipping/test/benchmarks/service"
)

// BenchmarkList reads a list of 100 records, and all 250 countries.
func BenchmarkList(b *testing.B) {
	of := record(b)
	compare(b, append([]comparison{
		{"rates", 100, rawRates(of.Rates), listRates(newClient(b, of.Rates))},
		{"transactions", 100, rawTransactions(of.Transactions), listTransactions(newClient(b, of.Transactions))},
		{"webhooks", 100, byHand(of.Webhooks, address+"/v1/webhooks",
			func(r *raw.Webhooks) int { return len(r.Data.Webhooks) }),
			listed(newClient(b, of.Webhooks).Webhooks.List, nil)},
		{"countries", 250, byHand(of.Countries, address+"/v1/countries", func(r *raw.Countries) int { return len(r.Data) }),
			listCountries(newClient(b, of.Countries))},
	}, peers(b)...))
}

// BenchmarkOne reads one record.
func BenchmarkOne(b *testing.B) {
	of := record(b)
	smallest := service.Fixed(
		`{"status":true,"message":"OK","data":{"request_id":"RD-5FQJ2M81KD0XA7NB","status":"draft"}}`)
	compare(b, []comparison{
		{"rate", 1, rawRates(of.OneRate), listRates(newClient(b, of.OneRate))},
		{"transaction", 1, rawTransactions(of.OneTransaction), listTransactions(newClient(b, of.OneTransaction))},
		getRequest(b, "request-1KB", of.ShortDraft),
		getRequest(b, "request-6KB", of.LongDraft),
		getRequest(b, "smallest-request", smallest),
	})
}

// BenchmarkForms reads 100 rates that are written in other ways. Hand-written code reads the page in its usual form.
func BenchmarkForms(b *testing.B) {
	rates := record(b).Rates
	for _, form := range service.Forms() {
		rewritten, err := form.Rewrite(rates)
		if err != nil {
			b.Fatal(err)
		}
		compare(b, []comparison{{form.Name, 100, rawRates(rates), listRates(newClient(b, service.Fixed(rewritten)))}})
	}
}

// BenchmarkDrift reads 100 rates without and with a report of the differences from the specification.
func BenchmarkDrift(b *testing.B) {
	rates := record(b).Rates
	odd, err := service.Forms()[0].Rewrite(rates)
	if err != nil {
		b.Fatal(err)
	}
	for _, page := range []struct {
		name string
		body service.Fixed
	}{{"rates", rates}, {"odd-scalars", odd}} {
		reporting := newClient(b, page.body, shipping.WithDriftReport(func(string, []shipping.Drift) {}))
		b.Run("of="+page.name+"/report=off", func(b *testing.B) { measure(b, 100, listRates(newClient(b, page.body))) })
		b.Run("of="+page.name+"/report=on", func(b *testing.B) { measure(b, 100, listRates(reporting)) })
	}
}

// BenchmarkOffers analyzes a shipment, purchases all that is offered with a budget, and waits for the documents.
func BenchmarkOffers(b *testing.B) {
	for _, offers := range []int{250, 2500} {
		client := newClient(b, service.NewPurchasing(offers))
		limit, err := shipping.ParseBudget(fmt.Sprint(offers, " NGN"))
		if err != nil {
			b.Fatal(err)
		}
		options := &shipping.AnalyzeAndPollOptions{
			Select: shipping.SelectAll, Budget: limit, Purchase: shipping.PurchaseOptions{AllowUnknown: true},
		}
		b.Run(fmt.Sprintf("n=%d", offers), func(b *testing.B) {
			measure(b, offers, func(ctx context.Context) (int, error) {
				request, err := client.Regulatory.AnalyzeAndPoll(ctx, &shipping.AnalyzeRequest{ShipmentID: "SH-TLMHDHXQMDVVJ4U9"},
					options)
				if err != nil {
					return 0, err
				}
				return len(request.Documents), nil
			})
		})
	}
}

const wallet = "VA-1000000001"

func rawRates(body service.Fixed) call {
	return byHand(body, address+"/v1/rates", func(r *raw.Rates) int { return len(r.Data.Rates) })
}

func rawTransactions(body service.Fixed) call {
	return byHand(body, address+"/v1/transactions?wallet="+wallet,
		func(r *raw.Transactions) int { return len(r.Data.Transactions) })
}

func listRates(client *shipping.Client) call { return listed(client.Rates.List, nil) }

func listTransactions(client *shipping.Client) call {
	return listed(client.Transactions.List, &shipping.TransactionListOptions{Wallet: wallet})
}

// listed returns a call of a method that returns a page.
func listed[T, O any](list func(context.Context, *O, ...shipping.CallOption) (*shipping.Page[T], error),
	options *O) call {
	return func(ctx context.Context) (int, error) {
		page, err := list(ctx, options)
		if err != nil {
			return 0, err
		}
		return len(page.Items), nil
	}
}

func listCountries(client *shipping.Client) call {
	return func(ctx context.Context) (int, error) {
		countries, err := client.Countries.List(ctx)
		return len(countries), err
	}
}

// getRequest compares calls that read a regulatory request.
func getRequest(b *testing.B, name string, body service.Fixed) comparison {
	id, client := service.RequestID(body), newClient(b, body)
	return comparison{
		name, 1, byHand(body, address+"/v1/regulatory-documents/request/"+id,
			func(r *raw.Draft) int { return one(r.Data.RequestID == id) }),
		func(ctx context.Context) (int, error) {
			request, err := client.Regulatory.Get(ctx, id)
			return one(err == nil && request.RequestID == id), err
		},
	}
}

// one counts a single record.
func one(received bool) int {
	if received {
		return 1
	}
	return 0
}

// A comparison of two decoders is fair if both decode all members: hand-written code has a field for each that the
// reference server sends.
func TestRecords_ByHandHasAFieldForEachMember(t *testing.T) {
	t.Parallel()
	of := record(t)
	for name, test := range map[string]struct {
		body []byte
		into any
	}{
		"rates": {of.Rates, new(raw.Rates)}, "transactions": {of.Transactions, new(raw.Transactions)},
		"webhooks":  {of.Webhooks, new(raw.Webhooks)},
		"countries": {of.Countries, new(raw.Countries)}, "request": {of.LongDraft, new(raw.Draft)},
	} {
		decoder := json.NewDecoder(bytes.NewReader(test.body))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(test.into); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

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
