package batch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shipping-go/shipping"
)

// Resolve closes a purchase whose outcome no run of the batch can settle, so that its reservation ends. Check the
// wallet's transactions first. With [shipping.OutcomeCharged] the next run waits for the documents; with
// [shipping.OutcomeNotCharged] the reservation is released, and the next run purchases the item if the request still
// reads as a draft.
//
// The item must be one whose last record is [StepPurchasing]. The error is [ErrItemTaken] while a batch works on
// the item, and [ErrInUse] while one uses a journal of [OpenFile]. The note is the reason, and is kept in the record.
func Resolve(ctx context.Context, journal Journal, key string, outcome shipping.PurchaseOutcome, note string) error {
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
		defer file.end()
	}
	claim, err := journal.Claim(ctx, key)
	if err != nil {
		return err
	}
	return errors.Join(resolve(ctx, claim, outcome, note), claim.Release(context.WithoutCancel(ctx)))
}

func resolve(ctx context.Context, claim Claim, outcome shipping.PurchaseOutcome, note string) error {
	record := claim.Record()
	if record.Step != StepPurchasing {
		where := fmt.Sprintf("its last record is %q", record.Step)
		if record.Step == "" {
			where = "the journal has no record of it"
		}
		return invalid("Resolve", fmt.Sprintf("cannot close the item %s: %s, and only an item in %q is closed by hand",
			quoteShort(record.Key), where, StepPurchasing))
	}
	record.Step, record.Note, record.At = StepPurchased, note, time.Now().UTC()
	if outcome == shipping.OutcomeNotCharged {
		record = record.notCharged()
	}
	if err := record.validate(); err != nil {
		return err
	}
	_, err := claim.Append(ctx, record, nil)
	return err
}
