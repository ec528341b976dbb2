package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/cost"
	"github.com/shipping-go/shipping/internal/evidence"
	"github.com/shipping-go/shipping/internal/wait"
)

// This file purchases the documents of an item, settles purchases without a clear response, and records charges.

// reserve reserves the cost, and records the intent to purchase.
func (e *entry) reserve(draft *shipping.RegulatoryRequest, selected []shipping.DocumentType) error {
	if err := e.run.pays(draft); err != nil {
		return err
	}
	intent := e.record
	intent.Step, intent.Documents, intent.Note, intent.Period = StepPurchasing, selected, "", e.run.options.Period
	intent.Overcharge = ""
	intent.Earlier = e.earlier()
	var err error
	if intent.Purchase, err = remember(intent.RequestID, draft, selected); err != nil {
		return err
	}
	intent.Amount, intent.Currency, err = e.run.cost(draft, selected)
	if err == nil {
		err = e.run.mayContinue()
	}
	if err == nil {
		// The intent is on the disk before the purchase is sent.
		err = e.run.note(e.claim, intent, func(related []Record) error {
			return cmp.Or(e.run.mayPurchase(related), e.alone(intent)(related))
		})
	}
	switch {
	case err == nil:
		e.record = intent
		e.besides(draft)
	case errors.Is(err, shipping.ErrOverBudget):
		e.record.Documents = selected
		err = explained(err, draft, selected)
	}
	return err
}

// besides notes the amounts that are reserved beside the prices.
func (e *entry) besides(draft *shipping.RegulatoryRequest) {
	price, _, err := draft.Price(e.record.Documents...)
	if beside, failed := e.record.Amount.Sub(price); err == nil && failed == nil && e.record.Amount.Known() {
		e.beside = beside
	}
}

// explained adds to a journal's error the numbers that the cost counts beside the prices, and the dialect lines that
// make it fit the rest of the budget. The journal cannot add them, because it has no draft.
func explained(err error, draft *shipping.RegulatoryRequest, selected []shipping.DocumentType) error {
	over, ok := err.(*shipping.BudgetError)
	if !ok || len(over.Beside) > 0 || !over.Left.Known() {
		return err
	}
	_, whole := shipping.Budget{Amount: over.Left, Currency: over.Budget.Currency}.Check(draft, selected...)
	if whole, ok := errors.AsType[*shipping.BudgetError](whole); ok {
		over.Beside, over.Declare = whole.Beside, whole.Declare
	}
	return over
}

// remember returns a purchase as a record stores it: without most of the draft, because a batch can have many thousand
// items. It sets Sole, because the batch made the draft, and shares it with nobody.
func remember(requestID string, draft *shipping.RegulatoryRequest,
	selected []shipping.DocumentType) (*shipping.PurchaseRequest, error) {
	var small shipping.PurchaseRequest
	text, err := json.Marshal(shipping.PurchaseRequest{RequestID: requestID, DocumentTypes: selected, Draft: draft,
		Sole: true})
	return &small, errors.Join(err, json.Unmarshal(text, &small))
}

// purchase sends the purchase once, if enough time is left before another process can settle it.
func (e *entry) purchase(ctx context.Context, draft *shipping.RegulatoryRequest) (time.Duration, error) {
	purchase := e.remembered()
	purchase.Draft, e.dialect = draft, draft.Dialect
	buying, stop, err := e.claim.Within(ctx)
	if err != nil {
		return 0, err
	}
	defer stop()
	bought, err := e.run.client.Regulatory.Purchase(buying, purchase, e.run.call...)
	if _, invalid := err.(*shipping.ValidationError); invalid { // not sent
		return e.notCharged(ctx, err)
	}
	return e.bought(ctx, bought, err)
}

// remembered returns the purchase as the record holds it, with the settings of this run.
func (e *entry) remembered() *shipping.PurchaseRequest {
	purchase := shipping.PurchaseRequest{RequestID: e.record.RequestID, DocumentTypes: e.record.Documents}
	if e.record.Purchase != nil {
		purchase = *e.record.Purchase
	}
	purchase.PurchaseOptions = e.run.options.Purchase
	return &purchase
}

// settle finds out the outcome of a purchase that an earlier run, or another process, left open.
func (e *entry) settle(ctx context.Context) (time.Duration, error) {
	quietFor := cmp.Or(e.run.options.Purchase.QuietFor, wait.QuietFor)
	e.run.progress(e, shipping.PollEvent{Step: wait.StepSettling, RequestID: e.record.RequestID, Next: quietFor})
	var bought *shipping.PurchaseResult
	var err error
	e.run.aside(func() {
		bought, err = e.run.client.Regulatory.SettlePurchase(ctx, e.remembered(), e.run.call...)
	})
	failed, ok := err.(*shipping.RegulatoryError)
	if ok && failed.Outcome == shipping.OutcomeUnknown && e.refusal == nil {
		failed.Err = fmt.Errorf("%w: %w", errUnsettled, failed.Err)
		if last := failed.Request; last != nil {
			if e.dialect = last.Dialect; e.means(last.Status) == "expired" {
				failed.Err = fmt.Errorf("%w; %w", failed.Err, errGone)
			}
		}
	}
	if !ok || failed.Outcome != shipping.OutcomeNotCharged {
		return e.bought(ctx, bought, err)
	}
	if e.refusal != nil { // the service would refuse it again
		failed.Err = e.refusal
		return e.notCharged(ctx, failed)
	}
	if !e.refused() {
		e.record.Earlier = EarlierLost
	}
	if err := e.giveBack(); err != nil {
		return 0, err
	}
	return e.resume(ctx)
}

// bought continues after a purchase. Only the outcome "not charged" releases the reservation. If the outcome is
// uncertain, the journal keeps "purchasing".
func (e *entry) bought(ctx context.Context, bought *shipping.PurchaseResult, err error) (time.Duration, error) {
	failed, _ := err.(*shipping.RegulatoryError) // not errors.As: it wraps the errors of other calls too
	switch {
	case err == nil:
		e.charge(bought.ChargedAmount, bought.Currency, bought.Raw)
	case failed != nil && failed.Outcome == shipping.OutcomePurchasedBefore:
		if failed.Request != nil {
			e.charge(failed.Request.ChargedAmount, failed.Request.Currency, failed.Request.Raw)
		}
	case failed != nil && failed.Outcome == shipping.OutcomeNotCharged:
		return e.notCharged(ctx, failed)
	case failed != nil && e.learns(failed.Purchase):
		// A later run must not take a refused purchase for one whose response was lost, nor an older copy for a request that
		// stayed a draft.
		refused := failed.Purchase.Refused && !e.refused()
		e.record.Purchase = failed.Purchase
		stopped := errors.Join(e.move(StepPurchasing), e.run.mayContinue())
		if !refused || stopped != nil || e.run.journal.Lease() == 0 || ctx.Err() != nil {
			return 0, errors.Join(err, stopped)
		}
		// The rest of the lease may be too short to read the request for long enough, so it is settled under the renewed
		// claim. The purchase is recorded as refused now, so that the outcome of settle does not lead here again.
		e.refusal, _ = errors.AsType[*shipping.Error](failed.Err) // without the end of the lease's context
		return e.settle(ctx)
	default:
		return 0, err
	}
	if _, quoted := e.quote(); !quoted {
		e.record.Purchase = nil
	}
	if err := e.move(StepPurchased); err != nil {
		return 0, err
	}
	e.run.progress(e, shipping.PollEvent{Step: wait.StepPurchased, RequestID: e.record.RequestID, Purchase: bought})
	return e.wait(ctx)
}

// refused reports whether the record states that the service refused the purchase.
func (e *entry) refused() bool { return e.record.Purchase != nil && e.record.Purchase.Refused }

// learns reports whether the record lacks what the response to its purchase or a reading has shown.
func (e *entry) learns(shown *shipping.PurchaseRequest) bool {
	in := func(p *shipping.PurchaseRequest) [4]bool {
		return [...]bool{p.Refused, p.Contradicted, p.UnderWay, p.Purchased}
	}
	return in(shown) != in(cmp.Or(e.record.Purchase, &shipping.PurchaseRequest{}))
}

// notCharged ends the item, in this run, after a purchase that was refused or never sent. If it was refused because the
// draft has expired, the item is analyzed again.
func (e *entry) notCharged(ctx context.Context, err error) (time.Duration, error) {
	if errors.Is(err, shipping.ErrInsufficientFunds) {
		e.unpaid = money(e.record.Amount, e.record.Currency)
	}
	failed, ok := err.(*shipping.RegulatoryError)
	if ok && failed.Request != nil {
		e.record.Earlier, _ = e.shown(failed.Request)
	}
	if written := e.giveBack(); written != nil {
		return 0, errors.Join(err, written)
	}
	if !ok || !failed.Purchase.Refused {
		return 0, err
	}
	refusal, ok := errors.AsType[*shipping.Error](failed.Err)
	if !ok {
		return 0, failed
	}
	if e.dialect != nil && refusal.Code != "" && refusal.Code == e.dialect.Refusal.ExpiredCode {
		return e.expired(ctx, failed.Request, failed)
	}
	failed.Err = e.undeclaredCode(failed.Err, refusal.Code)
	return 0, failed
}

// giveBack records that nothing was charged, which releases the reservation.
func (e *entry) giveBack() error {
	e.record.Purchase, e.record.Amount, e.record.Currency, e.beside = nil, shipping.Amount{}, "", shipping.Amount{}
	return e.move(StepAnalyzed)
}

// quote returns the charge that the draft showed before the purchase.
func (e *entry) quote() (amount shipping.Amount, quoted bool) {
	if e.record.Purchase == nil || e.record.Purchase.Draft == nil {
		return shipping.Amount{}, false
	}
	amount = e.record.Purchase.Draft.ChargedAmount
	return amount, amount.Known()
}

// charge records the charge that the service reports, unless the draft showed it already. A charge above the cost of
// the draft counts against the budget, and ends all purchases until a person has compared it. A charge that is in
// another currency or cannot be read ends them, too; no journal keeps an unreadable one. Any other charge does not
// change the reservation: a lower one does not show that less was taken.
func (e *entry) charge(amount shipping.Amount, currency string, raw shipping.RawJSON) {
	if unreadable(amount) {
		if unread := evidence.Read(string(raw), e.dialect).UnreadCharge(); unread != "" && !e.record.elsewhere() {
			e.overcharge(cmp.Or(e.record.Overcharge, unread+e.dialect.CostText()))
		}
		return
	}
	currency = keepable(currency)
	quote, quoted := e.quote()
	isForeign := cost.Foreign(currency, e.record.Currency)
	// A later report that is not higher, or follows one in another currency, does not replace what a person compares.
	recorded := e.record.Charged.Known() && size(amount).Cmp(size(e.record.Charged)) <= 0 &&
		!cost.Foreign(currency, e.record.ChargedCurrency) || e.record.foreign()
	if !amount.Known() || quoted && amount == quote && !isForeign || recorded {
		return
	}
	e.record.Charged, e.record.ChargedCurrency = amount, currency
	if e.record.elsewhere() {
		return
	}
	amount = size(amount)
	if !e.record.foreign() && amount.Round(9).Cmp(e.record.Amount) > 0 { // without floating-point noise
		if e.record.Amount.Known() {
			e.record.Cost = cmp.Or(e.record.Cost, e.record.Amount)
		}
		e.record.Amount = amount
		e.record.Currency = cmp.Or(e.record.Currency, currency)
	}
	if over := e.record.overcharge(); over != "" {
		e.overcharge(over + e.dialect.CostText())
	}
}

// overcharge records why a charge is above the cost. The note of an earlier finding does not close it.
func (e *entry) overcharge(text string) {
	text = strings.ReplaceAll(shortened(text, 1000), "\x00", "") // so that each journal can keep it
	if text != e.record.Overcharge {
		e.record.Overcharge, e.record.Note = text, ""
	}
}

// size returns a charge without its sign, because a negative one is a debit.
func size(charge shipping.Amount) shipping.Amount {
	if charge.Sign() < 0 {
		return charge.Neg()
	}
	return charge
}

// elsewhere reports whether the item was purchased outside the batch, so that its charge has no cost to compare with.
func (r Record) elsewhere() bool { return r.Earlier == EarlierElsewhere && r.Amount == nothing }

// foreign reports whether the charge is in another currency than the draft, so that they cannot be compared.
func (r Record) foreign() bool {
	return r.Charged.Known() && r.Amount.Known() && cost.Foreign(r.ChargedCurrency, r.Currency) && !r.elsewhere()
}

// overcharge returns the charge and the cost of the draft, if the charge is more, or in another currency.
func (r Record) overcharge() string {
	switch {
	case r.Cost.Known():
		return fmt.Sprintf("%s, and the draft shows %s at most", money(r.Amount, r.Currency), money(r.Cost, r.Currency))
	case r.foreign():
		return fmt.Sprintf("%s, and the draft is priced in %s", money(r.Charged, r.ChargedCurrency), r.Currency)
	}
	return ""
}

// overcharged returns the error of an item whose charge is above its cost, until a person has closed it with a note.
func (e *entry) overcharged() error {
	if !e.record.Overcharged() {
		return nil
	}
	return &shipping.RegulatoryError{RequestID: e.record.RequestID, Step: wait.StepPurchased,
		Outcome: shipping.OutcomeCharged, Err: fmt.Errorf("%w: %s", shipping.ErrOvercharged, e.record.Overcharge)}
}

func money(amount shipping.Amount, currency string) shipping.Budget {
	return shipping.Budget{Amount: amount, Currency: currency}
}
