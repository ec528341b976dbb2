package world

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/account"
)

// SetExchangeRate sets how many units of a wallet's currency a US dollar buys from now on.
func (w *World) SetExchangeRate(currency string, perDollar shipping.Amount) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var held []string
	for _, wallet := range w.Account.Ledger.Wallets() {
		if wallet.Currency != usd && !slices.Contains(held, wallet.Currency) {
			held = append(held, wallet.Currency)
		}
	}
	problem := ""
	switch {
	case currency == usd:
		problem = "prices are in US dollars, and a dollar always buys one"
	case !slices.Contains(held, currency):
		problem = "no wallet holds that currency; wallets hold " + strings.Join(held, ", ")
	case perDollar.Sign() <= 0:
		problem = "a rate must be above zero"
	default:
		w.Account.Exchange[currency] = perDollar
		return nil
	}
	return fmt.Errorf("mockserver: exchange rate of %q not set to %s: %s", currency, perDollar, problem)
}

// usd is the currency of prices.
const usd = "USD"

// Wallets returns the references of the wallets in the order of the account. The first, in NGN, is the default and has
// ample funds; the last has almost none.
func (w *World) Wallets() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, wallet := range w.Account.Ledger.Wallets() {
		out = append(out, wallet.Reference)
	}
	return out
}

// Balance returns the balance of a wallet, in its currency, and reports whether the wallet exists.
func (w *World) Balance(wallet string) (shipping.Amount, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Account.Ledger.Balance(wallet)
}

// Fund deposits money into a wallet, as a transaction with flow "in".
func (w *World) Fund(wallet string, amount shipping.Amount) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if amount.Sign() <= 0 {
		return fmt.Errorf("mockserver: wallet not funded: the amount is %s, and must be above zero", amount)
	}
	if err := w.room(); err != nil {
		return fmt.Errorf("mockserver: wallet not funded: %w", err)
	}
	e, err := w.Account.Ledger.Fund(wallet, amount, "Wallet funded", w.Clock.Now(), w.Account.IDs.Coded("TR"))
	if err != nil {
		return fmt.Errorf("mockserver: wallet not funded: %w", err)
	}
	return w.Account.AddTransaction(e, account.TransactionDetails{})
}

// Shipments returns the ids of the seeded shipments, newest first: the first matches several forms, the last ones are
// domestic and match none.
func (w *World) Shipments() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.Account.ShipmentIDs...)
}

// Invoices returns the URLs of the invoices that can be analyzed.
func (w *World) Invoices() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.Account.InvoiceURLs...)
}

// Receivers returns the ids of the webhooks that replays reach, newest first.
func (w *World) Receivers() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	ids := []string{}
	for _, h := range slices.Backward(w.Account.Webhooks.All) {
		if slices.ContainsFunc(account.EventKinds(), h.Receives) {
			ids = append(ids, h.WebhookID)
		}
	}
	return ids
}

// Webhooks returns the ids of the webhooks, newest first.
func (w *World) Webhooks() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for i := len(w.Account.Webhooks.All) - 1; i >= 0; i-- {
		out = append(out, w.Account.Webhooks.All[i].WebhookID)
	}
	return out
}
