package evidence

import (
	"slices"
	"strings"
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
	// Differs reads an amount from a text, and reports whether it is neither zero nor the price.
	Differs func(text string) (amount string, differs bool)
}

// Offers are the available documents of a draft as they were sent.
type Offers struct {
	twice    string // a name that the draft gives twice
	currency bool   // the currency of the draft can be read
	entries  map[string][]node
}

// Offers returns the available documents by slug. It reads each of them once.
func (r *Record) Offers() *Offers {
	offers := &Offers{currency: r.draft.get("currency").scalar(), entries: map[string][]node{}}
	offers.twice, _ = r.draft.repeated()
	if available := r.draft.get("available_documents"); available.kind == '[' {
		for _, entry := range available.entries {
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
	for _, entry := range o.entries[strings.TrimSpace(p.Slug)] {
		if found := p.otherMoney(entry, 0); found != "" {
			return found
		}
	}
	return ""
}

// otherMoney returns the first member of an object that shows another amount, or another currency. It looks into
// nested objects and lists too.
func (p Price) otherMoney(entry node, depth int) string {
	if name, twice := entry.repeated(); twice {
		return quote(name) + " is given twice"
	}
	members := slices.SortedFunc(slices.Values(entry.members), func(a, b member) int { return strings.Compare(a.name, b.name) })
	for _, m := range members {
		value := m.value
		isCurrency := containsAny(m.name, "currency")
		switch {
		case isCurrency && !value.scalar():
			return m.name + " cannot be read"
		case !value.scalar():
			if found := p.otherMoneyIn(value, depth+1); found != "" {
				return m.name + "." + found
			}
		case depth == 0 && (strings.EqualFold(m.name, "amount") || strings.EqualFold(m.name, "price") || strings.EqualFold(m.name, "currency")):
			// Read by its exact name; in other case it is an unknown member, which is not read.
		case isCurrency:
			if value.text != "" && p.Currency != "" && !SameCurrency(value.text, p.Currency) {
				return m.name + " is " + quote(value.text)
			}
		case containsAny(m.name, "amount", "price", "cost", "charge", "total", "fee", "tax", "vat"):
			if amount, differs := p.Differs(value.text); differs {
				return m.name + " is " + amount
			}
		}
	}
	return ""
}

// otherMoneyIn is otherMoney for an object or the objects in a list.
func (p Price) otherMoneyIn(value node, depth int) string {
	if depth > 3 {
		return ""
	}
	for _, entry := range value.items() {
		if found := p.otherMoney(entry, depth); found != "" {
			return found
		}
	}
	return ""
}

func containsAny(name string, parts ...string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}
