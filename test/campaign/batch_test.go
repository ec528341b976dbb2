package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

// A batchCampaign is one batch that runs several times through the proxy.
type batchCampaign struct {
	*campaign
	t       *testing.T
	items   []batch.Item
	budget  shipping.Budget
	wallet  string
	start   shipping.Amount // the wallet's balance before the first run
	journal string
	runs    int
	over    bool // the budget is known not to hold
	lastly  []batch.Result
}

// TestBatchCampaign runs batches whose budget covers a part of their items through the proxy of
// TestPurchaseCampaign, interrupts them, and runs them again: at every progress event the ledger shows at most
// Committed, and Committed is at most the budget; no item is purchased twice; once the proxy passes
// everything on, each item ends. The environment is that of TestPurchaseCampaign, with a batch for every
// thousand purchases.
//
// It has found batches that exceeded their budgets.
func TestBatchCampaign(t *testing.T) {
	t.Parallel()
	o := readOptions(t)
	outcomes := map[string]int{}
	var mu sync.Mutex
	for number := range max(1, o.purchases/1000) {
		t.Run(fmt.Sprint(number), func(t *testing.T) {
			b := newBatchCampaign(t, o, number)
			b.work()
			mu.Lock()
			defer mu.Unlock()
			for _, result := range b.lastly {
				outcomes[string(result.State)]++
			}
		})
	}
	for _, state := range slices.Sorted(maps.Keys(outcomes)) {
		t.Logf("%6d items ended as %s", outcomes[state], state)
	}
}

func newBatchCampaign(t *testing.T, o options, number int) *batchCampaign {
	t.Helper()
	o.seed = newSchedule(o.seed).random(number, "batch", 0).Uint64()
	over := wires()[number%(len(wires())-1)] // not over the dead one
	b := &batchCampaign{campaign: newCampaign(t, o, over), t: t, journal: filepath.Join(t.TempDir(), "journal")}
	b.wallet = b.server.Wallets()[0]
	b.items = b.everyShipment()
	b.budget = b.partOf(b.items)
	b.start, _ = b.server.Balance(b.wallet)
	b.nameOrders()
	return b
}

// everyShipment returns an item for each shipment of the world and some that go wrong.
func (b *batchCampaign) everyShipment() []batch.Item {
	var items []batch.Item
	for _, shipment := range append(b.server.Shipments(), "SH-MAGICCUSTOMSONLY", "SH-MAGICFAILALWAYS", "SH-MAGICFAILONCE", "SH-MAGICFAILANALYSIS") {
		items = append(items, batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: shipment}})
	}
	return items
}

// partOf returns a budget for about half of the items.
func (b *batchCampaign) partOf(items []batch.Item) shipping.Budget {
	var sum shipping.Amount
	for _, item := range items[:len(items)/2] {
		draft, err := b.direct.Regulatory.Analyze(b.t.Context(), &item.Analyze)
		if err != nil {
			b.t.Fatal(err)
		}
		documents, _ := shipping.SelectAutomated(draft)
		price, _, err := draft.Price(documents...)
		if sum, err = add(sum, price, err); err != nil {
			b.t.Fatal(err)
		}
	}
	return shipping.Budget{Amount: sum, Currency: "NGN"}
}

func add(a, b shipping.Amount, err error) (shipping.Amount, error) {
	if err != nil {
		return a, err
	}
	return a.Add(b)
}

// nameOrders numbers what the batch analyzes: the number of the item, and how often it was analyzed before.
func (b *batchCampaign) nameOrders() {
	var mu sync.Mutex
	seen := map[string]int{}
	b.proxy.name = func(body []byte) *order {
		var in shipping.AnalyzeRequest
		_ = json.Unmarshal(body, &in)
		mu.Lock()
		defer mu.Unlock()
		seen[in.ShipmentID]++
		item := slices.IndexFunc(b.items, func(item batch.Item) bool { return item.Analyze.ShipmentID == in.ShipmentID })
		return &order{number: 100*item + seen[in.ShipmentID]}
	}
}

// work runs the batch until nothing changes any more: three times under faults, twice interrupted, and then
// without faults.
func (b *batchCampaign) work() {
	random := b.schedule.random(0, "interruptions", 0)
	for _, events := range []int{10 + random.IntN(40), 20 + random.IntN(60), math.MaxInt} {
		b.run(b.clients[0], events)
	}
	b.proxy.honest.Store(true)
	for range 2 {
		b.run(b.patient, math.MaxInt)
	}
	b.check()
}

// run runs the batch with the journal on disk, and interrupts it after some events.
func (b *batchCampaign) run(client *shipping.Client, events int) {
	b.runs++
	journal, err := batch.OpenFile(b.journal)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = journal.Close() }()
	ctx, stop := context.WithTimeout(b.t.Context(), time.Minute)
	defer stop()
	spent := b.spent() // before the snapshot of the event that comes next
	report, err := batch.Run(ctx, client, b.items, &batch.Options{
		Select: shipping.SelectAutomated, Budget: &b.budget, Journal: journal,
		Purchase: shipping.PurchaseOptions{SettleFor: settleFor, QuietFor: quietFor},
		Poll:     shipping.PollOptions{MinInterval: 5 * time.Millisecond, MaxInterval: 20 * time.Millisecond, DraftFor: time.Second},
		Progress: func(event batch.Event) {
			b.compare(spent, event.Committed, "at an event of "+event.Item.Key)
			spent = b.spent()
			if events--; events == 0 {
				stop()
			}
		},
	}, shipping.WithHeader(sentHeader, fmt.Sprint("run ", b.runs)))
	if report == nil {
		b.t.Fatalf("run %d: %v", b.runs, err)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		b.t.Errorf("run %d: %v", b.runs, err)
	}
	b.proxy.drain()
	b.compare(b.spent(), report.Committed, fmt.Sprintf("at the end of run %d", b.runs))
	b.lastly = report.Results
}

// spent returns the sum that left the wallet.
func (b *batchCampaign) spent() shipping.Amount {
	balance, _ := b.server.Balance(b.wallet)
	spent, err := b.start.Sub(balance)
	if err != nil {
		b.t.Error(err)
	}
	return spent
}

// compare requires spent ≤ committed ≤ budget. It reports the first difference.
func (b *batchCampaign) compare(spent, committed shipping.Amount, when string) {
	if !b.over && (spent.Cmp(committed) > 0 || committed.Cmp(b.budget.Amount) > 0) {
		b.over = true
		b.t.Errorf("%s in run %d: %s spent, %s committed, budget %s", when, b.runs, spent, committed, b.budget)
	}
}

// check compares the last report with the ledger.
func (b *batchCampaign) check() {
	paid := map[string]int{} // by shipment
	for request, debits := range ledger(b.t, b.direct, b.wallet) {
		record, err := b.direct.Regulatory.Get(b.t.Context(), request)
		if err != nil {
			b.t.Fatal(err)
		}
		paid[record.ShipmentID] += len(debits)
	}
	for mark, sent := range b.proxy.sent {
		if sent > 1 {
			b.t.Errorf("%s was sent %d times", mark, sent)
		}
	}
	for i, result := range b.lastly {
		purchased := result.State == batch.StateCompleted || result.State == batch.StateFailed && len(result.Documents) > 0
		open := result.State == batch.StateUnknown || result.State == batch.StateWaiting || result.State == batch.StateError
		times := paid[b.items[i].Analyze.ShipmentID]
		if failed, ok := errors.AsType[*shipping.PurchaseError](result.Err); ok && failed.Purchase.Contradicted && result.State == batch.StateUnknown && times <= 1 {
			continue // a refusal that contradicts itself is never "not charged", and stays unknown if the record shows nothing
		}
		if times > 1 || (times == 1) != purchased || open {
			b.t.Errorf("%s ended as %s (%v) and was debited %d times\n\t%s", result.Key, result.State, result.Err, times, b.history(result.RequestID))
		}
	}
	if err := b.server.Check(); err != nil {
		b.t.Errorf("the ledger: %v", err)
	}
}

func (b *batchCampaign) history(requestID string) string {
	if o := b.proxy.order(requestID); o != nil {
		return strings.Join(o.log, "\n\t")
	}
	return "nothing is known of " + requestID
}
