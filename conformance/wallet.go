package conformance

import (
	"cmp"
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"strings"
)

// maxPages limits how many pages of transactions are read.
const maxPages = 100

// wallet is the state of a wallet by its transactions. It is missing unless all transactions are known, because nothing
// shows which rows a list leaves out.
type wallet struct {
	missing      missing
	id           string
	transactions map[string]map[string]any // by identifier
	refused      bool                      // the service does not list them
}

// walletOf returns the wallet that a draft names, or else the target's.
func (s *session) walletOf(d draft) string {
	id, _ := d.record["wallet"].(string)
	return cmp.Or(id, s.target.Wallet)
}

// readWallet reads all transactions of a wallet.
func (s *session) readWallet(id string, needs ...missing) wallet {
	w := wallet{id: id, missing: cmp.Or(cmp.Or(needs...), unless(id != "", NotRun, needsWallet)),
		transactions: map[string]map[string]any{}}
	for page, pages := int64(1), int64(1); page <= min(pages, maxPages) && w.missing == (missing{}); page++ {
		a := s.call("transactions.list", request{query: url.Values{"wallet": {id}, "page": {fmt.Sprint(page)}}})
		w.refused = a.status/100 == 4 && a.missing == (missing{})
		for _, t := range objects(a.data()["transactions"]) {
			w.transactions[jsonOf(t["transactionId"])] = t
		}
		pagination, _ := a.data()["pagination"].(map[string]any)
		total, counted := whole(pagination["total"])
		pages, _ = whole(pagination["pageCount"])
		w.missing = cmp.Or(a.missing,
			unless(isOf("array", a.data()["transactions"]) && counted, NotRun,
				"needs the transactions of the wallet and their number, which could not be read"),
			unless(page < min(pages, maxPages) || total <= int64(len(w.transactions)), NotRun,
				fmt.Sprintf("needs all transactions of the wallet: %d of %d were listed on up to %d pages", len(w.transactions),
					total, maxPages)))
	}
	return w
}

// charge is the money that a wallet paid between two reads, with problems, or the reason why nothing is known.
type charge struct {
	missing  missing
	problems []string
	after    wallet
	paid     *big.Rat // by the payment for the drafts; nil unless there is exactly one
	id       string   // the transaction of this payment, as JSON
	others   []string // amounts of payments that can be for something else
}

// charged compares a wallet with its state after requests about drafts. They must charge cost once, or nothing if cost
// is nil. A payment that is not within the cost, and does not concern one of the drafts, can be for something else.
func (w wallet) charged(after wallet, cost *cost, drafts ...draft) charge {
	var related []any
	var others []string
	exact, want, amount := 0, 0, ""
	c := charge{after: after}
	for id, t := range after.transactions {
		paid, ok := rational(t["amount"])
		if w.transactions[id] != nil || t["flow"] != "out" || ok && paid.Sign() == 0 {
			continue
		}
		isCost := ok && cost.includes(paid)
		if !isCost && !concerns(t, drafts) {
			others = append(others, jsonOf(t["amount"]))
			continue
		}
		if related = append(related, t["amount"]); isCost {
			exact++
		}
		c.paid, c.id = paid, id
	}
	if cost != nil && cost.most != nil && cost.most.Sign() > 0 {
		want, amount = 1, " of "+decimals(cost.least)
		if cost.least.Cmp(cost.most) < 0 {
			amount += " to " + decimals(cost.most)
		}
	}
	if len(related) != 1 {
		c.paid = nil
	}
	slices.Sort(others)
	shown := others
	for _, paid := range related {
		shown = append([]string{jsonOf(paid)}, shown...)
	}
	c.others, c.missing = others, w.missing
	c.problems = problem(len(related) != want || exact != want,
		"%d new transactions with flow out; want %d%s. New ones: %s",
		len(related), want, amount, strings.Join(shown, ", "))
	if len(related) <= want && exact == len(related) { // otherwise it paid too much in any case
		c.missing = cmp.Or(c.missing, after.missing)
	}
	if len(c.problems) == 0 {
		c.missing = cmp.Or(c.missing,
			unless(len(others) == 0, NotRun,
				fmt.Sprintf("the wallet also paid %s, perhaps for something else: run it again while nothing else pays from the "+
					"wallet", strings.Join(others, ", "))))
	}
	return c
}

// includes reports whether an amount is one that a purchase can charge.
func (c *cost) includes(paid *big.Rat) bool {
	return c != nil && c.most != nil && paid.Cmp(c.least) >= 0 && paid.Cmp(c.most) <= 0
}

// confirmed repeats requests, which must charge nothing, if a payment after them can be for something else. A payment
// that comes all three times is for them.
func (s *session) confirmed(c charge, again func(), drafts ...draft) charge {
	if len(c.problems) > 0 || len(c.others) == 0 {
		return c
	}
	paid := c.others
	for range 2 {
		again()
		next := c.after.charged(s.readWallet(c.after.id), nil, drafts...)
		paid = slices.DeleteFunc(slices.Clone(paid),
			func(amount string) bool { return !slices.Contains(next.others, amount) })
		c.after = next.after
		if next.after.missing != (missing{}) || len(paid) == 0 {
			return c
		}
	}
	c.missing, c.problems = missing{}, problem(true, "each of 3 attempts charged %s", strings.Join(paid, ", "))
	return c
}

// concerns reports whether a transaction names one of the drafts or its shipment, or has the price of a document that
// one of them offers.
func concerns(t map[string]any, drafts []draft) bool {
	text := jsonOf(t)
	paid, _ := rational(t["amount"])
	return slices.ContainsFunc(drafts, func(d draft) bool {
		return d.id != "" && strings.Contains(text, d.id) || d.shipment != "" && strings.Contains(text, d.shipment) ||
			slices.ContainsFunc(d.prices, func(price *big.Rat) bool { return paid != nil && price.Cmp(paid) == 0 })
	})
}
