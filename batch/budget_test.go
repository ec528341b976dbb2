package batch_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/batchtest"
	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// committedIn adds up what the last records of a journal commit.
func committedIn(t *testing.T, journal *memoryJournal) (sum shipping.Amount) {
	t.Helper()
	journal.mu.Lock()
	defer journal.mu.Unlock()
	last := map[string]batch.Record{}
	for _, record := range journal.records {
		last[record.Key] = record
	}
	for _, record := range last {
		if !record.Step.Committed() {
			continue
		}
		var err error
		if sum, err = sum.Add(record.Amount); err != nil {
			t.Fatal(err)
		}
	}
	return sum
}

// budgetCase is a batch that is run again until it ends, killed at some of its records.
type budgetCase struct {
	items, concurrency int
	budget             int
	faults             []purchaseFault
	kills              []kill
}

// kill is the end of a process at a record, and how long it takes until the next one is started.
type kill struct {
	at    int // the record
	kept  bool
	pause time.Duration
}

func drawBudgetCase(t *rapid.T) budgetCase {
	faults := rapid.SampledFrom([]purchaseFault{
		{}, {}, {Takes: 3 * time.Second}, {Lose: true}, {Ignore: true}, {Refuse: true},
		{Late: 5 * time.Second}, {Late: 55 * time.Second},
		{Charge: "120"}, {Charge: "900", Lose: true}, {Charge: "80"},
		{Report: `"charged_amount":0,"currency":"NGN"`}, {Report: `"charged_amount":-5,"currency":"NGN"`},
		{Report: `"charged_amount":5,"currency":"USD"`}, {Report: `"currency":"NGN"`},
	})
	kills := rapid.Custom(func(t *rapid.T) kill {
		pause := rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute}).Draw(t, "pause")
		return kill{rapid.IntRange(1, 15).Draw(t, "record"), rapid.Bool().Draw(t, "kept"), pause}
	})
	return budgetCase{
		items:       rapid.IntRange(1, 6).Draw(t, "items"),
		concurrency: rapid.IntRange(1, 4).Draw(t, "concurrency"),
		budget:      rapid.IntRange(0, 9).Draw(t, "budget") * 90,
		faults:      rapid.SliceOfN(faults, 0, 12).Draw(t, "faults"),
		kills:       rapid.SliceOfN(kills, 0, 4).Draw(t, "kills"),
	}
}

// At every moment, and through kills and restarts at any record, the charges are at most the committed sum, and that is
// at most the budget, unless the service charged more than a draft's price. The service's own ledger is the oracle.
func TestBatch_TheBudgetHoldsThroughFaultsAndKills(t *testing.T) {
	cases, charges := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		c := drawBudgetCase(rt)
		var problems []string
		synctest.Test(t, func(t *testing.T) { problems = c.run(t, &charges) })
		if cases++; len(problems) > 0 {
			rt.Fatalf("%+v:\n%s", c, strings.Join(problems, "\n"))
		}
	})
	t.Logf("%d batches with %d charges", cases, charges)
}

func (c budgetCase) run(t *testing.T, charges *int) (problems []string) {
	var mu sync.Mutex
	problem := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		problems = append(problems, fmt.Sprintf(format, args...))
	}
	budget := nairaBudget(t, fmt.Sprint(c.budget))
	journal := newMemoryJournal(t)
	overcharged := slices.ContainsFunc(c.faults, func(f purchaseFault) bool { return f.Charge != "" && f.Charge != "80" })
	service := &walletService{purchase: func(n int) purchaseFault {
		if n <= len(c.faults) {
			return c.faults[n-1]
		}
		return purchaseFault{}
	}}
	priced := 0 // the drafts' prices of the charged purchases
	service.charged = func() {
		*charges++
		priced += 100
		committed := committedIn(t, journal)
		if committed.Cmp(shippingtest.Amount(t, fmt.Sprint(priced))) < 0 {
			problem("drafts of %d were charged, and the journal commits %s", priced, committed)
		}
		if !overcharged && committed.Cmp(budget.Amount) > 0 {
			problem("%s is committed of %s", committed, budget)
		}
	}
	client := walletClient(t, service)
	for run := range len(c.kills) + 6 {
		ctx, crash := context.WithCancelCause(t.Context())
		dying := &crashing{Journal: journal, crash: crash}
		dying.left.Store(1 << 40)
		if run < len(c.kills) {
			dying.kept = c.kills[run].kept
			dying.left.Store(int64(c.kills[run].at))
		}
		report, err := batch.Run(ctx, client, walletItems(c.items), &batch.Options{
			Concurrency: c.concurrency, Select: shipping.SelectAll, Budget: budget, Journal: dying,
		})
		crash(nil)
		if report == nil || err != nil && !errors.Is(err, errCrash) {
			problem("run %d: %v", run, err)
			return problems
		}
		if committed := committedIn(t, journal); committed.Cmp(report.Committed) > 0 {
			problem("run %d reports %s, and the journal commits %s", run, report.Committed, committed)
		}
		if run < len(c.kills) {
			time.Sleep(c.kills[run].pause)
			continue
		}
		time.Sleep(time.Minute) // late charges come in
		if report.Count(batch.StateUnknown) > 0 {
			continue
		}
		if spent, _ := service.total(); spent.Cmp(report.Committed) > 0 {
			problem("the ledger contains %s, and the report %s", spent, report.Committed)
		}
		return problems
	}
	problem("purchases stay unknown")
	return problems
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
					committed, err := journal.Committed(t.Context(), *budget)
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

// A batch begins no purchase unless half of the lease is left for it.
func TestBatch_BeginsNoPurchaseAtTheEndOfItsLease(t *testing.T) {
	const lease = 2 * time.Minute
	for _, stall := range []time.Duration{lease/2 - time.Second, lease/2 + time.Second} {
		synctest.Test(t, func(t *testing.T) {
			service := &walletService{}
			var first time.Duration
			started := time.Now()
			service.charged = func() { first = time.Since(started) }
			goOn := make(chan struct{})
			time.AfterFunc(stall, func() { close(goOn) })
			report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(1), &batch.Options{
				Select: shipping.SelectAll, Journal: pausedRun{batchtest.NewJournal(lease), goOn},
			})
			if err != nil || report.Count(batch.StateCompleted) != 1 {
				t.Errorf("%+v, %v", report, err)
			}
			if inTime := stall < lease/2; inTime != (first == stall) || !inTime && first < stall+time.Minute {
				t.Errorf("paused for %s, purchased after %s", stall, first)
			}
		})
	}
}
