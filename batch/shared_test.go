package batch_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/batchtest"
	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// Several runs share the items and one budget: every item is bought once, and the budget holds for all of them
// together. Without claims, two runs that read an item at the same time would both purchase it.
func TestBatch_SharedByRunsBuysEachItemOnceWithinOneBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := bubbleServer(t)
		items := shipmentItems(server, 12)
		budget := shipping.Budget{Amount: shippingtest.Amount(t, "10000000"), Currency: "NGN"}
		journal := batchtest.NewJournal(time.Hour)
		var runs sync.WaitGroup
		for range 3 {
			runs.Go(func() {
				report, err := batch.Run(t.Context(), client, items, &batch.Options{
					Concurrency: 2, Select: shipping.SelectAutomated, Budget: &budget, Journal: journal,
				})
				if err != nil {
					t.Error(err)
					return
				}
				if ended := report.Count(batch.StateCompleted) + report.Count(batch.StateDraft); ended != len(items) {
					t.Errorf("%d of %d ended: %+v", ended, len(items), report.Results)
				}
			})
		}
		runs.Wait()
		sum, count := shippingtest.Debits(t, client, server.Wallets()[0])
		committed, err := journal.Committed(t.Context(), "", budget)
		if err != nil || len(count) == 0 || sum != committed || server.Requests(shipping.OpPurchase) != len(count) {
			t.Errorf("%d requests debited %s in %d purchases, the journal contains %s, %v", len(count), sum,
				server.Requests(shipping.OpPurchase), committed, err)
		}
	})
}

// A run whose callback outlasted its claim reported a draft that another run had purchased.
func TestBatch_AClaimThatEndedDuringSelectIsNoOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, journal := &walletService{}, batchtest.NewJournal(7*time.Minute)
		var runs sync.WaitGroup
		for _, choose := range []func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error){
			func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
				time.Sleep(10 * time.Minute)
				return nil, nil
			},
			shipping.SelectAll,
		} {
			runs.Go(func() {
				report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(1),
					&batch.Options{Journal: journal, Select: choose})
				if err != nil || report.Results[0].State != batch.StateCompleted {
					t.Errorf("%+v, %v", report.Results, err)
				}
			})
			synctest.Wait()
		}
		runs.Wait()
	})
}

// An item that another process has was reported as not purchased, whatever happened there.
func TestBatch_AnItemOfAnotherProcessIsNoOutcome(t *testing.T) {
	shippingtest.EachInBubble(t, map[string]error{"interrupted": batch.ErrItemTaken, "without a journal": errDisk},
		func(t *testing.T, later error) {
			claims := 0
			taken := hooked{batch.Memory(), func(_ context.Context, call string, _ batch.Record, do func() error) error {
				if call != "claim" {
					return do()
				}
				if claims++; claims < 3 {
					return batch.ErrItemTaken
				}
				return later
			}}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			report, err := batch.Run(ctx, walletClient(t, &walletService{}), walletItems(1), &batch.Options{Journal: taken})
			text := fmt.Sprint(report.Err())
			if err == nil || report.Results[0].State != batch.StateWaiting || strings.Contains(text, "before anything was") {
				t.Errorf("%s, %v", text, err)
			}
		})
}

// A purchase that a process sends late, because it stands still after the last check of its claim and does not notice
// that its context ended, counts in the budget, for as long as the documentation of Journal describes. If its claim or
// its reservation ended earlier, another process would spend the same money.
func TestBatch_ALatePurchaseOfAStalledProcessIsCounted(t *testing.T) {
	const lease, quiet = 100 * time.Second, time.Minute
	const settled = lease + lease/4 + quiet // the earliest time at which another process has settled the purchase
	for _, stall := range []time.Duration{lease / 8, lease - 1, lease + lease/8, settled - time.Second,
		settled + time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			service, journal, budget := &walletService{}, batchtest.NewJournal(lease), nairaBudget(t, "150")
			service.charged = func() {
				committed, err := journal.Committed(t.Context(), "", *budget)
				if err != nil || service.spent.Cmp(committed) > 0 || committed.Cmp(budget.Amount) > 0 {
					t.Errorf("%s: %s charged, %s committed, %v", stall, service.spent, committed, err)
				}
			}
			stalled := roundTrip(func(r *http.Request) (*http.Response, error) {
				if strings.HasSuffix(r.URL.Path, "/purchase") {
					if deadline, ok := r.Context().Deadline(); !ok || time.Until(deadline) > lease/4 {
						t.Errorf("%s: the purchase may last until %s", stall, deadline)
					}
					time.Sleep(stall)
				}
				return service.RoundTrip(r)
			})
			run := func(service http.RoundTripper, items int) {
				report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(items), &batch.Options{
					Concurrency: 1, Select: shipping.SelectAll, Budget: budget, Journal: journal,
					Purchase: shipping.PurchaseOptions{QuietFor: quiet},
				})
				if err != nil || report.Committed != shippingtest.Amount(t, "100") {
					t.Errorf("%s: %+v, %v", stall, report, err)
				}
			}
			var runs sync.WaitGroup
			runs.Go(func() { run(stalled, 1) })
			synctest.Wait()
			run(service, 2) // takes over, or finds the budget used
			runs.Wait()
			if spent, _ := service.total(); spent != shippingtest.Amount(t, "100") {
				t.Errorf("%s: %s spent", stall, spent)
			}
		})
	}
}
