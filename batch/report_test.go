package batch_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/internal/wait"
)

// After an unexpected charge, or with an empty wallet, another run alone completes nothing.
func TestReport_WhatNeedsAPersonIsNotRetryable(t *testing.T) {
	t.Parallel()
	refused := &shipping.RegulatoryError{Purchase: &shipping.PurchaseRequest{Refused: true},
		Err: shipping.ErrInsufficientFunds}
	for next, result := range map[string]batch.Result{
		"other items again; the documents of this item are generated": {State: batch.StateCompleted,
			Err: shipping.ErrOvercharged},
		"other items again; the next run reads the documents of this item": {State: batch.StateWaiting,
			Err: shipping.ErrOvercharged},
		"once the wallet has the money: it reads the request": {State: batch.StateUnknown, Err: refused},
	} {
		want, report := batch.NeedCharge, batch.Report{Results: []batch.Result{result}}
		if result.Err == refused {
			want = batch.NeedWallet
		}
		if text := fmt.Sprint(report.Err()); result.Need() != want || report.Retryable() || !strings.Contains(text, next) {
			t.Errorf("needs %s: %s", result.Need(), text)
		}
	}
}

// A run returned nil although every purchase was refused: Report.Err has the error of each item that is still open, and
// what to do.
func TestReport_ErrAndRetryable(t *testing.T) {
	t.Parallel()
	var report *batch.Report
	if report.Err() != nil || report.Retryable() || report.Count(batch.StateCompleted) != 0 {
		t.Errorf("no report: %v", report.Err())
	}
	report = &batch.Report{}
	over, failed := func(needed string) error { return overBudget(t, needed) }, shipping.ErrRequestFailed
	status := func(code int) error { return &shipping.Error{StatusCode: code} }
	forbidden := fmt.Errorf("%w: %w", shipping.ErrUnauthorized, status(http.StatusForbidden))
	refused := func(code int) error {
		return &shipping.RegulatoryError{Step: "sent", Purchase: &shipping.PurchaseRequest{Refused: true}, Err: status(code)}
	}
	busy, fda := status(http.StatusServiceUnavailable), []shipping.DocumentType{"FDA"}
	page := string(shippingtest.Must(os.ReadFile("../docs/batches.md"))(t))
	const run, service, person = batch.NeedRun, batch.NeedService, batch.NeedPerson
	for name, test := range map[string]struct {
		state     batch.State
		documents []shipping.DocumentType
		err       error
		next      string // in the text
		need      batch.Need
	}{
		"completed":     {batch.StateCompleted, nil, nil, "", ""},
		"draft":         {batch.StateDraft, nil, nil, "", ""},
		"closed":        {batch.StateClosed, nil, nil, "", ""},
		"not analyzed":  {batch.StateFailed, nil, failed, "batch.Resolve with OutcomeNotCharged closes", batch.NeedItem},
		"not read":      {batch.StateFailed, fda, busy, "run the batch again: it reads the documents", person},
		"not generated": {batch.StateFailed, fda, failed, "Regulatory.Retry succeeds, the next run", batch.NeedRetry},
		"over budget":   {batch.StateOverBudget, nil, over("50"), "the next night, or raise the budget of", batch.NeedPeriod},
		"too dear":      {batch.StateOverBudget, nil, over("150"), "; this is more than the whole budget", batch.NeedBudget},
		"in dollars": {batch.StateOverBudget, nil, &shipping.BudgetError{Problem: "priced in USD"},
			"; correct the budget or the dialect, then run the batch again", person},
		"unknown, gone": {batch.StateUnknown, fda, shipping.ErrNotFound, "outcome that they show", batch.NeedOutcome},
		"unknown":       {batch.StateUnknown, fda, shipping.ErrConnection, "again only if nothing was charged", run},
		"waiting":       {batch.StateWaiting, nil, shipping.ErrNotPurchased, "run the batch again", run},
		"purchased": {batch.StateWaiting, fda, shipping.ErrNotPurchased, "never come, batch.Resolve with OutcomeCharged",
			run},
		"purchased, 403":  {batch.StateWaiting, fda, forbidden, "once this is corrected", person},
		"unknown, 403":    {batch.StateUnknown, fda, forbidden, "once this is corrected, run the batch again: it", person},
		"a wrong key":     {batch.StateWaiting, fda, status(401), "once the secret key is corrected", person},
		"unauthorized":    {batch.StateWaiting, nil, shipping.ErrUnauthorized, "remove the cause", person},
		"damaged":         {batch.StateWaiting, nil, batch.ErrDamaged, "once the journal is in its place", person},
		"moved, done":     {batch.StateCompleted, fda, batch.ErrMoved, "once the journal is in its place", person},
		"moved":           {batch.StateWaiting, fda, batch.ErrMoved, "once the journal is in its place", person},
		"wrong currency":  {batch.StateWaiting, nil, shipping.ErrOverBudget, "remove the cause", person},
		"not found":       {batch.StateError, nil, shipping.ErrNotFound, "correct the item or leave it out", batch.NeedItem},
		"select":          {batch.StateError, nil, shipping.ErrInvalidRequest, "remove the cause", person},
		"down":            {batch.StateError, nil, busy, "; run the batch again once the service responds", service},
		"a limit":         {batch.StateError, nil, status(429), "; run the batch again; if the error stays, ask", run},
		"a conflict":      {batch.StateError, nil, status(409), "; run the batch again; if the error stays, ask", run},
		"locked":          {batch.StateError, nil, status(423), "; run the batch again; if the error stays, ask", run},
		"not offered":     {batch.StateError, nil, status(501), "; once this is corrected, run the batch again", person},
		"a proxy":         {batch.StateError, nil, &shipping.Error{StatusCode: 404, Body: []byte("<")}, "if the error", run},
		"a damaged body":  {batch.StateError, nil, status(200), "if the error stays, ask the service, with the resp", run},
		"failed, busy":    {batch.StateFailed, nil, busy, "batch.Resolve", batch.NeedItem},
		"refused, limit":  {batch.StateUnknown, fda, refused(429), "; run the batch again: it reads the request", run},
		"refused, locked": {batch.StateUnknown, fda, refused(423), "; run the batch again: it reads the request", run},
		"refused":         {batch.StateUnknown, fda, refused(422), "; run the batch again once the cause of the", run},
	} {
		result := batch.Result{Key: "SH-" + name, State: test.state, Documents: test.documents, Err: test.err}
		report.Results = append(report.Results, result)
		one := &batch.Report{Results: []batch.Result{result}}
		err := one.Err()
		if err == nil && result.Need()+batch.Need(result.Reason()) != "" {
			t.Errorf("%s: needs %s; %s", name, result.Need(), result.Reason())
		}
		row := fmt.Sprintf("(?i)\n\\| `State%s`.*[|,] %s[ ,][^|\n]*\\|\n",
			strings.ReplaceAll(string(test.state), " ", ""), test.need)
		if test.need != "" && test.state != batch.StateCompleted && !regexp.MustCompile(row).MatchString(page) {
			t.Errorf("%s: no row of %s in docs/batches.md has the need %s", name, test.state, test.need)
		}
		cause := strings.Replace(fmt.Sprint(test.err), ": raise the budget or select fewer documents", "", 1)
		begin, end := fmt.Sprintf("%s: %s; ", test.state, cause), fmt.Sprintf(" (item %q)\n", result.Key)
		if !errors.Is(err, test.err) || err != nil && (!strings.HasPrefix(err.Error(), begin) ||
			!strings.Contains(err.Error()+"\n", end)) {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Count(fmt.Sprint(err), "raise the budget") > 1 {
			t.Errorf("%s: the same advice twice: %v", name, err)
		}
		runs := test.need == batch.NeedRun || test.need == batch.NeedService
		if err != nil && !strings.Contains(err.Error(), test.next) || one.Retryable() != runs {
			t.Errorf("%s: %v, retryable %v", name, err, one.Retryable())
		}
		// A report whose advice was to run the batch again was not retryable.
		for _, of := range one.Causes() {
			if result.Need() != test.need || result.Reason() != cause {
				t.Errorf("%s: the result needs %s; %s", name, result.Need(), result.Reason())
			}
			if of.Need != test.need || strings.HasPrefix(of.Next, "run the batch again") != runs || of.Err.Error() != cause {
				t.Errorf("%s: needs %s; %s; %v", name, of.Need, of.Next, of.Err)
			}
		}
	}
	err := report.Err()
	if len(err.Error()) > 2000 || !strings.HasPrefix(err.Error(), "unknown: ") || !report.Retryable() ||
		!strings.HasSuffix(err.Error(), "; see Report.Causes") {
		t.Errorf("all states: %v", err)
	}
	for _, result := range report.Results {
		if result.Err != nil && !errors.Is(err, result.Err) {
			t.Errorf("all states: the error is not %v", result.Err)
		}
	}
	items := 0
	for _, cause := range report.Causes() { // those that do not fit the text too
		items += len(cause.Keys)
	}
	shippingtest.Diff(t, "items in the causes of all states", len(report.Results)-3, items)
}

// overBudget returns the error of an item that needs so much of a budget of 100 NGN.
func overBudget(t *testing.T, needed string) *shipping.BudgetError {
	t.Helper()
	return &shipping.BudgetError{Budget: *nairaBudget(t, "100"), Needed: shippingtest.Amount(t, needed)}
}

// Items are one line of the report if their errors differ only in amounts and identifiers.
func TestReport_ErrJoinsItemsWithOneCause(t *testing.T) {
	t.Parallel()
	taxed := overBudget(t, "150")
	taxed.Beside = []string{"FDA: tax 75"}
	for name, test := range map[string]struct {
		state  batch.State
		errs   [2]error
		shared bool // both are in one line
	}{
		"amounts":       {batch.StateError, [2]error{errors.New("18.50 is needed"), errors.New("7 is needed")}, true},
		"requests":      {batch.StateFailed, [2]error{errors.New("RD-A failed"), errors.New("RD-B failed")}, true},
		"costs":         {batch.StateOverBudget, [2]error{overBudget(t, "150"), overBudget(t, "160")}, true},
		"one has a tax": {batch.StateOverBudget, [2]error{overBudget(t, "150"), taxed}, false},
		"unknown":       {batch.StateUnknown, [2]error{errors.New("RD-A is lost"), errors.New("RD-B is lost")}, true},
		"responses": {batch.StateError, [2]error{
			&shipping.Error{Operation: "a", StatusCode: 404, Attempts: []shipping.Attempt{{ResponseID: "abc"}}},
			&shipping.Error{Operation: "a", StatusCode: 404, Attempts: []shipping.Attempt{{ResponseID: "xyz"}}}}, true},
		"attempts": {batch.StateError, [2]error{
			&shipping.Error{Operation: "a", StatusCode: 503, Attempts: make([]shipping.Attempt, 2)},
			&shipping.Error{Operation: "a", StatusCode: 503, Attempts: make([]shipping.Attempt, 1)}}, true},
		"statuses": {batch.StateError, [2]error{&shipping.Error{Operation: "a", StatusCode: 404},
			&shipping.Error{Operation: "a", StatusCode: 403}}, false},
	} {
		var report batch.Report
		for i, err := range test.errs {
			result := batch.Result{Key: strconv.Itoa(i), RequestID: []string{"RD-A", "RD-B"}[i], State: test.state, Err: err}
			report.Results = append(report.Results, result)
		}
		err := report.Err().Error()
		if strings.Contains(err, "(item ") == test.shared ||
			strings.Contains(err, "(2 items, the text is that of the first: ") != test.shared {
			t.Errorf("%s: %s", name, err)
		}
	}
}

// All keys stood before the cause, on one line of 40,514 bytes for 1,750 items. The cause of most items was missing,
// because lines about charges, and about items that were not purchased, filled the text.
func TestReport_ErrIsShort(t *testing.T) {
	t.Parallel()
	for _, causes := range []int{1, 2, 3, 30, 2000} {
		var report batch.Report
		for i := range 2000 {
			cause := fmt.Sprint(strings.Repeat("x", i%causes+1), strings.Repeat(" y", 1000))
			report.Results = append(report.Results, batch.Result{Key: strings.Repeat("€", 40), State: batch.StateFailed,
				Documents: []shipping.DocumentType{"FDA"}, Err: errors.New(cause)})
		}
		for range 2001 {
			report.Results = append(report.Results, batch.Result{Key: "SH-1", State: batch.StateOverBudget,
				Documents: []shipping.DocumentType{"FDA"}, Err: shipping.ErrOverBudget})
		}
		text := report.Err().Error()
		if len(text) > 2000 || !strings.HasPrefix(text, "failed: x") || !strings.Contains(text, "batch.Resolve") ||
			!strings.Contains(text, "\nover budget: shipping: over budget; ") {
			t.Errorf("%d causes: %d bytes: %s", causes, len(text), text)
		}
	}
}

// Items with rare causes were only counted, and no line showed what they need. The same advice filled several lines.
func TestReport_ErrShowsEachAdvice(t *testing.T) {
	t.Parallel()
	fda, long := []shipping.DocumentType{"FDA"}, strings.Repeat("a long text ", 20)
	busy := func(text string) error { return &shipping.Error{StatusCode: 503, Message: text + long} }
	refused := func(text string) error { return &shipping.Error{StatusCode: 422, Message: text + long} }
	other := func(text string) error { return errors.New(text + long) }
	for causes, want := range map[int][]string{ // parts of the text, in their order
		2: {"error: no funds", "\nunknown: a ", "; if it stays unknown, ", "\nunknown: b ", "; as above (item ",
			"\nfailed: a ", "if Regulatory.Retry succeeds", "\nfailed: b ", "; as above (item ", "422", "once this is corrected",
			", and another cause; remove the cause", "it failed, or did not respond (2 items: ", "\nwaiting: a ",
			"\nanother run may complete 6 of the 13 open items; the others need what their lines state; see Report.Causes"},
		40: {"error: no funds", "\nunknown: a ", "; if it stays unknown, ", " other causes; as above (", "\nfailed: a ",
			"if Regulatory.Retry succeeds", "422", "once this is corrected", ", and 39 other causes; remove the cause",
			"it failed, or did not respond (40 ", "\nwaiting: a ", "\nanother run may complete 120 of the 241 open items"},
	} {
		var report batch.Report
		add := func(state batch.State, documents []shipping.DocumentType, err error) {
			report.Results = append(report.Results, batch.Result{Key: strconv.Itoa(len(report.Results)), State: state,
				Documents: documents, Err: err})
		}
		for i := range causes {
			cause := string(rune('a'+i%26)) + strings.Repeat("+", i/26) + " "
			add(batch.StateError, nil, busy(cause))
			add(batch.StateUnknown, fda, other(cause))
			add(batch.StateError, nil, other(cause))
			add(batch.StateFailed, fda, other(cause))
			add(batch.StateError, nil, refused(cause))
			add(batch.StateWaiting, nil, other(cause))
		}
		add(batch.StateError, nil, fmt.Errorf("no funds: %w", shipping.ErrInsufficientFunds))
		text := report.Err().Error()
		rest, found := text, false
		for _, part := range want {
			_, rest, found = strings.Cut(rest, part)
			if !found {
				t.Fatalf("%d causes: %q is missing, or not in its place: %d bytes: %s", causes, part, len(text), text)
			}
		}
		if len(text) > 2000 {
			t.Errorf("%d causes: %d bytes", causes, len(text))
		}
		for _, advice := range []string{"if it stays unknown", "if Regulatory.Retry", "once this", "remove the cause"} {
			if strings.Count(text, advice) != 1 {
				t.Errorf("%d causes: %q more than once: %s", causes, advice, text)
			}
		}
	}
}

// The middle of a long text was left out, and with it the condition of an advice: "alect "refusal.expired_code = no"".
func TestReport_ErrKeepsWholeClauses(t *testing.T) {
	t.Parallel()
	const advice = `if this code means that the draft has expired, write in the dialect "refusal.expired_code = no"`
	for name, test := range map[string]struct {
		clauses []string
		kept    string // after what is left out
	}{
		"a long clause inside":     {[]string{"refused", strings.Repeat("on and on ", 200), advice}, "…; " + advice + "; "},
		"a long clause at the end": {[]string{"refused", strings.Repeat(advice+", ", 20)}, "refused; …; remove"},
		"a long message":           {[]string{"refused" + strings.Repeat(" and on", 300), advice}, "…; " + advice + "; "},
		"only a long message":      {[]string{"refused" + strings.Repeat(" and on", 300)}, "…; remove"},
	} {
		result := batch.Result{Key: "SH-1", State: batch.StateError, Err: errors.New(strings.Join(test.clauses, "; "))}
		text := (&batch.Report{Results: []batch.Result{result}}).Err().Error()
		if !strings.HasPrefix(text, "error: refused") || len(text) > 2000 || !strings.Contains(text, test.kept) ||
			strings.Contains(strings.ReplaceAll(text, advice, ""), "write") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// With a wrong secret key, without a service, or with too little money, the log had a line for each item. Without a
// service that accepts the key, each item was tried.
func TestReport_ErrHasOneLineForTheSameCause(t *testing.T) {
	t.Parallel()
	type row struct {
		transport http.RoundTripper
		options   batch.Options
		analyses  int
		err       error
		retryable bool
		begin     string // of the error
		end       string
	}
	refusing := &walletService{purchase: func(int) purchaseFault { return purchaseFault{Refuse: true} }}
	drafts := &walletService{}
	poor := shippingtest.NewService(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, purchase) {
			return shippingtest.Refusal(402, "no")(r)
		}
		return drafts.RoundTrip(r)
	})
	selectNone := func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
		return nil, shipping.ErrInvalidRequest
	}
	const same, first = `(3 items: "SH-1", "SH-2", "SH-3")`,
		`(3 items, the text is that of the first: "SH-1", "SH-2", "SH-3")`
	shippingtest.EachInBubble(t, map[string]row{
		"a wrong key": {shippingtest.NewService(shippingtest.Refusal(401, "no")), batch.Options{}, 1,
			shipping.ErrUnauthorized, false, "error: shipping: regulatory.analyze: ", same},
		"no service": {shippingtest.Unreachable(), batch.Options{}, 3, shipping.ErrConnection, true,
			"error: shipping: regulatory.analyze: ", same},
		"over budget": {&walletService{}, batch.Options{Select: shipping.SelectAll, Budget: nairaBudget(t, "50")}, 3,
			shipping.ErrOverBudget, false, "over budget: shipping: request RD-SH-1 ", first +
				"\nthe purchases that lacked money (3) need 300.00 NGN in the wallet, and a budget of 300.00 NGN"},
		"an empty wallet": {poor, batch.Options{Select: shipping.SelectAll, Budget: nairaBudget(t, "900")}, 3,
			shipping.ErrInsufficientFunds, false, "error: shipping: purchase of request RD-SH-1: ",
			"; once the wallet has the money, run the batch again " + first +
				"\nthe purchases that lacked money (3) need 300.00 NGN in the wallet"},
		"purchases refused": {refusing, batch.Options{Select: shipping.SelectAll}, 3, shipping.ErrInvalidRequest, false,
			"error: shipping: purchase of request RD-SH-1: ", first},
		"nothing can be selected": {&walletService{}, batch.Options{Select: selectNone}, 3, shipping.ErrInvalidRequest, false,
			"error: shipping: request RD-SH-1 ", first},
	}, func(t *testing.T, test row) {
		sent := shippingtest.NewService(test.transport.RoundTrip)
		test.options.Concurrency = 1
		test.options.Journal = newMemoryJournal(t, batch.Record{Key: "SH-4", Step: batch.StepCompleted})
		report, err := batch.Run(t.Context(), walletClient(t, sent), walletItems(4), &test.options)
		if err != nil || report.Count(batch.StateCompleted) != 1 || report.Retryable() != test.retryable {
			t.Errorf("%+v, %v", report, err)
		}
		if err = report.Err(); !errors.Is(err, test.err) || strings.Count(err.Error(), "(3 items") != 1 ||
			!strings.HasPrefix(err.Error(), test.begin) || !strings.HasSuffix(err.Error(), test.end) {
			t.Errorf("%v", err)
		}
		// An item's error gave the advice for a single request: purchase again.
		first := report.Results[0]
		if own := fmt.Sprintf("%s: %v", first.State, first.Err); !strings.HasPrefix(err.Error(), own) {
			t.Errorf("the item has another advice: %s", own)
		}
		shippingtest.Diff(t, "analyses", test.analyses, sent.CountPath(analyze))
	})
}

// A text of the client that no pattern of the batch matched advised to purchase an item again.
func TestReport_ErrHasNoAdviceOnASingleRequest(t *testing.T) {
	t.Parallel()
	call := func(operation string, status int, code string) error {
		return &shipping.Error{Operation: operation, StatusCode: status, Code: code, RetryAfter: time.Second}
	}
	single := regexp.MustCompile(`Regulatory\.(Resume|Wait|SettlePurchase|Purchase)\b|` +
		`(purchase|[Aa]nalyze) (\w+ )?again|its transactions|try again later|generates the documents again`)
	steps := []shipping.Step{"analyzed", "edited", "selected", "purchased", "polled"}
	outcomes := []shipping.PurchaseOutcome{"", shipping.OutcomeCharged, shipping.OutcomeNotCharged,
		shipping.OutcomePurchasedBefore, shipping.OutcomeUnknown}
	declared := shippingtest.Dialect(t, "record.states=expired=expired")
	statuses := []shipping.RequestStatus{"draft", "processing", "failed", "gone", "expired"}
	causes := []error{context.DeadlineExceeded, shipping.ErrRequestFailed, shipping.ErrNotPurchased,
		shipping.ErrOvercharged, shipping.ErrInsufficientFunds, wait.ErrStale, wait.ErrUnlisted,
		call(shipping.OpPurchase, 402, ""), call(shipping.OpPurchase, 409, "expired"), call(shipping.OpPurchase, 503, ""),
		call(shipping.OpGetRequest, 404, ""), call(shipping.OpGetRequest, 401, ""), call(shipping.OpGetRequest, 503, "")}
	for n := range 2 * len(steps) * len(outcomes) * len(statuses) * len(causes) {
		failed := &shipping.RegulatoryError{RequestID: "RD-1",
			Purchase: &shipping.PurchaseRequest{RequestID: "RD-1", Refused: n%2 == 1}}
		n /= 2
		failed.Step, n = steps[n%len(steps)], n/len(steps)
		failed.Outcome, n = outcomes[n%len(outcomes)], n/len(outcomes)
		failed.Request, n = &shipping.RegulatoryRequest{Status: statuses[n%len(statuses)], Dialect: declared}, n/len(statuses)
		failed.Err = causes[n]
		report := batch.Report{Results: []batch.Result{{Key: "SH-1", State: batch.StateError, Err: failed}}}
		text := report.Err().Error()
		if advice := single.FindString(strings.ReplaceAll(text, "do not purchase again", "")); advice != "" {
			t.Fatalf("%q in %s", advice, text)
		}
	}
	for status := 400; status < 505; status++ { // an analysis, whose error has no RegulatoryError
		refused := roundTrip(httpmock.NewStringResponder(status, `{"status":false,"message":"no"}`))
		_, err := walletClient(t, refused).Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-1"})
		report := batch.Report{Results: []batch.Result{{Key: "SH-1", State: batch.StateError, Err: err}}}
		if text := report.Err().Error(); single.MatchString(text) {
			t.Errorf("%d: %s", status, text)
		}
	}
	whole := regexp.MustCompile(`: no; the request has shown no purchase for (5s|1m0s); ` +
		`(add money to the wallet; )?(run the batch|once) `)
	codes := shippingtest.PurchaseCodes(t)
	for n := range 4 * len(codes) { // a purchase: a part of its advice was left, such as to read it
		status, code := []int{400, 409, 422, 423}[n%4], codes[n/4]
		synctest.Test(t, func(t *testing.T) {
			body := fmt.Sprintf(`{"status":false,"message":"no","data":{"error_code":%q}}`, code)
			service := requestService("", httpmock.NewStringResponder(status, body), shippingtest.Record("draft"))
			_, err := walletClient(t, service).Regulatory.Purchase(t.Context(),
				&shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}})
			report := batch.Report{Results: []batch.Result{{Key: "SH-1", State: batch.StateError, Err: err}}}
			if text := report.Err().Error(); code != "already_purchased" && !whole.MatchString(text) { // it is not settled
				t.Errorf("%d %s: %s", status, code, text)
			}
		})
	}
}
