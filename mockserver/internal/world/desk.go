package world

import (
	"fmt"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// SubmitEvidence submits the evidence that a manual document requires, and starts its generation.
func (w *World) SubmitEvidence(requestID string, documentType shipping.DocumentType) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.Desk.SubmitEvidence(requestID, string(documentType)); err != nil {
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
	_, err := w.Desk.Get(id)
	return err == nil
}

// Resized accounts for a change of the length of a regulatory request. The caller holds the lock.
func (w *World) Resized(before, after int) { w.Account.RequestBytes += after - before }

// RequestSize returns the length of a regulatory request as JSON, or 0 if the id is unknown. The caller holds
// the lock.
func (w *World) RequestSize(id string) int {
	record, err := w.Desk.Get(id)
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

// openDesk creates the desk of the world's regulatory requests. The desk is called with the world's lock held, and so
// are its timers.
func (w *World) openDesk() {
	timers := w.timers
	w.Desk = regulatory.NewDesk(regulatory.Config{
		Rules:  w.settings.Rules,
		Ledger: w.Account.Ledger,
		Rate:   w.rate,
		Shipment: func(id string) (regulatory.Consignment, bool) {
			s, known := w.Account.Shipments[id]
			if !known {
				return regulatory.Consignment{}, false
			}
			return s.Consignment(), true
		},
		Invoice: func(url string) (regulatory.Consignment, bool) {
			goods, known := w.Account.Invoices[url]
			return goods, known
		},
		Now: w.Clock.Now,
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
		Hooks:   w.hooks(),
	})
}

// charged adds a purchase's debit to the transactions of its wallet. Encoding an entry of this kind succeeded during
// seeding; an error is logged.
func (w *World) charged(e ledger.Entry, record *regulatory.Record) {
	about := account.TransactionMetadata{ShipmentID: record.ShipmentID, RequestID: record.RequestID}
	if err := w.Account.AddTransaction(e, account.TransactionDetails{About: about, TxRef: record.RequestID}); err != nil {
		w.settings.Logger.Error("cannot list a charge", "error", err)
	}
}

// hooks returns the hooks with which faults and the scenario make the desk fail.
func (w *World) hooks() regulatory.Hooks {
	hooks := w.Faults.Hooks(w.Clock.Now)
	if !w.Plan.failForms {
		return hooks
	}
	injected := hooks.Generate
	hooks.Generate = func(requestID, documentType string, attempt int) error {
		if attempt == 1 {
			return fmt.Errorf("the scenario fails the first attempt at %s", documentType)
		}
		return injected(requestID, documentType, attempt)
	}
	return hooks
}
