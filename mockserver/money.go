package mockserver

import (
	"errors"
	"fmt"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
)

// company is what the seeded account is called.
const company = "Harbour Row Trading"

// show encodes a ledger entry as the transaction that lists of its wallet begin with. Every
// transaction is an entry of the ledger and the other way round.
//
// Assumption: money that comes in has flow "in"; only "out" is known to occur.
func (w *world) show(e ledger.Entry, about transactionMetadata, txRef string, pending bool) error {
	flat, err := e.Amount.Flat()
	if err != nil {
		return fmt.Errorf("transaction %s: %w", e.ID, err)
	}
	t := transaction{
		TransactionID: e.ID, StorageID: w.ids.storage(), AccountID: w.accountID,
		AccountReference: e.Wallet, StoreReference: w.user, TxRef: txRef,
		Amount: e.Amount, AmountReceived: e.Amount, ConvertedAmount: e.Amount,
		Currency: e.Currency, CurrencyConvertedTo: e.Currency, FlatAmount: flat,
		Description: e.Memo, Flow: "out", Status: "success", Metadata: about,
		Platform: "api", Source: "wallet",
		Receiver: receiver{Name: "Shipping service", Reference: "shipping", Type: "platform"},
		Sender:   sender{Name: company, ID: w.user},
		Settled:  !pending, CreatedAt: timestamp(e.At), UpdatedAt: timestamp(e.At),
	}
	if pending {
		t.Status = "pending"
	}
	if e.Kind == ledger.KindFunding {
		t.Flow = "in"
		t.Receiver = receiver{Name: company, Reference: w.user, Type: "user"}
		t.Sender = sender{Name: "Bank transfer", ID: "bank", AccountNumber: "0123456789"}
		paidOut := timestamp(e.At.Add(24 * time.Hour))
		t.SettlementReference, t.PayoutDate = "ST-"+e.ID[len("TR-"):], &paidOut
	}
	record, err := encode(t)
	if err != nil {
		return fmt.Errorf("transaction %s: %w", e.ID, err)
	}
	w.openList(e.Wallet).Prepend(record)
	return nil
}

// seedWallets opens the wallets and plays their history in the order of time: a first funding each,
// then shipments paid for, with more funding wherever a wallet would run dry.
func (w *world) seedWallets() error {
	money := purses()
	w.exchange = map[string]shipping.Amount{}
	wallets := make([]string, len(money))
	at := epoch.Add(-150 * day)
	for i, p := range money {
		rate, err := shipping.ParseAmount(p.perDollar)
		if err != nil {
			return err
		}
		w.exchange[p.currency] = rate
		wallets[i] = w.ids.numbered("VA")
		if err := w.ledger.Open(ledger.Wallet{Reference: wallets[i], Currency: p.currency, Name: p.name}); err != nil {
			return err
		}
		if err := w.fund(wallets[i], p.opening, "Wallet funded: opening balance", at); err != nil {
			return err
		}
		at = at.Add(time.Minute)
	}
	step := epoch.Sub(at) / (seededDebits + 1)
	for i := range seededDebits {
		at = at.Add(step)
		which := w.chooseWallet(money)
		if err := w.payForShipment(wallets[which], money[which], i, at); err != nil {
			return err
		}
	}
	return nil
}

// chooseWallet picks a wallet by the shares of the purses.
func (w *world) chooseWallet(money []purse) int {
	drawn := w.ids.random.IntN(100)
	for i, p := range money {
		if drawn -= p.share; drawn < 0 {
			return i
		}
	}
	return 0
}

func (w *world) payForShipment(wallet string, p purse, number int, at time.Time) error {
	amount, err := w.priced("100", p, 4+w.ids.random.IntN(120))
	if err != nil {
		return err
	}
	id, about, txRef := w.ids.coded("TR"), transactionMetadata{}, ""
	if number%5 != 0 { // every fifth is about no shipment, and every seventh has no reference
		about.ShipmentID = pick(w.ids, w.shipmentIDs)
	}
	if number%7 != 0 {
		txRef = "SHP-" + w.ids.alphanumerics(12)
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
	return w.show(e, about, txRef, number >= seededDebits-3)
}

func (w *world) fund(wallet, amount, memo string, at time.Time) error {
	money, err := shipping.ParseAmount(amount)
	if err != nil {
		return err
	}
	e, err := w.ledger.Fund(wallet, money, memo, at, w.ids.coded("TR"))
	if err != nil {
		return err
	}
	return w.show(e, transactionMetadata{}, "", false)
}

// rate returns what one unit of a currency buys in another, at the world's present rates.
func (w *world) rate(from, to string) (shipping.Amount, error) {
	rate, known := w.exchange[to]
	if from != "USD" || !known {
		return shipping.Amount{}, fmt.Errorf("no exchange rate from %s to %s: set one with SetExchangeRate", from, to)
	}
	return rate, nil
}

// SetExchangeRate says how many units of a currency a US dollar buys from now on. Drafts that are
// already analyzed keep their amounts. A rate that is not above zero is refused.
func (s *Server) SetExchangeRate(currency string, perDollar shipping.Amount) error {
	if currency == "" || perDollar.Sign() <= 0 {
		return fmt.Errorf("mockserver: exchange rate of %q is %s: name a currency and a rate above zero", currency, perDollar)
	}
	s.home.mu.Lock()
	defer s.home.mu.Unlock()
	s.home.exchange[currency] = perDollar
	return nil
}

// Wallets returns the references of the wallets in the order of the account: the first, in NGN, is
// the default and has plenty; the last has next to nothing.
func (s *Server) Wallets() []string {
	s.home.mu.Lock()
	defer s.home.mu.Unlock()
	var out []string
	for _, wallet := range s.home.ledger.Wallets() {
		out = append(out, wallet.Reference)
	}
	return out
}

// Shipments returns the ids of the seeded shipments, newest first: the first matches several forms,
// the last ones are domestic and match none.
func (s *Server) Shipments() []string {
	return append([]string(nil), s.home.shipmentIDs...)
}

// Invoices returns the URLs of the invoices that analysis can read. They are never fetched.
func (s *Server) Invoices() []string {
	return append([]string(nil), s.home.invoiceURLs...)
}

// Webhooks returns the ids of the webhooks, newest first.
func (s *Server) Webhooks() []string {
	s.home.mu.Lock()
	defer s.home.mu.Unlock()
	var out []string
	for i := len(s.home.webhooks.all) - 1; i >= 0; i-- {
		out = append(out, s.home.webhooks.all[i].WebhookID)
	}
	return out
}
