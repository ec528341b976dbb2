// Package cost decides what a purchase of a document can cost, by its offer: the price, and all other numbers that the
// offer shows, each at the most that it can mean. docs/internals/COST.md has the rule and its exceptions.
package cost

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/decimal"
	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/spelling"
)

// Cost is the cost of a document, by its offer.
type Cost struct {
	Currency string
	Price    decimal.Number
	// Most is the most that a purchase can charge: the price, and all other numbers of the offer.
	Most decimal.Number
	// Beside are the numbers that Most counts in addition to the price, or in its place, such as "tax 75".
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
	draft    jsonread.Value
	inDraft  jsonread.Value // the currency of the draft
	twice    string         // a name that the draft gives twice
	entries  map[string][]jsonread.Value
	dialect  *dialect.Dialect
	currency string // of the budget; "" if there is none
}

// Read reads the available documents of a draft, each once. The dialect may be nil. currency is the budget's, or "".
func Read(draft jsonread.Value, d *dialect.Dialect, currency string) *Offers {
	if d == nil {
		d = new(dialect.Dialect)
	}
	offers := &Offers{draft: draft, inDraft: draft.At(d.Resolved().Record.Currency),
		entries: map[string][]jsonread.Value{}, dialect: d, currency: currency}
	offers.twice, _ = draft.Repeated()
	if available := draft.Get("available_documents"); available.Kind == '[' {
		for _, entry := range available.Elements {
			found := Slugs(entry, d.Offer.DocumentType)
			for i, slug := range found {
				if !slices.Contains(found[:i], slug) {
					offers.entries[slug] = append(offers.entries[slug], entry)
				}
			}
		}
	}
	return offers
}

// None reports whether no offer shows a slug that could be read.
func (o *Offers) None() bool { return len(o.entries) == 0 }

// Slugs returns every text of a document that may be its slug. If the dialect names the member, only that one counts.
func Slugs(entry jsonread.Value, name string) (found []string) {
	names := []string{"document_type", "slug", "type"}
	if name != "" {
		names = []string{name}
	}
	for i := range len(names) + 1 {
		value := entry
		if i > 0 {
			value = entry.At(names[i-1])
		}
		if text := strings.TrimSpace(value.Text); value.Kind == '"' && text != "" {
			found = append(found, text)
		}
	}
	return found
}

// Cost returns the cost of a document. The error is the reason why the cost is not known, and an [*Unclear] if the
// dialect can make it clear. The caller puts the name of the document in front.
func (o *Offers) Cost(slug string) (Cost, error) {
	entries := o.entries[strings.TrimSpace(slug)]
	switch {
	case len(entries) == 0:
		return Cost{}, errors.New("is not offered by the draft: select from its AvailableDocuments")
	case len(entries) > 1:
		return Cost{}, errors.New("is offered more than once: select other documents")
	case o.twice != "":
		return Cost{}, fmt.Errorf("has no clear price: ask the service about the duplicate %s", spelling.Quote(o.twice))
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
				"not show", spelling.Quote(d.Currency))
		}
		price.currency = own
	}
	if price.currency+own == "" && !o.inDraft.Scalar() {
		return Cost{}, errors.New("has no clear price (the currency of the draft cannot be read)")
	}
	code := price.code
	if !IsCode(code) {
		code = "" // a symbol
	}
	assumed := d.DefaultCurrency
	if assumed == "wallet" {
		assumed = o.currency
	}
	c := counter{price: price, shown: offer, offer: d,
		currency: strings.TrimSpace(cmp.Or(price.currency, own, o.inDraft.Text, code, assumed))}
	if hasThreeDecimals(c.currency) {
		path := strings.Join(price.path, ".")
		n := price.inThousandths(offer.At(path))
		if c.price.plain = n.plain; path == d.Amount {
			c.price.most = n.most
		}
	}
	switch {
	case c.currency == "":
		return Cost{}, o.noCurrency(&c)
	case c.foreign(price.code):
		c.stop(strings.Join(price.path, "."), "is in "+price.code, "")
	}
	c.all(offer, place{price: price.path})
	return c.cost()
}

// NoCurrency is the ISO 4217 code for no currency. In a line, the user replaces it by a code. No budget has it.
const NoCurrency = "XXX"

// noCurrency returns the error of a price without a currency. If the offer or the draft shows a code, the price may be
// in it.
func (o *Offers) noCurrency(c *counter) error {
	unclear := &Unclear{Problem: "has a price without a currency", Lines: c.codes("offer.currency", c.shown, place{})}
	for _, m := range o.draft.Members {
		if m.Name != "available_documents" && m.Name != "line_items" { // their values can be in any currency
			unclear.Lines = append(unclear.Lines, c.codes("record.currency", m.Value, place{}.inside(m.Name))...)
		}
	}
	if len(unclear.Lines) > 0 {
		unclear.Problem += " (perhaps that of " + unclear.Lines[0].Value + ")"
	}
	unclear.Lines = append(unclear.Lines, dialect.Line{Field: "offer.default_currency", Value: NoCurrency})
	return unclear
}
