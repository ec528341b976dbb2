package admin

import (
	"net/http"
	"slices"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

func (s *Admin) adminAssumptions(c *control) wire.Reply {
	return wire.SucceedWith(nil, `What this world assumes where the specification leaves a point open; POST worlds with "assumptions" opens one with others`, s.Assumptions(c.world))
}

// adminFund answers POST /_mock/ledger/fund.
func (s *Admin) adminFund(c *control) wire.Reply {
	var order struct {
		Wallet string           `json:"wallet"`
		Amount *shipping.Amount `json:"amount"`
	}
	if refusal := c.world.Decoding().DecodeControl(c.Call, &order); refusal != nil {
		return *refusal
	}
	if order.Wallet == "" || order.Amount == nil {
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, `wallet and amount are required: send {"wallet":"VA-…","amount":100.50}; GET /_mock/ledger lists the wallets`)
	}
	if err := c.world.Fund(order.Wallet, *order.Amount); err != nil {
		return refusedFor(err)
	}
	balance, _ := c.world.Balance(order.Wallet)
	return wire.SucceedWith(nil, "The wallet is funded", struct {
		Wallet  string          `json:"wallet"`
		Balance shipping.Amount `json:"balance"`
	}{order.Wallet, balance})
}

// exchangeRate is how many units of a currency a US dollar buys.
type exchangeRate struct {
	Currency  string           `json:"currency"`
	PerDollar *shipping.Amount `json:"per_dollar"`
}

// adminExchangeRates answers GET /_mock/exchange-rates.
func (s *Admin) adminExchangeRates(c *control) wire.Reply {
	rates := exchangeRates(c.world)
	return wire.SucceedWith(nil, spelling.Counted(len(rates), "exchange rate", "exchange rates"), rates)
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

// adminSetExchangeRate answers POST /_mock/exchange-rates.
func (s *Admin) adminSetExchangeRate(c *control) wire.Reply {
	var order exchangeRate
	if refusal := c.world.Decoding().DecodeControl(c.Call, &order); refusal != nil {
		return *refusal
	}
	if order.PerDollar == nil {
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, `currency and per_dollar are required: send {"currency":"NGN","per_dollar":1600}`)
	}
	if err := c.world.SetExchangeRate(order.Currency, *order.PerDollar); err != nil {
		return refusedFor(err)
	}
	return wire.SucceedWith(nil, "The exchange rate is set", exchangeRates(c.world))
}
