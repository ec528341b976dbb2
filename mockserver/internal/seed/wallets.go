package seed

import (
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/splitmix"
)

// seedWallets opens the wallets and plays their history in the order of time: a first funding each,
// then shipments paid for, with more funding wherever a wallet would run dry.
func (w *seeder) seedWallets() {
	money := purses()
	wallets := make([]string, len(money))
	at := Epoch.Add(-150 * day)
	for i, p := range money {
		w.Exchange[p.currency] = w.amount(p.perDollar)
		wallets[i] = w.IDs.Numbered("VA")
		w.openWallet(ledger.Wallet{Reference: wallets[i], Currency: p.currency, Name: p.name}, p, at)
		at = at.Add(time.Minute)
	}
	debits := w.plan.debits()
	step := Epoch.Sub(at) / time.Duration(debits+2)
	for i := range debits {
		at = at.Add(step)
		which := w.chooseWallet(money)
		w.payForShipment(wallets[which], money[which], i, at)
	}
	if w.plan.LowFunds {
		w.drain(wallets, at.Add(step))
	}
}

// openWallet opens a wallet with its first funding, or with nothing in an empty world. The rows that a
// plan asks for are a history before that funding, which the ledger has as the balance brought forward.
func (w *seeder) openWallet(wallet ledger.Wallet, p purse, at time.Time) {
	w.check(w.Ledger.Open(wallet))
	memo := "Wallet funded: opening balance"
	if w.plan.Computed > 0 && w.Computed == nil {
		w.Compute(account.ComputedScope{Wallet: wallet.Reference, Seed: splitmix.Mix(w.plan.Seed + 1), Total: w.plan.Computed - 1, Before: at})
		memo = "Balance brought forward"
	}
	w.TransactionsOf(wallet.Reference)
	if !w.plan.Empty {
		w.check(w.Fund(wallet.Reference, p.opening, memo, at))
	}
}

// drain leaves one unit in each wallet.
func (w *seeder) drain(wallets []string, at time.Time) {
	for _, wallet := range wallets {
		balance, _ := w.Ledger.Balance(wallet)
		rest, err := balance.Sub(w.amount("1"))
		w.check(err)
		id := w.IDs.Coded("TR")
		e, err := w.Ledger.Debit(wallet, rest, id, "Transfer to savings", at, id)
		w.check(err)
		w.check(w.AddTransaction(e, account.TransactionDetails{}))
	}
}

// chooseWallet picks a wallet by the shares of the purses.
func (w *seeder) chooseWallet(money []purse) int {
	drawn := w.IDs.Random.IntN(100)
	for i, p := range money {
		if drawn -= p.share; drawn < 0 {
			return i
		}
	}
	return 0
}

// payForShipment debits a wallet, which is funded again if it would run dry. Every 40th payment is reversed.
func (w *seeder) payForShipment(wallet string, p purse, number int, at time.Time) {
	amount := w.priced("100", p, 4+w.IDs.Random.IntN(120))
	id, how := w.IDs.Coded("TR"), account.TransactionDetails{Pending: number >= w.plan.debits()-3, Reversed: number%40 == 20}
	if number%5 != 0 { // every fifth is about no shipment, and every seventh has no reference
		how.About.ShipmentID = account.Pick(w.IDs, w.ShipmentIDs)
	}
	if number%7 != 0 {
		how.TxRef = "SHP-" + w.IDs.Alphanumerics(12)
	}
	if balance, _ := w.Ledger.Balance(wallet); balance.Cmp(amount) < 0 {
		w.check(w.Fund(wallet, p.opening, "Wallet funded", at))
	}
	e, err := w.Ledger.Debit(wallet, amount, id, "Payment for shipment label", at, id)
	w.check(err)
	w.check(w.AddTransaction(e, how))
	if !how.Reversed {
		return
	}
	back, err := w.Ledger.Reverse(id, "Reversal of "+id, at, w.IDs.Coded("TR"))
	w.check(err)
	w.check(w.AddTransaction(back, account.TransactionDetails{About: how.About, TxRef: how.TxRef}))
}
