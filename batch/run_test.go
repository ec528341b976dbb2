package batch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/batchtest"
	"github.com/shipping-go/shipping/internal/randomtest"
	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/internal/wait"
)

// The callbacks share variables: if two of them ran at the same time, the race detector would report it, and the items
// that ended would be miscounted.
func TestBatch_CompletesEveryItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := bubbleServer(t)
		items := append(shipmentItems(server, 16),
			batch.Item{Analyze: shipping.AnalyzeRequest{FileURL: server.Invoices()[0]}},
			batch.Item{Key: "broken", Analyze: shipping.AnalyzeRequest{ShipmentID: "SH-MAGICFAILANALYSIS"}},
			batch.Item{Key: "unknown", Analyze: shipping.AnalyzeRequest{ShipmentID: "SH-NOSUCH"}})
		ended, polls := 0, 0
		options := batch.Options{
			Select: shipping.SelectAutomated, Journal: batch.Memory(),
			Poll:   shipping.PollOptions{Progress: func(shipping.PollEvent) { polls++ }}, // one call at a time, too
			Budget: &shipping.Budget{Amount: shippingtest.Amount(t, "10000000"), Currency: "NGN"},
			Progress: func(event batch.Event) {
				if event.Ended < ended || event.Ended+event.Waiting > event.Total || event.Total != len(items) {
					t.Errorf("%d ended after %d, %d wait, of %d", event.Ended, ended, event.Waiting, event.Total)
				}
				ended = event.Ended
			},
		}
		report, err := batch.Run(t.Context(), client, items, &options)
		if err != nil || ended != len(items) || polls < report.Count(batch.StateCompleted) {
			t.Fatalf("%d ended after %d polls, %v", ended, polls, err)
		}
		sum, count := shippingtest.Debits(t, client, server.Wallets()[0])
		if sum != report.Committed || len(count) != report.Count(batch.StateCompleted) {
			t.Errorf("the ledger contains %s for %d requests, the report %s for %d", sum, len(count), report.Committed,
				report.Count(batch.StateCompleted))
		}
		type end struct {
			state batch.State
			err   error
		}
		ends := map[string]end{"broken": {batch.StateFailed, shipping.ErrRequestFailed},
			"unknown": {batch.StateError, shipping.ErrNotFound}}
		for _, result := range report.Results {
			want, fails := ends[result.Key]
			if !fails {
				want.state = map[bool]batch.State{true: batch.StateCompleted, false: batch.StateDraft}[len(result.Documents) > 0]
			}
			if result.State != want.state || !errors.Is(result.Err, want.err) ||
				result.RequestID == "" && result.Key != "unknown" {
				t.Errorf("%+v, want %+v", result, want)
			}
		}
		shippingtest.NoError(t, server.Check())
		ended = 0
		again, err := batch.Run(t.Context(), client, items, &options)
		if err != nil || again.Committed != report.Committed || server.Requests(shipping.OpPurchase) != len(count) {
			t.Errorf("the next run: %s committed after %d purchases, %v", again.Committed, server.Requests(shipping.OpPurchase),
				err)
		}
		for i, result := range again.Results {
			if result.State != report.Results[i].State || (result.Err == nil) != (report.Results[i].Err == nil) {
				t.Errorf("the next run: %+v", result)
			}
		}
	})
}

// The log lines of eight items in parallel could not be distinguished.
func TestBatch_CallsNameTheirItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var mu sync.Mutex
		observed := map[string]bool{}
		client := shippingtest.NewClient(t, &walletService{purchase: func(int) purchaseFault {
			return purchaseFault{Refuse: true}
		}}, shipping.WithLogger(slog.New(slog.NewTextHandler(&log, nil))), shipping.WithObserver(shipping.Observer{
			Attempt: func(ctx context.Context, operation string, a shipping.Attempt) {
				mu.Lock()
				defer mu.Unlock()
				observed[operation+" "+batch.ItemKey(ctx)+" "+a.RequestID] = true
			},
		}))
		items := []batch.Item{{Key: "order 1", Analyze: shipping.AnalyzeRequest{ShipmentID: "SH-1"}},
			{Analyze: shipping.AnalyzeRequest{ShipmentID: "SH-2"}}}
		shippingtest.Must(batch.Run(t.Context(), client, items, &batch.Options{Select: shipping.SelectAll}))(t)
		shippingtest.Contains(t, "log", log.String(), `item="order 1" request_id=RD-SH-1`, "item=SH-2 request_id=RD-SH-2")
		shippingtest.Diff(t, "attempts", map[string]bool{
			"regulatory.analyze order 1 ": true, "regulatory.purchase order 1 RD-SH-1": true,
			"regulatory.get order 1 RD-SH-1": true, "regulatory.analyze SH-2 ": true,
			"regulatory.purchase SH-2 RD-SH-2": true, "regulatory.get SH-2 RD-SH-2": true,
		}, observed)
		shippingtest.Diff(t, "the key outside a batch", "", batch.ItemKey(t.Context()))
	})
}

// Items and settings are checked before anything is analyzed, settled or purchased. A negative QuietFor would settle an
// open purchase as not charged and free money that may be spent.
func TestBatch_RefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	item := batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: "SH-1"}}
	keyed := func(key string) []batch.Item { return []batch.Item{item, {Key: key, Analyze: item.Analyze}} }
	file := func(key, query string) []batch.Item {
		return []batch.Item{{Key: key, Analyze: shipping.AnalyzeRequest{FileURL: "https://files.test/1.pdf" + query}}}
	}
	type (
		options   = batch.Options
		purchases = shipping.PurchaseOptions
	)
	for name, tc := range map[string]struct {
		items   []batch.Item
		options options
		message string
	}{
		"keys of earlier items": {append(keyed("b"), keyed("b")...), options{},
			`Item 3 has the key "SH-1" of an earlier item, 4 has the key "b" of an earlier item: list each key once`},
		"nothing to analyze": {[]batch.Item{item, {}}, options{},
			"batch: Item 2 of 2 has neither a ShipmentID nor a FileURL"},
		"key that is not UTF-8": {keyed("M\xfcller"), options{}, "is not UTF-8"},
		"key with NUL":          {keyed("a\x00b"), options{}, "contains a NUL character"},
		"long address as a key": {[]batch.Item{{Analyze: shipping.AnalyzeRequest{FileURL: "https://files.test/" +
			strings.Repeat("x", 4981)}}}, options{}, "5000 bytes"},
		"signed address":              {file("", "?X-Signature=a"), options{}, "set a Key, such as the number"},
		"signed address as key":       {file("https://files.test/1.pdf?a", "?a"), options{}, "set a Key"},
		"address with an empty query": {file("", "?"), options{}, "set a Key"},
		"budget without currency": {nil, options{Budget: &shipping.Budget{Amount: shippingtest.Amount(t, "1")}},
			"currency"},
		"budget without amount": {nil, options{Budget: &shipping.Budget{Currency: "NGN"}}, "amount"},
		"budget without Select": {nil, options{Budget: nairaBudget(t, "1")}, "set Select"},
		"period with NUL": {nil, options{Period: "\x00", Journal: batch.Memory()},
			"has a Period that contains a NUL character"},
		"period without journal": {nil, options{Period: "tonight"}, "has a Period without a Journal"},
		"negative concurrency":   {nil, options{Concurrency: -1}, "Concurrency"},
		"budget below nothing":   {nil, options{Budget: nairaBudget(t, "-1")}, "negative amount"},
		// It panicked, so that a program that did not check the error of OpenFile never saw it.
		"a file that was not opened": {nil, options{Journal: (*batch.File)(nil)}, "check the error of OpenFile"},
		"lease too short": {nil, options{Journal: batchtest.NewJournal(375*time.Second - 1)},
			"make the lease at least 6m15s"},
		"lease too short to read": {nil, options{Purchase: purchases{QuietFor: 4 * time.Minute},
			Journal: batchtest.NewJournal(5*time.Minute - 1)}, "make the lease at least 5m0s"},
		"unknown type to select": {keyed("b"), options{Select: shipping.SelectOnly("fda")}, "did you mean FDA?"},
		"negative QuietFor":      {keyed("b"), options{Purchase: purchases{QuietFor: -1}}, "negative"},
		"negative SettleFor":     {keyed("b"), options{Purchase: purchases{SettleFor: -1}}, "negative"},
		"negative RefusedFor":    {keyed("b"), options{Purchase: purchases{RefusedFor: -1}}, "negative"},
		"negative MinInterval":   {keyed("b"), options{Poll: shipping.PollOptions{MinInterval: -1}}, "negative"},
	} {
		service := &walletService{}
		if tc.message != "set Select" && tc.options.Select == nil {
			tc.options.Select = shipping.SelectAll
		}
		if tc.options.Journal == nil && tc.options.Period == "" {
			tc.options.Journal = newMemoryJournal(t, purchasing(t, "SH-1"))
		}
		report, err := batch.Run(t.Context(), walletClient(t, service), tc.items, &tc.options)
		if report != nil || !errors.Is(err, shipping.ErrInvalidRequest) || !strings.Contains(err.Error(), tc.message) {
			t.Errorf("%s: %v", name, err)
		}
		if service.reads+service.purchases+len(service.requests) > 0 {
			t.Errorf("%s: something was sent", name)
		}
	}
	var unopened *batch.File // of a program that ignores the error of OpenFile
	_, unread := unopened.Records()
	for _, err := range []error{unread, unopened.Close(),
		batch.Resolve(t.Context(), unopened, "SH-1", shipping.OutcomeCharged, "seen")} {
		shippingtest.Contains(t, "a nil file", err, "check the error of OpenFile")
	}
	for name, journal := range map[string]batch.Journal{"no journal": nil,
		"the shortest lease": batchtest.NewJournal(375 * time.Second)} {
		report, err := batch.Run(t.Context(), walletClient(t, &walletService{}), nil, &options{
			Journal: journal, Select: shipping.SelectAll, Budget: nairaBudget(t, "0"),
		})
		if err != nil || len(report.Results) != 0 {
			t.Errorf("an empty batch, %s: %v, %v", name, report, err)
		}
	}
}

// Ten thousand requests wait at once in bounded memory, and their polls are spread over time. It tries 1,000 unless
// SHIPPING_WAITING is another number. Polls without random intervals would all reach the service in the same second.
func TestBatch_TenThousandWaiting(t *testing.T) {
	requests := randomtest.New(t).Number("SHIPPING_WAITING", 1_000)
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		var mu sync.Mutex
		polled := map[int]int{} // by second
		service := &walletService{}
		slow := roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodGet {
				mu.Lock()
				defer mu.Unlock()
				if polled[int(time.Since(started)/time.Second)]++; time.Since(started) < 90*time.Second {
					return shippingtest.OK(fmt.Sprintf(`{"request_id":%q,"status":"processing"}`, path.Base(r.URL.Path)))(r)
				}
			}
			return service.RoundTrip(r)
		})
		client, items := walletClient(t, slow), walletItems(requests)
		var before, during runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		waiting := 0
		report, err := batch.Run(t.Context(), client, items, &batch.Options{
			Concurrency: 64, Select: shipping.SelectAll, Poll: shipping.PollOptions{MinInterval: 15 * time.Second},
			Progress: func(event batch.Event) {
				if event.Waiting > waiting {
					if waiting = event.Waiting; waiting == requests-1 {
						runtime.GC()
						runtime.ReadMemStats(&during)
					}
				}
			},
		})
		if err != nil || report.Count(batch.StateCompleted) != requests {
			t.Fatalf("%d completed, %v", report.Count(batch.StateCompleted), err)
		}
		held := int64(during.HeapInuse+during.StackInuse) - int64(before.HeapInuse+before.StackInuse)
		if waiting < requests-64 || during.HeapInuse == 0 || held > 200<<20 {
			t.Errorf("%d waited at once, holding %d MB", waiting, held>>20)
		}
		busiest, total := 0, 0
		for second, polls := range polled {
			if second > 40 && second < 90 { // the start and the end no longer show
				busiest, total = max(busiest, polls), total+polls
			}
		}
		// Four times the average, and three standard deviations of a count of that size.
		average := float64(total) / 50
		if float64(busiest) > 4*average+3*math.Sqrt(4*average) {
			t.Errorf("%d polls in the busiest second, %.1f on average", busiest, average)
		}
		t.Logf("%d requests held %.1f MB; %d polls in the busiest second", requests, float64(held)/(1<<20), busiest)
	})
}

// A run counts the items that earlier runs completed as ended. If its context ends at the last item, nothing was
// interrupted.
func TestBatch_EndsWithoutErrorIfNothingIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// no charge is reported
		service := &walletService{purchase: func(int) purchaseFault { return purchaseFault{Report: `"currency":"NGN"`} }}
		client, journal := walletClient(t, service), batch.Memory()
		options := batch.Options{Select: shipping.SelectAll, Journal: journal, Concurrency: 1}
		shippingtest.Must(batch.Run(t.Context(), client, walletItems(2), &options))(t)
		// The prices are recorded without a budget, so that a later run with one can count them.
		shippingtest.Diff(t, "committed", "200",
			shippingtest.Must(journal.Committed(t.Context(), "", *nairaBudget(t, "0")))(t).String())
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

// An item that a run did not reach has the state of its last record, with a reason, and the run was interrupted. All
// items are released, also if another process was given one of them. The error advised to close such an item, although
// batch.Resolve refuses an item that was not purchased.
func TestBatch_ReportsWhatItDidNotReach(t *testing.T) {
	t.Parallel()
	for step, state := range map[shipping.Step]batch.State{
		batch.StepPurchasing: batch.StateUnknown, batch.StepFailed: batch.StateFailed, batch.StepAnalyzed: batch.StateWaiting,
		batch.StepPurchased: batch.StateWaiting,
	} {
		record, released := purchasing(t, "SH-1"), 0
		record.Step = step
		around := func(_ context.Context, call string, _ batch.Record, do func() error) error {
			if call == "release" {
				released++
				return batch.ErrItemTaken
			}
			return do()
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		report, err := batch.Run(ctx, walletClient(t, &walletService{}), walletItems(2),
			&batch.Options{Journal: hooked{newMemoryJournal(t, record), around}})
		if !errors.Is(err, context.Canceled) || report.Results[0].State != state || report.Results[0].Err == nil ||
			released != 2 {
			t.Errorf("%s: %+v after %d releases, %v", step, report, released, err)
		}
		text := report.Err().Error()
		if step == batch.StepAnalyzed && !strings.Contains(text, "ended before anything was purchased for the item; run") {
			t.Errorf("%s: %s", step, text)
		}
		if strings.Contains(text, "batch.Resolve") != (step != batch.StepAnalyzed) {
			t.Errorf("%s: %s", step, text)
		}
	}
}

// The report of a cancelled run has the committed amount, also of other runs: the journal is read once more, with a
// new deadline.
func TestBatch_ACancelledRunReportsWhatIsCommitted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	journal := hooked{batch.Memory(), func(ctx context.Context, call string, _ batch.Record, do func() error) error {
		if call == "committed" && ctx.Err() != nil {
			return ctx.Err()
		}
		return do()
	}}
	report, err := batch.Run(ctx, walletClient(t, &walletService{}), walletItems(1), &batch.Options{
		Select: shipping.SelectAll, Journal: journal, Budget: nairaBudget(t, "1000"),
		Progress: func(event batch.Event) {
			if event.Step == "purchased" {
				other := purchasing(t, "SH-9")
				if err := appendTo(t.Context(), journal, other); err != nil {
					t.Error(err)
				}
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) || report.Committed != shippingtest.Amount(t, "200") {
		t.Errorf("%s is committed, %v", report.Committed, err)
	}
}

// customs is an offer.
const customs = `{"document_type":"CUSTOMS","amount":100,"currency":"NGN"}`

// The reports have an order: a poll that is reported after the end of its item, or not at all if it fails, would be
// missing in it.
func TestBatch_ReportsEachPoll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		busy := shippingtest.Refusal(503, "busy") // the client sends a read that fails once more
		service := requestService(customs, shippingtest.Record("processing"), shippingtest.Record("processing"), busy, busy,
			shippingtest.Record("completed", `"charged_amount":130`, `"currency":"NGN"`))
		var polls, steps []string
		report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(1), &batch.Options{
			Select: shipping.SelectAll,
			Poll: shipping.PollOptions{Progress: func(event shipping.PollEvent) {
				polls = append(polls, fmt.Sprint(event.Polls, " ", event.Step))
			}},
			Progress: func(event batch.Event) { steps = append(steps, string(event.Step)) },
		})
		if err != nil || report.Count(batch.StateCompleted) != 1 || report.Results[0].Amount.String() != "130" {
			t.Fatalf("%+v, %v", report, err)
		}
		shippingtest.Diff(t, "the polls", "1 polled, 2 poll failed, 3 ended", strings.Join(polls, ", "))
		shippingtest.Diff(t, "the steps", "analyzed, selected, purchased, polled, poll failed, ended",
			strings.Join(steps, ", "))
	})
}

// Only a failure that may pass is polled again; the item is not lost in either case.
func TestBatch_APollThatFails(t *testing.T) {
	t.Parallel()
	record, refused := shippingtest.Record, shippingtest.Refusal
	denied, gone, busy, done := refused(401, "no"), refused(404, "no"), refused(503, "no"), record("completed")
	type responders = []httpmock.Responder
	type row struct {
		reads  responders
		state  batch.State
		err    error
		counts int
	}
	rows := map[string]row{
		"for good":    {responders{denied}, batch.StateWaiting, shipping.ErrUnauthorized, 1},
		"behind":      {responders{gone, gone, done}, batch.StateCompleted, nil, 3},
		"never there": {responders{gone}, batch.StateWaiting, shipping.ErrNotFound, 11},
		"for a while": {responders{busy, busy, done}, batch.StateCompleted, nil, 3},
		"as a draft":  {responders{record("draft")}, batch.StateWaiting, wait.ErrStale, 0},
		// It was polled for as long as the batch ran, and no error named it.
		"unlisted":      {responders{record("done")}, batch.StateWaiting, wait.ErrUnlisted, 0},
		"in the middle": {responders{record("processing"), denied}, batch.StateWaiting, shipping.ErrUnauthorized, 2},
	}
	for _, failed := range shippingtest.Failures() {
		rows[failed] = row{responders{record(failed)}, batch.StateFailed, shipping.ErrRequestFailed, 1}
	}
	shippingtest.EachInBubble(t, rows, func(t *testing.T, test row) {
		service := requestService(customs, shippingtest.Record("processing"), test.reads...)
		report := shippingtest.Must(batch.Run(t.Context(), walletClient(t, service), walletItems(1),
			&batch.Options{Select: shipping.SelectAll}))(t)
		got, reads := report.Results[0], service.Count(http.MethodGet)
		if got.State != test.state || !errors.Is(got.Err, test.err) || test.counts > 0 && reads != test.counts {
			t.Errorf("%s, %v after %d reads, want %s, %v after %d", got.State, got.Err, reads, test.state, test.err, test.counts)
		}
		const line = `write in the dialect "record.states += done=generating"`
		if errors.Is(got.Err, wait.ErrUnlisted) && !strings.Contains(report.Err().Error(), line) {
			t.Error(report.Err())
		}
	})
}

var errDisk = errors.New("the disk is broken")

// brokenJournal is a journal that cannot write the records of one item before its purchase, after a delay.
func brokenJournal(key string, after time.Duration) batch.Journal {
	return hooked{batch.Memory(), func(_ context.Context, call string, record batch.Record, do func() error) error {
		if call == "append" && record.Key == key && record.Step == batch.StepPurchasing {
			time.Sleep(after)
			return errDisk
		}
		return do()
	}}
}

// A *RegulatoryError names the step that failed. The errors of the journal have another type. A request that is no
// draft any more after Edit is not purchased, nor reported as a draft: somebody else may have purchased it.
func TestBatch_ErrorsNameTheStepThatFailed(t *testing.T) {
	t.Parallel()
	fails := func(context.Context, *shipping.RegulatoryRequest) error { return errPanic }
	all := batch.Options{Select: shipping.SelectAll}
	for name, test := range map[string]struct {
		options batch.Options
		edited  string // the status of the request after its edit
		step    shipping.Step
		err     string
	}{
		"no offers":          {all, "", "selected", "no list available_documents, only forms"},
		"edit":               {batch.Options{Edit: fails, Select: shipping.SelectAll}, "", "edited", errPanic.Error()},
		"edit, nothing else": {batch.Options{Edit: fails}, "", "edited", errPanic.Error()},
		"no draft":           {all, "processing", "selected", "(last seen processing)"},
		"no draft, no more":  {batch.Options{}, "processing", "edited", "(last seen processing)"},
		"select":             {batch.Options{Select: failingSelect}, "", "selected", errPanic.Error()},
		"budget": {batch.Options{Select: shipping.SelectAll, Budget: nairaBudget(t, "99")}, "", "selected",
			"over budget: 100.00 NGN needed"},
		"journal":  {batch.Options{Select: shipping.SelectAll, Journal: brokenJournal("SH-1", 0)}, "", "", errDisk.Error()},
		"purchase": {all, "", "purchased", "400"},
	} {
		synctest.Test(t, func(t *testing.T) {
			service := &walletService{purchase: func(int) purchaseFault { return purchaseFault{Refuse: true} }}
			if name == "no offers" {
				service.list = "forms"
			}
			if test.edited != "" {
				test.options.Edit = func(_ context.Context, draft *shipping.RegulatoryRequest) error {
					service.put(draft.RequestID, test.edited)
					return nil
				}
			}
			report, _ := batch.Run(t.Context(), walletClient(t, service), walletItems(1), &test.options)
			got := report.Results[0]
			step, outcome := shipping.Step(""), shipping.OutcomeNotCharged
			if failed, ok := errors.AsType[*shipping.RegulatoryError](got.Err); ok {
				step, outcome = failed.Step, failed.Outcome
			}
			text := fmt.Sprint(got.Err)
			if !strings.Contains(text, test.err) || step != test.step || outcome != shipping.OutcomeNotCharged {
				t.Errorf("%s: %s at the step %q: %s, %v", name, got.State, step, outcome, got.Err)
			}
			outside := strings.Contains(text, "purchased outside this batch")
			if seen := strings.Contains(text, "(last seen draft)"); !seen && !outside && step != "" && step != "purchased" ||
				outside != (test.edited != "") || strings.Contains(text, "nothing was purchased") && outside {
				t.Errorf("%s: %v", name, got.Err)
			}
			if (service.purchases > 0) != (name == "purchase") {
				t.Errorf("%s: %d purchases", name, service.purchases)
			}
		})
	}
}

// failingSelect selects nothing, because it fails.
func failingSelect(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
	return nil, errPanic
}

// panicOf returns the value with which a function panics.
func panicOf(call func()) (value any) {
	defer func() { value = recover() }()
	call()
	return nil
}

var errPanic = errors.New("a bug in a callback")

// If a callback panics or the journal fails, an item whose documents are being selected is not purchased, another whose
// purchase is under way is completed or recorded, and none is begun. A panic is raised again on the caller's goroutine,
// and no callback follows it: on a goroutine of the batch it would end the process.
func TestBatch_PurchasesNothingAfterItWasStopped(t *testing.T) {
	for name, journal := range map[string]batch.Journal{"panic": batch.Memory(),
		"journal": brokenJournal("SH-2", time.Second)} {
		synctest.Test(t, func(t *testing.T) {
			service := &walletService{purchase: func(int) purchaseFault { return purchaseFault{Takes: 10 * time.Second} }}
			var report *batch.Report
			var err error
			var stopped atomic.Bool
			got := panicOf(func() {
				report, err = batch.Run(t.Context(), walletClient(t, service), walletItems(4), &batch.Options{
					Concurrency: 3, Journal: journal,
					Select: func(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
						switch {
						case draft.RequestID == "RD-SH-1":
							time.Sleep(2 * time.Second)
						case draft.RequestID == "RD-SH-2" && name == "panic":
							time.Sleep(time.Second)
							stopped.Store(true)
							panic(errPanic)
						}
						return shipping.SelectAll(draft)
					},
					Progress: func(event batch.Event) {
						if stopped.Load() {
							t.Errorf("an event after a panic: %+v", event)
						}
					},
				})
			})
			if name == "panic" && got != errPanic ||
				name == "journal" && (!errors.Is(err, errDisk) || report.Results[2].State != batch.StateCompleted) {
				t.Errorf("%s: %v, %+v, %v", name, got, report, err)
			}
			last := lastRecord(t, journal, "SH-3").Step
			if last != batch.StepPurchased && last != batch.StepCompleted || service.purchases != 1 ||
				len(service.requests) != 3 {
				t.Errorf("%s: %s after %d purchases of %d requests", name, last, service.purchases, len(service.requests))
			}
		})
	}
}

// A panic during Replay, too, is raised again on the caller's goroutine, and no other replay is begun or reported.
func TestReplayAll_APanicComesBackToTheCaller(t *testing.T) {
	var ids []string
	for n := range 20 {
		ids = append(ids, fmt.Sprint("WD-", n))
	}
	for _, place := range []string{"Progress", "the transport"} {
		synctest.Test(t, func(t *testing.T) {
			var sent, reported atomic.Int32
			service := roundTrip(func(r *http.Request) (*http.Response, error) {
				n := sent.Add(1)
				if time.Sleep(time.Duration(n) * time.Second); place == "the transport" {
					panic(errPanic)
				}
				return shippingtest.OK(queuedReplay)(r)
			})
			got := panicOf(func() {
				_, _ = batch.Replay(t.Context(), walletClient(t, service), replays(ids...), &batch.ReplayOptions{
					Concurrency: 2, Progress: func(batch.ReplayOutcome, int, int) { reported.Add(1); panic(errPanic) },
				})
			})
			if got != errPanic || sent.Load() > 2 || reported.Load() > 1 {
				t.Errorf("%s: it ended with %v after %d requests, %d reported", place, got, sent.Load(), reported.Load())
			}
		})
	}
}

// Options that no call accepts, or that several calls at the same time cannot share, are refused before the first
// item.
func TestBatch_RefusesCallOptionsThatCannotWork(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]shipping.CallOption{
		"WithResponse": shipping.WithResponse(&shipping.Response{}), "WithHeader": shipping.WithHeader("Authorization",
			"Bearer x"),
	} {
		service := &walletService{}
		client := walletClient(t, service)
		report, err := batch.Run(t.Context(), client, walletItems(2), &batch.Options{Select: shipping.SelectAll}, option)
		replayed, replayErr := batch.Replay(t.Context(), client, replays("WD-1", "WD-2"), nil, option)
		checked, checkErr := batch.Replay(t.Context(), client, replays("WD-1", "WD-2"), &batch.ReplayOptions{DryRun: true},
			option)
		if report != nil || replayed != nil || checked != nil {
			t.Errorf("%s: %v, %v, %v", name, report, replayed, checked)
		}
		for _, err := range []error{err, replayErr, checkErr} {
			if refused, ok := errors.AsType[*shipping.ValidationError](err); !ok || refused.Field != name {
				t.Errorf("%s: %v", name, err)
			}
		}
		if len(service.requests) > 0 {
			t.Errorf("%s: something was sent", name)
		}
	}
	service := &walletService{}
	report := shippingtest.Must(batch.Run(t.Context(), walletClient(t, service), walletItems(2), nil, nil,
		shipping.WithResponse(nil), shipping.WithHeader("X-Run", "7")))(t)
	shippingtest.Diff(t, "drafts", 2, report.Count(batch.StateDraft))
}

// A batch whose context ended while its journal was out of reach returned a minute later: each record, each release
// and the last sum waited as long again.
func TestBatch_ReturnsSoonAfterItsContextEndsWithoutAJournal(t *testing.T) {
	for _, at := range []shipping.Step{"analyzed", "selected", "purchased"} {
		synctest.Test(t, func(t *testing.T) {
			cut, out := context.WithCancel(t.Context())
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			start := time.Now()
			journal := hooked{batchtest.NewJournal(time.Hour),
				func(ctx context.Context, _ string, _ batch.Record, do func() error) error {
					if cut.Err() == nil {
						return do()
					}
					<-ctx.Done()
					return ctx.Err()
				}}
			report, err := batch.Run(ctx, walletClient(t, &walletService{}), walletItems(20), &batch.Options{
				Select: shipping.SelectAll, Budget: nairaBudget(t, "5000"), Journal: journal,
				Progress: func(event batch.Event) {
					if event.Step == at {
						out()
					}
				},
			})
			failed, ok := errors.AsType[*batch.JournalError](err)
			if !ok || !strings.Contains(failed.Error(), "did not respond") || len(report.Results) != 20 {
				t.Errorf("%s: %+v, %v", at, report, err)
			}
			shippingtest.Diff(t, "time until the batch returned, "+string(at), 25*time.Second, time.Since(start))
		})
	}
}
