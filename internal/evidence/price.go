package evidence

import (
	"errors"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/internal/decimal"
	"github.com/shipping-go/shipping/internal/jsonread"
)

// SameCurrency reports whether two currency codes are the same. Spaces around a code and the case of its letters do
// not make another currency.
func SameCurrency(one, other string) bool {
	return strings.EqualFold(strings.TrimSpace(one), strings.TrimSpace(other))
}

// Price is the price of a document that a draft offers.
type Price struct {
	Slug string
	// Currency is the currency of the price, and Own whether the offer has one and not only the draft.
	Currency string
	Own      bool
	Amount   decimal.Number
}

// Offers are the available documents of a draft as they were sent.
type Offers struct {
	twice    string // a name that the draft gives twice
	currency bool   // the currency of the draft can be read
	entries  map[string][]jsonread.Value
}

// Offers returns the available documents by slug. It reads each of them once.
func (r *Record) Offers() *Offers {
	offers := &Offers{currency: r.draft.Get("currency").Scalar(), entries: map[string][]jsonread.Value{}}
	offers.twice, _ = r.draft.Repeated()
	if available := r.draft.Get("available_documents"); available.Kind == '[' {
		for _, entry := range available.Elements {
			for _, slug := range slugs(entry) {
				offers.entries[slug] = append(offers.entries[slug], entry)
			}
		}
	}
	return offers
}

// Ambiguity returns the first member that contradicts a price; "" if none does. It reads the whole offer,
// because any member may hold money.
func (o *Offers) Ambiguity(p Price) string {
	if o.twice != "" {
		return "the draft gives " + quote(o.twice) + " twice"
	}
	if !p.Own && !o.currency {
		return "the currency of the draft cannot be read"
	}
	entries := o.entries[strings.TrimSpace(p.Slug)]
	for _, entry := range entries {
		// Of several offers that name the document, only one was read.
		if found := p.otherMoney(entry, len(entries) == 1); found != "" {
			return found
		}
	}
	return ""
}

// otherMoney returns the first member of an object that shows another amount, or another currency. It looks into
// nested objects and lists too. If read is set, the object is the offer that the price was read from.
func (p Price) otherMoney(entry jsonread.Value, read bool) string {
	if name, twice := entry.Repeated(); twice {
		return quote(name) + " is given twice"
	}
	members := slices.SortedFunc(slices.Values(entry.Members), func(a, b jsonread.Member) int { return strings.Compare(a.Name, b.Name) })
	for _, m := range members {
		isCurrency := containsAny(m.Name, "currency")
		switch {
		case isCurrency && !m.Value.Scalar():
			return m.Name + " cannot be read"
		case !m.Value.Scalar():
			if found := p.otherMoneyIn(m); found != "" {
				return found
			}
		case read && (strings.EqualFold(m.Name, "amount") || strings.EqualFold(m.Name, "price") || strings.EqualFold(m.Name, "currency")):
			// Read by its exact name; in other case it is an unknown member, which is not read.
		case isCurrency:
			if m.Value.Text != "" && p.Currency != "" && !SameCurrency(m.Value.Text, p.Currency) {
				return m.Name + " is " + quote(m.Value.Text)
			}
		default:
			if found := p.otherAmount(m.Name, m.Value); found != "" {
				return found
			}
		}
	}
	return ""
}

// otherMoneyIn is otherMoney for a member that is an object or a list.
func (p Price) otherMoneyIn(m jsonread.Member) string {
	for _, entry := range m.Value.Items() {
		found := p.otherMoney(entry, false)
		if found != "" {
			return m.Name + "." + found
		}
		if found = p.otherAmount(m.Name, entry); found != "" {
			return found
		}
	}
	return ""
}

// otherAmount returns that a value under the name of an amount is another one.
func (p Price) otherAmount(name string, value jsonread.Value) string {
	if !value.Scalar() || !containsAny(name, "amount", "price", "cost", "charge", "total", "fee", "tax", "vat") {
		return ""
	}
	amount, err := decimal.Parse(value.Text)
	switch {
	case errors.Is(err, decimal.ErrRange):
		return name + " is too large for an Amount"
	case err == nil && amount.Sign() != 0 && amount != p.Amount:
		return name + " is " + string(amount.Append(nil, amount.Scale))
	}
	return ""
}

func containsAny(name string, parts ...string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}
