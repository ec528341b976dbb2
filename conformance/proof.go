package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/internal/decimal"
	"github.com/shipping-go/shipping/internal/evidence"
)

// proof is the evidence of a purchase: what the wallet paid shows which member of the offer is the price.
type proof struct {
	missing          missing
	offer            offer
	draft            draft
	confirmed, final map[string]any
	before           wallet
	after            wallet // when the request had ended
	ended            bool
	debit            map[string]any // the only transaction; nil if nothing is proven
}

// proven are the fields that a proof decides.
var proven = []string{"offer.amount", "offer.currency", "offer.default_currency", "offer.beside", "record.documents",
	"record.charged_amount", "record.transaction_id", "record.currency", "document.document_type", "purchase.quoted"}

// since returns the transactions of a wallet that an earlier reading does not have.
func (w wallet) since(before wallet) (rows []map[string]any) {
	for id, t := range w.transactions {
		if before.transactions[id] == nil {
			rows = append(rows, t)
		}
	}
	return rows
}

// paid returns the amount of the only transaction since an earlier reading, if it is a number of the offer.
func (p *proof) paid(w wallet) (debit map[string]any, paid decimal.Number, problem string) {
	rows := w.since(p.before)
	if len(rows) != 1 {
		return nil, paid, fmt.Sprintf("the wallet has %d new transactions, and 1 is needed: run it again while nothing "+
			"else pays", len(rows))
	}
	debit = rows[0]
	for _, fee := range []string{"fee", "platform_fee"} {
		if n, isNumber := rational(debit[fee]); debit[fee] != nil && (!isNumber || n.Sign() != 0) {
			return nil, paid, fmt.Sprintf("the transaction has the %s %s: nothing shows which part is the price", fee,
				jsonOf(debit[fee]))
		}
	}
	if !p.links(debit) {
		return nil, paid, fmt.Sprintf("nothing shows that the new transaction %s is of this purchase: it names neither "+
			"the request nor its shipment, and the request does not name it", jsonOf(debit["transactionId"]))
	}
	amount, _ := debit["amount"].(json.Number)
	paid, err := decimal.Parse(string(amount))
	if err != nil || debit["flow"] != "out" {
		return nil, paid, "the new transaction is not a payment of an amount that can be read"
	}
	var shown []string
	for _, v := range p.offer.shown {
		if v.Number && v.Path != "" && (v.Plain == paid || v.Most == paid) {
			return debit, paid, ""
		}
		if v.Number {
			shown = append(shown, v.Path+" "+v.Text)
		}
	}
	return nil, paid, fmt.Sprintf("the wallet paid %s: no member of the offer is that; it shows %s", amount,
		strings.Join(shown, ", "))
}

// links reports whether a transaction names the request or its shipment, or the request names the transaction: a debit
// of the same amount can be for something else, while that of the purchase is late.
func (p *proof) links(debit map[string]any) bool {
	id, _ := debit["transactionId"].(string)
	text := jsonOf(debit)
	return strings.Contains(text, p.draft.id) || p.draft.shipment != "" && strings.Contains(text, p.draft.shipment) ||
		id != "" && strings.Contains(jsonOf(p.final)+jsonOf(p.confirmed), jsonOf(id))
}

// prove decides the fields that a purchase and its debit show. It reads the wallet once more, because a charge may come
// late.
func (s *session) prove() {
	p := &s.proof
	last := s.readWallet(p.before.id, p.missing)
	debit, paid, problem := p.paid(p.after)
	again, _, late := p.paid(last)
	p.missing = cmp.Or(p.missing, p.before.missing, p.after.missing, last.missing,
		unless(p.ended, Unseen, "needs a purchase that has ended"), unless(problem == "", Unseen, problem),
		unless(late == "", Unseen, late), unless(jsonOf(debit["transactionId"]) == jsonOf(again["transactionId"]), Unseen,
			"the transactions of the wallet changed"))
	if p.missing != (missing{}) {
		s.undecided(p.missing, proven...)
		return
	}
	p.debit = debit
	code, _ := debit["currency"].(string)
	how := fmt.Sprintf("the wallet paid %s %s for %s", jsonOf(debit["amount"]), code, p.offer.slug)
	s.proveOffer(paid, code, how)
	s.proveRecord(paid, code, how)
}

// proveOffer decides the members of the offer.
func (s *session) proveOffer(paid decimal.Number, code, how string) {
	var equal, beside, currencies []string
	for _, v := range s.proof.offer.shown {
		isName := v.Path != "" && strings.Count(v.Path, ".") < 2
		switch {
		case !isName:
		case v.Number && (v.Plain == paid || v.Most == paid):
			equal = append(equal, v.Path)
		case v.Money && v.Number, v.Currency && !evidence.SameCurrency(v.Text, code):
			beside = append(beside, v.Path)
		case !v.Number && code != "" && evidence.SameCurrency(v.Text, code):
			currencies = append(currencies, v.Path)
		}
	}
	if amount := preferred(equal, "amount", "price"); amount != "" {
		s.decide("offer.amount", amount, how)
	}
	s.decide("offer.beside", strings.Join(beside, ","), how)
	if currency := preferred(currencies, "currency"); currency != "" {
		s.decide("offer.currency", currency, how)
	}
}

// proveRecord decides the members of the purchased request.
func (s *session) proveRecord(paid decimal.Number, code, how string) {
	p := &s.proof
	texts := func(is func(text string) bool, usual string) string {
		return preferred(named(p.final, func(_ string, v any) bool {
			text, isText := v.(string)
			return isText && text != "" && is(text)
		}), usual)
	}
	transaction := texts(func(text string) bool { return text == p.debit["transactionId"] }, "transaction_id")
	currency := texts(func(text string) bool { return code != "" && evidence.SameCurrency(text, code) }, "currency")
	charged := preferred(named(p.final, func(_ string, v any) bool {
		shown := evidence.ShownIn(jsonOf(map[string]any{"amount": v}))
		return len(shown) == 1 && shown[0].Path == "amount" && shown[0].Number &&
			(shown[0].Plain == paid || shown[0].Most == paid)
	}), "charged_amount")
	list, slugAt := s.purchasedList()
	for field, value := range map[string]string{
		"record.transaction_id": transaction, "record.currency": currency, "record.charged_amount": charged,
		"record.documents": list, "document.document_type": slugAt,
	} {
		if value != "" {
			s.decide(field, value, how)
		}
	}
	if currency == "" && s.measured["offer.currency"].value == "" && code != "" {
		s.decide("offer.default_currency", code, how)
	}
	quoted := ""
	if charged != "" && len(named(p.draft.record, func(name string, v any) bool {
		n, isNumber := rational(v)
		return isNumber && n.Sign() > 0 && (charged == name || strings.HasSuffix(charged, "."+name))
	})) > 0 {
		quoted = "true"
	}
	s.decide("purchase.quoted", quoted, how)
}

// purchasedList returns the list that the draft lacked and that holds exactly the purchased document, and the member of
// its object with the type.
func (s *session) purchasedList() (list, slugAt string) {
	var lists []string
	for name, v := range s.proof.final {
		elements, _ := v.([]any)
		if len(elements) != 1 || name == "available_documents" || jsonOf(s.proof.draft.record[name]) == jsonOf(v) {
			continue
		}
		object, _ := elements[0].(map[string]any)
		at := named(object, func(_ string, v any) bool { return v == any(s.proof.offer.slug) })
		if elements[0] == any(s.proof.offer.slug) || len(at) > 0 {
			lists = append(lists, name)
			slugAt = preferred(at, "document_type")
		}
	}
	if slices.Sort(lists); len(lists) != 1 {
		return "", ""
	}
	return lists[0], slugAt
}

// measurePurchase measures the confirmation of a purchase and the states after it.
func (s *session) measurePurchase(first response, states []string) {
	how := "as in " + first.to
	s.decide("purchase.status", fmt.Sprint(first.status), how)
	if data := first.data(); len(data) > 0 {
		s.decide("purchase.confirmation", "receipt", how)
	} else if data != nil {
		s.decide("purchase.confirmation", "empty", how)
	}
	for _, state := range states {
		if state != "" && stages[state] == 0 {
			s.unlisted[state] = "generating"
		}
	}
}
