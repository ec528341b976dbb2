package shipping

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/cost"
	"github.com/shipping-go/shipping/internal/spelling"
)

// Budget is the most that may be spent, in one currency. It bounds the most that an offer can cost: its price plus
// all other numbers that it shows; see [RegulatoryRequest.Cost]. The dialect declares the numbers that a purchase does
// not charge. A charge that the offer does not show as a number is not bounded.
type Budget struct {
	Amount   Amount
	Currency string
}

// ParseBudget reads a budget as [Budget.String] writes it, such as "150.00 NGN". [ParseAmount] reads the number, and
// the code can have small letters. A number that can be read in two ways, such as "1,500" and "1.500", is refused. The
// error is [ErrAmountUnreadable], [ErrAmountOverflow], or a [*ValidationError].
func ParseBudget(text string) (*Budget, error) {
	number, currency, _ := strings.Cut(strings.TrimSpace(text), " ")
	currency = strings.ToUpper(strings.TrimSpace(currency))
	amount, err := ParseAmount(number)
	isOther := func(r rune) bool { return r < 'A' || r > 'Z' }
	switch {
	case number == "":
		return nil, invalidOption("ParseBudget", "got an empty text: write an amount and a currency, such as "+
			"\"150.00 NGN\"")
	case errors.Is(err, ErrAmountUnreadable) && strings.Contains(number, ","):
		return nil, err // the error shows how to write decimals
	case errors.Is(err, ErrAmountUnreadable):
		return nil, fmt.Errorf("%w: %s: write the number first, then a space and the currency, such as \"150.00 NGN\"",
			ErrAmountUnreadable, spelling.Quote(text))
	case err != nil:
		return nil, err
	case len(currency) != 3 || strings.ContainsFunc(currency, isOther):
		return nil, invalidOption("ParseBudget", "needs an amount and a currency of three letters, with one space, "+
			"such as \"150.00 NGN\", and got "+spelling.Quote(text))
	case amount.Sign() < 0:
		return nil, invalidOption("ParseBudget", "needs an amount of 0 or more, and got "+spelling.Quote(text))
	}
	if whole, fraction, ambiguous := twoReadings(number); ambiguous {
		return nil, invalidOption("ParseBudget", fmt.Sprintf("got %s, which can be %s%s.00 %[4]s or %[2]s.%[3]s0 %[4]s: write "+
			"the one that you mean", spelling.Quote(text), whole, fraction, currency))
	}
	return &Budget{Amount: amount, Currency: currency}, nil
}

// twoReadings reports whether the only separator of a number precedes three digits, so that it can separate thousands
// or decimals.
func twoReadings(number string) (whole, fraction string, ambiguous bool) {
	number = strings.TrimPrefix(number, "+")
	i := strings.IndexAny(number, ".,")
	if i < 0 || strings.ContainsAny(number[i+1:], ".,eE") {
		return "", "", false
	}
	whole, fraction = number[:i], number[i+1:]
	return whole, fraction, len(fraction) == 3 && len(whole) <= 3 && !strings.HasPrefix(whole, "0")
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

// String writes the budget as "150.00 NGN", with all decimals of the amount; three are written as four.
func (b Budget) String() string { return inFull(b.Amount) + " " + b.Currency }

// inFull writes an amount with two decimals, and never rounds: an error that explains why money is not spent
// must not hide the difference. Three decimals would look like thousands.
func inFull(a Amount) string {
	switch a {
	case a.Round(2):
		return a.StringFixed(2)
	case a.Round(3):
		return a.StringFixed(4)
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
	// Left was the rest of the budget before the purchase, negative if the budget was lowered; not given if nothing was
	// spent or reserved.
	Left Amount
	// Beside lists the numbers that Needed counts in addition to a price or instead of it, such as "FDA: tax 75".
	Beside []string
	// Declare holds dialect lines that make the cost clear and within the budget, if there are any.
	Declare string
	// Problem is the reason; empty if the reason is that Needed exceeds the budget.
	Problem string
}

// Error returns the cost and the budget, or the reason why the cost is unclear, and what to do.
func (e *BudgetError) Error() string {
	var text strings.Builder
	switch {
	case e.Problem != "":
		fmt.Fprintf(&text, "shipping: budget of %s: %s", e.Budget, e.Problem)
	case e.Left.Known():
		left, spent := e.Left, Amount{}
		if sum, err := e.Budget.Amount.Sub(left); err == nil {
			spent = sum
		}
		if left.Sign() < 0 {
			left = Amount{}
		}
		fmt.Fprintf(&text, "shipping: budget of %s: %s needed, %s left after %s were spent or reserved: raise the budget or "+
			"select fewer documents", e.Budget, inFull(e.Needed), inFull(left), inFull(spent))
	default:
		higher := Budget{Amount: e.Needed, Currency: e.Budget.Currency}
		fmt.Fprintf(&text, "shipping: over budget: %s needed, %s allowed: raise the budget or select fewer documents", higher,
			e.Budget)
	}
	if len(e.Beside) > 0 {
		fmt.Fprintf(&text, "; the cost adds numbers to the price, or counts them instead (%s)",
			oneLine(strings.Join(e.Beside, "; "), maxErrorMessage))
	}
	if e.Declare != "" {
		text.WriteString("; " + e.Declare)
	}
	return text.String() + "; nothing was purchased"
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
	needed, err := draft.cost(b.Currency, documents)
	isClear := func(sum) bool { return true }
	fits := func(s sum) bool { return cost.SameCurrency(s.currency, b.Currency) && s.most.Cmp(b.Amount) <= 0 }
	switch {
	case err != nil:
		return Amount{}, &BudgetError{Budget: b, Problem: oneLine(err.Error(), maxErrorMessage),
			Declare: cmp.Or(draft.declare(b.Currency, documents, fits), draft.declare(b.Currency, documents, isClear))}
	case len(documents) > 0 && !cost.SameCurrency(needed.currency, b.Currency):
		return Amount{}, &BudgetError{Budget: b, Problem: "the draft is priced in " + oneLine(needed.currency, maxErrorID) +
			": set a budget in that currency"}
	case needed.most.Cmp(b.Amount) > 0:
		return needed.most, &BudgetError{Budget: b, Needed: needed.most, Beside: needed.beside,
			Declare: draft.declare(b.Currency, documents, fits)}
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
	return &BudgetError{Budget: b, Needed: needed, Left: left}
}

// Price returns the sum of the prices of documents of this draft, and their currency. It reads Raw, because a
// callback may have changed the fields. It returns an error for:
//   - a document that the draft does not offer;
//   - a price that is missing, unreadable, or given twice;
//   - an unclear cost (see [RegulatoryRequest.Cost]);
//   - mixed currencies.
//
// [ErrAmountOverflow] is the only sentinel.
func (r *RegulatoryRequest) Price(documents ...DocumentType) (Amount, string, error) {
	sum, err := r.costDeclared(documents)
	return sum.price, sum.currency, err
}

// Cost returns the most that documents of this draft can cost, and their currency: the price of each plus all other
// numbers that its offer shows. If a number can be read in two ways, the larger reading counts. docs/money.md lists the
// exceptions. The field offer.beside of the dialect lists the numbers that a purchase does not charge. The errors are
// those of [RegulatoryRequest.Price].
//
// Assumption: the specification does not show which of several amounts a purchase charges.
func (r *RegulatoryRequest) Cost(documents ...DocumentType) (Amount, string, error) {
	needed, err := r.costDeclared(documents)
	return needed.most, needed.currency, err
}

// costDeclared is cost without a budget. Its error contains the dialect lines that make the cost clear.
func (r *RegulatoryRequest) costDeclared(documents []DocumentType) (sum, error) {
	needed, err := r.cost("", documents)
	if err != nil {
		if lines := r.declare("", documents, func(sum) bool { return true }); lines != "" {
			err = fmt.Errorf("%w: %s", err, lines)
		}
	}
	return needed, err
}

// declare returns a part of an error: alternatives of dialect lines, each with the cost that is clear and fits with
// them; "" without any. Several lines, such as one for the price and one for its currency, are combined only while the
// cost is unclear. Otherwise any cost would fit once enough numbers are declared as not charged.
func (r *RegulatoryRequest) declare(currency string, documents []DocumentType, fits func(sum) bool) string {
	const most = 3
	in := func(lines []dialect.Line) (sum, error) {
		changed, err := r.Dialect.With(lines...)
		if err != nil {
			return sum{}, err
		}
		return r.costIn(changed, currency, documents)
	}
	shortest, texts := most, []string{}
	for i, line := range linesOf(in(nil)) {
		for lines := []dialect.Line{line}; len(lines) <= shortest; {
			with, err := in(lines)
			if err == nil && fits(with) {
				if len(lines) < shortest {
					shortest, texts = len(lines), nil
				}
				texts = append(texts, fmt.Sprintf("%s (the cost is then %s)", r.Dialect.Declare(lines...),
					Budget{Amount: with.most, Currency: with.currency}))
			}
			more := linesOf(sum{}, err)
			isSet := func(next dialect.Line) bool {
				return next.Field != "offer.beside" &&
					slices.ContainsFunc(lines, func(line dialect.Line) bool { return line.Field == next.Field })
			}
			if more = slices.DeleteFunc(more, isSet); i > 0 || len(more) == 0 { // only the first, the likeliest, is combined
				break
			}
			lines = append(lines, more[0])
		}
	}
	text, condition := strings.Join(texts[:min(len(texts), most)], ", or "),
		"only if a transaction of the wallet confirms it, "
	switch {
	case text == "":
		return ""
	case strings.Contains(text, " = "+cost.NoCurrency):
		text += ", with the currency of the transaction in place of " + cost.NoCurrency
	case strings.Contains(texts[0], " = "):
	case strings.Contains(texts[0], " and "):
		condition = "only if a transaction of the wallet shows that none of them is charged, "
	default:
		condition = "only if a transaction of the wallet shows that it is not charged, "
	}
	return condition + text
}

// linesOf returns distinct lines that may make a cost clear, or lower it. If there are too many, it returns the
// likeliest, or those of the largest numbers, because the cost is computed for each.
func linesOf(s sum, err error) []dialect.Line {
	unclear, isUnclear := errors.AsType[*cost.Unclear](err)
	if isUnclear {
		s.lines = unclear.Lines
	}
	seen := map[dialect.Line]int{}
	isKnown := func(line dialect.Line) bool { seen[line]++; return seen[line] > 1 }
	lines := slices.DeleteFunc(slices.Clone(s.lines), isKnown)
	most := min(40, 8_000/(len(s.lines)+1))
	if isUnclear {
		return lines[:min(len(lines), most)]
	}
	return lines[max(len(lines)-most, 0):]
}

// costsOtherwise reports whether this draft shows a cost for documents, and a later reading of it shows another.
func (r *RegulatoryRequest) costsOtherwise(later *RegulatoryRequest, documents []DocumentType) bool {
	in := *cmp.Or(r.Dialect, &dialect.Dialect{})
	in.Offer.DefaultCurrency = cmp.Or(in.Offer.DefaultCurrency, "wallet")
	const none = "none" // the currency of a price without one
	before, err := r.costIn(&in, none, documents)
	if err != nil {
		return false
	}
	now, err := later.costIn(&in, none, documents)
	return err != nil || !now.most.Equal(before.most) || !cost.SameCurrency(before.currency, now.currency)
}

// sum is what several documents cost.
type sum struct {
	price, most Amount
	currency    string
	beside      []string
	lines       []dialect.Line
}

// cost adds up what documents cost. currency is that of the budget, or "".
func (r *RegulatoryRequest) cost(currency string, documents []DocumentType) (sum, error) {
	return r.costIn(r.Dialect, currency, documents)
}

// costIn is cost for a service with another dialect.
func (r *RegulatoryRequest) costIn(d *dialect.Dialect, currency string, documents []DocumentType) (s sum, err error) {
	offers := cost.Read(r.shown().Data, d, currency)
	for _, slug := range documents {
		offer, err := offers.Cost(string(slug))
		switch {
		case err != nil:
			return sum{}, cmp.Or(r.withoutOffers(), fmt.Errorf("%s %w", slug, err))
		case s.currency != "" && !cost.SameCurrency(offer.Currency, s.currency):
			return sum{}, fmt.Errorf("%s is priced in %s, others in %s: select documents of one currency",
				slug, oneLine(offer.Currency, maxErrorID), oneLine(s.currency, maxErrorID))
		}
		s.currency, s.lines = cmp.Or(s.currency, offer.Currency), append(s.lines, offer.Lines...)
		for _, beside := range offer.Beside {
			s.beside = append(s.beside, string(slug)+": "+beside)
		}
		if s.price, err = s.price.Add(knownAmount(offer.Price)); err != nil {
			return sum{}, err
		}
		if s.most, err = s.most.Add(knownAmount(offer.Most)); err != nil {
			return sum{}, err
		}
	}
	return s, nil
}
