package cost

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/decimal"
	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/spelling"
)

// SameCurrency reports whether two currency codes are the same. Spaces around a code and the case of its letters do
// not make another currency.
func SameCurrency(one, other string) bool {
	return strings.EqualFold(strings.TrimSpace(one), strings.TrimSpace(other))
}

// Foreign reports whether two currencies are known and not the same, so that amounts in them cannot be compared.
func Foreign(one, other string) bool { return one != "" && other != "" && !SameCurrency(one, other) }

// price is the price of an offer.
type price struct {
	amount
	path     []string // the names of the member
	currency string   // from the object around the price; "" if that is the offer
}

// priceOf reads the price of an offer: the member that the dialect names, or else "amount" or "price", which can be an
// object with an amount. If an offer has both, they must be equal.
func priceOf(offer jsonread.Value, d dialect.Offer) (found price, err error) {
	names, missing := []string{"amount", "price"}, "it shows neither amount nor price"
	named := d.Amount != "" && d.Amount != "-"
	if named {
		names = []string{d.Amount}
		missing = "the dialect names " + spelling.Quote(d.Amount) + " (offer.amount), which it does not show"
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
			return price{}, noPrice(offer, d, "has no price that could be read ("+name+" is "+sent(value)+")")
		}
		switch {
		case p.plain.Sign() < 0:
			return price{}, fmt.Errorf("has the negative price %s: select other documents", text(p.plain))
		case found.path == nil:
			found = p
		case found.most != p.most:
			return price{}, noPrice(offer, d, fmt.Sprintf("has two prices, %s and %s", text(found.plain), text(p.plain)))
		}
	}
	if found.path == nil {
		const most = 8
		if shown := numbersIn(offer, ""); len(shown) > 0 && !strings.HasSuffix(missing, "is an object") {
			missing += ", but " + strings.Join(shown[:min(len(shown), most)], ", ")
		}
		return price{}, noPrice(offer, d, "has no price that could be read ("+missing+")")
	}
	return found, nil
}

// numbersIn returns the members below a value that have digits, each with its path.
func numbersIn(v jsonread.Value, path string) (shown []string) {
	if v.Scalar() && strings.ContainsAny(v.Text, "0123456789") {
		text := v.Text
		if v.Kind == '"' || len(text) > longest {
			text = spelling.Quote(text)
		}
		return []string{path + " " + text}
	}
	for _, m := range v.Members {
		shown = append(shown, numbersIn(m.Value, joined(path, m.Name))...)
	}
	for _, element := range v.Elements {
		shown = append(shown, numbersIn(element, path)...)
	}
	return shown
}

// noPrice returns the error of an offer without a clear price, with each member that may be the price.
func noPrice(offer jsonread.Value, d dialect.Offer, problem string) error {
	c := counter{offer: d}
	c.all(offer, place{price: []string{""}})
	unclear := &Unclear{Problem: problem}
	numbers := slices.Concat(c.forms, c.others)
	slices.SortStableFunc(numbers, func(a, b number) int { return cmp.Compare(b.likeliness(), a.likeliness()) })
	for _, n := range numbers {
		unclear.Lines = append(unclear.Lines, dialect.Line{Field: "offer.amount", Value: n.path})
	}
	if len(unclear.Lines) == 0 {
		unclear.Problem += ": select other documents, or ask the service for its price"
	}
	return unclear
}

// likeliness is 1 if the last name of a number has only words for the price, and otherwise 0.
func (n number) likeliness() int {
	if areForms(spelling.Words(n.path[strings.LastIndex(n.path, ".")+1:])) {
		return 1
	}
	return 0
}

// currencyIn returns the text of a currency. If the dialect states that offers have no currency, only a code counts.
func currencyIn(value jsonread.Value, d dialect.Offer) string {
	if d.Currency == "-" && !IsCode(strings.TrimSpace(value.Text)) {
		return ""
	}
	return value.Text
}

// IsCode reports whether a text is a currency code: three letters.
func IsCode(text string) bool {
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
	return spelling.Quote(value.Text)
}

// text writes a number in full.
func text(n decimal.Number) string { return string(n.Append(nil, n.Scale)) }
