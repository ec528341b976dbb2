package batch_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// journals are the journals of one process.
func journals(t *testing.T) map[string]batch.Journal {
	t.Helper()
	file := openJournal(t, filepath.Join(t.TempDir(), "journal"))
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	return map[string]batch.Journal{"in memory": batch.Memory(), "in a file": file}
}

func TestJournal_AnItemIsInOneHandUntilItIsReleased(t *testing.T) {
	t.Parallel()
	for name, journal := range journals(t) {
		first, err := journal.Claim(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := journal.Claim(t.Context(), "a"); !errors.Is(err, batch.ErrItemTaken) {
			t.Errorf("%s: claimed twice: %v", name, err)
		}
		if _, err := first.Append(t.Context(), batch.Record{Key: "b", Step: batch.StepAnalyzed}, nil); !errors.Is(err, shipping.ErrInvalidRequest) {
			t.Errorf("%s: a record of another item is kept: %v", name, err)
		}
		if _, err := first.Append(t.Context(), batch.Record{Key: "a", Step: batch.StepAnalyzed, RequestID: "RD-1"}, nil); err != nil {
			t.Fatal(err)
		}
		if err := first.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		second, err := journal.Claim(t.Context(), "a")
		if err != nil || second.Record().RequestID != "RD-1" || journal.Lease() != 0 {
			t.Errorf("%s: %+v, %v", name, second, err)
		}
		if _, err := first.Append(t.Context(), batch.Record{Key: "a", Step: batch.StepPurchasing}, nil); !errors.Is(err, batch.ErrItemTaken) {
			t.Errorf("%s: a released claim appends: %v", name, err)
		}
		if err := first.Release(t.Context()); err != nil { // changes nothing
			t.Error(err)
		}
		if _, err := journal.Claim(t.Context(), "a"); !errors.Is(err, batch.ErrItemTaken) {
			t.Errorf("%s: a claim was released by the one before it: %v", name, err)
		}
	}
}

// The committed sum follows from the records, whether or not they were appended with the budget, and whether or not the
// sum is read in between.
func TestJournal_CountsWhatIsCommitted(t *testing.T) {
	t.Parallel()
	for _, asked := range []bool{true, false} {
		for name, journal := range journals(t) {
			t.Run(fmt.Sprintf("%s, asked %v", name, asked), func(t *testing.T) { countsWhatIsCommitted(t, journal, asked) })
		}
	}
}

func countsWhatIsCommitted(t *testing.T, journal batch.Journal, asked bool) {
	t.Helper()
	budget := nairaBudget(t, "250")
	claims := map[string]batch.Claim{}
	for _, step := range []struct {
		key    string
		step   batch.Step
		amount string
		budget *shipping.Budget
		over   bool
		want   string
	}{
		{"a", batch.StepAnalyzed, "", budget, false, "0"},
		{"a", batch.StepPurchasing, "100", budget, false, "100"},
		{"b", batch.StepPurchasing, "100", nil, false, "200"},
		{"c", batch.StepPurchasing, "50.01", budget, true, "200"},
		{"c", batch.StepPurchasing, "50", budget, false, "250"},
		{"b", batch.StepAnalyzed, "", budget, false, "150"},
		{"a", batch.StepPurchased, "300", budget, false, "350"},
		{"b", batch.StepPurchasing, "1", budget, true, "350"},
		{"a", batch.StepCompleted, "300", nil, false, "350"},
		{"c", batch.StepAnalyzed, "", nil, false, "300"},
	} {
		if claims[step.key] == nil {
			claim, err := journal.Claim(t.Context(), step.key)
			if err != nil {
				t.Fatal(err)
			}
			claims[step.key] = claim
		}
		record := batch.Record{Key: step.key, Step: step.step, RequestID: "RD-1"}
		if step.amount != "" {
			record.Amount, record.Currency, record.Documents = shippingtest.Amount(t, step.amount), "NGN", []shipping.DocumentType{"FDA"}
		}
		if !asked && step.budget == nil { // the sum that was asked for before is out of date afterwards
			if _, err := journal.Committed(t.Context(), *budget); err != nil {
				t.Fatal(err)
			}
		}
		committed, err := claims[step.key].Append(t.Context(), record, step.budget)
		if errors.Is(err, shipping.ErrOverBudget) != step.over || !step.over && err != nil {
			t.Errorf("%+v: %v", step, err)
		}
		if step.budget != nil && !step.over && committed != shippingtest.Amount(t, step.want) {
			t.Errorf("%+v: Append returns %s", step, committed)
		}
		if !asked {
			continue
		}
		if committed, err := journal.Committed(t.Context(), *budget); err != nil || committed != shippingtest.Amount(t, step.want) {
			t.Errorf("%+v: %s committed, %v", step, committed, err)
		}
	}
	if committed, err := journal.Committed(t.Context(), *budget); err != nil || committed != shippingtest.Amount(t, "300") {
		t.Errorf("at the end: %s committed, %v", committed, err)
	}
	if _, err := journal.Committed(t.Context(), shipping.Budget{Amount: shippingtest.Amount(t, "1"), Currency: "USD"}); !errors.Is(err, shipping.ErrOverBudget) {
		t.Errorf("naira are counted against dollars: %v", err)
	}
}

// A batch with a journal that is closed or in use returned no report, so that a program that logs the report first
// panicked. It begins nothing, and the error states what to do.
func TestBatch_ReportsAJournalThatItCannotUse(t *testing.T) {
	t.Parallel()
	journal := openJournal(t, filepath.Join(t.TempDir(), "journal"))
	service := &walletService{}
	try := func(want error, message string) {
		t.Helper()
		report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(2), &batch.Options{Journal: journal})
		if !errors.Is(err, want) || !strings.Contains(err.Error(), message) || report.Count(batch.StateWaiting) != 2 ||
			report.Results[1].Key != "SH-2" || !errors.Is(report.Results[1].Err, want) {
			t.Errorf("%+v, %v", report, err)
		}
	}
	_, err := batch.Run(t.Context(), walletClient(t, &walletService{}), walletItems(1), &batch.Options{
		Journal: journal,
		Progress: func(batch.Event) {
			try(batch.ErrInUse, "another Run or Resolve of this process uses it; wait until it returns")
		},
	})
	if err := errors.Join(err, journal.Close()); err != nil {
		t.Fatal(err)
	}
	try(os.ErrClosed, "open it again with OpenFile")
	if len(service.requests) != 0 {
		t.Errorf("%d requests", len(service.requests))
	}
}
