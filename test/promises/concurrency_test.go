package promises_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// worker is one goroutine's part: its calls of the shared client, and the expected results.
type worker func(ctx context.Context, c *shipping.Client, n int) error

// mixedWork is a bit of everything that an account does.
func mixedWork(server *mockserver.Server, bought *sync.Map) []worker {
	shipments, wallet := server.Shipments(), server.Wallets()[0]
	return []worker{
		func(ctx context.Context, c *shipping.Client, n int) error {
			page, err := c.Rates.List(ctx, &shipping.RateListOptions{Page: n%3 + 1, PerPage: 5})
			if err == nil && page.Pagination.Page != n%3+1 {
				err = fmt.Errorf("asked for page %d, got page %d", n%3+1, page.Pagination.Page)
			}
			return err
		},
		func(ctx context.Context, c *shipping.Client, _ int) error {
			countries, err := c.Countries.List(ctx)
			if err == nil && len(countries) == 0 {
				err = fmt.Errorf("no countries")
			}
			return err
		},
		func(ctx context.Context, c *shipping.Client, _ int) error {
			seen := map[string]bool{}
			for transaction, err := range c.Transactions.All(ctx,
				&shipping.TransactionListOptions{Wallet: wallet, PerPage: 50}) {
				if err != nil {
					return err
				}
				if seen[transaction.StorageID] {
					return fmt.Errorf("transaction %s is delivered twice", transaction.StorageID)
				}
				seen[transaction.StorageID] = true
			}
			return nil
		},
		func(ctx context.Context, c *shipping.Client, n int) error {
			draft, err := c.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: shipments[n%len(shipments)]})
			if err != nil {
				return err
			}
			read, err := c.Regulatory.Get(ctx, draft.RequestID)
			if err == nil && read.RequestID != draft.RequestID {
				err = fmt.Errorf("asked for %s, got %s", draft.RequestID, read.RequestID)
			}
			return err
		},
		func(ctx context.Context, c *shipping.Client, _ int) error {
			draft, err := c.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: shipments[0]})
			if err != nil {
				return err
			}
			result, err := c.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{RequestID: draft.RequestID,
				DocumentTypes: []shipping.DocumentType{"CUSTOMS"}})
			if err == nil && result.RequestID != draft.RequestID {
				err = fmt.Errorf("bought %s, got %s", draft.RequestID, result.RequestID)
			}
			if err == nil {
				bought.Store(draft.RequestID, true)
			}
			return err
		},
		func(ctx context.Context, c *shipping.Client, _ int) error { // one that gives up in the middle
			ctx, cancel := context.WithCancel(ctx)
			for range c.Webhooks.All(ctx, &shipping.WebhookListOptions{PerPage: 1}) {
				cancel()
			}
			cancel()
			return nil
		},
		func(ctx context.Context, c *shipping.Client, n int) error { // one that is refused
			id := fmt.Sprintf("RD-%016d", n)
			_, err := c.Regulatory.Get(ctx, id)
			if failure, _ := errors.AsType[*shipping.Error](err); failure == nil || !errors.Is(err, shipping.ErrNotFound) ||
				failure.RequestID != id {
				return fmt.Errorf("asked for %s, which there is not, and got %v", id, err)
			}
			return nil
		},
	}
}

// TestConcurrency_AThousandGoroutinesShareOneClient: each sees the responses to its own calls and no
// other's, every purchase is debited once, and the books balance. State of a call that stands in the client would mix
// their responses.
func TestConcurrency_AThousandGoroutinesShareOneClient(t *testing.T) {
	t.Parallel()
	const goroutines = 1000
	server := mockserver.New(mockserver.WithoutListener())
	defer server.Close()
	// the wallet lasts for every purchase
	shippingtest.NoError(t, server.SetExchangeRate("NGN", shippingtest.Amount(t, "2")))
	var bought sync.Map
	work := mixedWork(server, &bought)
	client := server.Client(t, shipping.WithRetryPolicy(shipping.RetryPolicy{AttemptTimeout: -1})) // on any machine
	var all sync.WaitGroup
	begin := make(chan struct{})
	for n := range goroutines {
		all.Go(func() {
			<-begin
			if err := work[n%len(work)](t.Context(), client, n); err != nil {
				t.Errorf("goroutine %d: %v", n, err)
			}
		})
	}
	close(begin)
	all.Wait()

	_, debited := shippingtest.Debits(t, client, server.Wallets()[0])
	purchases := 0
	for request := range bought.Range {
		purchases++
		shippingtest.Diff(t, fmt.Sprint("debits of request ", request), 1, debited[request.(string)])
	}
	if want := goroutines / len(work); purchases < want || server.Requests(shipping.OpPurchase) != purchases {
		t.Errorf("%d purchases were confirmed and %d arrived, want at least %d", purchases,
			server.Requests(shipping.OpPurchase), want)
	}
	server.CheckInvariants(t)
}
