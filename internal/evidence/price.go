package evidence

import (
	"maps"
	"slices"
	"strings"
)

// Price is the price of a document that a draft offers.
type Price struct {
	// Currency is the currency of the price, and Own whether the offer has one and not only the draft.
	Currency string
	Own      bool
	// Differs reads an amount from a text, and reports whether it is neither zero nor the price.
	Differs func(text string) (amount string, differs bool)
}

// Ambiguity returns the first field of a draft that contradicts a price; "" if none does. It reads the whole
// record, because any member may hold money. offers reports whether an entry of the available
// documents is the one with the price.
func (p Price) Ambiguity(draft Value, offers func(entry Value) bool) string {
	if name, twice := draft.repeated(); twice {
		return "the draft gives " + quote(name) + " twice"
	}
	if !p.Own && !draft.get("currency").scalar() {
		return "the currency of the draft cannot be read"
	}
	available := draft.get("available_documents")
	if !available.is('[') {
		return ""
	}
	for _, entry := range available.entries() {
		if !offers(entry) {
			continue
		}
		if found := p.otherMoney(entry, 0); found != "" {
			return found
		}
	}
	return ""
}

// otherMoney returns the first member of an object that shows another amount, or another currency. It looks into
// nested objects and lists too.
func (p Price) otherMoney(entry Value, depth int) string {
	if name, twice := entry.repeated(); twice {
		return quote(name) + " is given twice"
	}
	members := entry.members()
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := members[name]
		isCurrency := containsAny(name, "currency")
		switch {
		case isCurrency && !value.scalar():
			return name + " cannot be read"
		case !value.scalar():
			if found := p.otherMoneyIn(value, depth+1); found != "" {
				return name + "." + found
			}
		case depth == 0 && (strings.EqualFold(name, "amount") || strings.EqualFold(name, "price") || strings.EqualFold(name, "currency")):
			// Read by its exact name; in other case it is an unknown member, which is not read.
		case isCurrency:
			if other := value.text(); other != "" && p.Currency != "" && !strings.EqualFold(other, p.Currency) {
				return name + " is " + quote(other)
			}
		case containsAny(name, "amount", "price", "cost", "charge", "total", "fee", "tax", "vat"):
			if amount, differs := p.Differs(value.text()); differs {
				return name + " is " + amount
			}
		}
	}
	return ""
}

// otherMoneyIn is otherMoney for an object or the objects in a list.
func (p Price) otherMoneyIn(value Value, depth int) string {
	if depth > 3 {
		return ""
	}
	for _, entry := range value.entries() {
		if found := p.otherMoney(entry, depth); found != "" {
			return found
		}
	}
	return ""
}

func containsAny(name string, parts ...string) bool {
	lower := strings.ToLower(name)
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(lower, part) })
}
