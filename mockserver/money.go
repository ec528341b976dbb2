package mockserver

import (
	"errors"
	"fmt"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/jsontext"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/records"
)

// company is what the seeded account is called.
const company = "Harbour Row Trading"

// showing is what a transaction says beyond its ledger entry.
type showing struct {
	about             transactionMetadata
	txRef             string
	pending, reversed bool
}

// show encodes a ledger entry as the transaction that lists of its wallet begin with. Every
// transaction is an entry of the ledger and the other way round.
//
// Assumption: money that comes in has flow "in"; only "out" is known to occur. What a reversed
// transaction took comes back by another one with flow "in", so that every row counts once.
func (w *state) show(e ledger.Entry, how showing) error {
	flat, err := e.Amount.Flat()
	if err != nil {
		return fmt.Errorf("transaction %s: %w", e.ID, err)
	}
	t := transaction{
		TransactionID: e.ID, StorageID: w.ids.storage(), AccountID: w.accountID,
		AccountReference: e.Wallet, StoreReference: w.user, TxRef: how.txRef,
		Amount: e.Amount, AmountReceived: e.Amount, ConvertedAmount: e.Amount,
		Currency: e.Currency, CurrencyConvertedTo: e.Currency, FlatAmount: flat,
		Description: e.Memo, Flow: "out", Status: "success", Metadata: how.about,
		Platform: "api", Source: "wallet",
		Receiver: receiver{Name: "Shipping service", Reference: "shipping", Type: "platform"},
		Sender:   sender{Name: company, ID: w.user},
		Reversed: how.reversed, Settled: !how.pending, CreatedAt: jsontext.Timestamp(e.At), UpdatedAt: jsontext.Timestamp(e.At),
	}
	if how.pending {
		t.Status = "pending"
	}
	if e.Kind != ledger.KindDebit {
		t.Flow = "in"
		t.Receiver = receiver{Name: company, Reference: w.user, Type: "user"}
		t.Sender = sender{Name: "Shipping service", ID: "shipping"}
	}
	if e.Kind == ledger.KindFunding {
		t.Sender = sender{Name: "Bank transfer", ID: "bank", AccountNumber: "0123456789"}
		paidOut := jsontext.Timestamp(e.At.Add(24 * time.Hour))
		t.SettlementReference, t.PayoutDate = "ST-"+e.ID[len("TR-"):], &paidOut
	}
	w.scratch = appendTransaction(w.scratch[:0], &t)
	w.openList(e.Wallet).Prepend(w.scratch)
	return nil
}

// openList returns the list of a wallet's transactions.
func (w *state) openList(wallet string) *records.List {
	list := w.transactions[wallet]
	if list == nil {
		list = &records.List{}
		w.transactions[wallet] = list
	}
	return list
}

// seedWallets opens the wallets and plays their history in the order of time: a first funding each,
// then shipments paid for, with more funding wherever a wallet would run dry.
func (w *seeder) seedWallets() error {
	money := purses()
	wallets := make([]string, len(money))
	at := epoch.Add(-150 * day)
	for i, p := range money {
		rate, err := shipping.ParseAmount(p.perDollar)
		if err != nil {
			return err
		}
		w.exchange[p.currency] = rate
		wallets[i] = w.ids.numbered("VA")
		if err := w.openWallet(ledger.Wallet{Reference: wallets[i], Currency: p.currency, Name: p.name}, p, at); err != nil {
			return err
		}
		at = at.Add(time.Minute)
	}
	debits := w.plan.debits()
	step := epoch.Sub(at) / time.Duration(debits+2)
	for i := range debits {
		at = at.Add(step)
		which := w.chooseWallet(money)
		if err := w.payForShipment(wallets[which], money[which], i, at); err != nil {
			return err
		}
	}
	if w.plan.lowFunds {
		return w.drain(wallets, at.Add(step))
	}
	return nil
}

// openWallet opens a wallet with its first funding, or with nothing in an empty world. The rows that a
// plan asks for are a history before that funding, which the ledger knows as the balance brought forward.
func (w *seeder) openWallet(wallet ledger.Wallet, p purse, at time.Time) error {
	if err := w.ledger.Open(wallet); err != nil {
		return err
	}
	memo := "Wallet funded: opening balance"
	if w.plan.listed > 0 && w.past == nil {
		w.openPast(wallet, pastScope{Wallet: wallet.Reference, Seed: mix(w.plan.seed + 1), Total: w.plan.listed - 1, Before: at})
		memo = "Balance brought forward"
	}
	w.openList(wallet.Reference)
	if w.plan.empty {
		return nil
	}
	return w.fund(wallet.Reference, p.opening, memo, at)
}

// drain leaves one unit in each wallet.
func (w *seeder) drain(wallets []string, at time.Time) error {
	for _, wallet := range wallets {
		balance, _ := w.ledger.Balance(wallet)
		one, err := shipping.NewAmount(1, 0)
		if err != nil {
			return err
		}
		rest, err := balance.Sub(one)
		if err != nil || rest.Sign() <= 0 {
			return fmt.Errorf("wallet %s holds %s and cannot be drained: %w", wallet, balance, err)
		}
		id := w.ids.coded("TR")
		e, err := w.ledger.Debit(wallet, rest, id, "Transfer to savings", at, id)
		if err != nil {
			return err
		}
		if err := w.show(e, showing{}); err != nil {
			return err
		}
	}
	return nil
}

// chooseWallet picks a wallet by the shares of the purses.
func (w *seeder) chooseWallet(money []purse) int {
	drawn := w.ids.random.IntN(100)
	for i, p := range money {
		if drawn -= p.share; drawn < 0 {
			return i
		}
	}
	return 0
}

func (w *seeder) payForShipment(wallet string, p purse, number int, at time.Time) error {
	amount, err := w.priced("100", p, 4+w.ids.random.IntN(120))
	if err != nil {
		return err
	}
	id, how := w.ids.coded("TR"), showing{pending: number >= w.plan.debits()-3, reversed: number%40 == 20}
	if number%5 != 0 { // every fifth is about no shipment, and every seventh has no reference
		how.about.ShipmentID = pick(w.ids, w.shipmentIDs)
	}
	if number%7 != 0 {
		how.txRef = "SHP-" + w.ids.alphanumerics(12)
	}
	debit := func() (ledger.Entry, error) {
		return w.ledger.Debit(wallet, amount, id, "Payment for shipment label", at, id)
	}
	e, err := debit()
	if _, dry := errors.AsType[*ledger.InsufficientFundsError](err); dry {
		if err := w.fund(wallet, p.opening, "Wallet funded", at); err != nil {
			return err
		}
		e, err = debit()
	}
	if err != nil {
		return err
	}
	if err := w.show(e, how); err != nil || !how.reversed {
		return err
	}
	back, err := w.ledger.Reverse(id, "Reversal of "+id, at, w.ids.coded("TR"))
	if err != nil {
		return err
	}
	return w.show(back, showing{about: how.about, txRef: how.txRef})
}

func (w *state) fund(wallet, amount, memo string, at time.Time) error {
	money, err := shipping.ParseAmount(amount)
	if err != nil {
		return err
	}
	e, err := w.ledger.Fund(wallet, money, memo, at, w.ids.coded("TR"))
	if err != nil {
		return err
	}
	return w.show(e, showing{})
}

// rate returns what one unit of a currency buys in another, at the world's present rates.
func (w *World) rate(from, to string) (shipping.Amount, error) {
	rate, known := w.exchange[to]
	if from != usd || !known {
		return shipping.Amount{}, fmt.Errorf("no exchange rate from %s to %s: set one with SetExchangeRate", from, to)
	}
	return rate, nil
}
