package world

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/clock"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/records"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// savedWorld is a snapshot in a state file.
type savedWorld struct {
	Name  string    `json:"name"`
	World string    `json:"world,omitempty"` // of the snapshot
	At    time.Time `json:"at"`

	Assumptions map[string]json.RawMessage `json:"assumptions,omitempty"`

	User      string                     `json:"user"`
	AccountID string                     `json:"account_id"`
	IDs       []byte                     `json:"ids"` // the state of the generator of identifiers
	Exchange  map[string]shipping.Amount `json:"exchange_rates"`

	Wallets      []ledger.Wallet              `json:"wallets"`
	Ledger       []ledger.Entry               `json:"ledger"`          // oldest first
	Past         *account.ComputedScope       `json:"past"`            // transactions that are computed
	Transactions map[string][]json.RawMessage `json:"transactions"`    // by wallet, newest first
	Rates        []json.RawMessage            `json:"rates"`           // newest first
	Lists        map[string][]json.RawMessage `json:"lists,omitempty"` // the other lists by name, newest first

	Webhooks   []*account.Webhook  `json:"webhooks"`   // oldest first
	Deliveries []*notify.Delivery  `json:"deliveries"` // oldest first
	Shipments  []*account.Shipment `json:"shipments"`
	Invoices   []savedInvoice      `json:"invoices"`
	Requests   []regulatory.Saved  `json:"requests"` // oldest first
	Arriving   []Arriving          `json:"arriving,omitempty"`
}

type savedInvoice struct {
	URL   string                 `json:"url"`
	Goods regulatory.Consignment `json:"goods"`
}

// saved converts the snapshot for a state file.
func (s *Snapshot) saved() (savedWorld, error) {
	st := &s.State
	out := savedWorld{
		World: s.world, At: s.at, Assumptions: s.changes, User: st.User, AccountID: st.AccountID, Exchange: st.Exchange,
		Wallets: st.Ledger.Wallets(), Ledger: st.Ledger.Journal(), Transactions: map[string][]json.RawMessage{},
		Lists:    map[string][]json.RawMessage{},
		Webhooks: st.Webhooks.All, Deliveries: s.deliveries, Requests: s.requests.Save(),
	}
	var err error
	if out.IDs, err = st.IDs.Source.MarshalBinary(); err != nil {
		return out, err
	}
	if st.Computed != nil {
		out.Past = &st.Computed.ComputedScope
	}
	for wallet, list := range st.Transactions {
		out.Transactions[wallet] = stored(list)
	}
	for name, list := range st.Lists {
		out.Lists[name] = stored(list)
	}
	out.Rates = stored(st.List("rates"))
	delete(out.Lists, "rates")
	for _, id := range st.ShipmentIDs {
		out.Shipments = append(out.Shipments, st.Shipments[id])
	}
	for _, url := range st.InvoiceURLs {
		out.Invoices = append(out.Invoices, savedInvoice{url, st.Invoices[url]})
	}
	return out, nil
}

// stored returns the stored records of a list, newest first.
func stored(list *records.List) []json.RawMessage {
	rows := append([]json.RawMessage{}, list.Stored()...)
	slices.Reverse(rows)
	return rows
}

// Snapshot returns the snapshot that was saved, or an error if its parts contradict each other.
func (w *savedWorld) Snapshot() (*Snapshot, error) {
	source := new(rand.PCG)
	if err := source.UnmarshalBinary(w.IDs); err != nil {
		return nil, fmt.Errorf("ids: %w", err)
	}
	st := account.Account{
		User: w.User, AccountID: w.AccountID, IDs: account.IDsFrom(source), Exchange: w.Exchange,
		Lists: map[string]*records.List{}, Transactions: map[string]*records.List{}, Shipments: map[string]*account.Shipment{}, Invoices: map[string]regulatory.Consignment{},
	}
	if w.Exchange == nil || w.At.IsZero() || w.User == "" {
		return nil, errors.New("time, user or exchange rates are missing")
	}
	var err error
	if st.Ledger, err = ledger.Restore(w.Wallets, w.Ledger); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	for _, step := range []func(*account.Account) error{w.checkTimes, w.fillTransactions, w.fillRates, w.fillLists, w.fillWebhooks, w.fillGoods, w.checkDeliveries} {
		if err := step(&st); err != nil {
			return nil, err
		}
	}
	s := &Snapshot{world: w.World, changes: w.Assumptions, State: st, deliveries: w.Deliveries, at: w.At}
	if s.requests, err = regulatory.Load(w.Requests, st.Ledger); err != nil {
		return nil, fmt.Errorf("requests: %w", err)
	}
	for _, record := range s.requests.Records() {
		s.State.RequestBytes += len(record.JSON())
	}
	return s, nil
}

// checkTimes refuses times that a clock cannot reach: after the last time that JSON can represent, or before the last
// entry of the ledger.
func (w *savedWorld) checkTimes(st *account.Account) error {
	late := func(at time.Time) bool { return at.After(clock.Last) }
	if last, any := st.Ledger.Last(); any && last.At.After(w.At) {
		return fmt.Errorf("ledger: entry %s is later than the world's time, %s", last.ID, w.At.Format(time.RFC3339))
	}
	if late(w.At) {
		return fmt.Errorf("the time is after %s", clock.Last.Format(time.RFC3339))
	}
	for _, d := range w.Deliveries {
		if d != nil && late(d.Due) {
			return fmt.Errorf("delivery %s is due after %s", d.ID, clock.Last.Format(time.RFC3339))
		}
	}
	for i, r := range w.Requests {
		if late(r.Due) || slices.ContainsFunc(r.DocumentsDue, late) {
			return fmt.Errorf("request %d is due after %s", i, clock.Last.Format(time.RFC3339))
		}
	}
	return nil
}

// fillTransactions builds the lists of transactions, each of which must be an entry of the ledger.
func (w *savedWorld) fillTransactions(st *account.Account) error {
	if w.Past != nil {
		wallet, known := st.Ledger.Wallet(w.Past.Wallet)
		if !known || w.Past.Total < 0 || w.Past.Total > maxListed {
			return fmt.Errorf("past: no wallet %q, or not from 0 to %d transactions", w.Past.Wallet, maxListed)
		}
		st.OpenComputed(wallet, *w.Past)
	}
	for _, wallet := range w.Wallets {
		rows, entries := w.Transactions[wallet.Reference], st.Ledger.Entries(wallet.Reference)
		if len(rows) != len(entries) {
			return fmt.Errorf("wallet %s lists %d transactions and the ledger has %d", wallet.Reference, len(rows), len(entries))
		}
		list := st.TransactionsOf(wallet.Reference)
		for i, e := range entries {
			row := rows[len(rows)-1-i]
			var t struct {
				ID string `json:"transactionId"`
			}
			if err := jsonread.Unmarshal(row, &t); err != nil || t.ID != e.ID {
				return fmt.Errorf("wallet %s lists transaction %q but the ledger has %s", wallet.Reference, t.ID, e.ID)
			}
			if err := prepend(list, row); err != nil {
				return err
			}
		}
	}
	if len(w.Transactions) != len(w.Wallets) {
		return fmt.Errorf("transactions of %d wallets, but there are %d wallets", len(w.Transactions), len(w.Wallets))
	}
	return nil
}

func (w *savedWorld) fillRates(st *account.Account) error {
	known := map[string]bool{"": true}
	rates := &records.List{}
	st.Lists["rates"] = rates
	for i := len(w.Rates) - 1; i >= 0; i-- {
		var r account.Rate
		if err := jsonread.Unmarshal(w.Rates[i], &r); err != nil {
			return fmt.Errorf("rate %d: %w", i, err)
		}
		if known[r.RateID] {
			return fmt.Errorf("rate %d has no id, or a duplicate", i)
		}
		known[r.RateID] = true
		if err := prepend(rates, w.Rates[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *savedWorld) fillLists(st *account.Account) error {
	for name, rows := range w.Lists {
		if st.Lists[name] != nil {
			return fmt.Errorf("lists: %s has a field of its own", name)
		}
		list := &records.List{}
		st.Lists[name] = list
		for _, row := range slices.Backward(rows) {
			if err := prepend(list, row); err != nil {
				return fmt.Errorf("lists: %s: %w", name, err)
			}
		}
	}
	return nil
}

// prepend compacts a record and inserts it at the head of a list.
func prepend(list *records.List, record json.RawMessage) error {
	var compact bytes.Buffer
	if err := json.Compact(&compact, record); err != nil {
		return err
	}
	list.Prepend(compact.Bytes())
	return nil
}

func (w *savedWorld) fillWebhooks(st *account.Account) error {
	for i, h := range w.Webhooks {
		if h == nil || h.WebhookID == "" || st.Webhooks.Find(h.WebhookID) != nil {
			return fmt.Errorf("webhook %d has no id, or a duplicate", i)
		}
		if err := st.Webhooks.Add(h); err != nil {
			return err
		}
	}
	return nil
}

func (w *savedWorld) fillGoods(st *account.Account) error {
	for i, s := range w.Shipments {
		if s == nil || s.ShipmentID == "" || st.Shipments[s.ShipmentID] != nil {
			return fmt.Errorf("shipment %d has no id, or a duplicate", i)
		}
		st.Shipments[s.ShipmentID] = s
		st.ShipmentIDs = append(st.ShipmentIDs, s.ShipmentID)
	}
	for _, invoice := range w.Invoices {
		st.Invoices[invoice.URL] = invoice.Goods
		st.InvoiceURLs = append(st.InvoiceURLs, invoice.URL)
	}
	if len(st.Invoices) != len(w.Invoices) {
		return errors.New("two invoices have the same URL")
	}
	return nil
}

func (w *savedWorld) checkDeliveries(*account.Account) error {
	known := map[string]bool{"": true}
	for i, d := range w.Deliveries {
		if d == nil || known[d.ID] {
			return fmt.Errorf("delivery %d has no id, or a duplicate", i)
		}
		known[d.ID] = true
		var compact bytes.Buffer
		if err := json.Compact(&compact, d.Payload); err != nil {
			return fmt.Errorf("the payload of delivery %s: %w", d.ID, err)
		}
		d.Payload = compact.Bytes()
		switch d.State {
		case notify.Queued, notify.Delivered, notify.Failed, notify.Refused:
		default:
			return fmt.Errorf("delivery %s has the unknown state %q", d.ID, d.State)
		}
	}
	return nil
}
