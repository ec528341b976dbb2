package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shipping-go/shipping"
)

// Resolve records the outcome of a purchase that no run of the batch can settle, or corrects an earlier Resolve.
// Check the wallet's transactions first. With [shipping.OutcomeCharged] the price counts against the
// budget, and the next run waits for the documents; with [shipping.OutcomeNotCharged] the reservation is released, and
// the next run purchases the item if the request still reads as a draft.
//
// The last record of the item must be [StepPurchasing], or that of an earlier Resolve. The error is [ErrItemTaken] while
// a batch works on the item, and [ErrInUse] while one uses a journal of [OpenFile]. The note is stored in the record
// as the reason.
func Resolve(ctx context.Context, journal Journal, key string, outcome shipping.PurchaseOutcome, note string) (err error) {
	const function = "Resolve"
	switch {
	case journal == nil:
		return invalid(function, "needs a journal: open it with OpenFile")
	case outcome != shipping.OutcomeCharged && outcome != shipping.OutcomeNotCharged:
		return invalid(function, fmt.Sprintf("needs the outcome %q or %q, and got %q", shipping.OutcomeCharged, shipping.OutcomeNotCharged, outcome))
	case note == "":
		return invalid(function, "needs a note that explains how the outcome was found")
	}
	if problem := textProblem(key, maxKey); problem != "" || key == "" {
		return invalid(function, "needs the key of an item that is in the journal")
	}
	if file, ok := journal.(*File); ok {
		if err := file.begin(); err != nil {
			return err
		}
		defer func() { err = cmp.Or(err, file.end()) }()
	}
	claim, err := journal.Claim(ctx, key)
	if err != nil {
		return err
	}
	err = resolve(ctx, claim, outcome, note)
	if released := claim.Release(context.WithoutCancel(ctx)); !errors.Is(released, ErrItemTaken) {
		err = errors.Join(err, released)
	}
	return err
}

func resolve(ctx context.Context, claim Claim, outcome shipping.PurchaseOutcome, note string) error {
	record := claim.Record()
	if problem := record.unresolvable(); problem != "" {
		return invalid("Resolve", fmt.Sprintf("cannot close the item %s: %s", quoteShort(record.Key), problem))
	}
	// The price stays in the record, so that the outcome can be corrected; it counts only while the step is committed.
	record.Step, record.Note, record.At = StepPurchased, note, time.Now().UTC()
	if outcome == shipping.OutcomeNotCharged {
		record.Step = StepAnalyzed
	}
	if err := record.validate(); err != nil {
		return err
	}
	_, err := claim.Append(ctx, record, nil)
	return err
}

// unresolvable returns why the outcome of the item is not decided by hand; empty if it is.
func (r Record) unresolvable() string {
	byHand := r.Note != "" // no other record has a note, until the item is purchased again or ends
	switch {
	case r.Step == StepPurchasing, byHand && !r.Step.Final():
		return ""
	case r.Step == "":
		return "the journal has no record of it"
	case r.Step.Final():
		return fmt.Sprintf("it has ended, with the record %q; compare the wallet's transactions with its charge", r.Step)
	}
	return fmt.Sprintf("its last record is %q, which a run has written; only an item in %q, or one that was closed by hand, is closed by hand",
		r.Step, StepPurchasing)
}
