package conformance

import (
	"fmt"
	"math/big"
	"net/url"
	"strings"
	"time"
)

// wallet is a wallet as its transactions show it: those of the first page and of the last two, because the
// specification does not name the order of the list.
type wallet struct {
	id           string
	unread       string // why the transactions are not known; empty if they are
	total        int64
	transactions map[string]map[string]any // by identifier
}

// walletOf returns the wallet that a draft names; without one, that of the target.
func (s *session) walletOf(draft map[string]any) string {
	if id, ok := draft["wallet"].(string); ok {
		return id
	}
	return s.target.Wallet
}

func (s *session) readWallet(id string) wallet {
	w := wallet{id: id, transactions: map[string]map[string]any{}}
	if id == "" {
		w.unread = needsWallet
		return w
	}
	query := url.Values{"wallet": {id}}
	first := s.get("/v1/transactions?" + query.Encode())
	readable := w.add(first)
	pagination, _ := first.data()["pagination"].(map[string]any)
	w.total, _ = whole(pagination["total"])
	last, _ := whole(pagination["pageCount"])
	for page := max(2, last-1); page <= last; page++ {
		query.Set("page", fmt.Sprint(page))
		readable = readable && w.add(s.get("/v1/transactions?"+query.Encode()))
	}
	switch {
	case s.limited:
		w.unread = limitedRate
	case !readable:
		w.unread = "needs the transactions of the wallet, which could not be read"
	}
	s.limited = false
	return w
}

// add adds the transactions of a page. It reports false if they cannot be read.
func (w wallet) add(a response) bool {
	elements, ok := a.data()["transactions"].([]any)
	for _, element := range elements {
		t, _ := element.(map[string]any)
		if id, ok := t["transactionId"].(string); ok {
			w.transactions[id] = t
		}
	}
	return ok
}

// latest returns when the newest of the transactions was created.
func (w wallet) latest() (newest time.Time) {
	for _, t := range w.transactions {
		if at := created(t); at.After(newest) {
			newest = at
		}
	}
	return newest
}

// created returns when a transaction was created; zero if that cannot be read.
func created(t map[string]any) time.Time {
	at, _ := instant(t["created_at"])
	return at
}

// debits returns what the wallet paid since before, and how many transactions were added that were not seen. A
// transaction that is older than one seen before was on a page that was not read.
func (w wallet) debits(before wallet) (debits []map[string]any, unseen int64) {
	newest, unseen := before.latest(), w.total-before.total
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

// spent compares a wallet before and after requests about drafts that charge price once; nothing if price is nil. It
// returns the problems, or why nothing is known. A payment that is neither the price of a document of the drafts nor names
// one of them can be for something else.
func spent(before, after wallet, price *big.Rat, drafts ...map[string]any) (problems []string, unknown string) {
	for _, w := range []wallet{before, after} {
		if w.unread != "" {
			return nil, w.unread
		}
	}
	debits, unseen := after.debits(before)
	related, others, exact := divide(debits, price, drafts)
	want, amount := 0, ""
	if price != nil && price.Sign() > 0 {
		want, amount = 1, " of "+price.FloatString(2)
	}
	problems = []string{fmt.Sprintf("%d new transactions with flow out; want %d%s. New ones: %s", len(related), want, amount, jsonOf(append(related, others...)))}
	switch {
	case len(related) > want || exact < len(related):
		return problems, ""
	case unseen > 0:
		return nil, fmt.Sprintf("the transactions became %d more, of which %d were not listed on the first page or the last two", after.total-before.total, unseen)
	case exact < want:
		return problems, ""
	case len(others) > 0:
		return nil, fmt.Sprintf("the wallet also paid %s, perhaps for something else: run it again while nothing else pays from the wallet", jsonOf(others))
	}
	return nil, ""
}

// divide returns the amounts of payments that are about the drafts, and of the others. exact is how many are of price. A payment
// of nothing is none.
func divide(debits []map[string]any, price *big.Rat, drafts []map[string]any) (related, others []any, exact int) {
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
func concerns(t map[string]any, drafts []map[string]any) bool {
	text := jsonOf(t)
	paid, _ := rational(t["amount"])
	for _, draft := range drafts {
		for _, name := range []string{"request_id", "shipment_id"} {
			if id, _ := draft[name].(string); id != "" && strings.Contains(text, id) {
				return true
			}
		}
		for _, document := range documents(draft) {
			if price := offered(document).price; price != nil && paid != nil && price.Cmp(paid) == 0 {
				return true
			}
		}
	}
	return false
}

// judgeSpent judges what a wallet spent since before; see [spent]. It returns the wallet as it is now, and whether the
// check passed.
func (s *session) judgeSpent(heading, check string, before wallet, price *big.Rat, drafts ...map[string]any) (after wallet, passed bool) {
	after = s.readWallet(before.id)
	problems, unknown := spent(before, after, price, drafts...)
	return after, s.judgeKnown(heading, check, problems, unknown)
}
