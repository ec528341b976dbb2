package shipping

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ResolveBatchItem closes by hand a purchase whose outcome no run of the batch can settle, so that its
// reservation does not stay for ever. Look at the wallet's transactions first. With [OutcomeCharged] the
// next run waits for the documents; with [OutcomeNotCharged] the reservation is given back, and the next
// run purchases the item if the request still reads as a draft.
//
// The item must be one whose last record is [BatchPurchasing], and the journal must not be in use by a
// batch. The note says why, and is kept in the record.
func ResolveBatchItem(ctx context.Context, journal BatchJournal, key string, outcome PurchaseOutcome, note string) error {
	if journal == nil {
		return invalidRequest("", "ResolveBatchItem", "needs a journal: open it with OpenBatchFile")
	}
	if file, ok := journal.(*BatchFile); ok {
		if err := file.begin(); err != nil {
			return err
		}
		defer file.end()
	}
	own, err := openOwnJournal(ctx, journal, nil)
	if err != nil {
		return err
	}
	return ResolveSharedBatchItem(ctx, own, key, outcome, note)
}

// ResolveSharedBatchItem is [ResolveBatchItem] for a journal that several processes share. The error is
// [ErrBatchItemTaken] while one of them works on the item.
func ResolveSharedBatchItem(ctx context.Context, journal SharedBatchJournal, key string, outcome PurchaseOutcome, note string) error {
	const function = "ResolveBatchItem"
	switch {
	case outcome != OutcomeCharged && outcome != OutcomeNotCharged:
		return invalidRequest("", function, fmt.Sprintf("needs the outcome %q or %q, and got %q", OutcomeCharged, OutcomeNotCharged, outcome))
	case note == "":
		return invalidRequest("", function, "needs a note that says how the outcome was found out")
	}
	if problem := textProblem(key, maxKey); problem != "" || key == "" {
		return invalidRequest("", function, "needs the key of an item that is in the journal")
	}
	claim, err := journal.Claim(ctx, key)
	if err != nil {
		return err
	}
	return errors.Join(resolve(ctx, claim, outcome, note), claim.Release(context.WithoutCancel(ctx)))
}

func resolve(ctx context.Context, claim BatchClaim, outcome PurchaseOutcome, note string) error {
	record := claim.Record()
	if record.Step != BatchPurchasing {
		where := fmt.Sprintf("its last record is %q", record.Step)
		if record.Step == "" {
			where = "the journal has no record of it"
		}
		return invalidRequest("", "ResolveBatchItem", fmt.Sprintf("cannot close the item %s: %s, and only an item in %q is closed by hand",
			quoteShort(record.Key), where, BatchPurchasing))
	}
	record.Step, record.Note, record.At = BatchPurchased, note, time.Now().UTC()
	if outcome == OutcomeNotCharged {
		record = record.notCharged()
	}
	if err := record.validate(); err != nil {
		return err
	}
	_, err := claim.Append(ctx, record, nil)
	return err
}
