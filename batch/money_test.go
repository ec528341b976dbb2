package batch_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/batchtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// memoryJournal is a journal in memory that keeps every record.
type memoryJournal struct {
	batch.Journal
	mu      sync.Mutex
	records []batch.Record
}

// newMemoryJournal returns a journal with the records of earlier runs.
func newMemoryJournal(t *testing.T, records ...batch.Record) *memoryJournal {
	t.Helper()
	j := &memoryJournal{Journal: batch.Memory()}
	for _, record := range records {
		if err := appendTo(t.Context(), j, record); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

// appendTo appends one record under a new claim.
func appendTo(ctx context.Context, journal batch.Journal, record batch.Record) error {
	claim, err := journal.Claim(ctx, record.Key)
	if err != nil {
		return err
	}
	_, err = claim.Append(ctx, record, nil)
	return errors.Join(err, claim.Release(ctx))
}

func (j *memoryJournal) Claim(ctx context.Context, key string) (batch.Claim, error) {
	claim, err := j.Journal.Claim(ctx, key)
	return memoryClaim{claim, j}, err
}

type memoryClaim struct {
	batch.Claim
	journal *memoryJournal
}

func (c memoryClaim) Append(ctx context.Context, record batch.Record, budget *shipping.Budget) (shipping.Amount, error) {
	committed, err := c.Claim.Append(ctx, record, budget)
	if err == nil || errors.Is(err, shipping.ErrAmountOverflow) && record.Step != batch.StepPurchasing {
		c.journal.mu.Lock()
		defer c.journal.mu.Unlock()
		c.journal.records = append(c.journal.records, record)
	}
	return committed, err
}

// last is the last record of an item.
func (j *memoryJournal) last(key string) (last batch.Record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, record := range j.records {
		if record.Key == key {
			last = record
		}
	}
	return last
}

// drafted is the stored form of a purchase of CUSTOMS on a draft that the batch made.
func drafted(requestID string) *shipping.PurchaseRequest {
	return &shipping.PurchaseRequest{
		RequestID: requestID, DocumentTypes: []shipping.DocumentType{"CUSTOMS"}, Draft: shippingtest.DraftRecord(requestID), Sole: true,
	}
}

// purchasing is the record of an item whose purchase an earlier run left open.
func purchasing(t *testing.T, key string) batch.Record {
	t.Helper()
	return batch.Record{
		Key: key, Step: batch.StepPurchasing, RequestID: "RD-" + key, Documents: []shipping.DocumentType{"CUSTOMS"},
		Amount: shippingtest.Amount(t, "100"), Currency: "NGN", Purchase: drafted("RD-" + key),
	}
}

// A purchase that cannot be settled keeps its reservation, and the report contains the reason.
func TestBatch_AnUnsettledPurchaseKeepsItsReservation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &walletService{}
		service.put("RD-SH-1", "paused") // a state that decides nothing
		journal := newMemoryJournal(t, purchasing(t, "SH-1"))
		report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(2), &batch.Options{
			Select: shipping.SelectAll, Budget: nairaBudget(t, "150"), Journal: journal,
		})
		if err != nil {
			t.Fatal(err)
		}
		if first := report.Results[0]; first.State != batch.StateUnknown || first.Err == nil {
			t.Errorf("the open purchase: %+v", first)
		}
		if second := report.Results[1]; second.State != batch.StateOverBudget {
			t.Errorf("the other item: %+v", second)
		}
		if _, purchases := service.total(); purchases != 0 || report.Committed != shippingtest.Amount(t, "100") {
			t.Errorf("%d purchases, %s committed", purchases, report.Committed)
		}
	})
}

// An item that was in the middle of a purchase is unknown also if its turn did not come, with a reason.
func TestBatch_ReportsWhatIsStillUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		report, err := batch.Run(ctx, walletClient(t, &walletService{}), walletItems(1), &batch.Options{
			Journal: newMemoryJournal(t, purchasing(t, "SH-1")),
		})
		if !errors.Is(err, context.Canceled) || report.Count(batch.StateUnknown) != 1 || report.Results[0].Err == nil {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

// A reported charge below the draft's price, such as 0, frees no money. A charge above the price counts, and ends the
// purchases of the run.
func TestBatch_AReportedChargeNeverFreesMoney(t *testing.T) {
	for name, tc := range map[string]struct {
		fault     purchaseFault
		committed string
		purchases int
		differs   bool
	}{
		"the draft's price":      {purchaseFault{}, "200", 2, false},
		"nothing":                {purchaseFault{Report: `"currency":"NGN"`}, "200", 2, false},
		"zero":                   {purchaseFault{Report: `"charged_amount":0,"currency":"NGN"`}, "200", 2, true},
		"less":                   {purchaseFault{Report: `"charged_amount":1,"currency":"NGN"`}, "200", 2, true},
		"negative":               {purchaseFault{Report: `"charged_amount":-100,"currency":"NGN"`}, "200", 2, true},
		"not a number":           {purchaseFault{Report: `"charged_amount":"much","currency":"NGN"`}, "200", 2, false},
		"in dollars":             {purchaseFault{Report: `"charged_amount":90,"currency":"USD"`}, "100", 1, true},
		"more, in dollars":       {purchaseFault{Report: `"charged_amount":120,"currency":"USD"`}, "100", 1, true},
		"more":                   {purchaseFault{Charge: "120"}, "120", 1, true},
		"more, without currency": {purchaseFault{Charge: "120", Report: `"charged_amount":120`}, "120", 1, true},
		// In another spelling it was taken for another currency: ten charges of 100 were counted as 10 each.
		"more, in small letters": {purchaseFault{Charge: "120", Report: `"charged_amount":120,"currency":" ngn "`}, "120", 1, true},
		"more than the budget":   {purchaseFault{Charge: "900"}, "900", 1, true},
		"more than can be added": {purchaseFault{Charge: "999999999999999999"}, "999999999999999999", 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := &walletService{purchase: func(int) purchaseFault { return tc.fault }}
				journal := newMemoryJournal(t)
				options := batch.Options{Concurrency: 1, Select: shipping.SelectAll, Budget: nairaBudget(t, "250"), Journal: journal}
				var highest shipping.Amount
				options.Progress = func(event batch.Event) {
					if event.Committed.Cmp(highest) < 0 {
						t.Errorf("committed went from %s to %s", highest, event.Committed)
					}
					highest = event.Committed
				}
				report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(3), &options)
				if err != nil {
					t.Fatal(err)
				}
				spent, purchases := service.total()
				if report.Committed != shippingtest.Amount(t, tc.committed) || purchases != tc.purchases || spent.Cmp(report.Committed) > 0 {
					t.Errorf("%s committed after %d purchases, %s spent", report.Committed, purchases, spent)
				}
				first := report.Results[0]
				if differs := first.Charged.Known() && (first.Charged != first.Amount || first.ChargedCurrency != first.Currency); first.State != batch.StateCompleted || differs != tc.differs && tc.fault.Charge == "" {
					t.Errorf("%+v", first)
				}
				if last := report.Results[2]; last.State != batch.StateOverBudget || tc.fault.Charge != "" && !strings.Contains(last.Err.Error(), "whose draft shows 100.00") {
					t.Errorf("%+v", last)
				}
				options.Progress = nil
				again, err := batch.Run(t.Context(), walletClient(t, service), walletItems(1), &options)
				if err != nil || again.Committed != report.Committed || again.Results[0].Charged != first.Charged {
					t.Errorf("the next run: %+v, %v", again, err)
				}
			})
		})
	}
}

// If the committed sum overflows, the batch ends; the sum never counts as less.
func TestBatch_AnOverflowOfTheSumEndsTheBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &walletService{purchase: func(n int) purchaseFault {
			return purchaseFault{Report: `"charged_amount":999999999999999999,"currency":"NGN"`}
		}}
		first := purchasing(t, "SH-0")
		first.Step = batch.StepCompleted
		journal := newMemoryJournal(t, first)
		options := batch.Options{Concurrency: 1, Select: shipping.SelectAll, Budget: nairaBudget(t, "250"), Journal: journal}
		_, err := batch.Run(t.Context(), walletClient(t, service), walletItems(3), &options)
		if !errors.Is(err, shipping.ErrAmountOverflow) {
			t.Errorf("the batch ended with %v", err)
		}
		if _, purchases := service.total(); purchases != 1 || journal.last("SH-1").Step != batch.StepPurchased {
			t.Errorf("%d purchases, %+v", purchases, journal.last("SH-1"))
		}
		if _, err := batch.Run(t.Context(), walletClient(t, service), walletItems(3), &options); !errors.Is(err, shipping.ErrAmountOverflow) {
			t.Errorf("the next run: %v", err)
		}
		if _, purchases := service.total(); purchases != 1 {
			t.Errorf("%d purchases", purchases)
		}
	})
}

// Money that cannot be compared with the budget stops a batch before it begins.
func TestBatch_RefusesAJournalWhoseMoneyCannotBeCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, change := range map[string]func(*batch.Record){
			"in USD":                  func(r *batch.Record) { r.Currency = "USD" },
			"price is not known":      func(r *batch.Record) { r.Amount = shipping.Amount{} },
			"purchase of SH-9 for -5": func(r *batch.Record) { r.Amount = shippingtest.Amount(t, "-5") },
		} {
			record := purchasing(t, "SH-9")
			record.Step = batch.StepPurchased
			change(&record)
			_, err := batch.Run(t.Context(), walletClient(t, &walletService{}), walletItems(1), &batch.Options{
				Select: shipping.SelectAll, Budget: nairaBudget(t, "250"), Journal: newMemoryJournal(t, record),
			})
			if !errors.Is(err, shipping.ErrOverBudget) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// An item that an earlier run analyzed is purchased only if its request is still a draft. The request may have been
// purchased elsewhere in the meantime.
func TestBatch_PurchasesOnlyWhatStillReadsAsADraft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, status := range []string{"draft", "purchasing", "processing", "completed", "failed", "archived"} {
			service := &walletService{}
			service.put("RD-SH-1", status)
			journal := newMemoryJournal(t, batch.Record{Key: "SH-1", Step: batch.StepAnalyzed, RequestID: "RD-SH-1"})
			selected := false
			report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(1), &batch.Options{
				Journal: journal,
				Select: func(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
					selected = true
					return shipping.SelectAll(draft)
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			result, purchases := report.Results[0], service.purchases
			if status == "draft" {
				if purchases != 1 || result.State != batch.StateCompleted || journal.last("SH-1").Purchase != nil {
					t.Errorf("draft: %d purchases, %+v", purchases, result)
				}
				continue
			}
			if purchases != 0 || selected || result.State != batch.StateError || !strings.Contains(result.Err.Error(), `"`+status+`"`) ||
				!strings.Contains(result.Err.Error(), "Regulatory.Wait") {
				t.Errorf("%s: %d purchases, %+v", status, purchases, result)
			}
		}
	})
}

// A batch that runs again with the same open journal purchases nothing twice, and a journal serves one batch at a time.
func TestBatch_RunsAgainWithTheSameOpenJournal(t *testing.T) {
	t.Parallel()
	service := &walletService{}
	client := walletClient(t, service)
	journal := openJournal(t, filepath.Join(t.TempDir(), "journal"))
	defer journal.Close()
	options := batch.Options{
		Select: shipping.SelectAll, Budget: nairaBudget(t, "1000"), Journal: journal,
		Progress: func(event batch.Event) {
			_, err := batch.Run(t.Context(), client, nil, &batch.Options{Journal: journal})
			if !errors.Is(err, batch.ErrInUse) {
				t.Errorf("a second batch at the same time: %v", err)
			}
			if err := batch.Resolve(t.Context(), journal, "SH-1", shipping.OutcomeCharged, "seen"); !errors.Is(err, batch.ErrInUse) {
				t.Errorf("an item is closed by hand at the same time: %v", err)
			}
		},
	}
	for run := range 2 {
		report, err := batch.Run(t.Context(), client, walletItems(3), &options)
		if err != nil || report.Count(batch.StateCompleted) != 3 || report.Committed != shippingtest.Amount(t, "300") {
			t.Errorf("run %d: %+v, %v", run, report, err)
		}
	}
	if spent, purchases := service.total(); purchases != 3 || spent != shippingtest.Amount(t, "300") {
		t.Errorf("%d purchases for %s", purchases, spent)
	}
}

// A request id that no journal can store fails its item only.
func TestBatch_ARequestIDThatNoJournalCanKeepFailsItsItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &walletService{}
		odd := roundTrip(func(r *http.Request) (*http.Response, error) {
			if response, err := service.RoundTrip(r); !strings.HasSuffix(r.URL.Path, "/analyze") || len(service.requests) > 1 {
				return response, err
			}
			return reply(200, `{"request_id":"RD-\u0000","status":"draft","source":"shipment","line_items":[],"available_documents":[]}`)
		})
		report, err := batch.Run(t.Context(), walletClient(t, odd), walletItems(2), &batch.Options{
			Concurrency: 1, Select: shipping.SelectAll, Journal: newMemoryJournal(t),
		})
		if err != nil || report.Results[0].State != batch.StateError || !strings.Contains(report.Results[0].Err.Error(), "NUL") || report.Results[1].State != batch.StateCompleted {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

// A batch whose journal was moved, or truncated in place, ends before the next purchase. Once the file is back, a run
// buys what is left.
func TestBatch_EndsWhenItsJournalIsMovedOrTruncated(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(path string) error
		want   error
	}{
		"moved": {func(path string) error { return os.Rename(path, path+".1") }, batch.ErrMoved},
		"truncated": {func(path string) error { // as logrotate with copytruncate does
			return errors.Join(os.WriteFile(path+".1", contentOf(t, path), 0o600), os.Truncate(path, 0))
		}, batch.ErrDamaged},
	} {
		path := filepath.Join(t.TempDir(), "journal")
		service := &walletService{}
		run := func(progress func(batch.Event)) (*batch.Report, error) {
			journal, err := batch.OpenFile(path)
			if err != nil {
				return nil, err
			}
			defer journal.Close()
			return batch.Run(t.Context(), walletClient(t, service), walletItems(5), &batch.Options{
				Concurrency: 1, Select: shipping.SelectAll, Journal: journal, Poll: shipping.PollOptions{MinInterval: time.Millisecond},
				Progress: progress,
			})
		}
		report, err := run(func(event batch.Event) {
			if event.Item.Key == "SH-3" && event.Step == "analyzed" {
				if err := tc.change(path); err != nil {
					t.Error(err)
				}
			}
		})
		if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), "before the next run") {
			t.Errorf("%s: the batch ended with %v", name, err)
		}
		if _, purchases := service.total(); purchases != 2 || len(report.Results) != 5 {
			t.Errorf("%s: %d purchases, %+v", name, purchases, report)
		}
		if tc.want == batch.ErrDamaged {
			if _, err := run(nil); !errors.Is(err, tc.want) {
				t.Errorf("%s: the next run ended with %v", name, err)
			}
		}
		if err := os.Rename(path+".1", path); err != nil {
			t.Fatal(err)
		}
		if report, err := run(nil); err != nil || report.Count(batch.StateCompleted) != 5 {
			t.Errorf("%s: with the file in its place: %+v, %v", name, report, err)
		}
		if _, purchases := service.total(); purchases != 5 {
			t.Errorf("%s: %d purchases of 5 items", name, purchases)
		}
	}
}

// A journal that was truncated after the last record of a run, or between two runs with the same open journal, went
// unnoticed.
func TestBatch_ReportsAJournalThatIsTruncatedAfterItsLastRecord(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	journal := openJournal(t, path)
	defer journal.Close()
	service := &walletService{}
	options := batch.Options{Select: shipping.SelectAll, Journal: journal, Poll: shipping.PollOptions{MinInterval: time.Millisecond}}
	options.Progress = func(event batch.Event) {
		if event.Ended == event.Total {
			if err := os.Truncate(path, 0); err != nil {
				t.Error(err)
			}
		}
	}
	for run := range 2 {
		report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(2), &options)
		if !errors.Is(err, batch.ErrDamaged) || len(report.Results) != 2 {
			t.Errorf("run %d: %+v, %v", run, report, err)
		}
		options.Progress = nil
	}
	if err := batch.Resolve(t.Context(), journal, "SH-1", shipping.OutcomeCharged, "seen"); !errors.Is(err, batch.ErrDamaged) {
		t.Errorf("an item is closed by hand: %v", err)
	}
	if _, purchases := service.total(); purchases != 2 || len(service.requests) != 2 {
		t.Errorf("%d purchases, %d requests", purchases, len(service.requests))
	}
}

// A purchase that no run can settle is closed by hand, and the next run continues.
func TestResolveBatchItem_ClosesWhatCannotBeSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, outcome := range []shipping.PurchaseOutcome{shipping.OutcomeCharged, shipping.OutcomeNotCharged} {
			service := &walletService{}
			service.put("RD-SH-1", map[shipping.PurchaseOutcome]string{shipping.OutcomeCharged: "completed", shipping.OutcomeNotCharged: "draft"}[outcome])
			journal := newMemoryJournal(t, purchasing(t, "SH-1"))
			if err := batch.Resolve(t.Context(), journal, "SH-1", outcome, "the wallet's list of 5 January"); err != nil {
				t.Fatal(err)
			}
			last := journal.last("SH-1")
			want := batch.StepPurchased
			if outcome == shipping.OutcomeNotCharged {
				want = batch.StepAnalyzed
			}
			if last.Step != want || last.Note != "the wallet's list of 5 January" || last.At.IsZero() || last.RequestID != "RD-SH-1" {
				t.Errorf("%s: %+v", outcome, last)
			}
			report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(1), &batch.Options{
				Select: shipping.SelectAll, Budget: nairaBudget(t, "100"), Journal: journal,
			})
			if err != nil || report.Count(batch.StateCompleted) != 1 || report.Committed != shippingtest.Amount(t, "100") {
				t.Errorf("%s: %+v, %v", outcome, report, err)
			}
			if want := map[bool]int{true: 0, false: 1}[outcome == shipping.OutcomeCharged]; service.purchases != want {
				t.Errorf("%s: %d purchases", outcome, service.purchases)
			}
		}
	})
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
		}
	})
}

// Outcomes that were set by hand are in the file, and the last one counts.
func TestResolveBatchItem_KeepsTheOutcomeInAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	journal := openJournal(t, path)
	if err := appendTo(t.Context(), journal, purchasing(t, "SH-1")); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		outcome   shipping.PurchaseOutcome
		step      batch.Step
		committed string
	}{
		{shipping.OutcomeNotCharged, batch.StepAnalyzed, "0"},
		{shipping.OutcomeCharged, batch.StepPurchased, "100"},
		{shipping.OutcomeNotCharged, batch.StepAnalyzed, "0"},
		{shipping.OutcomeCharged, batch.StepPurchased, "100"},
	} {
		if err := batch.Resolve(t.Context(), journal, "SH-1", tc.outcome, "seen"); err != nil {
			t.Fatal(err)
		}
		if err := journal.Close(); err != nil {
			t.Fatal(err)
		}
		journal = openJournal(t, path)
		committed, err := journal.Committed(t.Context(), *nairaBudget(t, "1"))
		records, _ := journal.Records()
		if last := records[len(records)-1]; err != nil || committed.String() != tc.committed || last.Step != tc.step || last.Note != "seen" {
			t.Errorf("%s: %+v, %s committed, %v", tc.outcome, last, committed, err)
		}
	}
	if err := journal.Close(); err != nil {
		t.Error(err)
	}
}

func TestResolveBatchItem_RefusesWhatIsNotOpen(t *testing.T) {
	t.Parallel()
	purchased := purchasing(t, "done")
	purchased.Step = batch.StepPurchased
	ended := purchasing(t, "ended")
	ended.Step, ended.Note = batch.StepCompleted, "seen"
	journal := newMemoryJournal(t, purchased, ended, purchasing(t, "open"))
	for name, tc := range map[string]struct {
		journal batch.Journal
		key     string
		outcome shipping.PurchaseOutcome
		note    string
		message string
	}{
		"not in purchasing":                  {journal, "done", shipping.OutcomeCharged, "n", `its last record is "purchased", which a run has written`},
		"purchased by hand, and ended since": {journal, "ended", shipping.OutcomeNotCharged, "n", `it has ended, with the record "completed"`},
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
	if len(journal.records) != 3 {
		t.Errorf("records were written: %+v", journal.records)
	}
}

func TestResolveSharedBatchItem_WaitsForTheOneThatHasIt(t *testing.T) {
	t.Parallel()
	journal := batchtest.NewJournal(time.Hour)
	claim, err := journal.Claim(t.Context(), "SH-1")
	if err == nil {
		_, err = claim.Append(t.Context(), purchasing(t, "SH-1"), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	resolve := func() error {
		return batch.Resolve(t.Context(), journal, "SH-1", shipping.OutcomeCharged, "seen")
	}
	if err := resolve(); !errors.Is(err, batch.ErrItemTaken) {
		t.Errorf("while another has the item: %v", err)
	}
	if err := claim.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := resolve(); err != nil {
		t.Error(err)
	}
	if claim, err = journal.Claim(t.Context(), "SH-1"); err != nil || claim.Record().Step != batch.StepPurchased || claim.Record().Note != "seen" {
		t.Errorf("%+v, %v", claim, err)
	}
}
