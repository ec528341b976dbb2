package batch_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/batchtest"
	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// A purchase that was not charged, after QuietFor, gives its reservation back, also if the item is not purchased again.
// If it were given back before QuietFor has passed, a purchase that takes effect late would exceed the budget. If a run
// ended before, its error was "outcome unknown: context deadline exceeded", and did not mention the earlier purchase.
func TestBatch_ASettledPurchaseGivesItsReservationBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service, journal := &walletService{}, newMemoryJournal(t, purchasing(t, "SH-1"))
		service.put("RD-SH-1", "draft")
		options := batch.Options{
			Budget: nairaBudget(t, "150"), Journal: journal, Purchase: shipping.PurchaseOptions{QuietFor: 10 * time.Second},
			Select: failingSelect,
		}
		short, stop := context.WithTimeout(t.Context(), 5*time.Second)
		defer stop()
		report, err := batch.Run(short, walletClient(t, service), walletItems(1), &options)
		if text := report.Err().Error(); err != nil || !strings.Contains(text,
			"outcome unknown: the purchase of an earlier run is not settled: context deadline exceeded; run ") {
			t.Errorf("interrupted: %s, %v", text, err)
		}
		start := time.Now()
		report, err = batch.Run(t.Context(), walletClient(t, service), walletItems(1), &options)
		if took := time.Since(start); took < 10*time.Second || took > 30*time.Second {
			t.Errorf("settled after %s", took)
		}
		failed, ok := errors.AsType[*shipping.RegulatoryError](report.Results[0].Err)
		if err != nil || !ok || failed.Outcome != shipping.OutcomeNotCharged || report.Committed.Sign() != 0 ||
			lastRecord(t, journal, "SH-1").Step != batch.StepAnalyzed {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

// A reported charge below the draft's price, such as 0, frees no money. A charge above the price counts. Until a person
// has closed it, no run of any period purchases anything, and each run reports the charge. A charge of the last item,
// or of a run that was killed, was not reported, and the next run bought on.
func TestBatch_AReportedChargeNeverFreesMoney(t *testing.T) {
	type row struct {
		fault     purchaseFault
		committed string
		purchases int
		differs   bool
	}
	shippingtest.EachInBubble(t, map[string]row{
		"the draft's price": {purchaseFault{}, "200", 2, false},
		"nothing":           {purchaseFault{Report: `"currency":"NGN"`}, "200", 2, false},
		"zero":              {purchaseFault{Report: `"charged_amount":0,"currency":"NGN"`}, "200", 2, true},
		"less":              {purchaseFault{Report: `"charged_amount":1,"currency":"NGN"`}, "200", 2, true},
		"negative":          {purchaseFault{Report: `"charged_amount":-100,"currency":"NGN"`}, "200", 2, true},
		"of floating point": {purchaseFault{Report: `"charged_amount":100.00000000000001,"currency":"NGN"`},
			"200", 2, true},
		// It was not reported, and the run went on.
		"not a number":           {purchaseFault{Report: `"charged_amount":"much","currency":"NGN"`}, "100", 1, false},
		"more, in a text":        {purchaseFault{Charge: "120", Report: `"charged_amount":"120.00 NGN"`}, "120", 1, true},
		"in dollars":             {purchaseFault{Report: `"charged_amount":90,"currency":"USD"`}, "100", 1, true},
		"more, in dollars":       {purchaseFault{Report: `"charged_amount":120,"currency":"USD"`}, "100", 1, true},
		"more":                   {purchaseFault{Charge: "120"}, "120", 1, true},
		"more, without currency": {purchaseFault{Charge: "120", Report: `"charged_amount":120`}, "120", 1, true},
		// In another spelling it was taken for another currency: ten charges of 100 were counted as 10 each.
		"more, in small letters": {purchaseFault{Charge: "120", Report: `"charged_amount":120,"currency":" ngn "`},
			"120", 1, true},
		"more than the budget":   {purchaseFault{Charge: "900"}, "900", 1, true},
		"more than can be added": {purchaseFault{Charge: "999999999999999999"}, "999999999999999999", 1, true},
	}, func(t *testing.T, tc row) {
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
		report := shippingtest.Must(batch.Run(t.Context(), walletClient(t, service), walletItems(3), &options))(t)
		spent, purchases := service.total()
		if report.Committed != shippingtest.Amount(t, tc.committed) || highest.Cmp(report.Committed) != 0 ||
			purchases != tc.purchases || spent.Cmp(report.Committed) > 0 {
			t.Errorf("%s committed after %d purchases, %s spent", report.Committed, purchases, spent)
		}
		first := report.Results[0]
		if differs := first.Charged.Known() && (first.Charged != first.Amount ||
			first.ChargedCurrency != first.Currency); first.State != batch.StateCompleted || differs != tc.differs &&
			tc.fault.Charge == "" {
			t.Errorf("%+v", first)
		}
		failed, _ := errors.AsType[*shipping.RegulatoryError](first.Err)
		if over := errors.Is(report.Err(), shipping.ErrOvercharged); over != (tc.purchases == 1) || over &&
			(failed == nil || failed.Outcome != shipping.OutcomeCharged || failed.RequestID != "RD-SH-1") {
			t.Errorf("%v", first.Err)
		}
		if last := report.Results[2]; last.State != batch.StateOverBudget || len(last.Documents) != 1 ||
			tc.fault.Charge != "" && !strings.Contains(last.Err.Error(), `item "SH-1" has an unexpected charge: `) {
			t.Errorf("%+v", last)
		}
		options.Progress, tc.fault = nil, purchaseFault{}
		for _, items := range [][]batch.Item{walletItems(1), walletItems(4)[3:]} { // with the item, and without it
			again, err := batch.Run(t.Context(), walletClient(t, service), items, &options)
			result := again.Results[len(again.Results)-1]
			over := errors.Is(again.Err(), shipping.ErrOvercharged)
			if err != nil || over != (tc.purchases == 1) || over && (again.Committed.Sign() != 0) != (options.Period == "") ||
				over && (result.Charged != first.Charged || again.Retryable() || service.purchases != 1) {
				t.Errorf("the next run: %+v, %v, %v after %d purchases", again, err, again.Err(), service.purchases)
			}
			options.Period = "the next night"
		}
		if tc.purchases > 1 {
			return
		}
		service.spent = shipping.Amount{} // one more charge cannot be added
		shippingtest.NoError(t, batch.Resolve(t.Context(), journal, "SH-1", shipping.OutcomeCharged, "ticket 1"))
		again, err := batch.Run(t.Context(), walletClient(t, service), walletItems(4), &options)
		if err != nil || again.Err() == nil || errors.Is(again.Err(), shipping.ErrOvercharged) || service.purchases != 3 ||
			again.Results[0].Charged != first.Charged {
			t.Errorf("after batch.Resolve: %+v, %v after %d purchases", again, err, service.purchases)
		}
	})
}

// After a reading had shown a charge above the cost, a run bought on until the documents were generated. If it was
// interrupted before, it never recorded the charge. Now the purchases end with the first such reading.
func TestBatch_AChargeIsComparedWhileDocumentsAreGenerated(t *testing.T) {
	t.Parallel()
	type row struct{ charge, confirmed, recorded string }
	const naira = `"charged_amount":100,"currency":"NGN"`
	shippingtest.EachInBubble(t, map[string]row{
		"only in the record": {"999", `"a":1`, `"charged_amount":999,"currency":"NGN"`},
		// The record replaced the charge of the confirmation.
		"in another currency, only in the confirmation": {"100", `"charged_amount":100,"currency":"USD"`, naira},
		"more, only in the confirmation":                {"900", `"charged_amount":900,"currency":"NGN"`, naira},
	}, func(t *testing.T, test row) {
		service := &walletService{purchase: func(int) purchaseFault { return purchaseFault{Charge: test.charge} }}
		generating := httpmock.NewMockTransport()
		generating.RegisterNoResponder(func(r *http.Request) (*http.Response, error) {
			response, err := service.RoundTrip(r)
			if err != nil {
				return nil, err
			}
			body, shown := string(shippingtest.Must(io.ReadAll(response.Body))(t)), test.recorded
			if strings.HasSuffix(r.URL.Path, "/purchase") {
				shown = test.confirmed
			}
			body = strings.Replace(body, `"charged_amount":`+test.charge+`,"currency":"NGN"`, shown, 1)
			body = strings.Replace(body, `"completed"`, `"processing"`, 1)
			return httpmock.NewStringResponse(response.StatusCode, body), nil
		})
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		options := batch.Options{Concurrency: 1, Select: shipping.SelectAll, Budget: nairaBudget(t, "1000"),
			Journal: newMemoryJournal(t)}
		report, err := batch.Run(ctx, walletClient(t, generating), walletItems(5), &options)
		_, purchases := service.total()
		if purchases != 1 || err == nil || !errors.Is(report.Err(), shipping.ErrOvercharged) || report.Retryable() ||
			report.Results[0].Charged.String() != test.charge {
			t.Errorf("%d purchases, %+v, %v, retryable %v", purchases, report.Results[0], err, report.Retryable())
		}
	})
}

// A charge that a draft showed already is its quote, and no report of a charge: a batch of such drafts ended after one
// item. The reservation is the price with its tax. Another charge counts.
func TestBatch_AQuoteIsNoReportOfACharge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const offers = `"amount":90,"tax":10,"currency":"NGN"},{"document_type":"FDA","amount":800,"currency":"NGN"`
		service := &walletService{offer: offers, quote: "890"}
		client := shippingtest.NewClient(t, service,
			shipping.WithDialect(shippingtest.Dialect(t, "purchase.quoted=true")))
		journal := newMemoryJournal(t)
		options := &batch.Options{
			Concurrency: 1, Select: shipping.SelectOnly("CUSTOMS"), Budget: nairaBudget(t, "299"), Journal: journal,
		}
		report, err := batch.Run(t.Context(), client, walletItems(3), options)
		if err != nil || report.Count(batch.StateCompleted) != 2 || report.Count(batch.StateOverBudget) != 1 ||
			report.Committed != shippingtest.Amount(t, "200") {
			t.Errorf("%+v, %v", report, err)
		}
		for _, result := range report.Results {
			if result.Charged.Known() {
				t.Errorf("%+v", result)
			}
		}
		service.purchase = func(int) purchaseFault { return purchaseFault{Report: `"charged_amount":120,"currency":"NGN"`} }
		options.Period = "another"
		report, err = batch.Run(t.Context(), client, walletItems(4), options)
		if err != nil || report.Results[2].State != batch.StateCompleted || report.Committed.String() != "120" {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

// An item whose price fits the rest of a budget was refused, and its error did not name the tax that counts, too. After
// the budget was lowered, it did not name the spent amount.
func TestBatch_TheRestOfABudgetCountsTaxes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := &walletService{offer: `"amount":100,"tax":7.5,"currency":"NGN"`}
		options := &batch.Options{
			Concurrency: 1, Select: shipping.SelectAll, Budget: nairaBudget(t, "210"), Journal: batch.Memory(),
		}
		report := shippingtest.Must(batch.Run(t.Context(), walletClient(t, service), walletItems(2), options))(t)
		const spent = " left after 107.50 were spent or reserved; the cost "
		const want = "107.50 needed, 102.50" + spent + "adds numbers to the price, or counts them instead (CUSTOMS: tax " +
			"7.5); only if a transaction of the wallet shows that it is not charged, write in the dialect " +
			`"offer.beside += tax" (the cost is then 100.00 NGN)`
		if got := report.Results[1]; got.State != batch.StateOverBudget || !strings.Contains(got.Err.Error(), want) {
			t.Errorf("%s, %v", got.State, got.Err)
		}
		if report.Beside.String() != "7.5" || report.Results[0].Beside != report.Beside || report.Results[1].Beside.Known() {
			t.Errorf("beside the prices: %s of %+v", report.Beside, report.Results)
		}
		options.Budget = nairaBudget(t, "50")
		lowered := shippingtest.Must(batch.Run(t.Context(), walletClient(t, service), walletItems(2), options))(t)
		if err := lowered.Err().Error(); !strings.Contains(err, "budget of 50.00 NGN: 107.50 needed, 0.00"+spent) ||
			!strings.HasSuffix(err, "\nthe purchases that lacked money (1) need 107.50 NGN in the wallet, and a budget of "+
				"215.00 NGN, of which 107.50 NGN are spent or reserved") {
			t.Errorf("the budget was lowered: %s", err)
		}
	})
}

// A charge of what the dialect declares as not charged ends the purchases, and the error names it.
func TestBatch_AChargeOfWhatIsDeclared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := &walletService{offer: `"amount":100,"tax":7.5,"currency":"NGN"`,
			purchase: func(int) purchaseFault { return purchaseFault{Charge: "107.5"} }}
		client := shippingtest.NewClient(t, service,
			shipping.WithDialect(shippingtest.Dialect(t, "offer.beside += tax")))
		report := shippingtest.Must(batch.Run(t.Context(), client, walletItems(2), &batch.Options{
			Concurrency: 1, Select: shipping.SelectAll, Budget: nairaBudget(t, "210"),
		}))(t)
		const want = `item "SH-1" has an unexpected charge: 107.50 NGN, and the draft shows 100.00 NGN at most; the ` +
			`dialect declares "offer.beside += tax"`
		shippingtest.WantErrorWith(t, "first item", report.Results[0].Err, shipping.ErrOvercharged, `"offer.beside += tax"`)
		if got := report.Results[1]; got.State != batch.StateOverBudget || !strings.Contains(got.Err.Error(), want) {
			t.Errorf("%s, %v", got.State, got.Err)
		}
	})
}

// A request id that no journal can store fails its item only.
func TestBatch_ARequestIDThatNoJournalCanKeepFailsItsItem(t *testing.T) {
	t.Parallel()
	odd := shippingtest.NewService(shippingtest.OK(`{"request_id":"RD-\u0000","status":"draft"}`))
	report, err := batch.Run(t.Context(), walletClient(t, odd), walletItems(1), nil)
	if err != nil || report.Count(batch.StateError) != 1 || !strings.Contains(report.Err().Error(), "NUL") {
		t.Errorf("%+v, %v", report, err)
	}
}

// The effect of each outcome of a purchase on the item and its reservation. The draft's price is 100.
func TestBatch_OutcomesOfAPurchase(t *testing.T) {
	t.Parallel()
	type row struct {
		fault     purchaseFault
		before    bool // another program purchases it at the last moment, for 120
		state     batch.State
		err       error
		committed string
		charged   string
	}
	shippingtest.EachInBubble(t, map[string]row{
		"charged":          {purchaseFault{}, false, batch.StateCompleted, nil, "100", "100"},
		"lost":             {purchaseFault{Lose: true}, false, batch.StateCompleted, nil, "100", "100"},
		"refused":          {purchaseFault{Refuse: true}, false, batch.StateError, shipping.ErrInvalidRequest, "0", ""},
		"unknown":          {purchaseFault{Ignore: true}, false, batch.StateUnknown, shipping.ErrConnection, "100", ""},
		"purchased before": {purchaseFault{}, true, batch.StateCompleted, shipping.ErrOvercharged, "120", "120"},
		"more was charged": {purchaseFault{Charge: "130"}, false, batch.StateCompleted, shipping.ErrOvercharged, "130",
			"130"},
		"less was reported": {purchaseFault{Report: `"charged_amount":7,"currency":"NGN"`}, false, batch.StateCompleted, nil,
			"100", "7"},
	}, func(t *testing.T, test row) {
		service := &walletService{}
		service.purchase = func(int) purchaseFault {
			if test.before {
				service.charge("RD-SH-1", purchaseFault{Charge: "120"})
			}
			return test.fault
		}
		report := shippingtest.Must(batch.Run(t.Context(), walletClient(t, service), walletItems(1), &batch.Options{
			Select: shipping.SelectAll, Budget: nairaBudget(t, "1000"),
			Progress: func(event batch.Event) {
				// The record after the purchase has the charge already.
				if event.Step == "purchased" && event.Item.Charged != shippingtest.Amount(t, test.charged) {
					t.Errorf("purchased for %s, want %s", event.Item.Charged, test.charged)
				}
			},
		}))(t)
		got := report.Results[0]
		if got.State != test.state || !errors.Is(got.Err, test.err) {
			t.Errorf("%s, %v, want %s, %v", got.State, got.Err, test.state, test.err)
		}
		if report.Committed != shippingtest.Amount(t, test.committed) || (got.Currency == "") != (test.committed == "0") {
			t.Errorf("%s is committed, want %s; %+v", report.Committed, test.committed, got)
		}
		if charged := got.Charged; charged.Known() != (test.charged != "") || charged.Known() &&
			charged != shippingtest.Amount(t, test.charged) {
			t.Errorf("charged %s, want %s", charged, test.charged)
		}
	})
}

// A batch that runs again remembers that the service refused a purchase. It took the record of another client's
// purchase for its own, and reported the item as completed with money that the ledger did not show.
func TestBatch_ARefusedPurchaseIsNeverCompletedLater(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]string{
		"refused":      `{"status":false,"message":"not a draft"}`,
		"contradicted": `{"status":false,"message":"not a draft","data":{"request_id":"RD-1","status":"completed"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				// Another client was faster, with other documents, and the record lists none.
				service := requestService(`{"document_type":"FDA","amount":100,"currency":"NGN"}`,
					httpmock.NewStringResponder(400, refusal), shippingtest.Record("completed"))
				var appended []shipping.Step
				journal := hooked{batch.Memory(), func(_ context.Context, call string, record batch.Record, do func() error) error {
					if call == "append" {
						appended = append(appended, record.Step)
					}
					return do()
				}}
				// The record of the refusal is kept also if the budget has no room for the price a second time.
				options := batch.Options{Select: shipping.SelectAll, Budget: nairaBudget(t, "150"), Journal: journal}
				settled := 0
				options.Progress = func(event batch.Event) {
					if event.Step == "settling" {
						settled++
					}
				}
				for run := range 3 {
					report := shippingtest.Must(batch.Run(t.Context(), shippingtest.NewClient(t, service),
						[]batch.Item{{Analyze: shipping.AnalyzeRequest{ShipmentID: "SH-1"}}}, &options))(t)
					if got := report.Results[0]; got.State != batch.StateUnknown || report.Committed != shippingtest.Amount(t, "100") {
						t.Errorf("run %d: %+v, %s committed", run+1, got, report.Committed)
					}
				}
				if settled != 2 || len(appended) != 3 {
					t.Errorf("settled %d times, with the records %q", settled, appended)
				}
				if last := lastRecord(t, journal, "SH-1"); last.At.IsZero() || last.Purchase == nil ||
					!last.Purchase.Refused || last.Purchase.Contradicted != (name == "contradicted") {
					t.Errorf("the journal holds %+v", last)
				}
				shippingtest.Diff(t, "requests of the analysis and the purchase", 2, service.Count(http.MethodPost))
			})
		})
	}
}

// A charge whose currency no journal can keep was never recorded: the item stayed "purchasing", in every run.
func TestBatch_AChargeInACurrencyThatCannotBeKeptIsRecorded(t *testing.T) {
	t.Parallel()
	for currency, test := range map[string]struct{ offer, want string }{
		`NGN\u0000`:               {"", "NGN"},
		strings.Repeat("N", 5000): {"", "NGN"},
		"NGN":                     {`"note":"a price without a number"`, "NGN"},
	} {
		synctest.Test(t, func(t *testing.T) {
			service := &walletService{offer: test.offer, purchase: func(int) purchaseFault {
				return purchaseFault{Charge: "300", Report: `"charged_amount":300,"currency":"` + currency + `"`}
			}}
			options := &batch.Options{Select: shipping.SelectAll}
			report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(1), options)
			if got := report.Results[0]; err != nil || got.State != batch.StateCompleted || got.Amount.String() != "300" ||
				got.Currency != test.want {
				t.Errorf("%.40s: %+v, %v", currency, got, err)
			}
		})
	}
}

// One response has shown a purchase, and each later one is an older copy, which shows a draft. The next run read drafts
// for QuietFor or RefusedFor, and purchased again. It knew only what the response to the purchase had shown, but not
// the analysis, a reading after Edit, or the settlement.
func TestBatch_APurchaseThatWasShownIsNotForgotten(t *testing.T) {
	t.Parallel()
	const draft = `"status":"draft"`
	const sold, listed = draft + `,"transaction_id":"T-1"`, draft + `,"documents":["CUSTOMS"]`
	const completed, purchasing = `"status":"completed"`, `"status":"purchasing"`
	lost, failed := shippingtest.NoResponse(), shippingtest.Refusal(503, "busy")
	edit := func(context.Context, *shipping.RegulatoryRequest) error { return nil }
	refused := shippingtest.Refusal(400, "no")
	shown := func(members string) httpmock.Responder {
		return shippingtest.OK(`{"request_id":"RD-SH-1",` + members + `,"available_documents":[` + customs + `]}`)
	}
	type row struct {
		analysis  httpmock.Responder
		edit      func(context.Context, *shipping.RegulatoryRequest) error
		purchase  httpmock.Responder
		reads     responders // one for each of the first runs; later ones read a draft
		purchases int
		limit     time.Duration // of a run
	}
	shippingtest.EachInBubble(t, map[string]row{
		"lost, a transaction": {shown(draft), nil, lost, responders{shown(sold)}, 1, 0},
		"lost, a list":        {shown(draft), nil, lost, responders{shown(listed)}, 1, 0},
		"refused, a list":     {shown(draft), nil, refused, responders{shown(listed)}, 1, 0},
		"refused, then purchasing": {shown(draft), nil, refused, responders{failed, shown(purchasing)}, 1,
			30 * time.Second},
		"analyzed, a transaction":     {shown(sold), nil, lost, nil, 0, 0},
		"analyzed, no status":         {shown(`"transaction_id":"T-1"`), nil, lost, nil, 0, 0},
		"analyzed, completed":         {shown(completed), nil, lost, nil, 0, 0},
		"analyzed, being processed":   {shown(`"status":"processing"`), nil, lost, nil, 0, 0},
		"failed, purchased documents": {shown(`"status":"failed","purchased_documents":["CUSTOMS"]`), nil, lost, nil, 0, 0},
		"failed, document types":      {shown(`"status":"failed","document_types":["CUSTOMS"]`), nil, lost, nil, 0, 0},
		"edited, completed":           {shown(draft), edit, lost, responders{shown(completed)}, 0, 0},
		"edited, a transaction":       {shown(draft), edit, lost, responders{shown(sold)}, 0, 0},
		// The purchase reads a draft without a status, and does not send anything.
		"read before the purchase, completed": {shippingtest.OK(`{"request_id":"RD-SH-1","available_documents":[` + customs +
			`]}`), nil, lost, responders{failed.Then(failed).Then(shown(completed))}, 0, 0},
	}, func(t *testing.T, test row) {
		run, sent := 0, 0
		service := shippingtest.NewService(func(r *http.Request) (*http.Response, error) {
			switch {
			case strings.HasSuffix(r.URL.Path, purchase):
				sent++
				return test.purchase(r)
			case r.Method == http.MethodPost:
				return test.analysis(r)
			case run < len(test.reads):
				return test.reads[run](r)
			}
			return shown(draft)(r)
		})
		options := batch.Options{Edit: test.edit, Select: shipping.SelectAll, Journal: batch.Memory()}
		for run = range len(test.reads) + 2 {
			ctx, stop := context.WithTimeout(t.Context(), cmp.Or(test.limit, time.Hour))
			report, _ := batch.Run(ctx, walletClient(t, service), walletItems(1), &options)
			stop()
			if report.Count(batch.StateCompleted) > 0 || sent != test.purchases {
				t.Errorf("run %d: %d purchases, %v", run+1, sent, report.Err())
			}
		}
	})
}

// A refused purchase is settled in the run that sent it, also if the lease of its claim is too short to read the
// request for RefusedFor: it stayed unknown, held the budget, and was sent once more in every run.
func TestBatch_ARefusalUnderALeaseIsSettled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := &walletService{purchase: func(int) purchaseFault { return purchaseFault{Refuse: true} }}
		report := shippingtest.Must(batch.Run(t.Context(), walletClient(t, service), walletItems(1), &batch.Options{
			Select: shipping.SelectAll, Budget: nairaBudget(t, "250"), Journal: batchtest.NewJournal(108 * time.Second),
			Purchase: shipping.PurchaseOptions{RefusedFor: 30 * time.Second, QuietFor: time.Minute},
		}))(t)
		got := report.Results[0]
		failed, ok := errors.AsType[*shipping.RegulatoryError](got.Err)
		if got.State != batch.StateError || !ok || failed.Outcome != shipping.OutcomeNotCharged ||
			!errors.Is(got.Err, shipping.ErrInvalidRequest) || report.Committed.Sign() != 0 || service.purchases != 1 {
			t.Errorf("%+v, %s committed after %d purchases", got, report.Committed, service.purchases)
		}
	})
}

// A gateway responds with 504 after 29 s, and the service behind it charges 120 s after the request and shows a draft
// until then: the second run had read the draft for a minute, and purchased the item again.
func TestBatch_AServiceThatIsSlowBehindAGatewayChargesOnce(t *testing.T) {
	t.Parallel()
	type row struct {
		killed  bool // the first run, while its purchase is under way
		journal batch.Journal
	}
	shippingtest.EachInBubble(t, map[string]row{
		"on one machine":         {false, batch.Memory()},
		"on two machines":        {false, batchtest.NewJournal(7 * time.Minute)},
		"killed, on one machine": {true, batch.Memory()},
		"killed, on two":         {true, batchtest.NewJournal(7 * time.Minute)},
	}, func(t *testing.T, test row) {
		wallet := &walletService{}
		var late sync.WaitGroup
		service := roundTrip(func(r *http.Request) (*http.Response, error) {
			if !strings.HasSuffix(r.URL.Path, purchase) {
				return wallet.RoundTrip(r)
			}
			late.Go(func() {
				time.Sleep(2 * time.Minute)
				_, _ = wallet.RoundTrip(r.Clone(context.Background()))
			})
			select {
			case <-time.After(29 * time.Second):
				return httpmock.NewStringResponse(http.StatusGatewayTimeout, "<html>504</html>"), nil
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		})
		for run := range 3 {
			ctx, kill := context.WithCancel(t.Context())
			if run == 0 && test.killed {
				time.AfterFunc(10*time.Second, kill)
			}
			report, err := batch.Run(ctx, walletClient(t, service), walletItems(1),
				&batch.Options{Select: shipping.SelectAll, Journal: test.journal})
			kill()
			want := batch.StateCompleted
			if run == 0 {
				want = batch.StateUnknown
			}
			if got := report.Results[0]; got.State != want {
				t.Errorf("run %d: %+v, %v", run+1, got, err)
			}
		}
		late.Wait()
		if wallet.purchases != 1 || wallet.requests["RD-SH-1"].charges != 1 {
			t.Errorf("%d purchases", wallet.purchases)
		}
	})
}

// An item that waits for the outcome of a purchase of an earlier run held a place of Concurrency, so that a run after a
// kill did nothing else for as long.
func TestBatch_AnOpenPurchaseHoldsNoPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := &walletService{}
		service.put("RD-SH-1", "draft")
		began, completed := time.Now(), map[string]time.Duration{}
		report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(3), &batch.Options{
			Concurrency: 1, Select: shipping.SelectAll, Journal: newMemoryJournal(t, purchasing(t, "SH-1")),
			Progress: func(event batch.Event) {
				if event.Item.State == batch.StateCompleted {
					completed[event.Item.Key] = time.Since(began)
				}
			},
		})
		if err != nil || report.Err() != nil || completed["SH-3"] > time.Minute || completed["SH-1"] < 5*time.Minute {
			t.Errorf("%v, %v: completed after %v", err, report.Err(), completed)
		}
	})
}

// A batch that is cancelled with the error of another call, as errgroup does, takes nothing in it for news about its
// items: neither that nothing was sent, nor that an analysis failed.
func TestBatch_TheCauseOfItsContextIsNoEvidence(t *testing.T) {
	t.Parallel()
	other := &shipping.PurchaseRequest{RequestID: "RD-other", DocumentTypes: []shipping.DocumentType{"FDA"}}
	_, unsent := walletClient(t, shippingtest.Unreachable()).Regulatory.Purchase(t.Context(), other)
	failed := &shipping.RegulatoryError{RequestID: "RD-other", Step: "analyzed", Err: shipping.ErrRequestFailed}
	for name, cause := range map[string]error{
		"an unsent purchase": unsent, "a failed analysis": failed, "a budget": shipping.ErrOverBudget,
		"a refused option": &shipping.ValidationError{Problem: "odd"},
	} {
		for _, route := range []string{"/analyze", "/purchase", "/RD-SH-1"} {
			synctest.Test(t, func(t *testing.T) {
				wallet, open := &walletService{}, route == "/purchase"
				ctx, cancel := context.WithCancelCause(t.Context())
				service := roundTrip(func(r *http.Request) (*http.Response, error) {
					if ctx.Err() != nil || !strings.HasSuffix(r.URL.Path, route) {
						return wallet.RoundTrip(r)
					}
					if route == "/purchase" { // the service has received it
						_, _ = wallet.RoundTrip(r)
					}
					cancel(cause)
					<-r.Context().Done()
					return nil, context.Cause(r.Context())
				})
				journal := newMemoryJournal(t)
				if route == "/RD-SH-1" { // a purchase of an earlier run is settled
					wallet.put("RD-SH-1", "draft")
					journal, open = newMemoryJournal(t, purchasing(t, "SH-1")), true
				}
				options := batch.Options{Select: shipping.SelectAll, Budget: nairaBudget(t, "150"), Journal: journal}
				report, err := batch.Run(ctx, walletClient(t, service), walletItems(1), &options)
				if !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
					t.Errorf("%s, %s: %v", name, route, err)
				}
				state, committed, step := batch.StateWaiting, shipping.Amount{}, shipping.Step("")
				if open {
					state, committed, step = batch.StateUnknown, shippingtest.Amount(t, "100"), batch.StepPurchasing
				}
				if got := report.Results[0]; got.State != state || got.RequestID == "RD-other" ||
					report.Committed.Cmp(committed) != 0 || lastRecord(t, journal, "SH-1").Step != step {
					t.Errorf("%s, %s: %+v, %s committed, journal %+v", name, route, got, report.Committed,
						lastRecord(t, journal, "SH-1"))
				}
				report, err = batch.Run(t.Context(), walletClient(t, service), walletItems(1), &options)
				if _, purchases := wallet.total(); err != nil || report.Results[0].State != batch.StateCompleted || purchases != 1 {
					t.Errorf("%s, %s: %+v after %d purchases, %v", name, route, report, purchases, err)
				}
			})
		}
	}
}

// Money that cannot be compared with the budget, and a record of a later version, stop a batch before it begins. The
// other items are released.
func TestBatch_RefusesAJournalThatItCannotContinue(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*batch.Record){
		"in USD":                  func(r *batch.Record) { r.Currency = "USD" },
		"price is not known":      func(r *batch.Record) { r.Amount = shipping.Amount{} },
		"purchase of SH-2 for -5": func(r *batch.Record) { r.Amount = shippingtest.Amount(t, "-5") },
		`step "refunding"`:        func(r *batch.Record) { r.Step = "refunding" },
	} {
		record, service := purchasing(t, "SH-2"), &walletService{}
		record.Step = batch.StepPurchased
		change(&record)
		journal := newMemoryJournal(t, record)
		report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(2), &batch.Options{
			Select: shipping.SelectAll, Budget: nairaBudget(t, "250"), Journal: journal,
		})
		_, failed := errors.AsType[*batch.JournalError](err)
		if failed != (record.Step == "refunding") || failed == errors.Is(err, shipping.ErrOverBudget) ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if lastRecord(t, journal, "SH-1"); len(report.Results) != 2 || len(service.requests) > 0 {
			t.Errorf("%s: %+v after %d requests", name, report, len(service.requests))
		}
	}
}

// Without a journal, the report advised to run the batch again, and the second run bought the shipment a second time.
func TestBatch_WithoutAJournalItIsNotRunAgain(t *testing.T) {
	t.Parallel()
	type row struct {
		journal   batch.Journal
		lost      bool
		want      string // in the error of the item
		retryable bool
	}
	const again = "this run had no Journal, so another would purchase it again: do not run it again; "
	shippingtest.EachInBubble(t, map[string]row{
		"unknown, no journal": {nil, true, again + "call Regulatory.SettlePurchase with the Purchase", false},
		"waiting, no journal": {nil, false, again + "call Regulatory.Wait with its RequestID", false},
		"unknown":             {batch.Memory(), true, "purchases again only if nothing was charged", true},
		"waiting":             {batch.Memory(), false, "; run the batch again; if the documents have not come", true},
	}, func(t *testing.T, test row) {
		service := &walletService{purchase: func(int) purchaseFault { return purchaseFault{Ignore: test.lost} }}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		sent := roundTrip(func(r *http.Request) (*http.Response, error) {
			if id := strings.TrimPrefix(r.URL.Path, "/v1/regulatory-documents/request/"); id == "RD-SH-1" && !test.lost {
				return shippingtest.OK(`{"request_id":"RD-SH-1","status":"processing"}`)(r)
			}
			return service.RoundTrip(r)
		})
		report, _ := batch.Run(ctx, walletClient(t, sent), walletItems(1),
			&batch.Options{Select: shipping.SelectAll, Journal: test.journal})
		text := report.Results[0].Err.Error()
		if !strings.Contains(text, test.want) || report.Retryable() != test.retryable ||
			strings.Contains(text, "SettlePurchase later") || strings.Contains(text, "to continue") {
			t.Errorf("retryable: %t, %s", report.Retryable(), text)
		}
	})
}
