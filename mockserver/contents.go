package mockserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/account"
)

// SetExchangeRate sets how many units of a wallet's currency a US dollar buys from now on.
func (w *core) SetExchangeRate(currency string, perDollar shipping.Amount) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var held []string
	for _, wallet := range w.account.Ledger.Wallets() {
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
		w.account.Exchange[currency] = perDollar
		return nil
	}
	return fmt.Errorf("mockserver: exchange rate of %q not set to %s: %s", currency, perDollar, problem)
}

// usd is the currency of the prices that exchange rates convert.
const usd = "USD"

// hasRequest reports whether the world has analyzed a regulatory request of that id.
func (w *core) hasRequest(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.desk.Get(id)
	return err == nil
}

// Wallets returns the references of the wallets in the order of the account: the first, in NGN, is the default and
// has plenty; the last has next to nothing.
func (w *core) Wallets() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, wallet := range w.account.Ledger.Wallets() {
		out = append(out, wallet.Reference)
	}
	return out
}

// Balance returns what a wallet holds, in its own currency, and whether there is the wallet.
func (w *core) Balance(wallet string) (shipping.Amount, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.account.Ledger.Balance(wallet)
}

// Fund brings money into a wallet from outside, as a transaction with flow "in".
func (w *core) Fund(wallet string, amount shipping.Amount) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.room(); err != nil {
		return fmt.Errorf("mockserver: wallet not funded: %w", err)
	}
	e, err := w.account.Ledger.Fund(wallet, amount, "Wallet funded", w.clock.Now(), w.account.IDs.Coded("TR"))
	if err != nil {
		return fmt.Errorf("mockserver: wallet not funded: %w", err)
	}
	return w.account.AddTransaction(e, account.TransactionDetails{})
}

// Shipments returns the ids of the seeded shipments, newest first: the first matches several forms, the last ones are
// domestic and match none.
func (w *core) Shipments() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.account.ShipmentIDs...)
}

// Invoices returns the URLs of the invoices that analysis can read.
func (w *core) Invoices() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.account.InvoiceURLs...)
}

// Webhooks returns the ids of the webhooks, newest first.
func (w *core) Webhooks() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for i := len(w.account.Webhooks.All) - 1; i >= 0; i-- {
		out = append(out, w.account.Webhooks.All[i].WebhookID)
	}
	return out
}
