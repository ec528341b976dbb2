package mockserver

import (
	"context"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/clock"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/explain"
	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/world"
	"github.com/shipping-go/shipping/mockserver/journal"
)

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

// Why explains the answer whose X-Request-Id is given. It fails where the journal does not hold the
// call any more.
func (w *World) Why(requestID string) (Why, error) {
	y, err := explain.Response(w.server.worlds, w.core, requestID, w.server.config.operations)
	return Why{
		RequestID: y.RequestID, Operation: y.Operation, Status: y.Status, ErrorCode: y.ErrorCode, Message: y.Message, Fault: y.Fault,
		Rule: y.Rule, Specification: y.Specification, Nearest: (*Suggestion)(y.Nearest),
	}, err
}

// Snapshot returns what the world holds now: its data, its money, its requests with what is still to
// happen to them, and its delivery log. Faults and journal are not in it.
func (w *World) Snapshot() *Snapshot { return &Snapshot{w.core.Snapshot()} }

// Restore makes the world hold what a snapshot does. Its key, faults, journal and settings stay as they
// are, and so does its time: a clock never goes back. Where the snapshot is of a later time than the
// world's, the clock moves forward to it.
//
// Notifications that were still to be sent are sent by the world that queued them. In another world, such
// as a fork, they have failed: the world that queued them sends them, signed with its own key.
func (w *World) Restore(s *Snapshot) { w.core.Restore(s.kept) }

// Reset makes the world hold what it began with, clears its faults and empties its journal and its lint.
// The time stays what it is.
func (w *World) Reset() { w.core.Reset() }

// ChangeWebhook changes a webhook. It fails, and changes nothing, for one that does not exist and for a
// URL or an order that cannot be.
func (w *World) ChangeWebhook(id string, change WebhookChange) error {
	return w.core.ChangeWebhook(id, world.WebhookChange{
		Name: change.Name, URL: change.URL, Events: change.Events, Active: change.Active, Order: (*delivery.Order)(change.Order),
	})
}

// RemoveWebhook removes a webhook. What is on its way to it still arrives.
func (w *World) RemoveWebhook(id string) error { return w.core.RemoveWebhook(id) }

// Name returns what follows "sk_test_" in the key, scenario and name, such as "lowfunds_ci42"; "home" for
// the server's own world.
func (w *World) Name() string { return w.core.Name() }

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

// Waiting returns how many things wait for their time on the world's clock: documents under
// generation, deliveries to be tried again, delayed answers.
func (w *World) Waiting() int { return w.core.Waiting() }

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

// Webhooks returns the ids of the webhooks, newest first.
func (w *World) Webhooks() []string { return w.core.Webhooks() }

// Deliveries returns the delivery log as it stands, newest first: those of the seeded history too.
func (w *World) Deliveries() []Delivery { return list.Map(w.core.Deliveries(), exported) }

// WaitDelivery returns a delivery once it has ended: delivered, failed or refused. It fails when the
// context ends first and for an id that the log does not hold.
func (w *World) WaitDelivery(ctx context.Context, deliveryID string) (Delivery, error) {
	d, err := w.core.WaitDelivery(ctx, deliveryID)
	if err != nil {
		return Delivery{}, err
	}
	return exported(d), nil
}

// AddWebhook subscribes a receiver and returns its webhook_id. It fails for a URL that nothing could
// ever be delivered to.
func (w *World) AddWebhook(h Webhook) (string, error) {
	return w.core.AddWebhook(world.Subscription(h))
}

// Emit notifies every active webhook that is subscribed to an event, and returns what was queued, newest
// webhook first. It fails, and sends nothing, for a shipment that does not exist, for data that is no
// JSON object, and where no webhook is subscribed.
func (w *World) Emit(e Event) ([]Delivery, error) {
	queued, err := w.core.Emit(world.Event(e))
	return list.Map(queued, exported), err
}

// RunSchedule delivers the notifications of events as a schedule says, to every webhook that is
// subscribed, one attempt each and one after the other: the same schedule always arrives the same way.
//
// act makes the call that is supposed to cause the events; the reply to the first call that it makes is
// held back until the steps before it are delivered. It may be nil where no step is. The steps after it
// are delivered when act has returned. A virtual clock is advanced by the steps' times; otherwise they
// are waited for. It returns the deliveries in the order of the steps, and fails where the events cannot
// be sent, act fails, or the context ends.
func (w *World) RunSchedule(ctx context.Context, schedule Schedule, events []Event, act func(context.Context) error) ([]Delivery, error) {
	steps := list.Map(schedule.Steps, func(s ScheduleStep) world.Step { return world.Step(s) })
	done, err := w.core.RunSchedule(ctx, steps, list.Map(events, func(e Event) world.Event { return world.Event(e) }), act)
	return list.Map(done, exported), err
}

// Calls returns how many requests named an operation, such as [shipping.OpPurchase], since the start.
// The empty name counts those that named none.
func (w *World) Calls(operation string) int { return w.core.Calls(operation) }

// Journal returns the latest calls, oldest first: up to 1,024, or what [WithJournal] says. No secret
// key is in it.
func (w *World) Journal() []journal.Call { return w.core.Journal() }

// Find returns the remembered calls that a query chooses, oldest first. A query whose After is no request id
// chooses none.
func (w *World) Find(q journal.Query) []journal.Call { return w.core.Find(q) }

// Await returns the oldest remembered call that a query chooses, as soon as there is one: a test's way
// to wait for what other goroutines or processes do, without sleeping. With [journal.Latest] it waits for the next. It
// fails when the context ends or the timeout has passed, and says what was called instead. The timeout runs with the
// process's time (inside a testing/synctest bubble, the bubble's), because a virtual clock may never move; 0 is none.
func (w *World) Await(ctx context.Context, q journal.Query, timeout time.Duration) (journal.Call, error) {
	return w.core.Await(ctx, q, timeout)
}
