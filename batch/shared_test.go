package batch_test

import (
	"context"
	"io"
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

// Several runs share the items and one budget: every item is bought once, and the budget holds for
// all of them together.
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
			t.Errorf("%d requests debited %s in %d purchases, the journal contains %s, %v", len(count), sum, server.Requests(shipping.OpPurchase), committed, err)
		}
	})
}

// A run whose callback outlasted its claim reported a draft that another run had purchased.
func TestBatch_AClaimThatEndedDuringSelectIsNoOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, journal := &walletService{}, batchtest.NewJournal(2*time.Minute)
		var runs sync.WaitGroup
		for _, choose := range []func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error){
			func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
				time.Sleep(10 * time.Minute)
				return nil, nil
			},
			shipping.SelectAll,
		} {
			runs.Go(func() {
				report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(1), &batch.Options{Journal: journal, Select: choose})
				if err != nil || report.Results[0].State != batch.StateCompleted {
					t.Errorf("%+v, %v", report.Results, err)
				}
			})
			synctest.Wait()
		}
		runs.Wait()
	})
}

// generating is a service whose documents are never complete.
type generating struct{ *walletService }

func (s generating) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.walletService.RoundTrip(r)
	if err != nil || r.Method != http.MethodGet {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	response.Body = io.NopCloser(strings.NewReader(strings.ReplaceAll(string(body), `"completed"`, `"processing"`)))
	response.ContentLength = -1
	return response, err
}

// An interrupted run releases all its items, also if another process was given one of them.
func TestBatch_AnInterruptedRunReleasesItsItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		journal := batchtest.NewJournal(2 * time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		var run sync.WaitGroup
		run.Go(func() {
			_, _ = batch.Run(ctx, walletClient(t, generating{&walletService{}}), walletItems(3), &batch.Options{
				Concurrency: 1, Journal: journal,
				Select: func(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
					if draft.RequestID != "RD-SH-1" {
						time.Sleep(100 * time.Second)
					}
					return shipping.SelectAll(draft)
				},
			})
		})
		time.Sleep(201 * time.Second)
		if _, err := journal.Claim(t.Context(), "SH-1"); err != nil { // it has expired while the item waits
			t.Fatal(err)
		}
		cancel()
		run.Wait()
		if _, err := journal.Claim(t.Context(), "SH-3"); err != nil {
			t.Error(err)
		}
	})
}

// stalledTransport is a process that stands still between the last check of its claim and the moment when
// its purchase is on the wire. It does not notice that its context ended.
type stalledTransport struct {
	http.RoundTripper
	stall    time.Duration
	deadline time.Duration // of the purchase
	stalled  bool
}

func (s *stalledTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/purchase") && !s.stalled {
		s.stalled = true
		if deadline, ok := r.Context().Deadline(); ok {
			s.deadline = time.Until(deadline)
		}
		time.Sleep(s.stall)
	}
	return s.RoundTripper.RoundTrip(r)
}

// A purchase that a stalled process sends only when it resumes counts in the budget, for as long as the documentation of
// Journal describes.
func TestBatch_ALatePurchaseOfAStalledProcessIsCounted(t *testing.T) {
	const lease, quiet = 100 * time.Second, time.Minute
	for _, stall := range []time.Duration{lease / 8, lease - time.Second, lease + lease/8, lease + lease/4 + quiet - time.Second, lease + lease/4 + quiet + time.Minute} {
		t.Run(stall.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := &walletService{}
				budget := nairaBudget(t, "150")
				journal := batchtest.NewJournal(lease)
				service.charged = func() {
					committed, err := journal.Committed(t.Context(), "", *budget)
					if err != nil || service.spent.Cmp(committed) > 0 || committed.Cmp(budget.Amount) > 0 {
						t.Errorf("%s charged, %s committed, %v", service.spent, committed, err)
					}
				}
				stalled := &stalledTransport{RoundTripper: service, stall: stall}
				run := func(client *shipping.Client, items int) {
					report, err := batch.Run(t.Context(), client, walletItems(items), &batch.Options{
						Concurrency: 1, Select: shipping.SelectAll, Budget: budget, Journal: journal, Purchase: shipping.PurchaseOptions{QuietFor: quiet},
					})
					if err != nil || report.Committed != shippingtest.Amount(t, "100") {
						t.Errorf("%+v, %v", report, err)
					}
				}
				var runs sync.WaitGroup
				runs.Go(func() { run(walletClient(t, stalled), 1) })
				synctest.Wait()
				run(walletClient(t, service), 2) // takes over, or finds the budget used
				runs.Wait()
				if spent, _ := service.total(); spent != shippingtest.Amount(t, "100") {
					t.Errorf("%s spent", spent)
				}
				if stalled.deadline <= 0 || stalled.deadline > lease/4 {
					t.Errorf("the purchase had %s of a lease of %s", stalled.deadline, lease)
				}
			})
		})
	}
}
