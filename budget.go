package shipping

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/internal/evidence"
)

// SelectAll selects every document that the draft offers, including manual ones. A request with a manual document
// stays in processing until a third party has submitted evidence.
func SelectAll(draft *RegulatoryRequest) ([]DocumentType, error) {
	return selectDocuments(draft, func(AvailableDocument) bool { return true }), nil
}

// SelectAutomated selects the documents that the service generates on its own: those whose Mode is
// "automated" (assumption). It returns an error if no document on offer shows a Mode.
func SelectAutomated(draft *RegulatoryRequest) ([]DocumentType, error) {
	if draft == nil {
		return nil, nil
	}
	hasMode := func(offer AvailableDocument) bool { return offer.Mode != "" }
	if len(draft.AvailableDocuments) > 0 && !slices.ContainsFunc(draft.AvailableDocuments, hasMode) {
		return nil, errors.New("shipping: the draft does not show which documents are automated: use SelectOnly, SelectAll or your own function")
	}
	return selectDocuments(draft, func(offer AvailableDocument) bool { return offer.Mode == "automated" }), nil
}

// SelectOnly returns a function that selects the documents of these types. Types that the draft does not offer
// are left out: if it offers none of them, nothing is purchased and the draft is returned. A type that neither the
// specification lists nor the draft offers is a [*ValidationError].
func SelectOnly(types ...DocumentType) func(draft *RegulatoryRequest) ([]DocumentType, error) {
	return func(draft *RegulatoryRequest) ([]DocumentType, error) {
		selected := selectDocuments(draft, func(offer AvailableDocument) bool { return slices.Contains(types, offer.DocumentType) })
		for _, slug := range types {
			if !slug.Known() && !slices.Contains(selected, slug) {
				return nil, invalidOption("SelectOnly", fmt.Sprintf("names %q, which the specification does not list (see DocumentTypes())%s", slug, slug.didYouMean()))
			}
		}
		return selected, nil
	}
}

func selectDocuments(draft *RegulatoryRequest, wanted func(AvailableDocument) bool) (selected []DocumentType) {
	if draft == nil {
		return nil
	}
	for _, offer := range draft.AvailableDocuments {
		if wanted(offer) {
			selected = append(selected, offer.DocumentType)
		}
	}
	return selected
}

// Budget is the most that may be spent, in one currency.
type Budget struct {
	Amount   Amount
	Currency string
	// AssumeCurrency accepts prices without a currency as prices in Currency. Without it they stop the
	// purchase.
	//
	// Assumption: such prices are in the wallet's currency ("amounts are converted into the user's wallet
	// currency at analyze time"), and Currency is the wallet's.
	AssumeCurrency bool
}

// ParseBudget reads a budget as [Budget.String] writes it, such as "150.00 NGN". The error is [ErrAmountUnreadable],
// [ErrAmountOverflow], or a [*ValidationError].
func ParseBudget(text string) (*Budget, error) {
	number, currency, found := strings.Cut(strings.TrimSpace(text), " ")
	currency = strings.TrimSpace(currency)
	amount, err := ParseAmount(number)
	switch {
	case errors.Is(err, ErrAmountUnreadable):
		return nil, fmt.Errorf("%w: %s: write the number first, then the currency, such as \"150.00 NGN\"", ErrAmountUnreadable, quoteShort(text))
	case err != nil:
		return nil, err
	case !found || len(currency) != 3:
		return nil, invalidOption("ParseBudget", "needs an amount and a currency of three letters, such as \"150.00 NGN\", and got "+quoteShort(text))
	case amount.Sign() < 0:
		return nil, invalidOption("ParseBudget", "needs an amount of 0 or more, and got "+quoteShort(text))
	}
	return &Budget{Amount: amount, Currency: currency}, nil
}

// validate returns a [*ValidationError] if no price can be compared with the budget. A nil budget is valid.
func (b *Budget) validate() error {
	switch {
	case b == nil:
	case !b.Amount.Known() || b.Currency == "":
		return invalidOption("Budget", "needs an amount and a currency, such as those that ParseBudget(\"150.00 NGN\") returns")
	case b.Amount.Sign() < 0:
		return invalidOption("Budget", "has the negative amount "+inFull(b.Amount)+": set an amount of 0 or more")
	}
	return nil
}

// String writes the budget as "150.00 NGN", with more decimals if the amount has more.
func (b Budget) String() string { return inFull(b.Amount) + " " + b.Currency }

// inFull writes an amount with two decimals, and never rounds: an error that explains why money is not spent
// must not hide the difference.
func inFull(a Amount) string {
	if a == a.Round(2) {
		return a.StringFixed(2)
	}
	return a.String()
}

// ErrOverBudget is returned for a purchase that was stopped by its budget; see [BudgetError].
var ErrOverBudget = errors.New("shipping: over budget")

// BudgetError reports a purchase that its budget stopped before anything was sent. errors.Is(err, [ErrOverBudget]) holds.
type BudgetError struct {
	Budget Budget
	// Needed is the price of the selected documents. It is not known if Problem is set.
	Needed Amount
	// Problem is the reason why the price cannot be compared with the budget; empty if it is too high.
	Problem string
}

// Error returns the price and the budget, or the reason why the price is unclear.
func (e *BudgetError) Error() string {
	if e.Problem != "" {
		return "shipping: budget of " + e.Budget.String() + ": " + e.Problem + "; nothing was purchased"
	}
	return fmt.Sprintf("shipping: over budget: %s %s needed, %s allowed: raise the budget or select fewer documents; nothing was purchased",
		inFull(e.Needed), e.Budget.Currency, e.Budget)
}

// Unwrap returns [ErrOverBudget].
func (e *BudgetError) Unwrap() error { return ErrOverBudget }

// Check returns what documents of a draft cost, or a [*BudgetError] if that is more than the budget, in another
// currency, or unclear; see [RegulatoryRequest.Price]. The price is read from the draft as the service sent it: a
// callback may have changed its fields.
func (b Budget) Check(draft *RegulatoryRequest, documents ...DocumentType) (Amount, error) {
	if draft == nil {
		return Amount{}, &BudgetError{Budget: b, Problem: "the draft is nil: pass the record that Analyze or Get returned"}
	}
	if !b.Amount.Known() || b.Currency == "" {
		return Amount{}, &BudgetError{Budget: b, Problem: "the budget needs an amount and a currency, such as those that ParseBudget returns"}
	}
	assumed := ""
	if b.AssumeCurrency {
		assumed = b.Currency
	}
	needed, currency, err := draft.asSent().price(assumed, documents)
	switch {
	case err != nil:
		return Amount{}, &BudgetError{Budget: b, Problem: oneLine(err.Error(), maxErrorMessage)}
	case !evidence.SameCurrency(currency, b.Currency):
		return Amount{}, &BudgetError{Budget: b, Problem: "the draft is priced in " + oneLine(currency, maxErrorID) + ": set a budget in that currency"}
	case needed.Cmp(b.Amount) > 0:
		return needed, &BudgetError{Budget: b, Needed: needed}
	}
	return needed, nil
}

// Fits returns nil if an amount can be spent in addition to the committed sum. Otherwise it returns a
// [*BudgetError] with the rest of the budget.
func (b Budget) Fits(committed, needed Amount) error {
	sum, err := committed.Add(needed)
	if err != nil {
		return err
	}
	if sum.Cmp(b.Amount) <= 0 {
		return nil
	}
	left, err := b.Amount.Sub(committed)
	if err != nil {
		return err
	}
	return &BudgetError{Budget: b, Needed: needed, Problem: fmt.Sprintf("%s needed, %s left: raise the budget or select fewer documents", inFull(needed), inFull(left))}
}

// Price returns the sum of the stored amounts of documents of this draft, and its currency. The error describes a
// document that the draft does not offer, a price that is missing, unreadable or ambiguous, or mixed currencies;
// [ErrAmountOverflow] is the only sentinel. A price is ambiguous if
// the service shows it twice, or shows another amount or another currency beside it: then it is unknown
// which one a purchase charges.
func (r *RegulatoryRequest) Price(documents ...DocumentType) (Amount, string, error) {
	return r.price("", documents)
}

// asSent returns the record as the service sent it: a callback may have changed its fields.
func (r *RegulatoryRequest) asSent() *RegulatoryRequest {
	if r.Raw == "" {
		return r
	}
	return decodeRecord(r.Raw)
}

// pricedOtherwise reports whether a later reading of this draft shows another price for documents than this one, which shows
// one.
func (r *RegulatoryRequest) pricedOtherwise(later *RegulatoryRequest, documents []DocumentType) bool {
	const none = "none" // a price without a currency can be compared, too
	before, currency, err := r.asSent().price(none, documents)
	if err != nil {
		return false
	}
	now, other, err := later.price(none, documents)
	return err != nil || !now.Equal(before) || !evidence.SameCurrency(currency, other)
}

// price is Price with a currency for prices that have none. It reads each offer once.
func (r *RegulatoryRequest) price(assumed string, documents []DocumentType) (Amount, string, error) {
	var total Amount
	currency := ""
	offers, shown := r.offers(), r.shown().Offers()
	for _, slug := range documents {
		document, offered := offers[slug]
		price := evidence.Price{
			Slug: string(slug), Amount: document.Amount.number,
			Currency: cmp.Or(document.Currency, r.Currency, assumed), Own: document.Currency != "",
		}
		ambiguity := ""
		if offered && document.Amount.Known() {
			ambiguity = shown.Ambiguity(price)
		}
		switch {
		case !offered:
			return Amount{}, "", fmt.Errorf("the draft does not offer %s: select from its AvailableDocuments", slug)
		case !document.Amount.Known():
			return Amount{}, "", fmt.Errorf("%s has no price that could be read: select other documents", slug)
		case ambiguity != "":
			return Amount{}, "", fmt.Errorf("the price of %s is ambiguous (%s): select other documents", slug, ambiguity)
		case document.Amount.Sign() < 0:
			return Amount{}, "", fmt.Errorf("%s has the negative price %s: select other documents", slug, document.Amount)
		case price.Currency == "":
			return Amount{}, "", fmt.Errorf("the price of %s has no currency; set Budget.AssumeCurrency to take it for the wallet's", slug)
		case currency != "" && !evidence.SameCurrency(price.Currency, currency):
			return Amount{}, "", fmt.Errorf("%s is priced in %s, others in %s: select documents of one currency", slug, oneLine(price.Currency, maxErrorID), oneLine(currency, maxErrorID))
		}
		var err error
		if total, err = total.Add(document.Amount); err != nil {
			return Amount{}, "", err
		}
		currency = cmp.Or(currency, price.Currency)
	}
	return total, currency, nil
}
