package admin

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// getLedger serves GET /_mock/ledger.
func (s *Admin) getLedger(c *control) wire.Reply {
	p, refusal := controlPage(c.Query())
	if refusal != nil {
		return *refusal
	}
	now := c.world.Snapshot() // the world is not locked while a long history is read
	books := now.State.Ledger
	wallets, entries := books.Wallets(), books.Journal()
	if reference := c.Query().Get("wallet"); reference != "" {
		wallet, known := books.Wallet(reference)
		if !known {
			references := list.Map(wallets, func(w ledger.Wallet) string { return w.Reference })
			return wire.Refused(http.StatusNotFound, wire.CodeNotFound, fmt.Sprintf("the world has no wallet %q%s", reference, spelling.Suggestion(reference, references)))
		}
		wallets, entries = []ledger.Wallet{wallet}, books.Entries(reference)
	}
	view := ledgerView{Wallets: []walletView{}}
	for _, wallet := range wallets {
		balance, _ := books.Balance(wallet.Reference)
		view.Wallets = append(view.Wallets, walletView{wallet, balance})
	}
	if err := now.Check(); err != nil {
		view.Problems = err.Error()
	}
	slices.Reverse(entries)
	view.Entries = list.Map(cut(p, entries), viewLedgerEntry)
	return paged(p, len(entries), spelling.Counted(len(entries), "entry in the ledger", "entries in the ledger"), view)
}

// fundWallet serves POST /_mock/ledger/fund.
func (s *Admin) fundWallet(c *control) wire.Reply {
	var order struct {
		Wallet string           `json:"wallet"`
		Amount *shipping.Amount `json:"amount"`
	}
	if refusal := c.world.Decoding().DecodeControl(c.Exchange, &order); refusal != nil {
		return *refusal
	}
	if order.Wallet == "" || order.Amount == nil {
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, `wallet and amount are required: send {"wallet":"VA-…","amount":100.50}; GET /_mock/ledger lists the wallets`)
	}
	if err := c.world.Fund(order.Wallet, *order.Amount); err != nil {
		return refusedFor(err)
	}
	balance, _ := c.world.Balance(order.Wallet)
	return wire.Succeed("The wallet is funded", struct {
		Wallet  string          `json:"wallet"`
		Balance shipping.Amount `json:"balance"`
	}{order.Wallet, balance})
}

// exchangeRate is the number of units of a currency per US dollar.
type exchangeRate struct {
	Currency  string           `json:"currency"`
	PerDollar *shipping.Amount `json:"per_dollar"`
}

// listExchangeRates serves GET /_mock/exchange-rates.
func (s *Admin) listExchangeRates(c *control) wire.Reply {
	rates := exchangeRates(c.world)
	return wire.Succeed(spelling.Counted(len(rates), "exchange rate", "exchange rates"), rates)
}

func exchangeRates(w *world.World) []exchangeRate {
	w.Lock()
	defer w.Unlock()
	rates := []exchangeRate{}
	for currency, perDollar := range w.Account.Exchange {
		rates = append(rates, exchangeRate{currency, &perDollar})
	}
	slices.SortFunc(rates, func(a, b exchangeRate) int { return strings.Compare(a.Currency, b.Currency) })
	return rates
}

// setExchangeRate serves POST /_mock/exchange-rates.
func (s *Admin) setExchangeRate(c *control) wire.Reply {
	var order exchangeRate
	if refusal := c.world.Decoding().DecodeControl(c.Exchange, &order); refusal != nil {
		return *refusal
	}
	if order.PerDollar == nil {
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, `currency and per_dollar are required: send {"currency":"NGN","per_dollar":1600}`)
	}
	if err := c.world.SetExchangeRate(order.Currency, *order.PerDollar); err != nil {
		return refusedFor(err)
	}
	return wire.Succeed("The exchange rate is set", exchangeRates(c.world))
}
