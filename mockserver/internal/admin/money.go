package admin

import (
	"errors"
	"maps"
	"slices"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

func moneyRoutes() []Route {
	return []Route{
		route("GET", "ledger", "getLedger", "Get the wallets, the ledger entries, newest first, the exchange rates, and "+
			"violated invariants", "", (*Admin).getLedger),
		route("PATCH", "ledger", "changeLedger", "Deposit money into wallets, and set exchange rates for later analyses; "+
			"all of it, or nothing",
			`{"fund":[{"wallet":"VA-2244668800","amount":100.50}],"exchange_rates":{"NGN":1600}}`, (*Admin).changeLedger),
	}
}

type ledgerQuery struct {
	paging
	Wallet   string `query:"wallet" doc:"Only this wallet and its entries." example:"VA-2244668800"`
	Contains string `query:"contains" doc:"Only entries with this text in an id, the memo or the kind." example:"RD-"`
}

type ledgerPage struct {
	Wallets       []wallet                   `json:"wallets"`
	ExchangeRates map[string]shipping.Amount `json:"exchange_rates" doc:"Units of each currency per US dollar."`
	Entries       []ledger.Entry             `json:"entries" doc:"Newest first."`
	Problems      string                     `json:"problems" doc:"The violated invariants; empty if all hold."`
}

type wallet struct {
	ledger.Wallet
	Balance shipping.Amount `json:"balance"`
}

func (s *Admin) getLedger(c *control, query ledgerQuery, _ none) (string, ledgerPage, error) {
	c.world.Lock()
	books, exchangeRates := c.world.Account.Ledger.Clone(), maps.Clone(c.world.Account.ExchangeRates)
	c.world.Unlock() // while a long history is read
	wallets, entries := books.Wallets(), books.Journal()
	if query.Wallet != "" {
		selected, known := books.Wallet(query.Wallet)
		if !known {
			var references []string
			for _, w := range wallets {
				references = append(references, w.Reference)
			}
			return "", ledgerPage{}, notFound("the world has no wallet %q%s", query.Wallet,
				spelling.Suggestion(query.Wallet, references))
		}
		wallets, entries = []ledger.Wallet{selected}, books.Entries(query.Wallet)
	}
	slices.Reverse(entries)
	entries = containing(entries, query.Contains, func(e ledger.Entry) []string {
		return []string{e.ID, e.Reference, e.Memo, string(e.Kind)}
	})
	page := ledgerPage{
		Wallets:       []wallet{},
		ExchangeRates: exchangeRates,
		Entries:       pageOf(c, query.paging, entries),
	}
	for _, w := range wallets {
		balance, _ := books.Balance(w.Reference)
		page.Wallets = append(page.Wallets, wallet{w, balance})
	}
	if err := c.world.Check(); err != nil {
		page.Problems = err.Error()
	}
	return spelling.Counted(len(entries), "entry in the ledger", "entries in the ledger"), page, nil
}

type ledgerChanges struct {
	Fund          []world.Deposit            `json:"fund,omitempty" doc:"Deposits into wallets."`
	ExchangeRates map[string]shipping.Amount `json:"exchange_rates,omitempty" doc:"Units of each currency per US dollar."`
}

func (s *Admin) changeLedger(c *control, query ledgerQuery, order ledgerChanges) (string, ledgerPage, error) {
	if len(order.Fund)+len(order.ExchangeRates) == 0 {
		return "", ledgerPage{},
			errors.New(`nothing is changed: send {"fund":[{"wallet":"VA-…","amount":100.50}]}, with a wallet that ` +
				`GET /_mock/ledger lists, or {"exchange_rates":{"NGN":1600}}`)
	}
	if err := c.world.ChangeMoney(order.Fund, order.ExchangeRates); err != nil {
		return "", ledgerPage{}, err
	}
	_, page, err := s.getLedger(c, query, none{})
	return "The ledger is changed", page, err
}
