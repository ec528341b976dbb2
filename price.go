package shipping

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Price adds up the stored amounts of documents of this draft. A document that the draft does not offer, a
// price that is missing, unreadable or ambiguous, and mixed currencies are errors. A price is ambiguous if
// the service shows it twice, or shows another amount or another currency beside it: nobody knows then
// which one a purchase charges.
func (r *RegulatoryRequest) Price(documents ...DocumentType) (Amount, string, error) {
	return r.price("", documents)
}

// price is Price with a currency for prices that have none.
func (r *RegulatoryRequest) price(assumed string, documents []DocumentType) (Amount, string, error) {
	var total Amount
	currency := ""
	for _, slug := range documents {
		document, offered := r.Offer(slug)
		priceCurrency := cmp.Or(document.Currency, r.Currency, assumed)
		switch {
		case !offered:
			return Amount{}, "", fmt.Errorf("the draft does not offer %s", slug)
		case !document.Amount.Known():
			return Amount{}, "", fmt.Errorf("%s has no price that could be read", slug)
		case r.ambiguity(document, priceCurrency) != "":
			return Amount{}, "", fmt.Errorf("the price of %s is ambiguous: %s", slug, r.ambiguity(document, priceCurrency))
		case document.Amount.Sign() < 0:
			return Amount{}, "", fmt.Errorf("%s has the negative price %s", slug, document.Amount)
		case priceCurrency == "":
			return Amount{}, "", fmt.Errorf("the price of %s has no currency; set Budget.AssumeCurrency to take it for the wallet's", slug)
		case currency != "" && priceCurrency != currency:
			return Amount{}, "", fmt.Errorf("%s is priced in %s, others in %s", slug, priceCurrency, currency)
		}
		var err error
		if total, err = total.Add(document.Amount); err != nil {
			return Amount{}, "", err
		}
		currency = priceCurrency
	}
	return total, currency, nil
}

// ambiguity returns what the service shows beside the price of a document and that contradicts it; "" if
// nothing does. It looks at the record as it was sent, because any member may hold money.
func (r *RegulatoryRequest) ambiguity(document AvailableDocument, currency string) string {
	if name, twice := r.Raw.repeated(); twice {
		return "the draft gives " + quoteShort(name) + " twice"
	}
	if own := r.Raw.Get("currency"); document.Currency == "" && !scalar(own) {
		return "the currency of the draft cannot be read"
	}
	var entries []RawJSON
	if r.Raw.Get("available_documents").Decode(&entries) != nil {
		return ""
	}
	document.Currency = currency
	for _, entry := range entries {
		var offered AvailableDocument // an odd member elsewhere does not hide the entry
		_ = json.Unmarshal(straighten[AvailableDocument]([]byte(entry)), &offered)
		if offered.DocumentType != document.DocumentType {
			continue
		}
		if found := otherMoney(entry, document, 0); found != "" {
			return found
		}
	}
	return ""
}

// otherMoney returns the first member of a JSON object that shows another amount than the document's, or
// another currency. It looks into nested objects and lists too.
func otherMoney(entry RawJSON, document AvailableDocument, depth int) string {
	if name, twice := entry.repeated(); twice {
		return quoteShort(name) + " is given twice"
	}
	members := entry.members()
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := members[name]
		if containsAny(name, "currency") && !scalar(value) {
			return name + " cannot be read"
		}
		if !scalar(value) {
			if found := otherMoneyIn(value, document, depth+1); found != "" {
				return name + "." + found
			}
			continue
		}
		amount, err := ParseAmount(value.Text())
		switch {
		case depth == 0 && (strings.EqualFold(name, "amount") || strings.EqualFold(name, "price") || strings.EqualFold(name, "currency")):
			// Read by its exact name; in other case it is an unknown member, which is not read.
		case containsAny(name, "currency"):
			if other := value.Text(); other != "" && document.Currency != "" && !strings.EqualFold(other, document.Currency) {
				return name + " is " + quoteShort(other)
			}
		case err == nil && containsAny(name, "amount", "price", "cost", "charge", "total", "fee", "tax", "vat"):
			if amount.Sign() != 0 && !amount.Equal(document.Amount) {
				return name + " is " + amount.String()
			}
		}
	}
	return ""
}

// otherMoneyIn is otherMoney for an object or the objects in a list.
func otherMoneyIn(value RawJSON, document AvailableDocument, depth int) string {
	if depth > 3 {
		return ""
	}
	for _, entry := range entriesOf(value) {
		if found := otherMoney(entry, document, depth); found != "" {
			return found
		}
	}
	return ""
}

func containsAny(name string, parts ...string) bool {
	lower := strings.ToLower(name)
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(lower, part) })
}
