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
		if found := p.otherMoney(entry, true); found != "" {
			return found
		}
	}
	return ""
}

// otherMoney returns the first member of an object that shows another amount, or another currency. It looks into
// nested objects and lists too.
func (p Price) otherMoney(entry node, outermost bool) string {
	if name, twice := entry.repeated(); twice {
		return quote(name) + " is given twice"
	}
	members := slices.SortedFunc(slices.Values(entry.members), func(a, b member) int { return strings.Compare(a.name, b.name) })
	for _, m := range members {
		isCurrency := containsAny(m.name, "currency")
		switch {
		case isCurrency && !m.value.scalar():
			return m.name + " cannot be read"
		case !m.value.scalar():
			if found := p.otherMoneyIn(m); found != "" {
				return found
			}
		case outermost && (strings.EqualFold(m.name, "amount") || strings.EqualFold(m.name, "price") || strings.EqualFold(m.name, "currency")):
			// Read by its exact name; in other case it is an unknown member, which is not read.
		case isCurrency:
			if m.value.text != "" && p.Currency != "" && !SameCurrency(m.value.text, p.Currency) {
				return m.name + " is " + quote(m.value.text)
			}
		default:
			if found := p.otherAmount(m.name, m.value); found != "" {
				return found
			}
		}
	}
	return ""
}

// otherMoneyIn is otherMoney for a member that is an object or a list.
func (p Price) otherMoneyIn(m member) string {
	for _, entry := range m.value.items() {
		found := p.otherMoney(entry, false)
		if found != "" {
			return m.name + "." + found
		}
		if found = p.otherAmount(m.name, entry); found != "" {
			return found
		}
	}
	return ""
}

// otherAmount returns that a value under the name of an amount is another one.
func (p Price) otherAmount(name string, value node) string {
	if !value.scalar() || !containsAny(name, "amount", "price", "cost", "charge", "total", "fee", "tax", "vat") {
		return ""
	}
	amount, differs := p.Differs(value.text)
	if !differs {
		return ""
	}
	return name + " is " + amount
}

func containsAny(name string, parts ...string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}
