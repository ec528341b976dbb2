package world

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/account"
)

// Deposit is money for a wallet.
type Deposit struct {
	Wallet string          `json:"wallet"`
	Amount shipping.Amount `json:"amount"`
}

// ChangeMoney makes deposits, each a transaction with flow "in", and sets how many units of each currency a US dollar
// buys from now on. If one of them is refused, nothing changes.
func (w *World) ChangeMoney(deposits []Deposit, rates map[string]shipping.Amount) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, currency := range slices.Sorted(maps.Keys(rates)) {
		if err := w.checkRate(currency, rates[currency]); err != nil {
			return err
		}
	}
	now, trial := w.Clock.Now(), w.Account.Ledger.Clone()
	for _, d := range deposits {
		err := w.room()
		if d.Amount.Sign() <= 0 {
			err = fmt.Errorf("the amount is %s, and must be above zero", d.Amount)
		}
		if err == nil {
			_, err = trial.Fund(d.Wallet, d.Amount, "trial", now, "trial")
		}
		if err != nil {
			return fmt.Errorf("mockserver: wallet not funded: %w", err)
		}
	}
	maps.Copy(w.Account.Exchange, rates)
	for _, d := range deposits {
		e, err := w.Account.Ledger.Fund(d.Wallet, d.Amount, "Wallet funded", now, w.Account.IDs.Coded("TR"))
		if err == nil {
			err = w.Account.AddTransaction(e, account.TransactionDetails{})
		}
		if err != nil {
			return fmt.Errorf("mockserver: wallet not funded: %w", err)
		}
	}
	return nil
}

// checkRate returns an error for a rate that cannot be set. The caller holds the lock.
func (w *World) checkRate(currency string, perDollar shipping.Amount) error {
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

// Shipments returns the ids of the seeded shipments, newest first: the first needs several documents, the last ones are
// domestic and need none.
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
