// Package campaign purchases through a proxy that damages and repeats requests and responses, and compares every
// outcome with the ledger of the service.
package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// A subject is a kind of request that is purchased.
type subject struct {
	name     string
	shipment string // empty: the world's first, which needs several documents
	// before and documents are positions on the draft: documents that another program purchases first, and those
	// of the purchase itself.
	before, documents []int
	// foreign purchases a document that the draft does not offer.
	foreign bool
	// open is true if the record need not show what became of a lost purchase.
	open bool
}

// subjects are the kinds of requests. The first two are those of three quarters of the trials.
func subjects() []subject {
	return []subject{
		{name: "a draft", shipment: "SH-MAGICCUSTOMSONLY", documents: []int{0}},
		{name: "a draft, two documents", shipment: "SH-MAGICFAILONCE", documents: []int{0, 2}},
		{name: "its generation fails", shipment: "SH-MAGICFAILALWAYS", documents: []int{0}},
		{name: "it stays in purchasing", shipment: "SH-MAGICHANGINPURCHASING", documents: []int{0, 1}, open: true},
		{name: "its analysis failed", shipment: "SH-MAGICFAILANALYSIS", foreign: true, open: true},
		{name: "a document that is not offered", foreign: true},
		{name: "purchased before", before: []int{0, 1}, documents: []int{0, 1}},
		{name: "purchased before, other documents", shipment: "SH-MAGICFAILALWAYS", before: []int{1},
			documents: []int{0}, open: true},
	}
}

// A trial is one purchase of the campaign, with its result.
type trial struct {
	number    int
	subject   subject
	wire      wire
	requestID string
	documents []shipping.DocumentType
	known     bool                        // Purchase is given the draft as it was analyzed
	draft     *shipping.RegulatoryRequest // as it was analyzed
	unclear   *shipping.PurchaseRequest   // the record of an unknown outcome

	outcome shipping.PurchaseOutcome
	charged shipping.Amount // as reported
	settled shipping.PurchaseOutcome
	reason  string // why it cannot be settled
	early   bool   // it was reported as charged before it was

	mu        sync.Mutex
	exchanges map[string]int // so far, by kind
	before    *response      // the last draft that the proxy has seen
	chargedAt time.Time
	log       []string
}

func (t *trial) note(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.log = append(t.log, fmt.Sprintf(format, args...))
}

// next returns the number of the next exchange of a kind.
func (t *trial) next(kind string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.exchanges[kind]++
	return t.exchanges[kind] - 1
}

// A campaign is a number of purchases through a hostile proxy, and the ledger that they are compared with.
type campaign struct {
	options    *randomtest.Options
	seed       uint64
	server     *mockserver.Server
	direct     *shipping.Client // without the proxy
	clients    map[wire]*shipping.Client
	patient    *shipping.Client // for an honest proxy
	trials     []*trial
	byRequest  sync.Map
	honest     atomic.Bool    // the proxy passes everything on
	deliveries sync.WaitGroup // that the service will receive
	wrong      map[string][]string
}

func newCampaign(t *testing.T) *campaign {
	t.Helper()
	options := randomtest.New(t)
	server := mockserver.New(mockserver.WithoutListener(), mockserver.WithJournal(100, 100),
		mockserver.WithDialect(shippingtest.Dialect(t, "time.generation=0.01")))
	t.Cleanup(server.Close)
	// Two naira a dollar: the wallet lasts for every purchase.
	shippingtest.NoError(t, server.SetExchangeRate("NGN", shippingtest.Amount(t, "2")))
	c := &campaign{
		options: options, seed: options.Seed(), server: server, direct: server.Client(t),
		clients: map[wire]*shipping.Client{}, wrong: map[string][]string{},
	}
	for _, w := range wires() {
		c.clients[w] = w.open(t, c, server.SecretKey, patience)
	}
	c.patient = wires()[1].open(t, c, server.SecretKey, 100*patience)
	return c
}

// TestPurchaseCampaign purchases from many goroutines, over HTTP/1.1 and HTTP/2, through a proxy that repeats,
// loses, delays and corrupts exchanges: the client sends each purchase once, reports no outcome that the ledger
// contradicts, and every unknown outcome is settled, or listed as undecidable with its reason, once the proxy
// passes everything on. SHIPPING_CAMPAIGN is the number of purchases, and SHIPPING_CAMPAIGN_ONLY that of the only one
// to replay.
//
// A copy that arrives after the report, and a request that is sent again because its connection broke beside others,
// are such mistakes. It has found false reports of both outcomes.
func TestPurchaseCampaign(t *testing.T) {
	t.Parallel()
	c := newCampaign(t)
	started := time.Now()
	purchases, only := c.options.Number("SHIPPING_CAMPAIGN", 1000), c.options.Number("SHIPPING_CAMPAIGN_ONLY", -1)
	for number := range purchases {
		if only < 0 || only == number {
			c.trials = append(c.trials, c.newTrial(number))
		}
	}
	c.each(func(one *trial) { c.purchase(t, one) })
	c.deliveries.Wait()
	c.honest.Store(true)
	c.each(func(one *trial) { c.settle(t, one) })
	c.check(t)
	t.Attr("cases", fmt.Sprintf("%d purchases", len(c.trials)))
	t.Logf("%s\n%d purchases, settled and checked in %s", c.options, len(c.trials),
		time.Since(started).Round(time.Millisecond))
}

// each works on the trials, many at a time.
func (c *campaign) each(work func(*trial)) {
	const workers = 64
	turns := make(chan struct{}, workers)
	var all sync.WaitGroup
	for _, one := range c.trials {
		turns <- struct{}{}
		all.Go(func() {
			work(one)
			<-turns
		})
	}
	all.Wait()
}

// newTrial chooses the documents and the connection of a purchase.
func (c *campaign) newTrial(number int) *trial {
	random := c.random(number, "trial", 0)
	one := &trial{number: number, subject: pick(random, subjects()), wire: pick(random, wires()[:2]),
		exchanges: map[string]int{}}
	if random.IntN(4) > 0 {
		one.subject = pick(random, subjects()[:2])
	}
	if random.IntN(14) == 0 {
		one.wire = wires()[2]
	}
	one.known = random.IntN(2) == 0 && one.subject.shipment != "SH-MAGICFAILANALYSIS"
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
	c.byRequest.Store(draft.RequestID, one)
	offered := func(positions []int) (documents []shipping.DocumentType) {
		for _, position := range positions {
			documents = append(documents, draft.AvailableDocuments[position].DocumentType)
		}
		return documents
	}
	if one.documents = offered(one.subject.documents); one.subject.foreign {
		one.documents = []shipping.DocumentType{"AMS"}
	}
	before := offered(one.subject.before)
	if before == nil {
		return nil
	}
	return shippingtest.Err(c.direct.Regulatory.Purchase(ctx,
		&shipping.PurchaseRequest{RequestID: draft.RequestID, DocumentTypes: before}))
}

func (c *campaign) purchase(t *testing.T, one *trial) {
	if err := c.prepare(t.Context(), one); err != nil {
		t.Errorf("purchase %d cannot be prepared: %v", one.number, err)
		return
	}
	purchase := shipping.PurchaseRequest{
		RequestID: one.requestID, DocumentTypes: one.documents, Sole: one.subject.before == nil,
		PurchaseOptions: shipping.PurchaseOptions{SettleFor: settleFor, RefusedFor: refusedFor, QuietFor: quietFor},
	}
	if one.known {
		purchase.Draft = one.draft
	}
	result, err := c.clients[one.wire].Regulatory.Purchase(t.Context(), &purchase)
	one.outcome = shippingtest.Outcome(result, err)
	if failed, ok := errors.AsType[*shipping.RegulatoryError](err); ok {
		one.unclear = failed.Purchase
	}
	if result != nil {
		one.charged = result.ChargedAmount
	}
	if one.settled = one.outcome; saysCharged(one.outcome) {
		one.early = !c.isCharged(t, one)
	}
	one.note("reported: %s (%v)", one.outcome, err)
}

// saysCharged reports whether the documents are paid for, by an outcome.
func saysCharged(outcome shipping.PurchaseOutcome) bool {
	return outcome == shipping.OutcomeCharged || outcome == shipping.OutcomePurchasedBefore
}

// isCharged reads from the service itself whether the documents of the trial are paid for.
func (c *campaign) isCharged(t *testing.T, one *trial) bool {
	record, err := c.direct.Regulatory.Get(t.Context(), one.requestID)
	if err != nil {
		t.Errorf("purchase %d cannot be read: %v", one.number, err)
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
	if one.settled = shippingtest.Outcome(result, err); one.settled == shipping.OutcomeUnknown {
		one.reason = err.Error()
	}
	one.note("settled: %s (%v)", one.settled, err)
}

// fault records a problem of a trial.
func (c *campaign) fault(one *trial, what, format string, args ...any) {
	c.wrong[what] = append(c.wrong[what],
		fmt.Sprintf("%s: purchase %d (%s, %s, draft known: %t): %s\n\t%s\n\treplay it: %s",
			what, one.number, one.subject.name, one.wire.name, one.known, fmt.Sprintf(format, args...),
			strings.Join(one.log, "\n\t"), c.options.With(fmt.Sprint("SHIPPING_CAMPAIGN_ONLY=", one.number))))
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
		sent := one.exchanges[purchase]
		if sent > 1 {
			c.fault(one, "sent again", "the client sent it %d times", sent)
		}
		switch {
		case len(paid) > 1:
			c.fault(one, "debited twice", "it was debited %d times", len(paid))
		case one.outcome == shipping.OutcomeNotCharged && one.subject.before != nil && sent == 0: // it charged nothing
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
	shippingtest.Diff(t, "debits of requests that nobody purchased", 0, len(debits))
	if err := c.server.Check(); err != nil {
		t.Errorf("the ledger: %v", err)
	}
	const shown = 3
	for what, texts := range c.wrong {
		t.Errorf("%s: %d of %d purchases:\n%s", what, len(texts), len(c.trials),
			strings.Join(texts[:min(shown, len(texts))], "\n"))
	}
}

// ledger returns the debits of each request.
func ledger(t *testing.T, client *shipping.Client, wallet string) map[string][]shipping.Amount {
	t.Helper()
	debits := map[string][]shipping.Amount{}
	for transaction, err := range client.Transactions.All(t.Context(),
		&shipping.TransactionListOptions{Wallet: wallet, PerPage: 1000}) {
		shippingtest.NoError(t, err)
		if request, ok := strings.CutPrefix(transaction.Description, "Regulatory documents for "); ok {
			debits[request] = append(debits[request], transaction.Amount)
		}
	}
	return debits
}
