package world

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/inject"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

type Deposit struct {
	Wallet string          `json:"wallet" doc:"Reference of the wallet."`
	Amount shipping.Amount `json:"amount"`
}

// ChangeMoney makes deposits, each a transaction with flow "in", and sets how many units of each currency a US dollar
// buys from now on. If one of them is refused, nothing changes.
func (w *World) ChangeMoney(deposits []Deposit, exchangeRates map[string]shipping.Amount) error {
	w.Lock()
	defer w.Unlock()
	for _, currency := range slices.Sorted(maps.Keys(exchangeRates)) {
		if err := w.checkExchangeRate(currency, exchangeRates[currency]); err != nil {
			return err
		}
	}
	now, trial := w.Clock.Now(), w.Account.Ledger.Clone()
	for _, d := range deposits {
		err := w.Room(0)
		if d.Amount.Sign() <= 0 {
			err = fmt.Errorf("the amount is %s: write a number above zero, such as 100.50", d.Amount)
		}
		if err == nil {
			_, err = trial.Fund(d.Wallet, d.Amount, "trial", now, "trial")
		}
		if errors.Is(err, ledger.ErrUnknownWallet) {
			err = fmt.Errorf("%w: use one that GET /_mock/ledger lists (in Go: World.Wallets)", err)
		}
		if err != nil {
			return fmt.Errorf("mockserver: wallet not funded: %w", err)
		}
	}
	w.Lint.Changed()
	maps.Copy(w.Account.ExchangeRates, exchangeRates)
	for _, d := range deposits {
		if err := w.Account.Fund(d.Wallet, d.Amount, "Wallet funded", now); err != nil {
			return fmt.Errorf("mockserver: wallet not funded: %w", err)
		}
	}
	return nil
}

// checkExchangeRate returns an error for an exchange rate that cannot be set. The caller holds the lock.
func (w *World) checkExchangeRate(currency string, perDollar shipping.Amount) error {
	held := []string{usd}
	for _, wallet := range w.Account.Ledger.Wallets() {
		if !slices.Contains(held, wallet.Currency) {
			held = append(held, wallet.Currency)
		}
	}
	problem := ""
	switch {
	case currency == usd:
		problem = "prices are in US dollars, and a dollar always buys one"
	case !slices.Contains(held, currency):
		problem = "no wallet holds that currency; wallets hold " + strings.Join(held[1:], ", ")
	case perDollar.Sign() <= 0:
		problem = "a rate must be above zero"
	default:
		return nil
	}
	return fmt.Errorf("mockserver: exchange rate of %q not set to %s: %s", currency, perDollar, problem)
}

// usd is the currency of prices.
const usd = "USD"

// Wallets returns the references of the wallets in the order of the account. The first, in NGN, is the default and has
// ample funds; the last has almost none.
func (w *World) Wallets() []string {
	w.Lock()
	defer w.Unlock()
	out := []string{}
	for _, wallet := range w.Account.Ledger.Wallets() {
		out = append(out, wallet.Reference)
	}
	return out
}

// Balance returns the balance of a wallet, in its currency, and reports whether the wallet exists.
func (w *World) Balance(wallet string) (shipping.Amount, bool) {
	w.Lock()
	defer w.Unlock()
	return w.Account.Ledger.Balance(wallet)
}

// Shipments returns the ids of the shipments, newest first.
func (w *World) Shipments() []string {
	w.Lock()
	defer w.Unlock()
	return append([]string{}, w.Account.ShipmentIDs...)
}

// Invoices returns the URLs of the invoices that can be analyzed.
func (w *World) Invoices() []string {
	w.Lock()
	defer w.Unlock()
	return append([]string{}, w.Account.InvoiceURLs...)
}

// Receivers returns the ids of the webhooks that replays reach, newest first.
func (w *World) Receivers() []string {
	return w.webhookIDs(func(h *account.Webhook) bool { return slices.ContainsFunc(account.EventKinds(), h.Receives) })
}

// Webhooks returns the ids of the webhooks, newest first.
func (w *World) Webhooks() []string {
	return w.webhookIDs(func(*account.Webhook) bool { return true })
}

func (w *World) webhookIDs(selected func(*account.Webhook) bool) []string {
	w.Lock()
	defer w.Unlock()
	ids := []string{}
	for _, h := range slices.Backward(w.Account.Webhooks.All) {
		if selected(h) {
			ids = append(ids, h.WebhookID)
		}
	}
	return ids
}

// SubmitEvidence submits the evidence that a manual document requires, and starts its generation.
func (w *World) SubmitEvidence(requestID string, documentType shipping.DocumentType) error {
	w.Lock()
	defer w.Unlock()
	if _, err := w.Regulatory.SubmitEvidence(requestID, string(documentType)); err != nil {
		return fmt.Errorf("mockserver: %w", err)
	}
	return nil
}

func (w *World) HasRequest(id string) bool {
	w.Lock()
	defer w.Unlock()
	_, err := w.Regulatory.Get(id)
	return err == nil
}

// openRequests creates the service of the world's regulatory requests. It is called with the world's lock held, and so
// are its timers.
func (w *World) openRequests() {
	timers, times := w.timers, w.Dialect().Time
	w.Regulatory = regulatory.New(regulatory.Config{
		Rules:         compliance.Default,
		Ledger:        w.Account.Ledger,
		ExchangeRates: w.Account.ExchangeRates,
		Goods:         w.goods,
		Now:           w.Clock.Now,
		After: func(d time.Duration, label string, fn func()) {
			timers.After(d, label, func() {
				w.Lock()
				defer w.Unlock()
				fn()
			})
		},
		NewID:   w.Account.IDs.Coded,
		Charged: w.charged,
		Times: regulatory.Times{Purchasing: time.Duration(times.Purchasing), Evidence: time.Duration(times.Evidence),
			DraftLife: time.Duration(times.DraftLife), Generation: times.Generation},
		At: func(point fault.Point, operation, about string) error {
			return w.Faults.At(inject.Request{Point: point, Operation: operation, Body: []byte(about), Now: w.Now()})
		},
	})
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
