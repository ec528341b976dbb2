package batch_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// A run counts the items that earlier runs completed as ended. If its context ends at the last item, nothing was interrupted.
func TestBatch_EndsWithoutErrorIfNothingIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, journal := walletClient(t, &walletService{}), batch.Memory()
		options := batch.Options{Select: shipping.SelectAll, Journal: journal, Concurrency: 1}
		if _, err := batch.Run(t.Context(), client, walletItems(2), &options); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var ended []int
		options.Progress = func(event batch.Event) {
			if event.Step != "ended" {
				return
			}
			if ended = append(ended, event.Ended); event.Ended == event.Total {
				cancel()
			}
		}
		report, err := batch.Run(ctx, client, walletItems(3), &options)
		if err != nil || ctx.Err() == nil || report.Count(batch.StateCompleted) != 3 {
			t.Errorf("%v, %d completed; ended: %v", err, report.Count(batch.StateCompleted), ended)
		}
	})
}

// punctual is a journal that refuses to count after the end of the context.
type punctual struct{ batch.Journal }

func (j punctual) Committed(ctx context.Context, budget shipping.Budget) (shipping.Amount, error) {
	if err := ctx.Err(); err != nil {
		return shipping.Amount{}, err
	}
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
		return shipping.Amount{}, context.DeadlineExceeded
	}
	return j.Journal.Committed(ctx, budget)
}

// The report of a cancelled run has the committed amount, also of other runs: the journal is read once more, with a
// new deadline.
func TestBatch_ACancelledRunReportsWhatIsCommitted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		journal := punctual{batch.Memory()}
		report, err := batch.Run(ctx, walletClient(t, &walletService{}), walletItems(3), &batch.Options{
			Select: shipping.SelectAll, Journal: journal, Budget: nairaBudget(t, "1000"), Concurrency: 1,
			Progress: func(event batch.Event) {
				if event.Step != "purchased" {
					return
				}
				other := batch.Record{Key: "SH-9", Step: batch.StepPurchased, RequestID: "RD-9", Amount: shippingtest.Amount(t, "100"), Currency: "NGN"}
				if err := appendTo(t.Context(), journal, other); err != nil {
					t.Error(err)
				}
				cancel()
			},
		})
		if !errors.Is(err, context.Canceled) || report.Committed != shippingtest.Amount(t, "200") {
			t.Errorf("%s is committed, %v", report.Committed, err)
		}
		if left := report.Results[2]; left.State != batch.StateWaiting || left.RequestID != "" {
			t.Errorf("an item was begun after the end of the context: %+v", left)
		}
	})
}

// The journal has the price of a purchase also without a budget, so that a later run with one can count it.
func TestBatch_RecordsThePriceWithoutABudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		journal := newMemoryJournal(t)
		if _, err := batch.Run(t.Context(), walletClient(t, &walletService{}), walletItems(1), &batch.Options{Select: shipping.SelectAll, Journal: journal}); err != nil {
			t.Fatal(err)
		}
		for _, record := range journal.records {
			if record.Step == batch.StepPurchasing && (record.Amount != shippingtest.Amount(t, "100") || record.Currency != "NGN") {
				t.Errorf("the record is %+v", record)
			}
		}
		if len(journal.records) != 4 {
			t.Errorf("%d records", len(journal.records))
		}
	})
}
