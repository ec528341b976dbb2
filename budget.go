package shipping

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/shipping-go/shipping/internal/evidence"
)

// Budget is the most that may be spent, in one currency. It holds for the most that an offer can cost, by the amounts
// that the offer shows; see [RegulatoryRequest.Cost] for which amounts these are. A charge that the offer does not
// show, or shows under other names, is not bounded. The names are those with the words amount, price, cost or total; a
// charge, fee, duty, levy, commission, handling, surcharge, markup, postage, insurance, deposit or penalty; a tax, VAT,
// GST, HST, PST, QST, SST, CGST, SGST, IGST, UTGST, IVA, TVA, MwSt, USt, BTW, moms, cess or excise; those of a final
// amount, such as gross, payable or due; and all names in a breakdown.
type Budget struct {
	Amount   Amount
	Currency string
}

// ParseBudget reads a budget as [Budget.String] writes it, such as "150.00 NGN". [ParseAmount] reads the number, and
// the code can have small letters. The error is [ErrAmountUnreadable], [ErrAmountOverflow], or a [*ValidationError].
func ParseBudget(text string) (*Budget, error) {
	number, currency, found := strings.Cut(strings.TrimSpace(text), " ")
	currency = strings.TrimSpace(currency)
	amount, err := ParseAmount(number)
	switch {
	case number == "":
		return nil, invalidOption("ParseBudget", "got an empty text: write an amount and a currency, such as \"150.00 NGN\"")
	case errors.Is(err, ErrAmountUnreadable) && strings.Contains(number, ","):
		return nil, err // it shows how to write decimals
	case errors.Is(err, ErrAmountUnreadable):
		return nil, fmt.Errorf("%w: %s: write the number first, then the currency, such as \"150.00 NGN\"",
			ErrAmountUnreadable, quoteShort(text))
	case err != nil:
		return nil, err
	case !found || len(currency) != 3:
		return nil, invalidOption("ParseBudget", "needs an amount and a currency of three letters, such as \"150.00 "+
			"NGN\", and got "+quoteShort(text))
	case amount.Sign() < 0:
		return nil, invalidOption("ParseBudget", "needs an amount of 0 or more, and got "+quoteShort(text))
	}
	return &Budget{Amount: amount, Currency: strings.ToUpper(currency)}, nil
}

// validate returns a [*ValidationError] if no price can be compared with the budget. A nil budget is valid.
func (b *Budget) validate() error {
	switch {
	case b == nil:
	case !b.Amount.Known() || b.Currency == "":
		return invalidOption("Budget",
			"needs an amount and a currency, such as those that ParseBudget(\"150.00 NGN\") returns")
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

// BudgetError reports a purchase that its budget stopped before anything was sent. errors.Is(err, [ErrOverBudget])
// holds.
type BudgetError struct {
	Budget Budget
	// Needed is the most that the selected documents can cost; not given if the cost is not clear.
	Needed Amount
	// Beside lists the amounts that Needed counts in addition to the prices, such as "FDA: tax 75".
	Beside []string
	// Problem is the reason, unless Needed is more than the whole budget: the cost is not clear, or it is more than the
	// rest of the budget.
	Problem string
}

// Error returns the cost and the budget, or the reason why the cost is unclear.
func (e *BudgetError) Error() string {
	beside := ""
	if len(e.Beside) > 0 {
		beside = "; the cost counts amounts beside the price (" + oneLine(strings.Join(e.Beside, "; "), maxErrorMessage) +
			"): list what a purchase does not charge in offer.beside of the dialect"
	}
	if e.Problem != "" {
		return "shipping: budget of " + e.Budget.String() + ": " + e.Problem + beside + "; nothing was purchased"
	}
	return fmt.Sprintf("shipping: over budget: %s %s needed, %s allowed: raise the budget or select fewer documents%s; "+
		"nothing was purchased",
		inFull(e.Needed), e.Budget.Currency, e.Budget, beside)
}

// Unwrap returns [ErrOverBudget].
func (e *BudgetError) Unwrap() error { return ErrOverBudget }

// Check returns the most that documents of a draft can cost, or a [*BudgetError] if that is more than the budget, in
// another currency, or unclear; see [RegulatoryRequest.Cost].
func (b Budget) Check(draft *RegulatoryRequest, documents ...DocumentType) (Amount, error) {
	if draft == nil {
		return Amount{}, &BudgetError{Budget: b, Problem: "the draft is nil: pass the record that Analyze or Get returned"}
	}
	if !b.Amount.Known() || b.Currency == "" {
		return Amount{}, &BudgetError{Budget: b, Problem: "the budget needs an amount and a currency, such as those that " +
			"ParseBudget returns"}
	}
	assumed := ""
	if draft.Dialect != nil && draft.Dialect.Offer.DefaultCurrency == "wallet" {
		assumed = b.Currency
	}
	needed, err := draft.cost(assumed, documents)
	switch {
	case err != nil:
		return Amount{}, &BudgetError{Budget: b, Problem: oneLine(err.Error(), maxErrorMessage)}
	case len(documents) > 0 && !evidence.SameCurrency(needed.currency, b.Currency):
		return Amount{}, &BudgetError{Budget: b, Problem: "the draft is priced in " + oneLine(needed.currency, maxErrorID) +
			": set a budget in that currency"}
	case needed.most.Cmp(b.Amount) > 0:
		return needed.most, &BudgetError{Budget: b, Needed: needed.most, Beside: needed.beside}
	}
	return needed.most, nil
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
	if left.Sign() < 0 {
		left = Amount{} // the budget was lowered
	}
	return &BudgetError{Budget: b, Needed: needed,
		Problem: fmt.Sprintf("%s needed, %s left: raise the budget or select fewer documents", inFull(needed), inFull(left))}
}

// Price returns the sum of the prices of documents of this draft, and their currency, as the service sent them: a
// callback may have changed the fields. The error describes a document that the draft does not offer, a price that is
// missing, unreadable, or given twice, a cost that is not clear (see [RegulatoryRequest.Cost]), or mixed currencies;
// [ErrAmountOverflow] is the only sentinel.
func (r *RegulatoryRequest) Price(documents ...DocumentType) (Amount, string, error) {
	sum, err := r.cost("", documents)
	return sum.price, sum.currency, err
}

// Cost returns the most that documents of this draft can cost, and their currency. Its errors are those of
// [RegulatoryRequest.Price]. The cost is the price with each charge on top, such as a tax or fee, that the offer shows
// beside it, or a total or final amount that the offer shows, whichever is more. A tax rate counts as its share of the
// price. Other amounts count too, unless they are the price itself, its parts, the price in minor units, or amounts in
// another currency. A charge on top in another currency is an error.
//
// Assumption: the specification does not show which of several amounts a purchase charges.
func (r *RegulatoryRequest) Cost(documents ...DocumentType) (Amount, string, error) {
	sum, err := r.cost("", documents)
	return sum.most, sum.currency, err
}

// costsOtherwise reports whether a later reading of this draft shows another cost for documents than this one, which
// shows one.
func (r *RegulatoryRequest) costsOtherwise(later *RegulatoryRequest, documents []DocumentType) bool {
	const none = "none" // a price without a currency can be compared, too
	before, err := r.cost(none, documents)
	if err != nil {
		return false
	}
	now, err := later.cost(none, documents)
	return err != nil || !now.most.Equal(before.most) || !evidence.SameCurrency(before.currency, now.currency)
}

// sum is what several documents cost.
type sum struct {
	price, most Amount
	currency    string
	beside      []string
}

// cost adds up what documents cost. A price without a currency is in that of the dialect, or in the assumed one.
func (r *RegulatoryRequest) cost(assumed string, documents []DocumentType) (s sum, err error) {
	if r.Dialect != nil && r.Dialect.Offer.DefaultCurrency != "wallet" {
		assumed = cmp.Or(r.Dialect.Offer.DefaultCurrency, assumed)
	}
	offers := r.shown().Offers()
	for _, slug := range documents {
		cost, err := offers.Cost(string(slug), assumed)
		switch {
		case err != nil:
			return sum{}, fmt.Errorf("%s %w", slug, err)
		case s.currency != "" && !evidence.SameCurrency(cost.Currency, s.currency):
			return sum{}, fmt.Errorf("%s is priced in %s, others in %s: select documents of one currency",
				slug, oneLine(cost.Currency, maxErrorID), oneLine(s.currency, maxErrorID))
		}
		s.currency = cmp.Or(s.currency, cost.Currency)
		for _, beside := range cost.Beside {
			s.beside = append(s.beside, string(slug)+": "+beside)
		}
		if s.price, err = s.price.Add(knownAmount(cost.Price)); err != nil {
			return sum{}, err
		}
		if s.most, err = s.most.Add(knownAmount(cost.Most)); err != nil {
			return sum{}, err
		}
	}
	return s, nil
}
