package seed

import (
	"errors"
	"fmt"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/splitmix"
)

// seedWallets opens the wallets and plays their history in the order of time: a first funding each,
// then shipments paid for, with more funding wherever a wallet would run dry.
func (w *seeder) seedWallets() error {
	money := purses()
	wallets := make([]string, len(money))
	at := Epoch.Add(-150 * day)
	for i, p := range money {
		rate, err := shipping.ParseAmount(p.perDollar)
		if err != nil {
			return err
		}
		w.Exchange[p.currency] = rate
		wallets[i] = w.IDs.Numbered("VA")
		if err := w.openWallet(ledger.Wallet{Reference: wallets[i], Currency: p.currency, Name: p.name}, p, at); err != nil {
			return err
		}
		at = at.Add(time.Minute)
	}
	debits := w.plan.debits()
	step := Epoch.Sub(at) / time.Duration(debits+2)
	for i := range debits {
		at = at.Add(step)
		which := w.chooseWallet(money)
		if err := w.payForShipment(wallets[which], money[which], i, at); err != nil {
			return err
		}
	}
	if w.plan.LowFunds {
		return w.drain(wallets, at.Add(step))
	}
	return nil
}

// openWallet opens a wallet with its first funding, or with nothing in an empty world. The rows that a
// plan asks for are a history before that funding, which the ledger knows as the balance brought forward.
func (w *seeder) openWallet(wallet ledger.Wallet, p purse, at time.Time) error {
	if err := w.Ledger.Open(wallet); err != nil {
		return err
	}
	memo := "Wallet funded: opening balance"
	if w.plan.Computed > 0 && w.Computed == nil {
		w.OpenComputed(wallet, account.ComputedScope{Wallet: wallet.Reference, Seed: splitmix.Mix(w.plan.Seed + 1), Total: w.plan.Computed - 1, Before: at})
		memo = "Balance brought forward"
	}
	w.TransactionsOf(wallet.Reference)
	if w.plan.Empty {
		return nil
	}
	return w.Fund(wallet.Reference, p.opening, memo, at)
}

// drain leaves one unit in each wallet.
func (w *seeder) drain(wallets []string, at time.Time) error {
	for _, wallet := range wallets {
		balance, _ := w.Ledger.Balance(wallet)
		one, err := shipping.NewAmount(1, 0)
		if err != nil {
			return err
		}
		rest, err := balance.Sub(one)
		if err != nil || rest.Sign() <= 0 {
			return fmt.Errorf("wallet %s holds %s and cannot be drained: %w", wallet, balance, err)
		}
		id := w.IDs.Coded("TR")
		e, err := w.Ledger.Debit(wallet, rest, id, "Transfer to savings", at, id)
		if err != nil {
			return err
		}
		if err := w.AddTransaction(e, account.TransactionDetails{}); err != nil {
			return err
		}
	}
	return nil
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

func (w *seeder) payForShipment(wallet string, p purse, number int, at time.Time) error {
	amount, err := w.priced("100", p, 4+w.IDs.Random.IntN(120))
	if err != nil {
		return err
	}
	id, how := w.IDs.Coded("TR"), account.TransactionDetails{Pending: number >= w.plan.debits()-3, Reversed: number%40 == 20}
	if number%5 != 0 { // every fifth is about no shipment, and every seventh has no reference
		how.About.ShipmentID = account.Pick(w.IDs, w.ShipmentIDs)
	}
	if number%7 != 0 {
		how.TxRef = "SHP-" + w.IDs.Alphanumerics(12)
	}
	debit := func() (ledger.Entry, error) {
		return w.Ledger.Debit(wallet, amount, id, "Payment for shipment label", at, id)
	}
	e, err := debit()
	if _, dry := errors.AsType[*ledger.InsufficientFundsError](err); dry {
		if err := w.Fund(wallet, p.opening, "Wallet funded", at); err != nil {
			return err
		}
		e, err = debit()
	}
	if err != nil {
		return err
	}
	if err := w.AddTransaction(e, how); err != nil || !how.Reversed {
		return err
	}
	back, err := w.Ledger.Reverse(id, "Reversal of "+id, at, w.IDs.Coded("TR"))
	if err != nil {
		return err
	}
	return w.AddTransaction(back, account.TransactionDetails{About: how.About, TxRef: how.TxRef})
}
