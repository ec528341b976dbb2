package evidence

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/decimal"
	"github.com/shipping-go/shipping/internal/jsonread"
)

// SameCurrency reports whether two currency codes are the same. Spaces around a code and the case of its letters do
// not make another currency.
func SameCurrency(one, other string) bool {
	return strings.EqualFold(strings.TrimSpace(one), strings.TrimSpace(other))
}

// Cost is what a purchase of a document costs, by its offer.
type Cost struct {
	Currency string
	Price    decimal.Number
	// Most is the most that a purchase can charge: the price with all that may be charged on top, or a larger total.
	Most decimal.Number
	// Beside are the amounts that Most counts in addition to the price, such as "tax 75".
	Beside []string
}

// Offers are the available documents of a draft as they were sent.
type Offers struct {
	twice    string         // a name that the draft gives twice
	currency jsonread.Value // of the draft
	entries  map[string][]jsonread.Value
	dialect  *dialect.Dialect
}

// Offers returns the available documents by slug. It reads each of them once.
func (r *Record) Offers() *Offers {
	d := r.in()
	offers := &Offers{currency: r.draft.At(cmp.Or(d.Record.Currency, "currency")), entries: map[string][]jsonread.Value{},
		dialect: d}
	offers.twice, _ = r.draft.Repeated()
	if available := r.draft.Get("available_documents"); available.Kind == '[' {
		for _, entry := range available.Elements {
			found := slugs(entry, d.Offer.DocumentType)
			for i, slug := range found {
				if !slices.Contains(found[:i], slug) {
					offers.entries[slug] = append(offers.entries[slug], entry)
				}
			}
		}
	}
	return offers
}

// Cost returns what a purchase of a document costs. A price without a currency is in the assumed one. The error is the
// reason why the cost is not known; the name of the document belongs in front of it.
func (o *Offers) Cost(slug, assumed string) (Cost, error) {
	entries := o.entries[strings.TrimSpace(slug)]
	switch {
	case len(entries) == 0:
		return Cost{}, errors.New("is not offered by the draft: select from its AvailableDocuments")
	case len(entries) > 1:
		return Cost{}, errors.New("is offered more than once: select other documents")
	case o.twice != "":
		return Cost{}, fmt.Errorf("has no clear price (the draft gives %s twice)", quote(o.twice))
	}
	offer := entries[0]
	price, err := priceOf(offer, o.dialect.Offer)
	if err != nil {
		return Cost{}, err
	}
	own := currencyIn(offer.Get("currency"), o.dialect.Offer)
	if name := o.dialect.Offer.Currency; name != "" && name != "-" {
		if own = offer.At(name).Text; own == "" {
			return Cost{}, fmt.Errorf("has a price without a currency: the dialect names %s (offer.currency), which it does "+
				"not show", name)
		}
		price.currency = own
	}
	if price.currency+own == "" && !o.currency.Scalar() {
		return Cost{}, errors.New("has no clear price (the currency of the draft cannot be read)")
	}
	c := counter{price: price, offer: o.dialect.Offer,
		currency: strings.TrimSpace(cmp.Or(price.currency, own, o.currency.Text, price.code, assumed))}
	switch {
	case c.currency == "":
		return Cost{}, errors.New("has a price without a currency: set offer.default_currency of the dialect to its code, " +
			"or to \"wallet\" for that of the budget")
	case c.foreign(price.code):
		c.stop(strings.Join(price.path, "."), "is in "+price.code)
	}
	c.object(offer, place{price: price.path})
	return c.cost()
}

// price is the price of an offer.
type price struct {
	amount
	path     []string // the names of the member
	currency string   // shown in the object that holds the price; "" if the offer itself does
}

// priceOf reads the price of an offer: the member that the dialect names, or else its amount or price, or the amount in
// an object of this name. If an offer has both, they have to be equal.
func priceOf(offer jsonread.Value, d dialect.Offer) (found price, err error) {
	names, missing := []string{"amount", "price"}, "it shows neither amount nor price"
	cure := "measure it with mockserver conform -write -most, or set offer.amount of the dialect"
	named := d.Amount != "" && d.Amount != "-"
	if named {
		names, missing = []string{d.Amount}, "the dialect names "+d.Amount+" (offer.amount), which it does not show"
		cure = "select other documents"
		if i := slices.IndexFunc(offer.Members, isPriceName); i >= 0 && offer.At(d.Amount).Kind == 0 {
			cure = "correct offer.amount of the dialect, because the offer shows " + quote(offer.Members[i].Name)
		}
	}
	for _, name := range names {
		value, p := offer.At(name), price{path: strings.Split(name, ".")}
		if value.Kind == '{' && !named {
			inner := firstOf(value, "amount", "price", "value")
			p.path, p.currency = append(p.path, inner.Name),
				currencyIn(firstOf(value, "currency", "currency_code").Value, d)
			if value = inner.Value; value.Kind == 0 {
				missing = name + " is an object"
			}
		}
		if value.Scalar() && value.Text == "" {
			continue
		}
		if p.amount, err = readAmount(value); err != nil {
			return price{}, fmt.Errorf("has no price that could be read (%s is %s): select other documents", name, sent(value))
		}
		switch {
		case p.plain.Sign() < 0:
			return price{}, fmt.Errorf("has the negative price %s: select other documents", text(p.plain))
		case found.path == nil:
			found = p
		case found.most != p.most:
			return price{}, fmt.Errorf("has two prices, %s and %s: select other documents", text(found.plain), text(p.plain))
		}
	}
	if found.path == nil {
		return price{}, fmt.Errorf("has no price that could be read (%s): %s", missing, cure)
	}
	return found, nil
}

// isPriceName reports whether a member can be a price by its name.
func isPriceName(m jsonread.Member) bool {
	n := nameOf(m.Name)
	return n.meaning&(money|onTop) == money && n.ending == 0
}

// currencyIn returns the text of a currency. If the dialect states that offers show none, only that of a code counts.
func currencyIn(value jsonread.Value, d dialect.Offer) string {
	if d.Currency == "-" && !isCode(strings.TrimSpace(value.Text)) {
		return ""
	}
	return value.Text
}

// isCode reports whether a text is a currency code: three letters.
func isCode(text string) bool {
	notLetter := func(r rune) bool { return r|0x20 < 'a' || r|0x20 > 'z' }
	return len(text) == 3 && !strings.ContainsFunc(text, notLetter)
}

// firstOf returns the first of several members that an object has.
func firstOf(object jsonread.Value, names ...string) jsonread.Member {
	for _, name := range names {
		if value := object.Get(name); value.Kind != 0 {
			return jsonread.Member{Name: name, Value: value}
		}
	}
	return jsonread.Member{}
}

// sent describes a value that is not an amount.
func sent(value jsonread.Value) string {
	switch value.Kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	}
	return quote(value.Text)
}

// text writes a number in full.
func text(n decimal.Number) string { return string(n.Append(nil, n.Scale)) }
