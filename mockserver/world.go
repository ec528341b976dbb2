package mockserver

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/goods"
	"github.com/shipping-go/shipping/mockserver/internal/explain"
	"github.com/shipping-go/shipping/mockserver/internal/world"
	"github.com/shipping-go/shipping/mockserver/journal"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// World is one account of a server: its key, data, time, faults and journal. Worlds share nothing that can
// change, so each test that runs in parallel can use its own: see [Server.NewWorld] and [Server.Open]. Every
// method of World is also a method of [Server], whose field World is the home world. A World is safe for
// concurrent use.
type World struct {
	*Access // a pointer, so that printing a World in another value does not show the key

	core   *world.World
	server *Server
}

// Access is the address and the key of a world.
type Access struct {
	// URL is the base address of the service, such as "http://127.0.0.1:41234". Without a listener it is an address that
	// no network resolves, for use with [World.Transport].
	URL string
	// SecretKey selects the world: requests that carry it belong to it.
	SecretKey string
}

// Format prints the address for every verb, and never the key.
func (a Access) Format(to fmt.State, _ rune) { _, _ = io.WriteString(to, a.URL) }

// Name returns the scenario and the name that follow "sk_test_" in the key, such as "lowfunds_ci42", or "home"
// for the home world.
func (w *World) Name() string { return w.core.Name() }

func (s *Server) public(w *world.World) *World {
	return &World{Access: &Access{URL: w.URL, SecretKey: w.SecretKey}, core: w, server: s}
}

// Transport returns a transport that reaches the server without a socket, whatever host a request
// names: a real HTTP connection over memory. It works inside a testing/synctest bubble if the
// server was created there, with [WithoutListener]. All worlds share it: the key selects the world.
func (w *World) Transport() http.RoundTripper { return w.server.inMemory }

// Why explains the response with the given X-Request-Id. It returns an error if the journal no longer has the
// request.
func (w *World) Why(requestID string) (journal.Why, error) {
	return explain.Response(w.server.worlds, w.core, requestID, w.core.URL, w.server.operations)
}

// Findings returns the findings of the linter so far, in the order in which they were found, and then the purchases
// that were made twice.
func (w *World) Findings() []journal.Finding { return w.core.Findings() }

// Advance moves a virtual clock forward and returns the events that fell due, in order. It returns [ErrRealClock] in a
// world that follows the real time; see [WithVirtualClock] and the scenario "virtual".
//
// A delivery takes no time of a virtual clock: Advance waits for each response of a receiver, at most
// ten seconds, in real time, so that the next attempt is due at the right time. A receiver must
// therefore not wait for the clock to move. Advance also waits until a request whose injected latency has passed
// is served and journaled. The same steps therefore leave the same deliveries and the same journal, however
// fast receivers and handlers are.
func (w *World) Advance(d time.Duration) ([]journal.Fired, error) { return w.core.Advance(d) }

// Pending returns the number of timers of the world's clock whose work is not done: documents being generated,
// retries of deliveries, delayed responses.
func (w *World) Pending() int { return w.core.Clock.Waiting() }

// Now returns the current time of the world's clock.
func (w *World) Now() time.Time { return w.core.Now() }

// SubmitEvidence submits the evidence that a manual document of a request requires, and starts its generation.
// It returns an error if the document does not require evidence.
func (w *World) SubmitEvidence(requestID string, documentType shipping.DocumentType) error {
	return w.core.SubmitEvidence(requestID, documentType)
}

// Check returns nil, or an error that names every violated invariant of the world: entries that do not sum to
// zero, a wallet below zero, a request that is charged twice or not at all.
func (w *World) Check() error { return w.core.Check() }

// SetExchangeRate sets how many units of a wallet's currency one US dollar buys from now on. Drafts that are
// already analyzed keep their amounts. It returns an error for a currency that no wallet holds, for "USD", and
// for a rate that is not positive.
func (w *World) SetExchangeRate(currency string, perDollar shipping.Amount) error {
	return w.core.ChangeMoney(nil, map[string]shipping.Amount{currency: perDollar})
}

// Wallets returns the references of the wallets in the order of the account. The first, in NGN, is
// the default and has ample funds; the last has almost none.
func (w *World) Wallets() []string { return w.core.Wallets() }

// Balance returns the balance of a wallet, in its currency, and reports whether the wallet exists.
func (w *World) Balance(wallet string) (shipping.Amount, bool) { return w.core.Balance(wallet) }

// Fund deposits money into a wallet, as a transaction with flow "in". It returns an error if the wallet does
// not exist or the amount is below zero.
func (w *World) Fund(wallet string, amount shipping.Amount) error {
	return w.core.ChangeMoney([]world.Deposit{{Wallet: wallet, Amount: amount}}, nil)
}

// Shipments returns the ids of the shipments, newest first. The first seeded shipment needs several documents; the last
// ones are domestic and need none.
func (w *World) Shipments() []string { return w.core.Shipments() }

// Invoices returns the URLs of the invoices that can be analyzed. The server never fetches them.
func (w *World) Invoices() []string { return w.core.Invoices() }

// AddShipment adds a shipment as the newest one, and returns its id. It returns an error if the id is in use, the goods
// are invalid, or the world is full. Reset removes it. The scenario "shipmentsN" opens a world with N shipments.
func (w *World) AddShipment(s goods.Shipment) (string, error) { return w.core.AddShipment(s) }

// AddInvoice adds an invoice, and returns its URL. It returns an error as [World.AddShipment] does.
func (w *World) AddInvoice(in goods.Invoice) (string, error) { return w.core.AddInvoice(in) }

// Stub adds a route that the specification does not have, such as "POST" and "/v1/shipments/{id}". The
// pattern is a path of [http.ServeMux]. The handler gets the requests with the key of this world; if its response has
// no Content-Type, it is sent as JSON. In the journal, in queries and in fault rules the operation of these requests is
// the method and the pattern, such as "POST /v1/shipments/{id}".
//
// A nil handler removes the stub of the method and pattern. Stub returns an error if the pattern is malformed, if a
// specified operation or another stub has its requests, or if the world has 100 stubs. Reset removes all stubs.
func (w *World) Stub(method, pattern string, handler http.Handler) error {
	return w.core.AddStub(world.Stub{Method: method, Pattern: pattern, Handler: handler})
}

// Requests returns the number of HTTP requests for an operation, such as [shipping.OpPurchase], since the start. The
// empty name counts requests without an operation.
func (w *World) Requests(operation string) int { return w.core.Log.Count(operation) }

// Journal returns the journal, oldest entry first. It contains the latest 1,024 requests, or the number set with
// [WithJournal], and some earlier ones that failed. It contains no secret keys.
func (w *World) Journal() []journal.Entry { return w.core.Find(journal.Query{}) }

// Find returns the entries of the journal that a query selects, oldest first. A query whose After is not a
// request id selects none.
func (w *World) Find(q journal.Query) []journal.Entry { return w.core.Find(q) }

// Await returns the oldest entry of the journal that a query selects, as soon as there is one. A test uses it to
// wait for other goroutines or processes without sleeping. With [journal.Latest] it waits for the next request. If
// the context ends or the timeout passes, the error lists the requests that were made instead. The timeout runs on
// real time, because a virtual clock may never move; 0 means no timeout.
func (w *World) Await(ctx context.Context, q journal.Query, timeout time.Duration) (journal.Entry, error) {
	return w.core.Await(ctx, q, timeout)
}

// Faults returns the fault rules, in the order in which they strike.
func (w *World) Faults() []fault.Injected { return w.core.Faults.Rules() }

// Inject adds fault rules. Several rules can strike one request, in the order in which they were injected; if
// two of them exclude each other, the first one strikes. Requests below /_mock/ are never struck.
//
// Inject returns an error, and adds none of the rules, if one of them can never strike: its operation or point
// is unknown, its numbers contradict each other, its time has passed, or its fault does not apply to the operation.
func (w *World) Inject(rules ...fault.Rule) error { return w.core.Inject(rules...) }

// ClearFaults removes every rule. The requests that [fault.ArriveLate] or [fault.GatewayTimeout] has struck, and that
// are still on their way, take effect at once.
func (w *World) ClearFaults() { w.core.ClearFaults() }

// AddWebhook subscribes a receiver and returns its webhook_id. It returns an error if the URL is not a valid
// target.
func (w *World) AddWebhook(h notify.Webhook) (string, error) { return w.core.AddWebhook(h) }

// RemoveWebhook removes a webhook. Deliveries that are being sent still arrive.
func (w *World) RemoveWebhook(id string) error { return w.core.RemoveWebhook(id) }

// Webhooks returns the ids of the webhooks, newest first.
func (w *World) Webhooks() []string { return w.core.Webhooks() }

// Receivers returns the ids of the webhooks that replays reach, newest first: they are active and subscribed to
// an event of shipments.
func (w *World) Receivers() []string { return w.core.Receivers() }

// Emit notifies every active webhook that is subscribed to an event, and returns the queued deliveries, newest
// webhook first. It returns an error, and sends nothing, if the shipment does not exist, the data is not a JSON
// object, or no webhook is subscribed.
func (w *World) Emit(e notify.Event) ([]notify.Delivery, error) { return w.core.Emit(e) }

// Deliveries returns the current delivery log, newest first, including the seeded history.
func (w *World) Deliveries() []notify.Delivery { return w.core.Dispatcher.Deliveries() }

// WaitDelivery returns a delivery once its state is delivered, failed or refused. It returns an error if the
// context ends first or the log does not have the id.
func (w *World) WaitDelivery(ctx context.Context, deliveryID string) (notify.Delivery, error) {
	return w.core.WaitDelivery(ctx, deliveryID)
}

// Inbox returns the latest notifications that were sent to [notify.InboxURL], or to POST /_mock/inbox, oldest
// first: up to 1,000.
func (w *World) Inbox() []notify.Received { return w.core.Inbox.Notifications(0, "") }

// AwaitInbox returns the notifications of the inbox as soon as there are count of them. If the context ends or the
// timeout passes first, it returns an error. The timeout uses the process's clock, not the world's; 0 means none.
func (w *World) AwaitInbox(ctx context.Context, count int, timeout time.Duration) ([]notify.Received, error) {
	return w.core.AwaitInbox(ctx, 0, "", count, timeout)
}

// Reset restores the initial contents of the world, clears its faults and stubs, and empties
// its journal, its findings and its inbox. The clock keeps its time.
func (w *World) Reset() { w.core.Reset() }

// Format prints the world's address for every verb, never its name or key: the key contains the
// name. So does the Format of [Server].
func (w *World) Format(to fmt.State, _ rune) { _, _ = io.WriteString(to, w.label()) }

// LogValue returns the address of the world.
func (w *World) LogValue() slog.Value { return slog.StringValue(w.label()) }

// MarshalText returns the address of the world, so that its JSON has no key.
func (w *World) MarshalText() ([]byte, error) { return []byte(w.label()), nil }

func (w *World) label() string {
	if w == nil {
		return "mockserver.World()"
	}
	return "mockserver.World(" + w.URL + ")"
}
