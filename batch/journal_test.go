package batch_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/batch/journaltest"
	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
	"github.com/shipping-go/shipping/internal/shippingtest"
)

func TestJournal_ObeysTheRules(t *testing.T) {
	t.Parallel()
	t.Run("in memory", func(t *testing.T) {
		journaltest.Run(t, func(*testing.T) batch.Journal { return batch.Memory() })
	})
	t.Run("in a file", func(t *testing.T) {
		journaltest.Run(t, func(t *testing.T) batch.Journal { return openJournal(t, filepath.Join(t.TempDir(), "journal")) })
	})
}

// If its journal was in use, damaged or closed, a batch returned no report, and a program that logs the report first
// panicked. A truncation after the last record of a run, or between two runs with an open journal, went unnoticed. Now
// such a batch begins nothing, and the error states what to do.
func TestBatch_ReportsAJournalThatItCannotUse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	journal, service := openJournal(t, path), &walletService{}
	try := func(want error, message string) {
		t.Helper()
		report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(2), &batch.Options{Journal: journal})
		if !errors.Is(err, want) || !strings.Contains(err.Error(), message) || report.Count(batch.StateWaiting) != 2 ||
			report.Results[1].Key != "SH-2" || !errors.Is(report.Results[1].Err, want) {
			t.Errorf("%+v, %v", report, err)
		}
		err = batch.Resolve(t.Context(), journal, "SH-1", shipping.OutcomeCharged, "seen")
		shippingtest.WantError(t, "an item is closed by hand", err, want)
	}
	report, err := batch.Run(t.Context(), walletClient(t, &walletService{}), walletItems(1), &batch.Options{
		Journal: journal,
		Progress: func(batch.Event) {
			try(batch.ErrInUse, "another Run or Resolve of this process uses it; wait until it returns")
			if err := os.Truncate(path, 0); err != nil { // after the last record
				t.Error(err)
			}
		},
	})
	if !errors.Is(err, batch.ErrDamaged) || len(report.Results) != 1 {
		t.Errorf("truncated: %+v, %v", report, err)
	}
	try(batch.ErrDamaged, "damaged")
	journal = openJournal(t, filepath.Join(t.TempDir(), "journal"))
	shippingtest.NoError(t, journal.Close())
	try(os.ErrClosed, "is closed; open it again")
	shippingtest.Diff(t, "requests", 0, len(service.requests))
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
			open := purchasing(t, "SH-1")
			open.Period = "Monday"
			journal := newMemoryJournal(t, open)
			run := func(outcome shipping.PurchaseOutcome) *batch.Report {
				shippingtest.NoError(t, batch.Resolve(t.Context(), journal, "SH-1", outcome, "the wallet's list"))
				report := shippingtest.Must(batch.Run(t.Context(), walletClient(t, service), walletItems(1), &batch.Options{
					Select: shipping.SelectAll, Budget: nairaBudget(t, "100"), Journal: journal, Period: "Monday",
				}))(t)
				// The period of an amount that is not counted was given.
				if result := report.Results[0]; (result.Period == "Monday") != result.Amount.Known() ||
					result.Note != lastRecord(t, journal, "SH-1").Note {
					t.Errorf("%s: %+v", status, result)
				}
				return report
			}
			report := run(tc.wrong)
			if result := report.Results[0]; result.State != tc.state || result.Err == nil || result.Note == "" ||
				report.Committed.String() != tc.committed || result.Amount.String() != tc.committed {
				t.Errorf("%s, wrong: %+v", status, report)
			}
			report = run(tc.right)
			if report.Count(batch.StateCompleted) != 1 || report.Committed != shippingtest.Amount(t, "100") ||
				service.purchases != tc.purchases {
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
	draft := batch.Record{Key: "draft", Step: batch.StepAnalyzed, RequestID: "RD-2"}
	above := ended
	above.Key, above.Note, above.Overcharge = "above", "", "900 NGN"
	generating := purchased
	generating.Key, generating.Overcharge = "generating", "900 NGN"
	records := []batch.Record{purchased, ended, above, generating, purchasing(t, "open"), unanalyzed, draft}
	journal := newMemoryJournal(t, records...)
	for name, tc := range map[string]struct {
		journal batch.Journal
		key     string
		outcome shipping.PurchaseOutcome
		note    string
		message string
	}{
		"not in purchasing": {journal, "done", shipping.OutcomeNotCharged, "n",
			`its last record is "purchased", which a run has written`},
		"purchased by hand, and ended since": {journal, "ended", shipping.OutcomeNotCharged, "n",
			"it is completed, and no run purchases it again"},
		// No error named the outcome that closes a charge above its cost.
		"completed, above its cost": {journal, "above", shipping.OutcomeNotCharged, "n", `"charged" closes the charge`},
		"purchased, above its cost": {journal, "generating", shipping.OutcomeNotCharged, "n", `the outcome "charged" closes`},
		"a draft": {journal, "draft", shipping.OutcomeCharged, "n",
			`the batch has not purchased it; leave it out if it was purchased elsewhere`},
		"a failed analysis": {journal, "unanalyzed", shipping.OutcomeCharged, "n", `use the outcome "not charged"`},
		"not there":         {journal, "other", shipping.OutcomeCharged, "n", "no record"},
		"unknown":           {journal, "open", shipping.OutcomeUnknown, "n", `got "unknown"`},
		"no note":           {journal, "open", shipping.OutcomeCharged, "", "note"},
		"a note with NUL":   {journal, "open", shipping.OutcomeCharged, "\x00", "NUL"},
		"no key":            {journal, "", shipping.OutcomeCharged, "n", "key"},
		"no journal":        {nil, "open", shipping.OutcomeCharged, "n", "OpenFile"},
	} {
		err := batch.Resolve(t.Context(), tc.journal, tc.key, tc.outcome, tc.note)
		shippingtest.WantErrorWith(t, name, err, shipping.ErrInvalidRequest, tc.message)
	}
	for _, record := range records {
		if last := lastRecord(t, journal, record.Key); last.Step != record.Step || last.Note != record.Note {
			t.Errorf("a record was written: %+v", last)
		}
	}
	shippingtest.Must(journal.Claim(t.Context(), "open"))(t)
	err := batch.Resolve(t.Context(), journal, "open", shipping.OutcomeCharged, "n")
	shippingtest.WantError(t, "while a process has it", err, batch.ErrItemTaken)
}

// A claim of a journal of one process is for its item only, and accepts nothing after its release.
func TestClaim_AppendsToItsItemOnly(t *testing.T) {
	t.Parallel()
	claim := shippingtest.Must(batch.Memory().Claim(t.Context(), "a"))(t)
	_, other := claim.Append(t.Context(), batch.Record{Key: "b", Step: batch.StepAnalyzed}, nil, nil)
	released := errors.Join(claim.Release(t.Context()), claim.Release(t.Context()))
	_, late := claim.Append(t.Context(), batch.Record{Key: "a", Step: batch.StepAnalyzed}, nil, nil)
	if !errors.Is(other, shipping.ErrInvalidRequest) || released != nil || !errors.Is(late, batch.ErrItemTaken) {
		t.Errorf("%v; %v; %v", other, released, late)
	}
}
