package mockserver

import (
	"fmt"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// Diff holds the changes of a world since a snapshot; see [World.Diff]. Its lists contain only changes, oldest first.
// The zero value has no changes.
//
// A change has two sides, Before and After. Before is zero for a new item, and After is zero for a removed one.
// [World.Restore], [World.Reset] and [World.RemoveWebhook] remove items, and a full delivery log removes deliveries.
type Diff struct {
	// Wallets have other balances.
	Wallets []WalletDiff `json:"wallets"`
	// Entries are new entries of the ledger, and RemovedEntries are removed ones.
	Entries        []LedgerEntry `json:"entries"`
	RemovedEntries []LedgerEntry `json:"removed_entries"`
	// Requests are new, charged, edited or removed, or have another state or other documents.
	Requests []RequestDiff `json:"requests"`
	// Webhooks were added, changed or removed.
	Webhooks []WebhookDiff `json:"webhooks"`
	// Deliveries were queued, attempted or ended.
	Deliveries []DeliveryDiff `json:"deliveries"`
	// ExchangeRates have other values.
	ExchangeRates []ExchangeRateDiff `json:"exchange_rates"`
	// RatesAdded is the number of new records in the list of rates, and RatesRemoved the number of removed ones.
	RatesAdded   int `json:"rates_added"`
	RatesRemoved int `json:"rates_removed"`
	// Before is when the snapshot was taken and After the time now, both by the world's clock.
	Before time.Time `json:"before"`
	After  time.Time `json:"after"`
}

// WalletDiff is a balance that has changed, in the wallet's currency. The amount is unknown on a side without the wallet.
type WalletDiff struct {
	Wallet   string          `json:"wallet"`
	Currency string          `json:"currency"`
	Before   shipping.Amount `json:"before,omitzero"`
	After    shipping.Amount `json:"after,omitzero"`
}

// LedgerEntry is a movement of money. It never changes.
type LedgerEntry struct {
	// ID is the transaction's identifier, format TR-<alphanumerics>.
	ID string `json:"id"`
	// Kind is "funding", "debit" or "reversal".
	Kind string `json:"kind"`
	// Wallet is the reference of the wallet.
	Wallet string `json:"wallet"`
	// Currency is the wallet's, and that of Amount and Balance.
	Currency string `json:"currency"`
	// Amount is never negative; Kind gives the direction.
	Amount shipping.Amount `json:"amount"`
	// Reference identifies the purchase of a debit, such as by a request's identifier. It is empty on funding.
	Reference string `json:"reference,omitempty"`
	// Memo describes the entry.
	Memo string `json:"memo"`
	// At is when the money moved.
	At time.Time `json:"at"`
	// Balance is the balance of the wallet afterwards.
	Balance shipping.Amount `json:"balance"`
}

// RequestDiff is a regulatory request that has changed.
type RequestDiff struct {
	RequestID string `json:"request_id"`
	// Before and After are its states; empty on a side without the request.
	Before shipping.RequestStatus `json:"before,omitempty"`
	After  shipping.RequestStatus `json:"after,omitempty"`
	// Documents are its purchased documents that have changed.
	Documents []DocumentDiff `json:"documents"`
	// Charged is the amount of its purchase since the snapshot, in Currency; unknown without a purchase.
	Charged  shipping.Amount `json:"charged_amount,omitzero"`
	Currency string          `json:"currency"`
	// Edited reports that something other than state, documents and charge has changed, such as a profile.
	Edited bool `json:"edited"`
}

// DocumentDiff is a purchased document that has changed.
type DocumentDiff struct {
	DocumentType shipping.DocumentType `json:"document_type"`
	// Before and After are its statuses; empty on a side without the document.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Attempts is the number of times that its generation was started.
	Attempts int `json:"attempts"`
}

// WebhookDiff is a webhook that has changed. Before and After are nil on a side without the webhook.
type WebhookDiff struct {
	WebhookID string           `json:"webhook_id"`
	Before    *WebhookSettings `json:"before,omitempty"`
	After     *WebhookSettings `json:"after,omitempty"`
}

// WebhookSettings are the settings that a [WebhookChange] can set.
type WebhookSettings struct {
	Name   string        `json:"name"`
	URL    string        `json:"url"`
	Events []string      `json:"events"`
	Active bool          `json:"active"`
	Order  DeliveryOrder `json:"order"`
}

// DeliveryDiff is a delivery that has changed.
type DeliveryDiff struct {
	ID         string `json:"delivery_id"`
	WebhookID  string `json:"webhook_id"`
	Event      string `json:"event"`
	ShipmentID string `json:"shipment_id"`
	// Before and After are its states, as in [Delivery]; empty on a side without the delivery.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Attempts is the number of POST requests.
	Attempts int `json:"attempts"`
}

// ExchangeRateDiff is an exchange rate that has changed, in units of the currency per US dollar.
type ExchangeRateDiff struct {
	Currency string          `json:"currency"`
	Before   shipping.Amount `json:"before,omitzero"`
	After    shipping.Amount `json:"after,omitzero"`
}

// Diff returns the changes of the world since a snapshot, or since its initial contents if the snapshot is nil.
//
// It compares contents. The snapshot can therefore be older than a [World.Reset] or [World.Restore], or be of another
// world, such as the parent of a fork. The cost depends on the changes, not on the size of the world, except if the
// snapshot shares no data with the world: a snapshot from a file is compared completely.
func (w *World) Diff(since *Snapshot) Diff {
	var then *world.Snapshot
	if since != nil {
		then = since.kept
	}
	d := w.core.Diff(then)
	return Diff{
		Wallets:        list.Map(d.Wallets, func(c world.WalletDiff) WalletDiff { return WalletDiff(c) }),
		Entries:        list.Map(d.Entries, exportedEntry),
		RemovedEntries: list.Map(d.RemovedEntries, exportedEntry),
		Requests:       list.Map(d.Requests, exportedRequestDiff),
		Webhooks: list.Map(d.Webhooks, func(c world.WebhookDiff) WebhookDiff {
			return WebhookDiff{c.WebhookID, exportedSettings(c.Before), exportedSettings(c.After)}
		}),
		Deliveries:    list.Map(d.Deliveries, func(c world.DeliveryDiff) DeliveryDiff { return DeliveryDiff(c) }),
		ExchangeRates: list.Map(d.ExchangeRates, func(c world.ExchangeRateDiff) ExchangeRateDiff { return ExchangeRateDiff(c) }),
		RatesAdded:    d.RatesAdded, RatesRemoved: d.RatesRemoved, Before: d.Before, After: d.After,
	}
}

func exportedEntry(e ledger.Entry) LedgerEntry {
	return LedgerEntry{
		ID: e.ID, Kind: string(e.Kind), Wallet: e.Wallet, Currency: e.Currency, Amount: e.Amount, Reference: e.Reference, Memo: e.Memo,
		At: e.At, Balance: e.Balance,
	}
}

func exportedRequestDiff(c world.RequestDiff) RequestDiff {
	return RequestDiff{
		RequestID: c.RequestID, Before: c.Before, After: c.After, Charged: c.Charged, Currency: c.Currency, Edited: c.Edited,
		Documents: list.Map(c.Documents, func(d world.DocumentDiff) DocumentDiff { return DocumentDiff(d) }),
	}
}

func exportedSettings(s *world.WebhookSettings) *WebhookSettings {
	if s == nil {
		return nil
	}
	return &WebhookSettings{Name: s.Name, URL: s.URL, Events: s.Events, Active: s.Active, Order: DeliveryOrder(s.Order)}
}

// Empty reports whether there are no changes. Time is not a change.
func (d Diff) Empty() bool {
	return len(d.Wallets)+len(d.Entries)+len(d.RemovedEntries)+len(d.Requests)+len(d.Webhooks)+len(d.Deliveries)+len(d.ExchangeRates) == 0 &&
		d.RatesAdded == 0 && d.RatesRemoved == 0
}

// String returns the changes, one per line, for the message of a failed test. It is "nothing changed" if [Diff.Empty].
func (d Diff) String() string {
	if d.Empty() {
		return "nothing changed"
	}
	var lines []string
	line := func(format string, values ...any) { lines = append(lines, fmt.Sprintf(format, values...)) }
	for _, c := range d.Wallets {
		line("wallet %s: %s %s", c.Wallet, c.Currency, sides(money(c.Before), money(c.After)))
	}
	for _, e := range d.Entries {
		line("entry %s added: %s", e.ID, e.text())
	}
	for _, e := range d.RemovedEntries {
		line("entry %s removed: %s", e.ID, e.text())
	}
	for _, c := range d.Requests {
		line("request %s: %s", c.RequestID, c.text())
	}
	for _, c := range d.Webhooks {
		line("webhook %s: %s", c.WebhookID, sides(c.Before.text(), c.After.text()))
	}
	for _, c := range d.Deliveries {
		line("delivery %s of %s to %s: %s, attempts: %d", c.ID, c.Event, c.WebhookID, sides(c.Before, c.After), c.Attempts)
	}
	for _, c := range d.ExchangeRates {
		line("exchange rate of %s: %s", c.Currency, sides(number(c.Before), number(c.After)))
	}
	if d.RatesAdded > 0 {
		line("rates added: %d", d.RatesAdded)
	}
	if d.RatesRemoved > 0 {
		line("rates removed: %d", d.RatesRemoved)
	}
	if moved := d.After.Sub(d.Before); moved != 0 {
		line("clock: moved by %s", moved)
	}
	return strings.Join(lines, "\n")
}

// sides formats both sides of a change; an empty side does not exist.
func sides(before, after string) string {
	switch {
	case before == "":
		return "added " + after
	case after == "":
		return "removed " + before
	}
	return before + " → " + after
}

func money(a shipping.Amount) string {
	if !a.Known() {
		return ""
	}
	return a.StringFixed(2)
}

func number(a shipping.Amount) string {
	if !a.Known() {
		return ""
	}
	return a.String()
}

func (e LedgerEntry) text() string {
	text := fmt.Sprintf("%s of %s %s, wallet %s", e.Kind, e.Currency, money(e.Amount), e.Wallet)
	if e.Reference != "" {
		text += ", for " + e.Reference
	}
	return text
}

func (c RequestDiff) text() string {
	text := sides(string(c.Before), string(c.After))
	if c.Edited {
		text = string(c.After) + ", edited"
	}
	if c.Charged.Known() {
		text += fmt.Sprintf(", charged %s %s", c.Currency, money(c.Charged))
	}
	for _, doc := range c.Documents {
		text += fmt.Sprintf(", %s %s", doc.DocumentType, sides(doc.Before, doc.After))
		if doc.Before == doc.After {
			text += fmt.Sprintf(" (attempt %d)", doc.Attempts)
		}
	}
	return text
}

func (s *WebhookSettings) text() string {
	if s == nil {
		return ""
	}
	state := "inactive"
	if s.Active {
		state = "active"
	}
	if s.Order != "" {
		state += ", " + string(s.Order)
	}
	return fmt.Sprintf("%q %s %s (%s)", s.Name, s.URL, s.Events, state)
}
