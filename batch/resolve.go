package batch

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/spelling"
)

// Resolve records the finding of a person about an item that no run can complete. Check the wallet's transactions
// first.
//
//   - [StepPurchasing], a purchase that no run can settle: with [shipping.OutcomeCharged] the price counts against the
//     budget, and the next run waits for the documents; with [shipping.OutcomeNotCharged] the reservation is released,
//     and the next run purchases the item if the request still reads as a draft. A later call corrects a wrong outcome.
//   - [StepPurchased], a charged purchase whose documents never arrive: OutcomeCharged closes the item.
//   - [StepCompleted] and StepPurchased, if the charge is above its cost ([shipping.ErrOvercharged]): the first call
//     with OutcomeCharged closes the charge, so that runs purchase other items again. It does not close the item.
//   - [StepFailed]: closes the item. With OutcomeNotCharged nothing counts against the budget. The record keeps
//     the charge that the service reported, such as one that was refunded.
//   - [StepAnalyzed], a draft that can no longer be purchased: OutcomeNotCharged opens the item, and the next run
//     analyzes its shipment or invoice again. Nothing then prevents a second charge if something was charged for the
//     draft.
//
// A closed item is [StateClosed]; no run works on it, and it cannot be opened again. The error is [ErrItemTaken] while
// a batch works on the item, and [ErrInUse] while a batch uses a journal of [OpenFile]. The note is stored in the
// record as the reason.
func Resolve(ctx context.Context, journal Journal, key string, outcome shipping.PurchaseOutcome,
	note string) error {
	const function = "Resolve"
	if err := validateFinding(ctx, function, journal, note); err != nil {
		return err
	}
	if outcome != shipping.OutcomeCharged && outcome != shipping.OutcomeNotCharged {
		return invalid(function, fmt.Sprintf("needs the outcome %q or %q, and got %q", shipping.OutcomeCharged,
			shipping.OutcomeNotCharged, outcome))
	}
	if problem := textProblem(key, maxKey); problem != "" || key == "" {
		return invalid(function, "needs the key of an item that is in the journal")
	}
	return exclusive(journal, func() error {
		claim, err := journal.Claim(ctx, key)
		if err != nil {
			return err
		}
		err = resolve(ctx, claim, outcome, note)
		_ = claim.Release(context.WithoutCancel(ctx)) // otherwise the claim expires
		return err
	})
}

// validateFinding checks the arguments of a function that records a person's finding.
func validateFinding(ctx context.Context, function string, journal Journal, note string) error {
	switch {
	case ctx == nil:
		return errNilContext
	case journal == nil:
		return invalid(function, "needs a journal: open it with OpenFile")
	case journal == (*File)(nil):
		return errNilFile
	case note == "":
		return invalid(function, "needs a note that explains how the outcome was found")
	}
	return nil
}

// exclusive calls a function while no batch of this process uses the journal.
func exclusive(journal Journal, call func() error) (err error) {
	if file, ok := journal.(*File); ok {
		if err := file.begin(); err != nil {
			return err
		}
		defer func() { err = cmp.Or(err, file.end()) }()
	}
	return call()
}

func resolve(ctx context.Context, claim Claim, outcome shipping.PurchaseOutcome, note string) error {
	record := claim.Record()
	problem := record.resolve(outcome)
	if problem != "" {
		return invalid("Resolve", fmt.Sprintf("cannot close the item %s: %s", spelling.Quote(record.Key), problem))
	}
	record.Note, record.At = note, time.Now().UTC()
	if err := record.validate(); err != nil {
		return err
	}
	_, err := claim.Append(ctx, record, nil, nil)
	return err
}

// resolve changes the record by an outcome that a person found, or returns why that is not possible.
func (r *Record) resolve(outcome shipping.PurchaseOutcome) (problem string) {
	// Until the item is purchased again, a note shows that a person has decided.
	charged, byHand := outcome == shipping.OutcomeCharged, r.Note != ""
	switch {
	case r.Step == StepAnalyzed && r.RequestID == "" && charged:
		return "it has been opened: the next run analyzes it"
	case r.Step == StepAnalyzed && !byHand && !charged:
		*r = Record{Key: r.Key, ShipmentID: r.ShipmentID, FileHash: r.FileHash, Step: StepAnalyzed}
	case r.Step == StepFailed && charged && !r.bought():
		return fmt.Sprintf("its analysis failed, so that nothing was purchased: use the outcome %q",
			shipping.OutcomeNotCharged)
	case r.Step == StepFailed && !charged && r.bought():
		r.Step, r.Amount = StepClosed, nothing
	case (r.Step == StepCompleted || r.Step == StepPurchased) && r.Overcharged():
		if !charged { // otherwise the note closes the charge
			return fmt.Sprintf("its charge is above its cost: the outcome %q closes the charge, with a note of what the wallet "+
				"shows", shipping.OutcomeCharged)
		}
	case r.Step == StepFailed, r.Step == StepPurchased && charged:
		r.Step = StepClosed
	case r.Step == StepPurchasing && charged, r.Step == StepAnalyzed && byHand && charged:
		r.Step = StepPurchased
	case r.Step == StepPurchasing, byHand && !r.final():
		r.Step = StepAnalyzed // the price stays so that the outcome can be corrected; it does not count
	case r.Step == "":
		return "the journal has no record of it: check the path of the journal, and the key, which is the id of the " +
			"shipment unless Item.Key is set"
	case r.final():
		return fmt.Sprintf("it is %s, and no run purchases it again; if its charge seems wrong, compare the wallet's "+
			"transactions; to buy more, use an item with another Key and with Documents", r.Step)
	case r.Step == StepAnalyzed:
		return "the batch has not purchased it; leave it out if it was purchased elsewhere; to have it analyzed again, " +
			fmt.Sprintf("use the outcome %q", shipping.OutcomeNotCharged)
	default:
		return fmt.Sprintf("its last record is %q, which a run has written; this outcome is only for an item in %q, "+
			"or one with an earlier outcome by hand", r.Step, StepPurchasing)
	}
	return ""
}
