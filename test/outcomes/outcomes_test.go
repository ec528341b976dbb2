package outcomes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/randomtest"
)

// A claim is a report about a purchase.
type claim struct {
	how       string
	requestID string
	documents []shipping.DocumentType
	outcome   shipping.PurchaseOutcome
	at        time.Time
	err       error
}

// A run is one combination with its reports.
type run struct {
	*service
	client   *shipping.Client
	claiming sync.Mutex
	claims   []claim
	problems []string // what the wallet contradicts
}

// play runs a combination.
func play(t *testing.T, c combination) *run {
	t.Helper()
	r := &run{service: newService(c)}
	var err error
	if r.client, err = shipping.NewClient("sk_test_outcomes", shipping.WithBaseURL("https://service.test"), shipping.WithHTTPClient(&http.Client{Transport: r.service})); err != nil {
		t.Fatal(err)
	}
	switch c.method {
	case inBatch:
		r.batch(t.Context())
	case purchaseID, purchaseDraft:
		r.purchase(t.Context())
	default:
		r.follow(t.Context())
	}
	r.judge()
	return r
}

func (r *run) purchase(ctx context.Context) {
	purchase := &shipping.PurchaseRequest{RequestID: "RQ-1", DocumentTypes: r.ours, PurchaseOptions: r.options()}
	var err error
	if r.method == purchaseDraft {
		purchase.Draft, err = r.client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: "SH-1"})
		if r.late {
			time.Sleep(r.lag)
		}
	}
	if err == nil {
		_, err = r.client.Regulatory.Purchase(ctx, purchase)
		r.settle(ctx, r.claim(r.method, "RQ-1", r.ours, err))
	}
}

func (r *run) options() shipping.PurchaseOptions {
	return shipping.PurchaseOptions{QuotedDrafts: r.asQuote}
}

// claim notes the outcome that an error stands for, and returns the stored form of a purchase whose outcome is
// unknown.
func (r *run) claim(how, requestID string, documents []shipping.DocumentType, err error) *shipping.PurchaseRequest {
	outcome := shipping.OutcomeCharged
	failed, isPurchase := errors.AsType[*shipping.PurchaseError](err)
	switch {
	case isPurchase:
		outcome = failed.Outcome
	case err != nil:
		outcome = shipping.OutcomeNotCharged
	}
	r.claiming.Lock()
	defer r.claiming.Unlock()
	r.claims = append(r.claims, claim{how, requestID, documents, outcome, time.Now(), err})
	if outcome == shipping.OutcomeUnknown {
		return failed.Purchase
	}
	return nil
}

// follow runs AnalyzeAndPoll or Resume.
func (r *run) follow(ctx context.Context) {
	within, stop := context.WithTimeout(ctx, 3*time.Minute)
	defer stop()
	purchased := false
	options := &shipping.AnalyzeAndPollOptions{
		Select: shipping.SelectOnly(r.ours...), Purchase: r.options(),
		Progress: func(event shipping.PollEvent) { purchased = purchased || event.Step == "purchased" },
	}
	var err error
	if r.method == analyze {
		_, err = r.client.Regulatory.AnalyzeAndPoll(within, &shipping.AnalyzeRequest{ShipmentID: "SH-1"}, options)
	} else {
		_, err = r.client.Regulatory.Resume(within, "RQ-1", options)
	}
	step, _ := errors.AsType[*shipping.StepError](err)
	switch {
	case purchased:
		r.claim(r.method, "RQ-1", r.ours, nil)
	case step != nil && step.Step != "polled": // else it has only waited
		r.settle(ctx, r.claim(r.method, "RQ-1", r.ours, err))
	}
}

// settle settles a purchase in every way, at once and after two minutes.
func (r *run) settle(ctx context.Context, unknown *shipping.PurchaseRequest) {
	if unknown == nil {
		return
	}
	restored := &shipping.PurchaseRequest{}
	text, err := json.Marshal(unknown)
	if err := errors.Join(err, json.Unmarshal(text, restored)); err != nil {
		r.problems = append(r.problems, err.Error())
	}
	for _, when := range []string{"at once", "after 2 min"} {
		var group sync.WaitGroup
		for how, p := range map[string]*shipping.PurchaseRequest{
			"remembered": unknown, "restored from JSON": restored, "by id": {RequestID: unknown.RequestID},
			"by id and documents": {RequestID: unknown.RequestID, DocumentTypes: unknown.DocumentTypes},
		} {
			group.Go(func() {
				_, err := r.client.Regulatory.SettlePurchase(ctx, p)
				r.claim("settled "+how+" "+when, p.RequestID, p.DocumentTypes, err)
			})
		}
		group.Wait()
		time.Sleep(2 * time.Minute)
	}
}

// batch runs three items with a budget for two, twice.
func (r *run) batch(ctx context.Context) {
	price := total(r.ours)
	budget, err := shipping.ParseBudget(fmt.Sprintf("%d NGN", 2*price+price/2))
	var items []batch.Item
	for i := range 3 {
		items = append(items, batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: fmt.Sprint("SH-", i+1)}})
	}
	purchased := map[string]bool{}
	options := &batch.Options{
		Select: shipping.SelectOnly(r.ours...), Budget: budget, Purchase: r.options(), Journal: batch.Memory(),
		Progress: func(event batch.Event) {
			purchased[event.RequestID] = purchased[event.RequestID] || event.Step == "purchased"
		},
	}
	for number := range 2 {
		within, stop := context.WithTimeout(ctx, 4*time.Minute)
		report, failed := batch.Run(within, r.client, items, options)
		stop()
		if report == nil || err != nil {
			r.problems = append(r.problems, fmt.Sprint("no report: ", err, failed))
			return
		}
		r.claimBatch(report, purchased, fmt.Sprintf("%s, run %d", inBatch, number+1), budget)
		time.Sleep(time.Second) // what the next run is charged is later than the claims of this one
	}
}

func (r *run) claimBatch(report *batch.Report, purchased map[string]bool, how string, budget *shipping.Budget) {
	own, _ := shipping.NewAmount(int64(r.own("", time.Now())), 0)
	if report.Committed.Cmp(own) < 0 || own.Cmp(budget.Amount) > 0 {
		r.problems = append(r.problems, fmt.Sprintf("%s: committed %s of a budget of %s; the wallet was charged %s", how, report.Committed, budget, own))
	}
	for _, result := range report.Results {
		outcome := shipping.OutcomeNotCharged
		switch state := result.State; {
		case purchased[result.RequestID], state == batch.StateCompleted:
			outcome = shipping.OutcomeCharged
		case result.RequestID == "", state == batch.StateWaiting, state == batch.StateFailed:
			continue // no claim
		case state == batch.StateUnknown:
			outcome = shipping.OutcomeUnknown
		}
		r.claims = append(r.claims, claim{how, result.RequestID, r.ours, outcome, time.Now(), result.Err})
	}
}

// judge compares the claims with the wallet.
func (r *run) judge() {
	r.problems = append(r.problems, r.sent...)
	for _, c := range r.claims {
		isWrong := map[shipping.PurchaseOutcome]bool{
			shipping.OutcomeCharged: !r.paid(c.requestID, c.documents), shipping.OutcomePurchasedBefore: !r.paid(c.requestID, c.documents),
			shipping.OutcomeNotCharged: r.own(c.requestID, c.at) > 0,
		}
		if isWrong[c.outcome] {
			r.problems = append(r.problems, fmt.Sprintf("%s reports %q of %v; the wallet was charged %v (%v)", c.how, c.outcome, c.documents, r.requests[c.requestID].charges, c.err))
		}
	}
}

// statistics count the claims of each group, those that are unknown, and the false ones.
type statistics struct {
	mu              sync.Mutex
	claims, unknown map[string]int
	wrong           int
}

func (s *statistics) add(t *testing.T, r *run) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range r.claims {
		for _, group := range []string{c.how, "response: " + r.response} {
			s.claims[group]++
			if c.outcome == shipping.OutcomeUnknown {
				s.unknown[group]++
			}
		}
	}
	for _, problem := range r.problems {
		if s.wrong++; s.wrong <= 20 {
			t.Errorf("%+v\n\t%s", r.combination, problem)
		}
	}
}

// TestOutcomes plays combinations and compares every report with the wallet: those that contain every pair of values, and
// SHIPPING_OUTCOMES others, by default 1000, or "all".
func TestOutcomes(t *testing.T) {
	t.Parallel()
	kinds, courses := kinds(), courses()
	numbers, everything := sample(kinds, courses), len(kinds)*len(courses)
	further := everything
	if os.Getenv("SHIPPING_OUTCOMES") != "all" {
		further = randomtest.New(t).Number("SHIPPING_OUTCOMES", 1000)
	}
	for i, by := 0, stride(everything); i < further; i++ {
		numbers = append(numbers, i*by%everything)
	}
	stats := &statistics{claims: map[string]int{}, unknown: map[string]int{}}
	t.Run("parts", func(t *testing.T) {
		const parts = 2
		for part := range parts {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					for i := part; i < len(numbers); i += parts {
						at := numbers[i]
						stats.add(t, play(t, newCombination(at, kinds[at%len(kinds)], courses[at/len(kinds)])))
					}
				})
			})
		}
	})
	for _, group := range slices.Sorted(maps.Keys(stats.claims)) {
		t.Logf("%3d %% of %7d unknown: %s", 100*stats.unknown[group]/stats.claims[group], stats.claims[group], group)
	}
	t.Logf("%d combinations of %d, %d false outcomes", len(numbers), everything, stats.wrong)
	t.Attr("cases", fmt.Sprintf("%d combinations", len(numbers)))
}

// The outcomes of ordinary services are decided.
func TestOutcomes_Ordinary(t *testing.T) {
	t.Parallel()
	const paid, notCharged, purchasedBefore, unknown = shipping.OutcomeCharged, shipping.OutcomeNotCharged, shipping.OutcomePurchasedBefore, shipping.OutcomeUnknown
	for _, test := range []struct {
		method, post, response, other string
		want, settled                 shipping.PurchaseOutcome
	}{
		{analyze, confirmed, "", nobody, paid, ""},
		{analyze, performed, lost, nobody, paid, ""},
		{analyze, performed, refused, nobody, purchasedBefore, ""},
		{analyze, performed, alreadyPurchased, nobody, purchasedBefore, ""},
		{analyze, notPerformed, refused, nobody, notCharged, ""},
		{analyze, notPerformed, refusedAsDraft, nobody, notCharged, ""},
		{analyze, notPerformed, problem, nobody, notCharged, ""},
		{analyze, notPerformed, lost, nobody, unknown, notCharged},
		{purchaseID, confirmed, "", nobody, paid, ""},
		{purchaseID, performed, lost, nobody, paid, ""},
		{purchaseID, performed, refused, nobody, purchasedBefore, ""},
		{purchaseID, notPerformed, refused, nobody, notCharged, ""},
		{purchaseID, notPerformed, refused, these, purchasedBefore, ""},
		{purchaseID, notPerformed, lost, nobody, unknown, notCharged},
		{purchaseID, notPerformed, lost, others, unknown, unknown},
	} {
		services := []kind{
			{nothing, bought, nothing, "processing", full}, {bought, nothing, charged, "completed", full},
			{bought, nothing, charged, "processing", minimalAnalysis}, {nothing, nothing, nothing, "processing", minimal},
		}
		if test.method == purchaseID || test.want == purchasedBefore {
			services = services[:3] // the last one does not show the purchased documents
		}
		for _, k := range services {
			for _, lag := range lags[:2] {
				c := newCombination(0, k, course{test.method, plain, test.other, meanwhile, test.post, test.response, lag})
				if test.other == nobody {
					c.when = ""
				}
				synctest.Test(t, func(t *testing.T) {
					r := play(t, c)
					got, settled := r.claims[0].outcome, shipping.PurchaseOutcome("")
					for _, c := range r.claims {
						if c.how == "settled restored from JSON after 2 min" {
							settled = c.outcome
						}
					}
					if got != test.want || settled != test.settled || len(r.problems) > 0 {
						t.Errorf("%+v\n\t%q, settled as %q; want %q and %q; %q", c, got, settled, test.want, test.settled, r.problems)
					}
				})
			}
		}
	}
}
