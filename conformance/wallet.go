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

// wallet is a wallet as its transactions show it. It is missing unless all of them are known: nothing shows which
// rows a list leaves out.
type wallet struct {
	missing      missing
	id           string
	transactions map[string]map[string]any // by identifier
	refused      bool                      // the service does not list them
}

// walletOf returns the wallet that a draft names; without one, that of the target.
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
	others   []string // amounts of payments that can be for something else
}

// charged compares a wallet with what it is after requests about drafts that charge price once; nothing if price is
// nil. A payment that is neither the price of a document of the drafts nor names one of them can be for something else.
func (w wallet) charged(after wallet, price *big.Rat, drafts ...draft) charge {
	var related []any
	var others []string
	exact, want, amount := 0, 0, ""
	for id, t := range after.transactions {
		paid, ok := rational(t["amount"])
		if w.transactions[id] != nil || t["flow"] != "out" || ok && paid.Sign() == 0 {
			continue
		}
		switch {
		case ok && price != nil && paid.Cmp(price) == 0:
			related = append(related, t["amount"])
			exact++
		case concerns(t, drafts):
			related = append(related, t["amount"])
		default:
			others = append(others, jsonOf(t["amount"]))
		}
	}
	if price != nil && price.Sign() > 0 {
		want, amount = 1, " of "+price.FloatString(2)
	}
	slices.Sort(others)
	shown := others
	for _, paid := range related {
		shown = append([]string{jsonOf(paid)}, shown...)
	}
	c := charge{after: after, others: others, missing: w.missing, problems: problem(len(related) != want || exact != want,
		"%d new transactions with flow out; want %d%s. New ones: %s", len(related), want, amount, strings.Join(shown, ", "))}
	if len(related) <= want && exact == len(related) { // else it paid too much, whatever else it paid
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

// confirmed makes requests that must charge nothing two more times if the wallet paid something after them that can be
// for something else. What it pays each time is for them.
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
	c.missing, c.problems = missing{}, problem(true, "the wallet paid %s each of 3 times", strings.Join(paid, ", "))
	return c
}

// concerns reports whether a transaction names one of the drafts or its shipment, or is of the amount of a document
// that one of them offers.
func concerns(t map[string]any, drafts []draft) bool {
	text := jsonOf(t)
	paid, _ := rational(t["amount"])
	return slices.ContainsFunc(drafts, func(d draft) bool {
		return d.id != "" && strings.Contains(text, d.id) || d.shipment != "" && strings.Contains(text, d.shipment) ||
			slices.ContainsFunc(d.offers, func(o offer) bool { return o.price != nil && paid != nil && o.price.Cmp(paid) == 0 })
	})
}
