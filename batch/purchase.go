package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/evidence"
	"github.com/shipping-go/shipping/internal/wait"
)

// reserve reserves the price, and records the intent to purchase.
func (e *entry) reserve(draft *shipping.RegulatoryRequest, selected []shipping.DocumentType) error {
	intent := e.record
	intent.Step, intent.Documents, intent.Note = StepPurchasing, selected, ""
	var err error
	if intent.Purchase, err = remember(intent.RequestID, draft, selected); err != nil {
		return err
	}
	intent.Amount, intent.Currency, err = e.run.price(draft, selected)
	if err == nil {
		err = errors.Join(e.run.mayPurchase(), e.run.mayContinue())
	}
	if err == nil {
		// The intent is on the disk before the purchase is on the wire.
		err = e.run.note(e.claim, intent)
	}
	switch {
	case err == nil:
		e.record = intent
	case errors.Is(err, shipping.ErrOverBudget):
		e.record.Documents = selected
	}
	return err
}

// remember returns a purchase as a record stores it: without most of the draft, because a batch can have many
// thousand items. The batch made the draft, and shares it with nobody.
func remember(requestID string, draft *shipping.RegulatoryRequest, selected []shipping.DocumentType) (*shipping.PurchaseRequest, error) {
	var small shipping.PurchaseRequest
	text, err := json.Marshal(shipping.PurchaseRequest{RequestID: requestID, DocumentTypes: selected, Draft: draft, Sole: true})
	return &small, errors.Join(err, json.Unmarshal(text, &small))
}

// purchase sends the purchase once, if there is enough time in which no other process can settle it.
func (e *entry) purchase(ctx context.Context, draft *shipping.RegulatoryRequest) (time.Duration, error) {
	purchase := e.remembered()
	purchase.Draft = draft
	buying, stop, err := e.claim.Within(ctx)
	if err != nil {
		return 0, err
	}
	defer stop()
	bought, err := e.run.client.Regulatory.Purchase(buying, purchase, e.run.call...)
	if refusedUnsent(err) {
		return e.notCharged(err)
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

// refusedUnsent reports whether a purchase was refused by its own validation.
func refusedUnsent(err error) bool {
	_, tried := errors.AsType[*shipping.PurchaseError](err)
	_, invalid := errors.AsType[*shipping.ValidationError](err)
	return invalid && !tried
}

// bought continues after the outcome of a purchase. Only "not charged" gives the reservation back. With any
// outcome that is not certain the journal keeps "purchasing".
func (e *entry) bought(ctx context.Context, bought *shipping.PurchaseResult, err error) (time.Duration, error) {
	failed, _ := err.(*shipping.PurchaseError) // not errors.As: it wraps the errors of other calls too
	switch {
	case err == nil:
		e.charge(bought.ChargedAmount, bought.Currency)
	case failed != nil && failed.Outcome == shipping.OutcomePurchasedBefore:
		if failed.Request != nil {
			e.charge(failed.Request.ChargedAmount, failed.Request.Currency)
		}
	case failed != nil && failed.Outcome == shipping.OutcomeNotCharged:
		return e.notCharged(err)
	case failed != nil && failed.Purchase.Refused && !e.refused():
		// A later run must not take a refused purchase for one whose response was lost.
		e.record.Purchase = failed.Purchase
		stopped := errors.Join(e.move(StepPurchasing), e.run.mayContinue())
		if stopped != nil || e.run.journal.Lease() == 0 || ctx.Err() != nil {
			return 0, errors.Join(err, stopped)
		}
		// A part of the lease may be too short to read the request for long enough, so it is settled under the renewed claim.
		e.refusal, _ = errors.AsType[*shipping.Error](failed.Err) // without the end of that part
		return e.settle(ctx)
	case failed != nil:
		return 0, fmt.Errorf("%w; the next run of the batch does so", err)
	default:
		return 0, err
	}
	e.record.Purchase = nil
	if err := e.move(StepPurchased); err != nil {
		return 0, err
	}
	e.run.progress(e, shipping.PollEvent{Step: wait.StepPurchased, RequestID: e.record.RequestID, Purchase: bought})
	return e.wait(ctx)
}

// refused reports whether the record states that the service refused the purchase.
func (e *entry) refused() bool { return e.record.Purchase != nil && e.record.Purchase.Refused }

// notCharged ends the item, in this run, after a purchase that charged nothing.
func (e *entry) notCharged(err error) (time.Duration, error) {
	return 0, errors.Join(err, e.giveBack())
}

// giveBack records that nothing was charged, which gives the reservation back.
func (e *entry) giveBack() error {
	e.record = e.record.notCharged()
	return e.move(StepAnalyzed)
}

// charge records the charge that the service reports. More than the price on the draft counts against the budget, and ends
// the purchases of this run; so does a charge in another currency, which cannot be compared. Anything else leaves the
// reservation as it is: a report that is less does not show that less was taken.
func (e *entry) charge(amount shipping.Amount, currency string) {
	if !amount.Known() {
		return
	}
	if textProblem(currency, maxRecordText) != "" {
		currency = "" // no journal can keep it, and the charge must be kept
	}
	e.record.Charged, e.record.ChargedCurrency = amount, currency
	priced := e.record.Amount.Known()
	switch {
	case priced && currency != "" && e.record.Currency != "" && !evidence.SameCurrency(currency, e.record.Currency):
		e.run.overcharged(fmt.Sprintf("%s %s for %s, whose draft was priced in %s", inFull(amount), currency, e.record.Key, e.record.Currency))
		return
	case amount.Cmp(e.record.Amount) <= 0:
		return
	case priced:
		e.run.overcharged(fmt.Sprintf("%s for %s, whose draft shows %s", inFull(amount), e.record.Key, inFull(e.record.Amount)))
	}
	e.record.Amount = amount
	e.record.Currency = cmp.Or(e.record.Currency, currency)
}

// settle finds out the outcome of a purchase that an earlier run, or another process, left open.
func (e *entry) settle(ctx context.Context) (time.Duration, error) {
	bought, err := e.run.client.Regulatory.SettlePurchase(ctx, e.remembered(), e.run.call...)
	failed, ok := err.(*shipping.PurchaseError)
	if !ok || failed.Outcome != shipping.OutcomeNotCharged {
		return e.bought(ctx, bought, err)
	}
	if e.refusal != nil { // the service would refuse it again
		failed.Err = e.refusal
		return e.notCharged(failed)
	}
	if err := e.giveBack(); err != nil {
		return 0, err
	}
	return e.resume(ctx)
}
