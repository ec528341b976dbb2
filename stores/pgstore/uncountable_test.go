package pgstore_test

import (
	"crypto/rand"
	"errors"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/stores/pgstore"
)

// A record of a past event is kept also if the batch holds money that no budget can count. Only a purchase
// that is still to come is refused.
func TestBatchJournal_KeepsWhatHappenedIfTheSumCannotBeCounted(t *testing.T) {
	for name, foreign := range map[string]batch.Record{
		"another currency": {Amount: amount(t, "5"), Currency: "USD"},
		"an unknown price": {},
		"less than 0":      {Amount: amount(t, "-1"), Currency: "NGN"},
		"an overflow":      {Amount: amount(t, "900000000000000000"), Currency: "NGN"},
	} {
		t.Run(name, func(t *testing.T) {
			journal := pgstore.NewBatchJournal(connect(t), t.Name()+rand.Text(), 0)
			budget := &shipping.Budget{Amount: amount(t, "900000000000000000"), Currency: "NGN"}
			mine := batch.Record{Key: "a", Step: batch.StepPurchasing, RequestID: "RD-1", Documents: []shipping.DocumentType{"FDA"}, Amount: amount(t, "10"), Currency: "NGN"}
			first := claim(t, journal, "a")
			if _, err := first.Append(t.Context(), mine, budget); err != nil {
				t.Fatal(err)
			}
			foreign.Key, foreign.Step, foreign.Documents = "b", batch.StepPurchased, mine.Documents
			keep(t, claim(t, journal, "b"), foreign)
			mine.Step, mine.Amount = batch.StepPurchased, amount(t, "300000000000000000")
			if _, err := first.Append(t.Context(), mine, budget); err == nil {
				t.Error("a sum that cannot be counted was")
			}
			if got := first.Record(); got.Step != batch.StepPurchased {
				t.Errorf("the claim has %+v", got)
			}
			release(t, first)
			if got := claim(t, journal, "a").Record(); got.Step != batch.StepPurchased || got.Amount != mine.Amount {
				t.Errorf("kept %+v", got)
			}
			later := batch.Record{Key: "c", Step: batch.StepPurchasing, Documents: mine.Documents, Amount: amount(t, "1"), Currency: "NGN"}
			next := claim(t, journal, "c")
			if _, err := next.Append(t.Context(), later, budget); err == nil {
				t.Error("a purchase within a sum that cannot be counted was kept")
			}
			release(t, next)
			if got := claim(t, journal, "c").Record(); got.Step != "" {
				t.Errorf("kept %+v", got)
			}
			if _, err := journal.Committed(t.Context(), "", *budget); !errors.Is(err, shipping.ErrOverBudget) && !errors.Is(err, shipping.ErrAmountOverflow) {
				t.Errorf("the sum: %v", err)
			}
		})
	}
}

// Spaces and the case of letters do not make another currency, as in the journals of one process: a batch whose budget
// was in "ngn" refused to continue with the purchases in "NGN".
func TestBatchJournal_CountsACurrencyInAnySpelling(t *testing.T) {
	journal := pgstore.NewBatchJournal(connect(t), t.Name()+rand.Text(), 0)
	// What was not purchased, and what has no documents, needs no price.
	for _, record := range []batch.Record{{Key: "d", Step: batch.StepAnalyzed, Documents: []shipping.DocumentType{"FDA"}}, {Key: "e", Step: batch.StepFailed}} {
		keep(t, claim(t, journal, record.Key), record)
	}
	for key, currency := range map[string]string{"a": "NGN", "b": "ngn", "c": " Ngn "} {
		record := batch.Record{Key: key, Step: batch.StepPurchased, Documents: []shipping.DocumentType{"FDA"}, Amount: amount(t, "5"), Currency: currency}
		keep(t, claim(t, journal, key), record)
	}
	for _, currency := range []string{"NGN", "ngn", " nGN"} {
		sum, err := journal.Committed(t.Context(), "", shipping.Budget{Amount: amount(t, "100"), Currency: currency})
		if err != nil || sum.String() != "15" {
			t.Errorf("%q: %s, %v", currency, sum, err)
		}
	}
}
