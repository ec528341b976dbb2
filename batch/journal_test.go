package batch_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
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
		step   shipping.Step
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
			if _, err := journal.Committed(t.Context(), "", *budget); err != nil {
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
		if committed, err := journal.Committed(t.Context(), "", *budget); err != nil || committed != shippingtest.Amount(t, step.want) {
			t.Errorf("%+v: %s committed, %v", step, committed, err)
		}
	}
	if committed, err := journal.Committed(t.Context(), "", *budget); err != nil || committed != shippingtest.Amount(t, "300") {
		t.Errorf("at the end: %s committed, %v", committed, err)
	}
	dollars := &shipping.Budget{Amount: shippingtest.Amount(t, "1000"), Currency: "USD"}
	_, sum := journal.Committed(t.Context(), "", *dollars)
	_, purchase := claims["b"].Append(t.Context(), batch.Record{Key: "b", Step: batch.StepPurchasing, RequestID: "RD-1"}, dollars)
	if !errors.Is(sum, shipping.ErrOverBudget) || !errors.Is(purchase, shipping.ErrOverBudget) {
		t.Errorf("naira are counted against dollars: %v, %v", sum, purchase)
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
			if err := batch.Resolve(t.Context(), journal, "SH-1", shipping.OutcomeCharged, "seen"); !errors.Is(err, batch.ErrInUse) {
				t.Errorf("an item is closed by hand at the same time: %v", err)
			}
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

// An item that was closed by hand with the wrong outcome could not be corrected: one closed as charged waited for a
// draft in every run, and one closed as not charged did not count against the budget.
func TestResolveBatchItem_CorrectsAnOutcomeGivenByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for status, tc := range map[string]struct {
			wrong, right shipping.PurchaseOutcome
			state        batch.State // of the item after the wrong one
			committed    string
			purchases    int
		}{
			"draft":     {shipping.OutcomeCharged, shipping.OutcomeNotCharged, batch.StateWaiting, "100", 1},
			"completed": {shipping.OutcomeNotCharged, shipping.OutcomeCharged, batch.StateError, "0", 0},
		} {
			service := &walletService{}
			service.put("RD-SH-1", status)
			journal := newMemoryJournal(t, purchasing(t, "SH-1"))
			run := func(outcome shipping.PurchaseOutcome) *batch.Report {
				if err := batch.Resolve(t.Context(), journal, "SH-1", outcome, "the wallet's list"); err != nil {
					t.Fatal(err)
				}
				report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(1), &batch.Options{
					Select: shipping.SelectAll, Budget: nairaBudget(t, "100"), Journal: journal,
				})
				if err != nil {
					t.Fatal(err)
				}
				return report
			}
			report := run(tc.wrong)
			if result := report.Results[0]; result.State != tc.state || result.Err == nil || report.Committed.String() != tc.committed || result.Amount.String() != tc.committed {
				t.Errorf("%s, wrong: %+v", status, report)
			}
			report = run(tc.right)
			if report.Count(batch.StateCompleted) != 1 || report.Committed != shippingtest.Amount(t, "100") || service.purchases != tc.purchases {
				t.Errorf("%s, right: %+v, %d purchases", status, report, service.purchases)
			}
			if note := lastRecord(t, journal, "SH-1").Note; (note == "") != (tc.purchases == 1) {
				t.Errorf("%s: the note of the last record is %q", status, note) // a new purchase was not closed by hand
			}
		}
	})
}

func TestResolveBatchItem_RefusesWhatIsNotOpen(t *testing.T) {
	t.Parallel()
	purchased := purchasing(t, "done")
	purchased.Step = batch.StepPurchased
	ended := purchasing(t, "ended")
	ended.Step, ended.Note = batch.StepCompleted, "seen"
	unanalyzed := batch.Record{Key: "unanalyzed", Step: batch.StepFailed, RequestID: "RD-1"}
	records := []batch.Record{purchased, ended, purchasing(t, "open"), unanalyzed}
	journal := newMemoryJournal(t, records...)
	for name, tc := range map[string]struct {
		journal batch.Journal
		key     string
		outcome shipping.PurchaseOutcome
		note    string
		message string
	}{
		"not in purchasing":                  {journal, "done", shipping.OutcomeNotCharged, "n", `its last record is "purchased", which a run has written`},
		"purchased by hand, and ended since": {journal, "ended", shipping.OutcomeNotCharged, "n", `it has ended, with the record "completed"`},
		"a failed analysis":                  {journal, "unanalyzed", shipping.OutcomeCharged, "n", `use the outcome "not charged"`},
		"not there":                          {journal, "other", shipping.OutcomeCharged, "n", "no record"},
		"unknown":                            {journal, "open", shipping.OutcomeUnknown, "n", `got "unknown"`},
		"no note":                            {journal, "open", shipping.OutcomeCharged, "", "note"},
		"a note with NUL":                    {journal, "open", shipping.OutcomeCharged, "\x00", "NUL"},
		"no key":                             {journal, "", shipping.OutcomeCharged, "n", "key"},
		"no journal":                         {nil, "open", shipping.OutcomeCharged, "n", "OpenFile"},
	} {
		err := batch.Resolve(t.Context(), tc.journal, tc.key, tc.outcome, tc.note)
		if !errors.Is(err, shipping.ErrInvalidRequest) || !strings.Contains(err.Error(), tc.message) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, record := range records {
		if last := lastRecord(t, journal, record.Key); last.Step != record.Step || last.Note != record.Note {
			t.Errorf("a record was written: %+v", last)
		}
	}
}
