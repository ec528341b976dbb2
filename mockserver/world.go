package mockserver

import (
	"context"
	"net/http"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/clock"
	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/world"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// World is one account of a server: its key, its data, its time, its faults and its journal. Worlds share
// nothing that can change, so tests that run at the same time each take their own: see [Server.NewWorld]
// and [Server.Open]. Every method of a world is one of [Server] too, and there means the home world. It is
// safe for concurrent use.
//
// URL is its base address and SecretKey opens it: requests that carry that key are this world's.
type World struct {
	*access
	core   *world.World
	server *Server
}

// Fired is something that fell due while the clock was advanced.
type Fired struct {
	Due   time.Time `json:"due"`
	Label string    `json:"label"`
}

// access is what a program needs to use a world. It is behind a pointer of its own, because fmt prints the
// fields of a pointer that it meets with a verb that fits no pointer, but none of the pointers in those.
type access struct {
	// URL is the base address, such as "http://127.0.0.1:41234". Without a listener it is an address
	// that no network resolves, for use with [World.Transport].
	URL string
	// SecretKey opens the world.
	SecretKey string
}

// Name returns what follows "sk_test_" in the key, scenario and name, such as "lowfunds_ci42"; "home" for
// the server's own world.
func (w *World) Name() string { return w.core.Name() }

// facade returns what the users of the server hold of a world.
func (s *Server) facade(w *world.World) *World { return w.Facade.(*World) }

// newFacade makes it, once for each world.
func (s *Server) newFacade(w *world.World) any {
	return &World{access: &access{URL: w.URL, SecretKey: w.SecretKey}, core: w, server: s}
}

// Transport returns a transport that reaches the server without a socket, whatever host a request
// names: a real HTTP connection over memory. It works inside a testing/synctest bubble when the
// server was made there, with [WithoutListener]. It is the same for every world: the key tells them apart.
func (w *World) Transport() http.RoundTripper { return w.server.inMemory }

// Inject adds rules of package fault. Several rules can strike one request, in the order in which they were
// injected; if two of them exclude each other, the first one strikes. The paths under /_mock/ are never struck.
//
// A rule that can never strike is an error that gives the reason: an operation or a point that does not exist, a
// third request among the first two, a time that is over, a fault that cannot happen to the operation, a rule in
// front of it that strikes every such request and excludes it. None of the rules is then added.
func (w *World) Inject(rules ...fault.Rule) error { return w.core.Inject(rules...) }

// ClearFaults removes every rule.
func (w *World) ClearFaults() { w.core.ClearFaults() }

// Findings returns what the client has done so far that a careful one would not, first found first.
func (w *World) Findings() []journal.Finding { return w.core.Findings() }

// Advance moves a virtual clock forward and returns what fell due on the way, in order. It fails in a
// world that follows the real time; see [WithVirtualClock] and the scenario "virtual".
//
// A notification on its way to a receiver takes no time of a virtual clock, in whichever order it goes out:
// Advance waits for each response, [Assumptions.DeliveryTimeout] of real time at most, so that the next
// attempt is due when it should be. A receiver must therefore not wait for the clock to move. Advance also
// waits until a call whose injected latency has passed is answered and journaled. So the same steps leave
// the same deliveries and the same journal, however fast receivers and handlers are.
func (w *World) Advance(d time.Duration) ([]Fired, error) {
	fired, err := w.core.Advance(d)
	return list.Map(fired, func(f clock.Fired) Fired { return Fired(f) }), err
}

// Pending returns how many timers are pending on the clock of the world: documents under
// generation, deliveries to be retried, delayed responses.
func (w *World) Pending() int { return w.core.Waiting() }

// Now returns the time in the world.
func (w *World) Now() time.Time { return w.core.Now() }

// SubmitEvidence brings what a manual document of a request waits for, and starts its generation. It
// fails for a document that waits for nothing.
func (w *World) SubmitEvidence(requestID string, documentType shipping.DocumentType) error {
	return w.core.SubmitEvidence(requestID, documentType)
}

// Check returns nil, or an error that names every invariant of the world that does not hold: entries
// that do not sum to zero, a wallet below zero, a request that is charged twice or not at all.
func (w *World) Check() error { return w.core.Check() }

// SetExchangeRate sets how many units of a wallet's currency a US dollar buys from now on. Drafts that are
// already analyzed keep their amounts. It refuses what would change nothing: a currency that no wallet
// holds, and "USD", of which a dollar always buys one; and a rate that is not above zero.
func (w *World) SetExchangeRate(currency string, perDollar shipping.Amount) error {
	return w.core.SetExchangeRate(currency, perDollar)
}

// Wallets returns the references of the wallets in the order of the account: the first, in NGN, is
// the default and has plenty; the last has next to nothing.
func (w *World) Wallets() []string { return w.core.Wallets() }

// Balance returns what a wallet holds, in its own currency, and whether there is the wallet.
func (w *World) Balance(wallet string) (shipping.Amount, bool) { return w.core.Balance(wallet) }

// Fund brings money into a wallet from outside, as a transaction with flow "in". It fails for a wallet that
// there is not and for an amount that is below zero.
func (w *World) Fund(wallet string, amount shipping.Amount) error { return w.core.Fund(wallet, amount) }

// Shipments returns the ids of the seeded shipments, newest first: the first matches several forms,
// the last ones are domestic and match none.
func (w *World) Shipments() []string { return w.core.Shipments() }

// Invoices returns the URLs of the invoices that analysis can read. They are never fetched.
func (w *World) Invoices() []string { return w.core.Invoices() }

// Requests returns how many HTTP requests named an operation, such as [shipping.OpPurchase], since the start.
// The empty name counts those that named none.
func (w *World) Requests(operation string) int { return w.core.Calls(operation) }

// Journal returns the latest calls, oldest first: up to 1,024, or what [WithJournal] says. No secret
// key is in it.
func (w *World) Journal() []journal.Entry { return w.core.Journal() }

// Find returns the remembered calls that a query chooses, oldest first. A query whose After is no request id
// chooses none.
func (w *World) Find(q journal.Query) []journal.Entry { return w.core.Find(q) }

// Await returns the oldest remembered call that a query chooses, as soon as there is one: a test's way
// to wait for what other goroutines or processes do, without sleeping. With [journal.Latest] it waits for the next. It
// fails when the context ends or the timeout has passed, and says what was called instead. The timeout runs with the
// process's time (inside a testing/synctest bubble, the bubble's), because a virtual clock may never move; 0 is none.
func (w *World) Await(ctx context.Context, q journal.Query, timeout time.Duration) (journal.Entry, error) {
	return w.core.Await(ctx, q, timeout)
}
