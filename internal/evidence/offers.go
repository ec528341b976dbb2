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

// Cost is the cost of a document, by its offer.
type Cost struct {
	Currency string
	Price    decimal.Number
	// Most is the most that a purchase can charge: the price, and every other number of the offer.
	Most decimal.Number
	// Beside are the numbers that Most counts in addition to the price, or in place of it, such as "tax 75".
	Beside []string
	// Lines each declare one of these numbers as not charged, the smallest first.
	Lines []dialect.Line
}

// Unclear is the error of an offer whose cost is not known. Lines are decisions of a dialect that may make it clear.
type Unclear struct {
	Problem string
	Lines   []dialect.Line
}

func (e *Unclear) Error() string { return e.Problem }

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

// With returns the same offers, as a client with another dialect reads them.
func (o *Offers) With(d *dialect.Dialect) *Offers {
	other := *o
	other.dialect = d
	return &other
}

// Cost returns the cost of a document. A price without a currency is in the assumed one. The error is the
// reason why the cost is not known, an [*Unclear] if the dialect can make it clear; the name of the document belongs in
// front of it.
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
	offer, d := entries[0], o.dialect.Offer
	price, err := priceOf(offer, d)
	if err != nil {
		return Cost{}, err
	}
	own := currencyIn(offer.Get("currency"), d)
	if d.Currency != "" && d.Currency != "-" {
		if own = offer.At(d.Currency).Text; own == "" {
			return Cost{}, fmt.Errorf("has a price without a currency: the dialect names %s (offer.currency), which it does "+
				"not show", d.Currency)
		}
		price.currency = own
	}
	if price.currency+own == "" && !o.currency.Scalar() {
		return Cost{}, errors.New("has no clear price (the currency of the draft cannot be read)")
	}
	code := price.code
	if !isCode(code) {
		code = "" // a symbol
	}
	c := counter{price: price, shown: offer, offer: d,
		currency: strings.TrimSpace(cmp.Or(price.currency, own, o.currency.Text, code, assumed))}
	switch {
	case c.currency == "":
		return Cost{}, &Unclear{"has a price without a currency: set offer.default_currency of the dialect to its code, or to \"wallet\" " +
			"for that of the budget",
			[]dialect.Line{{Field: "offer.default_currency", Value: "wallet"}}}
	case c.foreign(price.code):
		c.stop(strings.Join(price.path, "."), "is in "+price.code, "")
	}
	c.all(offer, place{price: price.path})
	return c.cost()
}
