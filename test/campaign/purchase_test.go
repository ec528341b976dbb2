// Package campaign purchases through a proxy that damages and repeats requests and responses, and compares every
// outcome with the ledger of the service.
package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/mockserver"
)

// options determine a campaign. They are read from the environment, printed, and replay it.
type options struct {
	*randomtest.Options
	purchases int // SHIPPING_CAMPAIGN
	seed      uint64
	workers   int // SHIPPING_CAMPAIGN_WORKERS
	only      int // SHIPPING_CAMPAIGN_ONLY: the number of the purchase to replay alone; -1 runs all
}

func readOptions(t *testing.T) options {
	t.Helper()
	o := randomtest.New(t)
	return options{
		Options:   o,
		purchases: o.Number("SHIPPING_CAMPAIGN", 1000),
		seed:      o.Seed(),
		workers:   o.Number("SHIPPING_CAMPAIGN_WORKERS", 64),
		only:      o.Number("SHIPPING_CAMPAIGN_ONLY", -1),
	}
}

// A subject is a kind of request that is purchased.
type subject struct {
	name     string
	weight   int
	shipment string // empty: the world's first, which needs several documents
	// before and documents are positions on the draft: documents that another program purchases first, and those
	// of the purchase itself.
	before, documents []int
	// foreign purchases a document that the draft does not offer.
	foreign bool
	// open is true if the record need not show what became of a lost purchase.
	open bool
}

func (s subject) share() int { return s.weight }

func subjects() []subject {
	return []subject{
		{name: "a draft", weight: 38, shipment: "SH-MAGICCUSTOMSONLY", documents: []int{0}},
		{name: "a draft, two documents", weight: 38, shipment: "SH-MAGICFAILONCE", documents: []int{0, 2}},
		{name: "its generation fails", weight: 4, shipment: "SH-MAGICFAILALWAYS", documents: []int{0}},
		{name: "it stays in purchasing", weight: 4, shipment: "SH-MAGICHANGINPURCHASING", documents: []int{0, 1}, open: true},
		{name: "its analysis failed", weight: 4, shipment: "SH-MAGICFAILANALYSIS", foreign: true, open: true},
		{name: "a document that is not offered", weight: 4, foreign: true},
		{name: "purchased before", weight: 4, before: []int{0, 1}, documents: []int{0, 1}},
		{name: "purchased before, other documents", weight: 4, shipment: "SH-MAGICFAILALWAYS", before: []int{1},
			documents: []int{0}, open: true},
	}
}

// A trial is one purchase of the campaign, with its result.
type trial struct {
	order     *order
	subject   subject
	wire      wire
	requestID string
	documents []shipping.DocumentType
	known     bool                        // Purchase is given the draft as it was analyzed
	draft     *shipping.RegulatoryRequest // as it was analyzed
	unclear   *shipping.PurchaseRequest   // what is remembered of an unknown outcome

	outcome  shipping.PurchaseOutcome
	readBack bool
	charged  shipping.Amount // as reported
	settled  shipping.PurchaseOutcome
	reason   string // why it cannot be settled
	early    bool   // it was reported as charged before it was
}

// A campaign is a number of purchases through a hostile proxy, and the ledger that they are compared with.
type campaign struct {
	options  options
	server   *mockserver.Server
	direct   *shipping.Client // without the proxy
	proxy    *proxy
	schedule *schedule
	clients  map[wire]*shipping.Client
	patient  *shipping.Client // for an honest proxy
	trials   []*trial
	wrong    map[string][]string // by problem
}

func newCampaign(t *testing.T, o options) *campaign {
	t.Helper()
	server := mockserver.New(mockserver.WithoutListener(), mockserver.WithJournal(100, 100),
		mockserver.WithDialect(&dialect.Dialect{Time: dialect.Time{Generation: 0.01}}))
	t.Cleanup(server.Close)
	// Two naira a dollar: the wallet lasts for every purchase.
	rate, err := shipping.NewAmount(2, 0)
	if err := errors.Join(err, server.SetExchangeRate("NGN", rate)); err != nil {
		t.Fatal(err)
	}
	c := &campaign{
		options: o, server: server, direct: server.Client(t), proxy: newProxy(server), schedule: newSchedule(o.seed),
		clients: map[wire]*shipping.Client{}, wrong: map[string][]string{},
	}
	c.proxy.plan = c.schedule.plan
	for _, w := range wires() {
		c.clients[w] = w.open(t, c.proxy, server.SecretKey, patience)
	}
	c.patient = wires()[1].open(t, c.proxy, server.SecretKey, 100*patience)
	return c
}

// TestPurchaseCampaign purchases from many goroutines, over HTTP/1.1 and HTTP/2, through a proxy that repeats,
// loses, delays and corrupts exchanges: the client sends each purchase once, reports no outcome that the ledger
// contradicts, and every unknown outcome is settled, or listed as undecidable with its reason, once the proxy
// passes everything on. See options for its environment.
//
// A copy that arrives after the report, and a request that is sent again because its connection broke beside others,
// are such mistakes. It has found false reports of both outcomes.
func TestPurchaseCampaign(t *testing.T) {
	t.Parallel()
	c := newCampaign(t, readOptions(t))
	started := time.Now()
	for number := range c.options.purchases {
		if c.options.only < 0 || c.options.only == number {
			c.trials = append(c.trials, c.newTrial(number))
		}
	}
	c.each(func(one *trial) { c.purchase(t, one) })
	purchased := time.Since(started)
	c.proxy.drain()
	c.proxy.honest.Store(true)
	c.each(func(one *trial) { c.settle(t, one) })
	c.check(t)
	t.Attr("cases", fmt.Sprintf("%d purchases", len(c.trials)))
	t.Logf("%s\n%d purchases in %s, with settling and checking %s\n%s", c.options, len(c.trials),
		purchased.Round(time.Millisecond), time.Since(started).Round(time.Millisecond), c.report())
}

// each works on the trials, many at a time.
func (c *campaign) each(work func(*trial)) {
	queue := make(chan *trial)
	var workers sync.WaitGroup
	for range c.options.workers {
		workers.Go(func() {
			for one := range queue {
				work(one)
			}
		})
	}
	for _, one := range c.trials {
		queue <- one
	}
	close(queue)
	workers.Wait()
}

// newTrial chooses the documents and the connection of a purchase.
func (c *campaign) newTrial(number int) *trial {
	random := c.schedule.random(number, "trial", 0)
	one := &trial{order: &order{number: number}, subject: pick(random, subjects()), wire: pick(random, wires())}
	one.known = random.IntN(2) == 0 && one.subject.shipment != "SH-MAGICFAILANALYSIS"
	one.order.existing = one.subject.before != nil
	return one
}

// prepare analyzes without the proxy, and purchases what another program purchased before.
func (c *campaign) prepare(ctx context.Context, one *trial) error {
	shipment := cmp.Or(one.subject.shipment, c.server.Shipments()[0])
	draft, err := c.direct.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: shipment})
	if failed, ok := errors.AsType[*shipping.RegulatoryError](err); ok {
		draft = failed.Request
	} else if err != nil {
		return err
	}
	one.requestID, one.draft = draft.RequestID, draft
	offered := func(positions []int) (documents []shipping.DocumentType) {
		for _, position := range positions {
			documents = append(documents, draft.AvailableDocuments[position].DocumentType)
		}
		return documents
	}
	if one.documents = offered(one.subject.documents); one.subject.foreign {
		one.documents = []shipping.DocumentType{"AMS"}
	}
	if before := offered(one.subject.before); before != nil {
		_, err = c.direct.Regulatory.Purchase(ctx,
			&shipping.PurchaseRequest{RequestID: draft.RequestID, DocumentTypes: before})
	} else {
		err = nil
	}
	c.proxy.watch(draft.RequestID, one.order)
	return err
}

func (c *campaign) purchase(t *testing.T, one *trial) {
	if err := c.prepare(t.Context(), one); err != nil {
		t.Errorf("purchase %d cannot be prepared: %v", one.order.number, err)
		return
	}
	purchase := shipping.PurchaseRequest{
		RequestID: one.requestID, DocumentTypes: one.documents, Sole: one.subject.before == nil,
		PurchaseOptions: shipping.PurchaseOptions{SettleFor: settleFor, RefusedFor: refusedFor, QuietFor: quietFor},
	}
	if one.known {
		purchase.Draft = one.draft
	}
	mark := shipping.WithHeader(sentHeader, strconv.Itoa(one.order.number))
	result, err := c.clients[one.wire].Regulatory.Purchase(t.Context(), &purchase, mark)
	one.outcome = outcomeOf(result, err)
	if failed, ok := errors.AsType[*shipping.RegulatoryError](err); ok {
		one.unclear = failed.Purchase
	}
	if result != nil {
		one.readBack, one.charged = result.ReadBack, result.ChargedAmount
	}
	if one.settled = one.outcome; saysCharged(one.outcome) {
		one.early = !c.isCharged(t, one)
	}
	one.order.note("reported: %s (%v)", one.outcome, err)
}

// outcomeOf returns the outcome of a purchase, from its result or its error.
func outcomeOf(result *shipping.PurchaseResult, err error) shipping.PurchaseOutcome {
	if err == nil {
		return shipping.OutcomeCharged
	}
	if failed, ok := errors.AsType[*shipping.RegulatoryError](err); ok {
		return failed.Outcome
	}
	return shipping.PurchaseOutcome("no outcome")
}

// saysCharged reports whether the documents are paid for, by an outcome.
func saysCharged(outcome shipping.PurchaseOutcome) bool {
	return outcome == shipping.OutcomeCharged || outcome == shipping.OutcomePurchasedBefore
}

// isCharged reads from the service itself whether the documents of the trial are paid for.
func (c *campaign) isCharged(t *testing.T, one *trial) bool {
	record, err := c.direct.Regulatory.Get(t.Context(), one.requestID)
	if err != nil {
		t.Errorf("purchase %d cannot be read: %v", one.order.number, err)
		return false
	}
	if record.TransactionID == "" {
		return false
	}
	isFirst := func(d shipping.PurchasedDocument) bool { return d.DocumentType == one.documents[0] }
	return record.Status == shipping.StatusPurchasing || slices.ContainsFunc(record.Documents, isFirst)
}

// settle decides an unknown outcome, once the proxy is honest.
func (c *campaign) settle(t *testing.T, one *trial) {
	if one.outcome != shipping.OutcomeUnknown {
		return
	}
	result, err := c.patient.Regulatory.SettlePurchase(t.Context(), one.unclear)
	if one.settled = outcomeOf(result, err); one.settled == shipping.OutcomeUnknown {
		one.reason = strings.ReplaceAll(err.Error(), one.requestID, "RD-…")
	}
	one.order.note("settled: %s (%v)", one.settled, err)
}

// fault records a problem of a trial.
func (c *campaign) fault(one *trial, what, format string, args ...any) {
	c.wrong[what] = append(c.wrong[what],
		fmt.Sprintf("%s: purchase %d (%s, %s, draft known: %t): %s\n\t%s\n\treplay it: %s",
			what, one.order.number, one.subject.name, one.wire.name, one.known, fmt.Sprintf(format, args...),
			strings.Join(one.order.log, "\n\t"), c.options.With(fmt.Sprint("SHIPPING_CAMPAIGN_ONLY=", one.order.number))))
}

// check compares every report with the ledger.
func (c *campaign) check(t *testing.T) {
	debits := ledger(t, c.direct, c.server.Wallets()[0])
	for _, one := range c.trials {
		if one.requestID == "" {
			continue
		}
		paid, charged := debits[one.requestID], c.isCharged(t, one)
		delete(debits, one.requestID)
		sent := c.proxy.sent[strconv.Itoa(one.order.number)+" "+one.requestID]
		if sent > 1 {
			c.fault(one, "sent again", "the client sent it %d times", sent)
		}
		switch {
		case len(paid) > 1:
			c.fault(one, "debited twice", "it was debited %d times", len(paid))
		case one.outcome == shipping.OutcomeNotCharged && one.order.existing && sent == 0: // this purchase charged nothing
		case saysCharged(one.outcome) && !charged, one.outcome == shipping.OutcomeNotCharged && charged:
			c.fault(one, "false "+string(one.outcome), "the ledger shows %d debits", len(paid))
		case one.early:
			c.fault(one, "charged too early", "the outcome was %q before there was a debit", one.outcome)
		case one.charged.Known() && !one.charged.Equal(paid[0]):
			c.fault(one, "wrong amount", "reported as charged %s, but the debit is %s", one.charged, paid[0])
		case one.settled == shipping.OutcomeUnknown && !one.subject.open && !one.unclear.Contradicted:
			c.fault(one, "not settled", "it cannot be settled: %s", one.reason)
		case saysCharged(one.settled) && !charged, one.settled == shipping.OutcomeNotCharged && charged:
			c.fault(one, "settled as false "+string(one.settled), "the ledger shows %d debits", len(paid))
		case !saysCharged(one.settled) && one.settled != shipping.OutcomeNotCharged && one.reason == "":
			c.fault(one, "no outcome", "the outcome is %q without a reason", one.settled)
		}
	}
	if len(debits) != 0 {
		t.Errorf("%d debits for requests that nobody purchased", len(debits))
	}
	if err := c.server.Check(); err != nil {
		t.Errorf("the ledger: %v", err)
	}
	const shown = 3
	for what, texts := range c.wrong {
		t.Errorf("%s: %d of %d purchases", what, len(texts), len(c.trials))
		for _, text := range texts[:min(shown, len(texts))] {
			t.Log(text)
		}
	}
}

// ledger returns the debits of each request.
func ledger(t *testing.T, client *shipping.Client, wallet string) map[string][]shipping.Amount {
	t.Helper()
	debits := map[string][]shipping.Amount{}
	for transaction, err := range client.Transactions.All(t.Context(),
		&shipping.TransactionListOptions{Wallet: wallet, PerPage: 1000}) {
		if err != nil {
			t.Fatal(err)
		}
		if request, ok := strings.CutPrefix(transaction.Description, "Regulatory documents for "); ok {
			debits[request] = append(debits[request], transaction.Amount)
		}
	}
	return debits
}

// report lists how many purchases had each outcome, and how often each fault struck.
func (c *campaign) report() string {
	counts := maps.Clone(c.proxy.struck)
	for _, one := range c.trials {
		counts[fmt.Sprintf("reported: %s, read back %t", one.outcome, one.readBack)]++
		if one.outcome == shipping.OutcomeUnknown {
			counts[fmt.Sprintf("settled: %s %s", one.settled, one.reason)]++
		}
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&text, "%8d  %s\n", counts[name], name)
	}
	return text.String()
}
