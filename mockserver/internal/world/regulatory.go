package world

import (
	"fmt"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/inject"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// SubmitEvidence submits the evidence that a manual document requires, and starts its generation.
func (w *World) SubmitEvidence(requestID string, documentType shipping.DocumentType) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.Regulatory.SubmitEvidence(requestID, string(documentType)); err != nil {
		return fmt.Errorf("mockserver: %w", err)
	}
	return nil
}

// Check returns nil, or an error that names every violated invariant of the world: entries that do not sum to zero, a
// wallet below zero, a request that is charged twice or not at all.
func (w *World) Check() error { return w.Snapshot().Check() }

// HasRequest reports whether the world has a regulatory request of that id.
func (w *World) HasRequest(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.Regulatory.Get(id)
	return err == nil
}

// Resized accounts for a change of the length of a regulatory request. The caller holds the lock.
func (w *World) Resized(before, after int) { w.Account.RequestBytes += after - before }

// RequestSize returns the length of a regulatory request as JSON, or 0 if the id is unknown. The caller holds
// the lock.
func (w *World) RequestSize(id string) int {
	record, err := w.Regulatory.Get(id)
	if err != nil {
		return 0
	}
	return len(record.JSON())
}

// rate returns what one unit of a currency buys in another, at the world's current rates.
func (w *World) rate(from, to string) (shipping.Amount, error) {
	rate, known := w.Account.Exchange[to]
	if from != usd || !known {
		return shipping.Amount{}, fmt.Errorf("no exchange rate from %s to %s: set one with SetExchangeRate", from, to)
	}
	return rate, nil
}

// openRequests creates the service of the world's regulatory requests. It is called with the world's lock held, and so
// are its timers.
func (w *World) openRequests() {
	timers := w.timers
	w.Regulatory = regulatory.New(regulatory.Config{
		Rules:  w.rules,
		Ledger: w.Account.Ledger,
		Rate:   w.rate,
		Goods:  w.goods,
		Now:    w.Clock.Now,
		After: func(d time.Duration, label string, fn func()) {
			timers.After(d, label, func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				fn()
			})
		},
		NewID:   w.Account.IDs.Coded,
		Charged: w.charged,
		Assume:  *w.Assume(),
		Room:    w.room,
		At: func(point fault.Point, operation, about string) error {
			return w.Faults.At(inject.Request{Point: point, Operation: operation, Body: []byte(about), Now: w.Now()})
		},
		FailFirst: w.Plan.failForms,
	})
}

// rules returns the rules that select documents. The built-in rules are valid; if not, there are no documents.
func (w *World) rules() *compliance.Rules {
	rules, err := w.settings.Rules()
	if err != nil {
		w.settings.Logger.Error("the compliance rules cannot be read", "error", err)
		return new(compliance.Rules)
	}
	return rules
}

// goods returns the goods of a shipment or of an invoice.
func (w *World) goods(in regulatory.AnalyzeInput) (regulatory.Consignment, bool) {
	if in.FileURL != "" {
		goods, known := w.Account.Invoices[in.FileURL]
		return goods, known
	}
	s, known := w.Account.Shipments[in.ShipmentID]
	if !known {
		return regulatory.Consignment{}, false
	}
	return s.Consignment(), true
}

// charged adds a purchase's debit to the transactions of its wallet. Encoding an entry of this kind succeeded during
// seeding; an error is logged.
func (w *World) charged(e ledger.Entry, record *regulatory.Record) {
	about := account.TransactionMetadata{ShipmentID: record.ShipmentID, RequestID: record.RequestID}
	if err := w.Account.AddTransaction(e, account.TransactionDetails{About: about, TxRef: record.RequestID}); err != nil {
		w.settings.Logger.Error("cannot list a charge", "error", err)
	}
}
