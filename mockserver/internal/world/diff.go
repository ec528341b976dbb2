package world

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// Diff holds the differences between two snapshots. Every list is oldest first.
type Diff struct {
	Wallets        []WalletDiff       `json:"wallets"`
	Entries        []ledger.Entry     `json:"entries"`
	RemovedEntries []ledger.Entry     `json:"removed_entries"`
	Requests       []RequestDiff      `json:"requests"`
	Webhooks       []WebhookDiff      `json:"webhooks"`
	Deliveries     []DeliveryDiff     `json:"deliveries"`
	ExchangeRates  []ExchangeRateDiff `json:"exchange_rates"`
	RatesAdded     int                `json:"rates_added"`
	RatesRemoved   int                `json:"rates_removed"`
	Before         time.Time          `json:"before"`
	After          time.Time          `json:"after"`
}

// Empty reports whether nothing but the time differs.
func (d *Diff) Empty() bool {
	return len(d.Wallets)+len(d.Entries)+len(d.RemovedEntries)+len(d.Requests)+len(d.Webhooks)+len(d.Deliveries)+len(d.ExchangeRates) == 0 &&
		d.RatesAdded == 0 && d.RatesRemoved == 0
}

// WalletDiff is a balance that has changed; it is unknown on a side without the wallet.
type WalletDiff struct {
	Wallet   string          `json:"wallet"`
	Currency string          `json:"currency"`
	Before   shipping.Amount `json:"before,omitzero"`
	After    shipping.Amount `json:"after,omitzero"`
}

// RequestDiff is a regulatory request that has changed; its state is empty on a side without it.
type RequestDiff struct {
	RequestID string                 `json:"request_id"`
	Before    shipping.RequestStatus `json:"before,omitempty"`
	After     shipping.RequestStatus `json:"after,omitempty"`
	Documents []DocumentDiff         `json:"documents"`
	Charged   shipping.Amount        `json:"charged_amount,omitzero"`
	Currency  string                 `json:"currency"`
	Edited    bool                   `json:"edited"`
}

// DocumentDiff is a purchased document that has changed; its status is empty on a side without it.
type DocumentDiff struct {
	DocumentType shipping.DocumentType `json:"document_type"`
	Before       string                `json:"before,omitempty"`
	After        string                `json:"after,omitempty"`
	Attempts     int                   `json:"attempts"`
}

// WebhookDiff is a webhook that has changed; its settings are nil on a side without it.
type WebhookDiff struct {
	WebhookID string           `json:"webhook_id"`
	Before    *WebhookSettings `json:"before,omitempty"`
	After     *WebhookSettings `json:"after,omitempty"`
}

// WebhookSettings are the settings that a change of a webhook can set.
type WebhookSettings struct {
	Name   string         `json:"name"`
	URL    string         `json:"url"`
	Events []string       `json:"events"`
	Active bool           `json:"active"`
	Order  delivery.Order `json:"order"`
}

// MarshalJSON implements [json.Marshaler].
func (s WebhookSettings) MarshalJSON() ([]byte, error) {
	type settings WebhookSettings
	s.Order = cmp.Or(s.Order, delivery.Any)
	return json.Marshal(settings(s))
}

// DeliveryDiff is a delivery that has changed; its state is empty on a side without it.
type DeliveryDiff struct {
	ID         string `json:"delivery_id"`
	WebhookID  string `json:"webhook_id"`
	Event      string `json:"event"`
	ShipmentID string `json:"shipment_id"`
	Before     string `json:"before,omitempty"`
	After      string `json:"after,omitempty"`
	Attempts   int    `json:"attempts"`
}

// ExchangeRateDiff is an exchange rate that has changed; it is unknown on a side without it.
type ExchangeRateDiff struct {
	Currency string          `json:"currency"`
	Before   shipping.Amount `json:"before,omitzero"`
	After    shipping.Amount `json:"after,omitzero"`
}

// Diff returns the changes since a snapshot, or since the initial contents if it is nil.
func (w *World) Diff(since *Snapshot) Diff {
	if since == nil {
		since = w.base
	}
	return w.Snapshot().diff(since)
}

// diff compares only data that two snapshots do not share. For two snapshots of one world, that is about the data that
// has changed between them.
func (s *Snapshot) diff(then *Snapshot) Diff {
	d := Diff{
		Wallets: changedWallets(then.State.Ledger, s.State.Ledger), Requests: []RequestDiff{}, Webhooks: []WebhookDiff{}, Deliveries: []DeliveryDiff{},
		ExchangeRates: changedRates(then.State.Exchange, s.State.Exchange), Before: then.at, After: s.at,
	}
	added, removed := s.State.Ledger.Since(then.State.Ledger)
	d.Entries, d.RemovedEntries = append([]ledger.Entry{}, added...), append([]ledger.Entry{}, removed...)
	rates, before := s.State.List("rates"), then.State.List("rates")
	common := rates.Common(before)
	d.RatesAdded, d.RatesRemoved = rates.Stored()-common, before.Stored()-common
	for _, c := range s.requests.Since(then.requests) {
		d.Requests = append(d.Requests, requestDiff(c))
	}
	for _, p := range unlike(then.State.Webhooks.All, s.State.Webhooks.All, func(h *account.Webhook) string { return h.WebhookID }) {
		if before, after := webhookSettings(p.before), webhookSettings(p.after); before == nil || after == nil || !before.equal(after) {
			d.Webhooks = append(d.Webhooks, WebhookDiff{WebhookID: p.either().WebhookID, Before: before, After: after})
		}
	}
	for _, p := range unlike(then.deliveries, s.deliveries, func(d *delivery.Delivery) string { return d.ID }) {
		if p.before == nil || p.after == nil || !sameDelivery(p.before, p.after) {
			d.Deliveries = append(d.Deliveries, deliveryDiff(p))
		}
	}
	return d
}

func changedWallets(then, now *ledger.Ledger) []WalletDiff {
	changed := []WalletDiff{}
	wallets := now.Wallets()
	for _, w := range then.Wallets() {
		if !slices.ContainsFunc(wallets, func(known ledger.Wallet) bool { return known.Reference == w.Reference }) {
			wallets = append(wallets, w)
		}
	}
	for _, w := range wallets {
		before, had := then.Balance(w.Reference)
		after, has := now.Balance(w.Reference)
		if had != has || !before.Equal(after) {
			changed = append(changed, WalletDiff{Wallet: w.Reference, Currency: w.Currency, Before: before, After: after})
		}
	}
	return changed
}

func changedRates(then, now map[string]shipping.Amount) []ExchangeRateDiff {
	changed := []ExchangeRateDiff{}
	currencies := maps.Clone(now)
	maps.Copy(currencies, then)
	for _, currency := range slices.Sorted(maps.Keys(currencies)) {
		before, had := then[currency]
		after, has := now[currency]
		if had != has || !before.Equal(after) {
			changed = append(changed, ExchangeRateDiff{Currency: currency, Before: before, After: after})
		}
	}
	return changed
}

func requestDiff(c regulatory.Change) RequestDiff {
	before, after, either := c.Before, c.After, c.After
	switch {
	case before == nil:
		before = &regulatory.Record{}
	case after == nil:
		after, either = &regulatory.Record{}, before
	}
	d := RequestDiff{
		RequestID: either.RequestID, Before: shipping.RequestStatus(before.Status), After: shipping.RequestStatus(after.Status),
		Documents: changedDocuments(before.Documents, after.Documents), Currency: either.Currency,
	}
	charged := before.TransactionID != after.TransactionID
	if charged {
		d.Charged = after.ChargedAmount
	}
	d.Edited = before.Status == after.Status && len(d.Documents) == 0 && !charged
	return d
}

func changedDocuments(then, now []regulatory.Document) []DocumentDiff {
	changed := []DocumentDiff{}
	find := func(all []regulatory.Document, slug string) regulatory.Document {
		if i := slices.IndexFunc(all, func(d regulatory.Document) bool { return d.DocumentType == slug }); i >= 0 {
			return all[i]
		}
		return regulatory.Document{}
	}
	for _, doc := range now {
		if before := find(then, doc.DocumentType); before.Status != doc.Status || before.Attempts != doc.Attempts {
			changed = append(changed, DocumentDiff{DocumentType: shipping.DocumentType(doc.DocumentType), Before: string(before.Status), After: string(doc.Status), Attempts: doc.Attempts})
		}
	}
	for _, doc := range then {
		if find(now, doc.DocumentType).Status == "" {
			changed = append(changed, DocumentDiff{DocumentType: shipping.DocumentType(doc.DocumentType), Before: string(doc.Status)})
		}
	}
	return changed
}

func webhookSettings(h *account.Webhook) *WebhookSettings {
	if h == nil {
		return nil
	}
	return &WebhookSettings{Name: h.Name, URL: h.URL, Events: append([]string{}, h.Event...), Active: h.Active, Order: h.Order}
}

func (s *WebhookSettings) equal(other *WebhookSettings) bool {
	return s.Name == other.Name && s.URL == other.URL && s.Active == other.Active && s.Order == other.Order && slices.Equal(s.Events, other.Events)
}

// sameDelivery reports whether two deliveries are equal except for the time of the next attempt.
func sameDelivery(a, b *delivery.Delivery) bool {
	return a.State == b.State && a.Reason == b.Reason && len(a.Attempts) == len(b.Attempts) && bytes.Equal(a.Payload, b.Payload)
}

func deliveryDiff(p pair[delivery.Delivery]) DeliveryDiff {
	either := p.either()
	d := DeliveryDiff{ID: either.ID, WebhookID: either.WebhookID, Event: either.Event, ShipmentID: either.ShipmentID}
	if p.before != nil {
		d.Before = string(p.before.State)
	}
	if p.after != nil {
		d.After, d.Attempts = string(p.after.State), len(p.after.Attempts)
	}
	return d
}

// pair holds the elements of two lists with the same id; nil if a list has none.
type pair[T any] struct{ before, after *T }

func (p pair[T]) either() *T {
	if p.after == nil {
		return p.before
	}
	return p.after
}

// unlike returns the elements that two lists do not share: first those that only the earlier one has, then the rest in
// the order of the later one. Elements of the common prefix are compared by pointer.
func unlike[T any](then, now []*T, id func(*T) string) []pair[T] {
	common := 0
	for common < min(len(then), len(now)) && then[common] == now[common] {
		common++
	}
	then, now = then[common:], now[common:]
	before, after := make(map[string]*T, len(then)), make(map[string]bool, len(now))
	for _, one := range then {
		before[id(one)] = one
	}
	for _, one := range now {
		after[id(one)] = true
	}
	var pairs []pair[T]
	for _, one := range then {
		if !after[id(one)] {
			pairs = append(pairs, pair[T]{before: one})
		}
	}
	for _, one := range now {
		if old := before[id(one)]; old != one {
			pairs = append(pairs, pair[T]{before: old, after: one})
		}
	}
	return pairs
}
