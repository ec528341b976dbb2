package conformance

import (
	"cmp"
	"fmt"
	"math/big"
	"net/url"
	"strings"
	"time"
)

// wallet is a wallet as its transactions show it: those of the first page and of the last two, because the
// specification does not name the order of the list.
type wallet struct {
	missing      missing
	id           string
	total        int64
	transactions map[string]map[string]any // by identifier
}

// walletOf returns the wallet that a draft names; without one, that of the target.
func (s *session) walletOf(d draft) string {
	id, _ := d.record["wallet"].(string)
	return cmp.Or(id, s.target.Wallet)
}

// readWallet reads a wallet. It is missing if a page cannot be read, and if the list does not show its length: then
// nothing shows a transaction that it leaves out.
func (s *session) readWallet(id string, needs ...missing) wallet {
	w := wallet{id: id, missing: cmp.Or(cmp.Or(needs...), unless(id != "", needsWallet)), transactions: map[string]map[string]any{}}
	for page, last := int64(1), int64(1); page <= last; page++ {
		a := s.send(s.service.operation("transactions.list"), request{query: url.Values{"wallet": {id}, "page": {fmt.Sprint(page)}}}, w.missing)
		pagination, _ := a.data()["pagination"].(map[string]any)
		for _, t := range objects(a.data()["transactions"]) {
			if id, ok := t["transactionId"].(string); ok {
				w.transactions[id] = t
			}
		}
		if page == 1 {
			var counted bool
			if w.total, counted = whole(pagination["total"]); !counted {
				w.missing = cmp.Or(a.missing, missing{NotRun, "needs the number of transactions of the wallet, which could not be read"})
			}
			last, _ = whole(pagination["pageCount"])
			page = max(1, last-2)
		}
		w.missing = cmp.Or(a.missing, unless(isOf("array", a.data()["transactions"]), "needs the transactions of the wallet, which could not be read"), w.missing)
	}
	return w
}

// created returns when a transaction was created; zero if that cannot be read.
func created(t map[string]any) time.Time {
	at, _ := instant(t["created_at"])
	return at
}

// debits returns what the wallet paid since before, and how many transactions were added that were not seen. A
// transaction that is older than one seen before was on a page that was not read.
func (w wallet) debits(before wallet) (debits []map[string]any, unseen int64) {
	var newest time.Time
	for _, t := range before.transactions {
		if at := created(t); at.After(newest) {
			newest = at
		}
	}
	unseen = w.total - before.total
	for id, t := range w.transactions {
		at := created(t)
		if _, old := before.transactions[id]; old || !at.IsZero() && at.Before(newest) {
			continue
		}
		if unseen--; t["flow"] == "out" {
			debits = append(debits, t)
		}
	}
	return debits, unseen
}

// charge is what a wallet paid between two reads: problems, or why nothing is known.
type charge struct {
	missing  missing
	problems []string
	after    wallet
}

// charged compares a wallet with what it is after requests about drafts that charge price once; nothing if price is nil. A
// payment that is neither the price of a document of the drafts nor names one of them can be for something else.
func (w wallet) charged(after wallet, price *big.Rat, drafts ...draft) charge {
	c := charge{missing: cmp.Or(w.missing, after.missing), after: after}
	debits, unseen := after.debits(w)
	related, others, exact := divide(debits, price, drafts)
	want, amount := 0, ""
	if price != nil && price.Sign() > 0 {
		want, amount = 1, " of "+price.FloatString(2)
	}
	problems := []string{fmt.Sprintf("%d new transactions with flow out; want %d%s. New ones: %s", len(related), want, amount, jsonOf(append(related, others...)))}
	switch {
	case c.missing != missing{}:
	case len(related) > want || exact < len(related):
		c.problems = problems
	case unseen > 0:
		c.missing = missing{NotRun, fmt.Sprintf("the transactions became %d more, of which %d were not listed on the first page or the last two", after.total-w.total, unseen)}
	case exact < want:
		c.problems = problems
	case len(others) > 0:
		c.missing = missing{NotRun, fmt.Sprintf("the wallet also paid %s, perhaps for something else: run it again while nothing else pays from the wallet", jsonOf(others))}
	}
	return c
}

// divide returns the amounts of payments that are about the drafts, and of the others. exact is how many are of price. A payment
// of nothing is none.
func divide(debits []map[string]any, price *big.Rat, drafts []draft) (related, others []any, exact int) {
	for _, t := range debits {
		paid, ok := rational(t["amount"])
		if ok && paid.Sign() == 0 {
			continue
		}
		charged := ok && price != nil && paid.Cmp(price) == 0
		if charged {
			exact++
		}
		if charged || concerns(t, drafts) {
			related = append(related, t["amount"])
		} else {
			others = append(others, t["amount"])
		}
	}
	return related, others, exact
}

// concerns reports whether a transaction names one of the drafts or its shipment, or is of the amount of a document that
// one of them offers.
func concerns(t map[string]any, drafts []draft) bool {
	text := jsonOf(t)
	paid, _ := rational(t["amount"])
	for _, d := range drafts {
		for _, name := range []string{"request_id", "shipment_id"} {
			if id, _ := d.record[name].(string); id != "" && strings.Contains(text, id) {
				return true
			}
		}
		for _, document := range d.documents() {
			if price := offered(document).price; price != nil && paid != nil && price.Cmp(paid) == 0 {
				return true
			}
		}
	}
	return false
}
