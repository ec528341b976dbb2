package linearizability

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
)

const (
	clients  = 4
	eachDoes = 10
)

// picture is the file of [TestPicture].
var picture = flag.String("picture", "", "write a picture of a short history to this SVG file")

// TestLinearizability checks histories of clients that analyze, edit, purchase, get, list, settle and replay on one
// account at the same time, while messages are lost, late, repeated and refused. SHIPPING_HISTORIES is how many, by
// default 300. The seed of each is one more than that of the one before.
func TestLinearizability(t *testing.T) {
	t.Parallel()
	o := randomtest.New(t)
	histories, first := o.Number("SHIPPING_HISTORIES", 300), o.Seed()
	total, stillOpen := 0, 0
	for n := range histories {
		seed := first + uint64(n)
		synctest.Test(t, func(t *testing.T) {
			history := record(t, seed, eachDoes)
			verdict := porcupine.CheckOperationsTimeout(model(), history, 0)
			total += len(history)
			for _, op := range history {
				if op.Output.(result).outcome == open {
					stillOpen++
				}
			}
			if verdict != porcupine.Ok {
				t.Errorf("a history has no order: it is %s\n%s\nreplay it: %s", verdict, text(history), o.With("SHIPPING_HISTORIES=1", fmt.Sprint("SHIPPING_SEED=", seed)))
			}
		})
		if t.Failed() {
			return
		}
	}
	t.Attr("cases", fmt.Sprintf("%d histories", histories))
	t.Logf("%d histories, %d operations, %d of them open", histories, total, stillOpen)
}

// TestPicture draws a short history. history.svg is that of the seed 37:
//
//	SHIPPING_SEED=37 go test -C test/linearizability -run TestPicture -picture "$PWD/test/linearizability/history.svg"
func TestPicture(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		history := record(t, randomtest.New(t).Seed(), 3)
		verdict, info := porcupine.CheckOperationsVerbose(model(), history, 0)
		svg := drawing(history, info)
		if verdict != porcupine.Ok || !bytes.HasSuffix(svg, []byte("</svg>\n")) {
			t.Errorf("%s\n%s", verdict, svg)
		}
		if *picture != "" {
			if err := os.WriteFile(*picture, svg, 0o644); err != nil {
				t.Error(err)
			}
		}
	})
}

// campaign is one history while it is recorded.
type campaign struct {
	t       *testing.T
	server  *mockserver.Server
	wallet  string
	replays shipping.ReplayRequest
	// delivered is how many deliveries there were before.
	delivered int

	mu      sync.Mutex
	now     int64
	history []porcupine.Operation
	ids     []string // requests, by number
}

// record runs the clients, each of which calls a number of operations.
func record(t *testing.T, seed uint64, each int) []porcupine.Operation {
	c := &campaign{t: t, server: mockserver.New(mockserver.WithoutListener(), mockserver.WithScenario("lowfunds-instant"),
		mockserver.WithDeliveryTransport(accepting{}), mockserver.WithJournal(1, 1))}
	defer c.server.Close()
	c.prepare()
	var late, working sync.WaitGroup
	rates := []int{20, 40, 60, 80}
	for n := range clients {
		network := &network{service: c.server, deliveries: &late, random: rand.New(rand.NewPCG(seed, uint64(n))), rate: rates[seed%uint64(len(rates))],
			resent: func(call string) { t.Errorf("the purchase of the call %s was sent again", call) }}
		client, err := shipping.NewClient(c.server.SecretKey, shipping.WithBaseURL("https://service.test"), shipping.WithProvisionalRoutes(),
			shipping.WithHTTPClient(&http.Client{Transport: network}), shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 2, MinWait: time.Microsecond, MaxWait: time.Microsecond}))
		if err != nil {
			t.Fatal(err)
		}
		w := &worker{campaign: c, number: n, client: client, random: rand.New(rand.NewPCG(seed, uint64(100+n)))}
		working.Go(func() { w.work(each) })
	}
	working.Wait()
	late.Wait()
	if err := c.server.Check(); err != nil {
		t.Error(err)
	}
	return c.history
}

// prepare funds the wallet for a few purchases, and sends a notification that can be replayed.
func (c *campaign) prepare() {
	client := c.server.Client(c.t)
	c.wallet = c.server.Wallets()[0]
	draft, err := client.Regulatory.Analyze(c.t.Context(), &shipping.AnalyzeRequest{ShipmentID: shipment})
	if err != nil {
		c.t.Fatal(err)
	}
	price, _, err := draft.Price(shipping.DocumentCustoms)
	for range funds {
		err = errors.Join(err, c.server.Fund(c.wallet, price))
	}
	webhook, subscribed := c.server.AddWebhook(notify.Webhook{URL: "http://127.0.0.1:1/hook", Name: "one", Events: []string{"shipment.updated"}})
	sent, emitted := c.server.Emit(notify.Event{Kind: "shipment.updated", ShipmentID: c.server.Shipments()[0]})
	if err := errors.Join(err, subscribed, emitted); err != nil {
		c.t.Fatal(err)
	}
	c.replays = shipping.ReplayRequest{DeliveryID: sent[0].ID, WebhookID: webhook}
	c.delivered = len(c.server.Deliveries())
}

const shipment = "SH-MAGICCUSTOMSONLY"

// accepting is a receiver of notifications.
type accepting struct{}

func (accepting) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return answer(http.StatusOK, ""), nil
}

// tick is the next moment of the history.
func (c *campaign) tick() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now++
	return c.now
}

// add adds an operation. One that is open returns at the end of time.
func (c *campaign) add(client int, op operation, called int64, got result) {
	returned := c.tick()
	if got.outcome == open {
		returned = math.MaxInt64
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history = append(c.history, porcupine.Operation{ClientId: client, Input: op, Call: called, Output: got, Return: returned})
}

// worker is one client.
type worker struct {
	*campaign
	number int
	client *shipping.Client
	random *rand.Rand
}

func (w *worker) work(operations int) {
	w.analyze()
	for range operations {
		steps := []func(){w.analyze, w.edit, w.edit, w.purchase, w.purchase, w.purchase, w.get, w.get, w.get, w.list, w.list, w.replay, w.count}
		steps[w.random.IntN(len(steps))]()
	}
}

// any returns one of the requests that are known.
func (w *worker) any() (n int, id string, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.ids) == 0 {
		return 0, "", false
	}
	n = w.random.IntN(len(w.ids))
	return n, w.ids[n], true
}

// analyze makes a request, up to maxRequests. One whose response was lost has no number, and nobody uses it.
func (w *worker) analyze() {
	w.mu.Lock()
	full := len(w.ids) >= maxRequests
	w.mu.Unlock()
	if full {
		return
	}
	called := w.tick()
	draft, err := w.client.Regulatory.Analyze(w.t.Context(), &shipping.AnalyzeRequest{ShipmentID: shipment})
	if err != nil {
		return
	}
	w.mu.Lock()
	n := len(w.ids)
	if n == maxRequests {
		w.mu.Unlock()
		return
	}
	w.ids = append(w.ids, draft.RequestID)
	w.mu.Unlock()
	w.add(w.number, operation{kind: analyze, request: n}, called, result{outcome: ok, quantity: quantity(draft)})
}

func quantity(r *shipping.RegulatoryRequest) int { return int(r.LineItems[0].Quantity) }

func (w *worker) edit() {
	n, id, known := w.any()
	if !known {
		return
	}
	op, called := operation{kind: edit, request: n, quantity: 100 + w.random.IntN(100)}, w.tick()
	price, _ := shipping.NewAmount(5, 0)
	items := []shipping.LineItem{{
		Description: "steel bolts", HSCode: "7318.15", Quantity: float64(op.quantity), UnitPrice: price, Currency: "USD", OriginCountry: "CN",
	}}
	_, err := w.client.Regulatory.UpdateItems(w.t.Context(), id, items)
	w.add(w.number, op, called, result{outcome: outcome(err)})
}

// outcome is that of a call that is not a purchase.
func outcome(err error) string {
	failed, sent := errors.AsType[*shipping.Error](err)
	switch {
	case err == nil:
		return ok
	case sent && failed.Refused():
		return refused
	}
	return open
}

func (w *worker) purchase() {
	n, id, known := w.any()
	if !known {
		return
	}
	op, called := operation{kind: purchase, request: n}, w.tick()
	bought, err := w.client.Regulatory.Purchase(w.t.Context(), &shipping.PurchaseRequest{
		RequestID: id, DocumentTypes: []shipping.DocumentType{shipping.DocumentCustoms}, Draft: &shipping.RegulatoryRequest{RequestID: id, Status: shipping.StatusDraft},
		PurchaseOptions: shipping.PurchaseOptions{SettleFor: 300 * time.Millisecond, RefusedFor: 200 * time.Millisecond, QuietFor: time.Second},
	}, shipping.WithHeader(callHeader, fmt.Sprint(called)))
	switch {
	case err == nil && !bought.ReadBack:
		w.add(w.number, op, called, result{outcome: ok})
		return
	case err == nil:
		w.add(w.number, op, called, result{outcome: charged})
		return
	}
	failed, _ := errors.AsType[*shipping.PurchaseError](err)
	switch {
	case failed == nil:
		w.t.Error(err)
	case failed.Outcome == shipping.OutcomePurchasedBefore:
		w.add(w.number, op, called, result{outcome: charged})
	case failed.Outcome == shipping.OutcomeNotCharged && errors.Is(err, shipping.ErrInsufficientFunds):
		w.add(w.number, op, called, result{outcome: insufficient})
	case failed.Outcome == shipping.OutcomeNotCharged:
		w.add(w.number, op, called, result{outcome: notCharged})
	default:
		w.settle(op, failed.Purchase, called)
	}
}

// settle ends a purchase whose outcome is unknown. If settling fails too, the purchase stays open.
func (w *worker) settle(op operation, unclear *shipping.PurchaseRequest, called int64) {
	asked := w.tick()
	_, err := w.client.Regulatory.SettlePurchase(w.t.Context(), unclear)
	failed, _ := errors.AsType[*shipping.PurchaseError](err)
	switch {
	case err == nil:
		w.add(w.number, op, called, result{outcome: charged})
		w.add(w.number, operation{kind: settle, request: op.request}, asked, result{outcome: charged})
	case failed != nil && failed.Outcome == shipping.OutcomeNotCharged:
		w.add(w.number, op, called, result{outcome: notCharged})
	default:
		w.add(w.number, op, called, result{outcome: open})
	}
}

func (w *worker) get() {
	n, id, known := w.any()
	if !known {
		return
	}
	called := w.tick()
	r, err := w.client.Regulatory.Get(w.t.Context(), id)
	if err != nil {
		return // nothing was seen
	}
	w.add(w.number, operation{kind: get, request: n}, called, result{outcome: ok, purchased: r.Status != shipping.StatusDraft, quantity: quantity(r)})
}

// list reads the debits of the wallet: they fit on one page.
func (w *worker) list() {
	called := w.tick()
	page, err := w.client.Transactions.List(w.t.Context(), &shipping.TransactionListOptions{Wallet: w.wallet})
	if err != nil {
		return
	}
	got := result{outcome: ok}
	w.mu.Lock()
	for _, transaction := range page.Items {
		for n, id := range w.ids {
			if !strings.HasSuffix(transaction.Description, id) {
				continue
			}
			if got.paid[n] {
				w.t.Errorf("%s was debited twice", id)
			}
			got.paid[n] = true
		}
	}
	w.mu.Unlock()
	w.add(w.number, operation{kind: list}, called, got)
}

func (w *worker) replay() {
	called := w.tick()
	_, err := w.client.Webhooks.Replay(w.t.Context(), &w.replays)
	w.add(w.number, operation{kind: replay}, called, result{outcome: outcome(err)})
}

// count reads the service's log of deliveries.
func (w *worker) count() {
	called := w.tick()
	n := len(w.server.Deliveries()) - w.delivered
	w.add(w.number, operation{kind: count}, called, result{outcome: ok, count: n})
}

// text shows a history in words, in the order of the calls.
func text(history []porcupine.Operation) string {
	var b strings.Builder
	for _, op := range history {
		returned := fmt.Sprint(op.Return)
		if op.Return == math.MaxInt64 {
			returned = "…"
		}
		fmt.Fprintf(&b, "%5d to %-5s client %d: %s\n", op.Call, returned, op.ClientId+1, describe(op.Input.(operation), op.Output.(result)))
	}
	return b.String()
}
