package shipping_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
)

// campaignFaults are what a purchase and its read-back meet, each with its chance, from a seed.
func campaignFaults() []mockserver.FaultRule {
	const late = 1200 * time.Millisecond // beyond the attempt's time
	var rules []mockserver.FaultRule
	for _, committed := range []bool{false, true} {
		for _, fault := range []mockserver.Fault{
			mockserver.FaultDrop(), mockserver.FaultTruncate(20), mockserver.FaultMalformed(), mockserver.FaultLatency(late),
			mockserver.FaultStatus(http.StatusInternalServerError, nil), mockserver.FaultStatus(http.StatusServiceUnavailable, nil),
			mockserver.FaultStatus(http.StatusTooManyRequests, nil), mockserver.FaultRedirect("/elsewhere"),
		} {
			rules = append(rules, mockserver.FaultRule{Operation: shipping.OpPurchase, Probability: 0.02, Committed: committed, Fault: fault})
		}
	}
	for _, fault := range []mockserver.Fault{
		mockserver.FaultDrop(), mockserver.FaultTruncate(100), mockserver.FaultStatus(http.StatusServiceUnavailable, nil), mockserver.FaultLatency(late),
	} {
		rules = append(rules, mockserver.FaultRule{Operation: shipping.OpGetRequest, Probability: 0.02, Fault: fault})
	}
	return rules
}

// bought is one purchase of the campaign and what was said of it.
type bought struct {
	request string
	outcome shipping.Outcome
	settled shipping.Outcome
	lost    bool // the answer was lost and the charge was learnt by reading back
}

// TestPurchaseCampaign buys under random faults, over real sockets, from many goroutines: no request is
// debited twice, no outcome is reported that the ledger contradicts, and every unknown one is settled
// when the faults stop. SHIPPING_CAMPAIGN=20000 makes it as large as that.
func TestPurchaseCampaign(t *testing.T) {
	purchases := 1000
	if n, err := strconv.Atoi(os.Getenv("SHIPPING_CAMPAIGN")); err == nil {
		purchases = n
	}
	server := mockserver.New()
	defer server.Close()
	// Two naira a dollar: the wallet lasts for every purchase.
	if err := server.SetExchangeRate("NGN", mustAmount(t, "2")); err != nil {
		t.Fatal(err)
	}
	client, err := shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL), shipping.WithRetryPolicy(shipping.RetryPolicy{
		MinWait: time.Millisecond, MaxWait: 4 * time.Millisecond, AttemptTimeout: 600 * time.Millisecond, ExtraLoad: -1,
	}))
	if err != nil {
		t.Fatal(err)
	}
	server.Inject(campaignFaults()...)
	results := make([]bought, purchases)
	work := make(chan int)
	var workers sync.WaitGroup
	for range 64 {
		workers.Go(func() {
			for i := range work {
				results[i] = buyOnce(t, client, server.Shipments()[0])
			}
		})
	}
	started := time.Now()
	for i := range results {
		work <- i
	}
	close(work)
	workers.Wait()
	took := time.Since(started)

	server.ClearFaults()
	settleAll(t, client, results)
	checkCampaign(t, server, client, results)
	t.Logf("%d purchases in %s, %d arrived", purchases, took.Round(time.Millisecond), server.Calls(shipping.OpPurchase))
}

func buyOnce(t *testing.T, client *shipping.Client, shipment string) bought {
	draft, err := client.Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: shipment})
	for ; err != nil; draft, err = client.Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: shipment}) {
		if t.Context().Err() != nil || errors.Is(err, shipping.ErrInvalidRequest) {
			t.Errorf("analyze: %v", err)
			return bought{}
		}
	}
	one := bought{request: draft.RequestID}
	result, err := client.Regulatory.PurchaseWith(t.Context(), &shipping.PurchaseRequest{
		RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{shipping.DocumentCustoms}, SettleFor: 250 * time.Millisecond,
	})
	if failed, ok := errors.AsType[*shipping.PurchaseError](err); ok {
		one.outcome = failed.Outcome
	} else if err == nil {
		one.outcome, one.lost = result.Outcome, result.ReadBack
	}
	one.settled = one.outcome
	return one
}

func settleAll(t *testing.T, client *shipping.Client, results []bought) {
	var settling sync.WaitGroup
	slots := make(chan struct{}, 64)
	for i := range results {
		if results[i].outcome != shipping.OutcomeUnknown {
			continue
		}
		settling.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			_, err := client.Regulatory.SettlePurchase(t.Context(), results[i].request, &shipping.SettleOptions{QuietFor: time.Second})
			if failed, ok := errors.AsType[*shipping.PurchaseError](err); ok {
				results[i].settled = failed.Outcome
			} else if err == nil {
				results[i].settled = shipping.OutcomeCharged
			}
		})
	}
	settling.Wait()
}

func checkCampaign(t *testing.T, server *mockserver.Server, client *shipping.Client, results []bought) {
	_, debited := debits(t, client, server.Wallets()[0])
	type row struct{ purchases, debited int }
	first, last := map[string]*row{}, map[string]*row{}
	count := func(table map[string]*row, name string, debits int) {
		if table[name] == nil {
			table[name] = &row{}
		}
		table[name].purchases++
		table[name].debited += debits
	}
	for _, one := range results {
		times := debited[one.request]
		delete(debited, one.request)
		name := string(one.outcome)
		if one.lost {
			name += ", learnt by reading back"
		}
		count(first, name, times)
		count(last, string(one.settled), times)
		switch {
		case times > 1:
			t.Errorf("%s was debited %d times", one.request, times)
		case one.outcome == shipping.OutcomeCharged && times != 1, one.outcome == shipping.OutcomeNotCharged && times != 0:
			t.Errorf("%s was reported %s and debited %d times", one.request, one.outcome, times)
		case one.settled != shipping.OutcomeCharged && one.settled != shipping.OutcomeNotCharged:
			t.Errorf("%s could not be settled: %q", one.request, one.settled)
		case (one.settled == shipping.OutcomeCharged) != (times == 1):
			t.Errorf("%s was settled as %s and debited %d times", one.request, one.settled, times)
		}
	}
	if len(debited) != 0 {
		t.Errorf("%d debits for requests nobody purchased", len(debited))
	}
	if err := server.Check(); err != nil {
		t.Errorf("the ledger: %v", err)
	}
	var table strings.Builder
	for _, part := range []struct {
		title string
		rows  map[string]*row
	}{{"reported under faults", first}, {"after settling", last}} {
		fmt.Fprintf(&table, "\n%-34s %10s %10s\n", part.title, "purchases", "debited")
		for _, name := range []string{"charged", "charged, learnt by reading back", "not charged", "unknown"} {
			if r := part.rows[name]; r != nil {
				fmt.Fprintf(&table, "  %-32s %10d %10d\n", name, r.purchases, r.debited)
			}
		}
	}
	t.Log(table.String())
}
