package shipping_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/internal/status"
	"github.com/shipping-go/shipping/internal/wait"
)

const draftOfTwo = `"currency":"NGN","available_documents":[{"document_type":"FDA","amount":1500,"currency":"NGN"},` +
	`{"document_type":"CUSTOMS","amount":900.5}]`

// workflow is a service with one request, whose analysis returns a record, whose purchase is confirmed, and which is
// read in each of some states in turn, and stays in the last.
func workflow(analysis httpmock.Responder, reads ...httpmock.Responder) *shippingtest.Service {
	service := requestService(responders{shippingtest.Confirmation()}, reads)
	service.RegisterResponder(http.MethodPost, analyzeURL, analysis)
	return service
}

var parcel = &shipping.AnalyzeRequest{ShipmentID: "SH-1"}

// The steps have an order: if Select received the draft as it was before Edit, or the purchase came before Select, the
// requests would differ.
func TestAnalyzeAndPoll_TheWholeWorkflow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		draft, processing := record("draft", draftOfTwo), record("processing")
		service := workflow(draft, draft, processing, processing, record("completed"))
		var told []string
		record, err := regulatory(t, service).AnalyzeAndPoll(t.Context(), parcel, &shipping.AnalyzeAndPollOptions{
			Edit:   func(context.Context, *shipping.RegulatoryRequest) error { return nil },
			Select: shipping.SelectAll,
			Budget: &shipping.Budget{Amount: shippingtest.Amount(t, "2400.50"), Currency: "NGN"}, // exactly the price
			Poll: shipping.PollOptions{Progress: func(event shipping.PollEvent) {
				shippingtest.Diff(t, "the request of an event", "RD-1", event.RequestID)
				told = append(told, fmt.Sprintf("%s %d %t", event.Step, event.Polls, event.Purchase != nil))
			}},
		})
		if err != nil || record.Status != shipping.StatusCompleted {
			t.Fatalf("%+v, %v", record, err)
		}
		shippingtest.Diff(t, "progress", []string{
			"analyzed 0 false", "edited 0 false", "selected 0 false", "purchased 0 true", "polled 1 false", "polled 2 false",
			"ended 3 false",
		}, told)
		var sent []string
		for _, got := range service.Requests() {
			sent = append(sent, got.Method+" "+got.Path[strings.LastIndex(got.Path, "/"):]+" "+got.Body)
		}
		shippingtest.Diff(t, "requests", []string{
			`POST /analyze {"shipment_id":"SH-1"}`, "GET /RD-1 ",
			`POST /purchase {"request_id":"RD-1","document_types":["FDA","CUSTOMS"]}`, "GET /RD-1 ", "GET /RD-1 ", "GET /RD-1 ",
		}, sent)
	})
}

func TestAnalyzeAndPoll_BudgetStopsBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	document := func(members string) string { return `"available_documents":[{"document_type":"FDA",` + members + `}]` }
	and := func(members string) string { return `},{"document_type":"MSDS",` + members }
	const unread = "FDA has no price that could be read"
	type row struct {
		draft, budget, currency, want string
	}
	shippingtest.EachRow(t, map[string]row{
		"over by a hundredth": {draftOfTwo, "2400.49", "NGN", "over budget: 2400.50 NGN needed, 2400.49 NGN allowed"},
		"over by a thousandth": {document(`"amount":1.001,"currency":"KWD"`), "1", "KWD",
			"over budget: 1.01 KWD needed, 1.00 KWD allowed"},
		"no budget at all": {draftOfTwo, "0", "NGN", "over budget: 2400.50 NGN needed, 0.00 NGN allowed"},
		"another currency": {draftOfTwo, "1000000", "USD", "budget of 1000000.00 USD: the draft is priced in NGN"},
		"missing price": {document(`"currency":"NGN"`), "1000000", "NGN",
			unread + " (it shows neither amount nor price)"},
		"price in an object": {document(`"price":{"gross":1},"currency":"NGN"`), "1000000", "NGN",
			unread + ` (price is an object); only if a transaction of the wallet confirms it, write in the dialect ` +
				`"offer.amount = price.gross" (the cost is then 1.00 NGN)`},
		"null price":             {document(`"amount":null,"currency":"NGN"`), "1000000", "NGN", unread},
		"unreadable price":       {document(`"amount":"free","currency":"NGN"`), "1000000", "NGN", unread},
		"negative price":         {document(`"amount":-1,"currency":"NGN"`), "1000000", "NGN", "the negative price -1"},
		"price without currency": {document(`"amount":1`), "1000000", "NGN", "FDA has a price without a currency"},
		"mixed currencies": {document(`"amount":1,"currency":"NGN"` + and(`"amount":1,"currency":"USD"`)),
			"1000000", "NGN", "MSDS is priced in USD, others in NGN"},
		"too much to add": {`"currency":"NGN",` + document(`"amount":999999999999999999`+and(`"amount":999999999999999999`)),
			"1000000", "NGN", "amount has more than 18 digits"},
	}, func(t *testing.T, test row) {
		service := shippingtest.NewService(record("draft", test.draft))
		budget := &shipping.Budget{Amount: shippingtest.Amount(t, test.budget), Currency: test.currency}
		draft, err := regulatory(t, service).AnalyzeAndPoll(t.Context(), parcel,
			&shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll, Budget: budget})
		shippingtest.WantError(t, "workflow", err, shipping.ErrOverBudget)
		text := fmt.Sprint(err)
		if !strings.Contains(text, test.want) || !strings.HasSuffix(text, "; nothing was purchased") {
			t.Errorf("error %v, want %q", err, test.want)
		}
		if draft == nil || draft.Status != shipping.StatusDraft || service.Count("") != 1 {
			t.Errorf("draft %+v after %d requests", draft, service.Count(""))
		}
		if failure, _ := errors.AsType[*shipping.RegulatoryError](err); failure == nil || failure.RequestID != "RD-1" {
			t.Errorf("the error does not carry the request: %v", err)
		}
	})
}

// A charge above the cost of the draft was returned without an error, and so was one that could not be read.
func TestAnalyzeAndPoll_AChargeAboveTheCost(t *testing.T) {
	t.Parallel()
	completed := func(members string) responders { return responders{record("completed", members)} }
	type chargeRow struct {
		draft     string
		reads     responders
		over      string // in the error; "": no error
		confirmed string // by the response to the purchase
	}
	shippingtest.EachInBubble(t, map[string]chargeRow{
		"the cost":         {draftOfTwo, completed(`"charged_amount":2400.5,"currency":"NGN"`), "", ""},
		"above":            {draftOfTwo, completed(`"charged_amount":2400.51,"currency":"NGN"`), "charged 2400.51 NGN", ""},
		"another currency": {draftOfTwo, completed(`"charged_amount":5,"currency":"USD"`), "charged 5.00 USD", ""},
		"a quote": {`"charged_amount":2400.5,` + draftOfTwo,
			completed(`"charged_amount":2400.5,"currency":"NGN"`), "", ""},
		"a text":           {draftOfTwo, completed(`"charged_amount":"NGN 2,400.50"`), "", ""},
		"above, in a text": {draftOfTwo, completed(`"charged_amount":"2400.51 NGN"`), "charged 2400.51 NGN", ""},
		"another currency in a text": {draftOfTwo, completed(`"charged_amount":"$5","currency":"NGN"`),
			"charged 5.00 USD", ""},
		// It was read as an amount in Kenyan shillings, the first currency without a symbol.
		"a text without a currency": {draftOfTwo, completed(`"charged_amount":"2 400,50","currency":"NGN"`), "", ""},
		"three decimals": {`"available_documents":[{"document_type":"FDA","amount":2.4,"currency":"KWD"}]`,
			completed(`"charged_amount":"2.400 KWD"`), "", ""},
		// It was read as 1.5.
		"thousands in dinars": {`"available_documents":[{"document_type":"FDA","amount":900,"currency":"KWD"}]`,
			completed(`"charged_amount":"1,500 KWD"`), "charged 1500.00 KWD", ""},
		"a quote in another currency": {`"charged_amount":2400.5,` + draftOfTwo,
			completed(`"charged_amount":2400.5,"currency":"USD"`), "charged 2400.50 USD", ""},
		"a debit": {draftOfTwo, completed(`"charged_amount":-2600,"currency":"NGN"`), "charged -2600.00 NGN", ""},
		"two numbers in an object": {draftOfTwo, completed(`"charged_amount":{"net":4,"fee":5000}`),
			"charged_amount is not an amount; ", ""},
		"not readable": {draftOfTwo, completed(`"charged_amount":"about 2400","currency":"NGN"`),
			`charged_amount is "about 2400"`, ""},
		"in an object": {draftOfTwo, completed(`"charged_amount":{"sum":"2400.5 NGN"}`),
			`write in the dialect "record.charged_amount = charged_amount.sum"`, ""},
		"nothing, in an object": {draftOfTwo, completed(`"charged_amount":{"sum":0,"currency":"NGN"}`), "", ""},
		"no cost": {`"available_documents":[{"document_type":"FDA"}]`,
			completed(`"charged_amount":5,"currency":"NGN"`), "", ""},
		"failed": {draftOfTwo, responders{record("failed", `"charged_amount":2600,"currency":"NGN"`)},
			"charged 2600.00 NGN", ""},
		// Only the confirmation and the last record were compared.
		"only while documents are generated": {draftOfTwo, responders{
			record("processing", `"charged_amount":9999,"currency":"NGN"`), record("completed")}, "charged 9999.00 NGN", ""},
		// The record hid what the confirmation reports.
		"only in the confirmation": {draftOfTwo, completed(`"charged_amount":"0.00 NGN"`), "charged 9999.00 NGN",
			`"charged_amount":9999,"currency":"NGN"`},
	}, func(t *testing.T, test chargeRow) {
		service := requestService(responders{record("processing", cmp.Or(test.confirmed, `"a":1`))}, test.reads)
		service.RegisterResponder(http.MethodPost, analyzeURL, record("draft", test.draft))
		quoted := shipping.WithDialect(shippingtest.Dialect(t, "purchase.quoted=true"))
		record, err := regulatory(t, service, quoted).AnalyzeAndPoll(t.Context(), parcel, selectAll)
		failed, _ := errors.AsType[*shipping.RegulatoryError](err)
		if over := errors.Is(err, shipping.ErrOvercharged); over != (test.over != "") || over &&
			(!strings.Contains(err.Error(), test.over) || failed.Outcome != shipping.OutcomeCharged || record == nil) {
			t.Errorf("%+v, %v", record, err)
		}
	})
}

func TestAnalyzeAndPoll_EveryErrorAfterTheAnalysisCarriesTheRequest(t *testing.T) {
	t.Parallel()
	stop := errors.New("not this one")
	type options = shipping.AnalyzeAndPollOptions
	draft, done, gone := record("draft", draftOfTwo), shippingtest.Confirmation(), refusal(404, "gone")
	edit := func(err error) options {
		return options{Edit: func(context.Context, *shipping.RegulatoryRequest) error { return err }}
	}
	choose := func(err error, types ...shipping.DocumentType) options {
		return options{Select: func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error) { return types, err }}
	}
	type row struct {
		options        options
		purchase, read httpmock.Responder
		stage          shipping.Step
		want           error
		text           string
	}
	shippingtest.EachInBubble(t, map[string]row{
		"edit": {edit(stop), done, draft, "edited", stop, "shipping: request RD-1 (last seen draft): edit: not this one"},
		"reading the edited draft": {edit(nil), done, gone, "edited", shipping.ErrNotFound,
			"edit: regulatory.get: 404 Not Found: gone"},
		"select":                {choose(stop), done, draft, "selected", stop, "(last seen draft): select: not this one"},
		"selecting an odd slug": {choose(nil, "NEW"), done, draft, "selected", shipping.ErrInvalidRequest, `names "NEW"`},
		"selecting one twice": {shipping.AnalyzeAndPollOptions{Budget: shippingtest.Must(shipping.ParseBudget("7.00 NGN"))(t),
			Select: choose(nil, "FDA", "FDA").Select}, done, draft, "selected", shipping.ErrInvalidRequest, "names FDA twice"},
		"purchase": {*selectAll, refusal(400, "insufficient funds"), draft, "purchased", shipping.ErrInvalidRequest,
			"shipping: purchase of request RD-1: outcome not charged: regulatory.purchase: 400 Bad Request: insufficient funds"},
		"lost purchase": {*selectAll, shippingtest.NoResponse(), draft, "purchased", shipping.ErrConnection,
			"outcome unknown"},
		"wait": {*selectAll, done, gone, "polled", shipping.ErrNotFound,
			"shipping: request RD-1: wait: regulatory.get: 404 Not Found"},
		"failed documents": {*selectAll, done, record("failed"), "polled", shipping.ErrRequestFailed,
			"; the wallet was charged: Regulatory.Retry generates the documents again"},
		"a status that no line declares": {*selectAll, done, record("queued"), "polled", wait.ErrUnlisted,
			`; if generation continues, write in the dialect "record.states += queued=generating"; no line can ` +
				"declare it as draft, completed or failed: if generation has ended, read the documents with Regulatory.Get; " +
				"call Regulatory.Wait to continue"},
	}, func(t *testing.T, test row) {
		service := requestService(responders{test.purchase}, responders{test.read})
		service.RegisterResponder(http.MethodPost, analyzeURL, draft)
		_, err := regulatory(t, service).AnalyzeAndPoll(t.Context(), parcel, &test.options)
		shippingtest.WantError(t, "workflow", err, test.want)
		failure, _ := errors.AsType[*shipping.RegulatoryError](err)
		if failure == nil || failure.RequestID != "RD-1" || failure.Step != test.stage {
			t.Fatalf("%+v", failure)
		}
		if !strings.Contains(err.Error(), test.text) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want %s", err, test.text)
		}
		if strings.Count(err.Error(), "RD-1") != 1 {
			t.Errorf("%v does not name the request once", err)
		}
	})
}

func TestResume_GoesOnFromEachState(t *testing.T) {
	t.Parallel()
	draft, under, done := record("draft", draftOfTwo), record("processing"), record("completed")
	type row struct {
		reads   responders
		options *shipping.AnalyzeAndPollOptions
		want    shipping.RequestStatus
		bought  int
	}
	shippingtest.EachInBubble(t, map[string]row{
		"a draft without Select is returned": {responders{draft}, nil, shipping.StatusDraft, 0},
		"a draft is bought and waited for":   {responders{draft, under, done}, selectAll, shipping.StatusCompleted, 1},
		"a purchased one is not bought":      {responders{under, under, done}, selectAll, shipping.StatusCompleted, 0},
		"a completed one is returned":        {responders{done}, selectAll, shipping.StatusCompleted, 0},
		"a failed one is an error":           {responders{record("failed")}, selectAll, shipping.StatusFailed, 0},
	}, func(t *testing.T, test row) {
		service := workflow(nil, test.reads...)
		record, err := regulatory(t, service).Resume(t.Context(), "RD-1", test.options)
		if (err != nil) != (test.want == shipping.StatusFailed) || record == nil || record.Status != test.want {
			t.Errorf("%+v, %v", record, err)
		}
		shippingtest.Diff(t, "purchases", test.bought, service.Count(http.MethodPost))
	})
}

// A budget is checked against the draft as it is after Edit. If Edit changes the prices on the service, the new prices
// count.
func TestAnalyzeAndPoll_TheBudgetSeesThePricesAfterTheEdit(t *testing.T) {
	t.Parallel()
	offer := func(amount string) httpmock.Responder {
		return record("draft", `"available_documents":[{"document_type":"FDA","amount":`+amount+`,"currency":"NGN"}]`)
	}
	service := workflow(offer("10"), offer("100"))
	_, err := regulatory(t, service).AnalyzeAndPoll(t.Context(), parcel, &shipping.AnalyzeAndPollOptions{
		Edit:   func(context.Context, *shipping.RegulatoryRequest) error { return nil },
		Select: shipping.SelectAll,
		Budget: &shipping.Budget{Amount: shippingtest.Amount(t, "10"), Currency: "NGN"},
	})
	shippingtest.WantError(t, "a price above the budget", err, shipping.ErrOverBudget)
	shippingtest.Diff(t, "requests above a budget of 10", 1, service.Count(http.MethodPost))
}

// The zero value of an error type has a text and no cause.
func TestErrors_ZeroValuesHaveATextAndNoCause(t *testing.T) {
	t.Parallel()
	for _, err := range []error{&shipping.RegulatoryError{}, &shipping.BudgetError{}, &shipping.ListError{}} {
		text := err.Error()
		if !strings.HasPrefix(text, "shipping: ") || strings.Contains(text, "nil") || strings.HasSuffix(text, ": ") {
			t.Errorf("%T: %q", err, text)
		}
		if errors.Is(err, context.Canceled) {
			t.Errorf("%T has a cause", err)
		}
	}
	if text := new(shipping.RegulatoryError).Error(); !strings.Contains(text, "do not purchase again") {
		t.Error(text) // it must not invite another purchase
	}
	failed := &shipping.RegulatoryError{Step: "polled", Outcome: shipping.OutcomeCharged, Err: shipping.ErrRequestFailed}
	shippingtest.Contains(t, "the advice", failed, "the dialect has the route regulatory.retry")
}

func TestParseBudget(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]shipping.Budget{
		"150.00 NGN":    {Amount: shippingtest.Amount(t, "150"), Currency: "NGN"},
		" 0.5555  BTC":  {Amount: shippingtest.Amount(t, "0.5555"), Currency: "BTC"},
		"0 USD":         {Amount: shippingtest.Amount(t, "0"), Currency: "USD"},
		"1,500.00 ngn":  {Amount: shippingtest.Amount(t, "1500"), Currency: "NGN"},
		"0.125 NGN":     {Amount: shippingtest.Amount(t, "0.125"), Currency: "NGN"},
		"1500.125 NGN":  {Amount: shippingtest.Amount(t, "1500.125"), Currency: "NGN"},
		"1,234,567 NGN": {Amount: shippingtest.Amount(t, "1234567"), Currency: "NGN"},
	} {
		budget, err := shipping.ParseBudget(text)
		if err != nil || *budget != want {
			t.Errorf("%q: %+v, %v", text, budget, err)
			continue
		}
		shippingtest.Diff(t, text, want, *shippingtest.Must(shipping.ParseBudget(budget.String()))(t))
	}
	three := shipping.Budget{Amount: shippingtest.Amount(t, "1.125"), Currency: "KWD"}
	shippingtest.Diff(t, "three decimals", three, *shippingtest.Must(shipping.ParseBudget(three.String()))(t))
	for text, want := range map[string]string{
		"": "got an empty text", "150.00": "needs an amount and a currency", "-1 NGN": "0 or more",
		" ":        `got an empty text: write an amount and a currency, such as "150.00 NGN"`,
		"NGN 1000": `"NGN 1000": write the number first, then a space and the currency, such as "150.00 NGN"`, // a part was quoted
		"NGN":      "write the number first", "150 NGN USD": "three letters", "much NGN": "write the number first",
		// A limit of spending that can be read in two ways was read in one.
		"1,500 NGN": `got "1,500 NGN", which can be 1500.00 NGN or 1.5000 NGN: write the one that you mean`,
		"1.500 ngn": "which can be 1500.00 NGN or 1.5000 NGN", "+12.500 NGN": "12500.00 NGN or 12.5000 NGN",
		"5 N G": "three letters", "250 000 NGN": "with one space", "5 N\u00c4G": "three letters",
		"1.234,56 NGN": "use a point for decimals",
		"12,34 NGN":    `"12,34": use a point for decimals and no other separator, such as 1000.50`,
	} {
		shippingtest.Contains(t, fmt.Sprintf("%q", text), shippingtest.Err(shipping.ParseBudget(text)), want)
	}
}

// Modes are compared ignoring case, and an unknown mode is not taken for manual. A service need not show which
// documents are automated. To select none would look like a draft that needs none, even if the dialect has another
// mode.
func TestSelectAutomated_Modes(t *testing.T) {
	t.Parallel()
	for modes, test := range map[string]struct {
		selected int
		err      string
		dialect  string
	}{
		"automated,manual": {selected: 1}, "AUTOMATED,Manual": {selected: 1}, "Automated": {selected: 1}, "MANUAL": {},
		"auto": {err: "offer.automated"}, "auto,manual": {err: "offer.automated"}, ",": {err: "use SelectOnly"},
		"Auto,hand": {selected: 1, dialect: "auto"}, "Manual": {dialect: "auto"}, "hand": {dialect: "auto"},
		"automated,automatic": {err: `= automatic", in place of "offer.automated = auto"`, dialect: "auto"},
	} {
		draft := &shipping.RegulatoryRequest{Dialect: shippingtest.Dialect(t, "offer.automated="+test.dialect)}
		for i, mode := range strings.Split(modes, ",") {
			draft.AvailableDocuments = append(draft.AvailableDocuments,
				shipping.AvailableDocument{DocumentType: shipping.DocumentTypes()[i], Mode: mode})
		}
		selected, err := shipping.SelectAutomated(draft)
		if !strings.Contains(fmt.Sprint(err), cmp.Or(test.err, "nil")) || len(selected) != test.selected {
			t.Errorf("%s: %v, %v", modes, selected, err)
		}
	}
	shippingtest.Diff(t, "nothing offered", 0,
		len(shippingtest.Must(shipping.SelectAutomated(&shipping.RegulatoryRequest{}))(t)))
}

// Offers whose types are elsewhere would look like a draft that offers nothing of interest.
func TestSelect_OffersWithoutTypesAreAnError(t *testing.T) {
	t.Parallel()
	draft := &shipping.RegulatoryRequest{AvailableDocuments: make([]shipping.AvailableDocument, 2)}
	for name, choose := range choices("FDA") {
		shippingtest.Contains(t, name, shippingtest.Err(choose(draft)), "offer.document_type")
	}
}

// choices are the ways to select documents.
func choices(
	only ...shipping.DocumentType,
) map[string]func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
	return map[string]func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error){
		"SelectAutomated": shipping.SelectAutomated, "SelectAll": shipping.SelectAll,
		"SelectOnly": shipping.SelectOnly(only...),
	}
}

// Two offers of one type were selected twice, which no purchase accepts. A type that is not offered was left out, so
// that one of two documents was bought without an error.
func TestSelect_EachTypeOnce(t *testing.T) {
	t.Parallel()
	draft := shippingtest.Must(regulatory(t, shippingtest.NewService(record("draft", `"available_documents":[`+
		`{"document_type":"FDA","mode":"automated"},{"document_type":"FDA","mode":"automated"},{"document_type":"MSDS"}]`))).
		Get(t.Context(), "RD-1"))(t)
	for name, want := range map[string]string{"SelectAutomated": "[FDA]", "SelectAll": "[FDA MSDS]",
		"SelectOnly": "[FDA]"} {
		if selected, err := choices("FDA")[name](draft); err != nil || fmt.Sprint(selected) != want {
			t.Errorf("%s: %v, %v", name, selected, err)
		}
	}
	for _, only := range [][]shipping.DocumentType{{"STEEL"}, {"FDA", "STEEL"}, {"STEEL", "MSDS"}} {
		selected, err := shipping.SelectOnly(only...)(draft)
		const want = "does not offer STEEL: select from the documents that it offers (FDA, MSDS)"
		if err == nil || len(selected) > 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, %v", only, selected, err)
		}
	}
}

// A wait that ends with the first state that it does not know, or that polls after the last one, would send another
// number of polls.
func TestWait_UntilCompletedOrFailed(t *testing.T) {
	t.Parallel()
	draft, under, done, gone := record("draft"), record("processing"), record("completed"), refusal(404, "x")
	type row struct {
		answers responders
		polls   int
		status  shipping.RequestStatus
		want    error
	}
	rows := map[string]row{
		"completed at once":           {responders{done}, 1, "completed", nil},
		"through all states":          {responders{record("purchasing"), under, under, done}, 4, "completed", nil},
		"states nobody knows":         {responders{record("queued"), record("zz-unlisted"), done}, 3, "completed", nil},
		"a draft for a moment":        {responders{draft, draft, under, done}, 4, "completed", nil},
		"a request that vanishes":     {responders{under, gone}, 2, "processing", shipping.ErrNotFound},
		"an unknown request":          {responders{gone, done}, 1, "", shipping.ErrNotFound},
		"a key that is revoked":       {responders{under, refusal(401, "no")}, 2, "processing", shipping.ErrUnauthorized},
		"a proxy's page":              {responders{under, body(200, "<html>")}, 2, "processing", shipping.ErrUnexpectedBody},
		"a response without a record": {responders{under, success(`{}`)}, 2, "processing", shipping.ErrUnexpectedBody},
	}
	for _, failed := range shippingtest.Failures() {
		rows[failed] = row{responders{under, record(failed)}, 2, shipping.RequestStatus(failed), shipping.ErrRequestFailed}
	}
	shippingtest.EachInBubble(t, rows, func(t *testing.T, test row) {
		service := workflow(nil, test.answers...)
		record, err := regulatory(t, service).Wait(t.Context(), "RD-1", nil)
		if !errors.Is(err, test.want) || test.want == nil && err != nil {
			t.Errorf("error %v, want %v", err, test.want)
		}
		if cmp.Or(record, &shipping.RegulatoryRequest{}).Status != test.status {
			t.Errorf("record %+v, want status %s", record, test.status)
		}
		shippingtest.Diff(t, "polls", test.polls, service.Count(""))
	})
}

// Without a limit for drafts, a wait for a request that nobody has purchased would never end.
func TestWait_ADraftThatStaysIsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		read, err := regulatory(t, workflow(nil, record("draft"))).Wait(t.Context(), "RD-1", nil)
		shippingtest.WantError(t, "wait", err, shipping.ErrNotPurchased)
		if took := time.Since(started); read == nil || took < time.Minute || took > 2*time.Minute {
			t.Errorf("%+v after %s", read, took)
		}
		const want = "shipping: request RD-1 (last seen draft): wait: the regulatory request still reads as a draft after " +
			"1m0s: no reading shows a purchase: if nobody has purchased it, call Regulatory.Purchase;"
		if !strings.HasPrefix(err.Error(), want) {
			t.Error(err)
		}
	})
}

// If an error advised to purchase a request that is purchased already, the caller would pay twice.
func TestWait_ARequestThatWasPurchasedIsNotToBePurchasedAgain(t *testing.T) {
	t.Parallel()
	draft := record("draft", draftOfTwo)
	ways := waysToBuy(selectAll)
	ways["Wait"] = func(ctx context.Context, r shipping.RegulatoryService) error {
		return shippingtest.Err(r.Wait(ctx, "RD-1", nil))
	}
	calls := map[string]responders{"AnalyzeAndPoll": {draft}}
	for _, row := range status.All() {
		if row.Purchased && !row.Final {
			reads := responders{record(row.Name), draft}
			calls["Resume "+row.Name], calls["Wait "+row.Name] = reads, reads
		}
	}
	for call, reads := range calls {
		synctest.Test(t, func(t *testing.T) {
			way, _, _ := strings.Cut(call, " ")
			err := ways[way](t.Context(), regulatory(t, workflow(draft, reads...)))
			if errors.Is(err, shipping.ErrNotPurchased) || !strings.Contains(fmt.Sprint(err), "do not purchase again") {
				t.Errorf("%s: %v", call, err)
			}
		})
	}
}

// A copy of the data that lags behind does not have the request yet. After a purchase that had succeeded, a program got
// the error that the request does not exist.
func TestAnalyzeAndPoll_AReadingBehindThePurchase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		behind := refusal(404, "no such request")
		service := workflow(record("draft", draftOfTwo), behind, behind, record("completed"))
		shippingtest.Must(regulatory(t, service).AnalyzeAndPoll(t.Context(), parcel, selectAll))(t)
	})
}

// A wait that ends with a failure between two successful polls, or with a poll that hangs, would lose a purchased
// request.
func TestWait_FailuresThatPassAreTolerated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		once := shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1})
		passing := responders{
			record("processing"), refusal(503, "busy"), shippingtest.NoResponse(), body(502, "<html>"),
			refusal(429, "slow down"), refusal(500, "oops"),
			body(200, "").Delay(time.Hour), record("processing"), refusal(503, "busy"), record("completed"),
		}
		var failed int
		options := &shipping.PollOptions{Progress: func(event shipping.PollEvent) {
			if event.Step == "poll failed" {
				failed++
				if event.Err == nil || event.Request == nil || event.Next == 0 {
					t.Errorf("%+v", event)
				}
			}
		}}
		record, err := regulatory(t, workflow(nil, passing...), once).Wait(t.Context(), "RD-1", options)
		if err != nil || record.Status != shipping.StatusCompleted || failed != 7 {
			t.Errorf("%+v, %v, %d failed polls", record, err, failed)
		}
	})
}

// A wait that ends with its context reports why the polls before failed, also if the context ends during a poll or
// after one: only the end of the context was reported then.
func TestWait_TheEndOfTheContextJoinsTheLastFailure(t *testing.T) {
	t.Parallel()
	hangs := body(200, "").Delay(time.Hour)
	for name, reads := range map[string]responders{
		"between polls": {refusal(503, "busy")},
		"during a poll": {refusal(503, "busy"), hangs},
		"QUARANTINE waits for evidence that a person supplies": {record("processing",
			`"documents":[{"document_type":"QUARANTINE","status":"awaiting_evidence"}]`), refusal(503, "busy")},
	} {
		for _, resumed := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
				defer stop()
				regulatory := regulatory(t, workflow(nil, reads...), shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1}))
				var err error
				if resumed {
					_, err = regulatory.Resume(ctx, "RD-1", nil)
				} else {
					_, err = regulatory.Wait(ctx, "RD-1", nil)
				}
				shippingtest.WantError(t, name, err, context.DeadlineExceeded, shipping.ErrServer)
				if !strings.HasSuffix(err.Error(), "; call Regulatory.Wait to continue") ||
					strings.HasPrefix(name, "QUARANTINE") && !strings.Contains(err.Error(), name) {
					t.Error(err)
				}
			})
		}
	}
}

func TestAnalyze_AFailedAnalysisCarriesItsRequest(t *testing.T) {
	t.Parallel()
	const shows = "; the record shows a purchase: compare it with the wallet's transactions"
	for _, name := range shippingtest.Failures() {
		failed := `"request_id":"RD-1","status":"` + name + `"`
		for want, answer := range map[string]httpmock.Responder{
			"regulatory.analyze: 400 Bad Request: m; nothing was charged": body(400,
				`{"status":false,"message":"m","data":{`+failed+`}}`),
			"unreadable invoice": success(`{` + failed + `,"failure_reason":"unreadable invoice"}`),
			// It stated that nothing was charged.
			"a form" + shows: success(`{` + failed + `,"failure_reason":"a form","purchased_documents":["FDA"]}`),
			"no lot; FDA: no lot" + shows: success(`{` + failed + `,"failure_reason":"no lot","documents":[{"document_type":` +
				`"FDA","status":"failed","failure":"no lot"}]}`),
		} {
			read, err := regulatory(t, shippingtest.NewService(answer)).Analyze(t.Context(), parcel)
			shippingtest.WantError(t, want, err, shipping.ErrRequestFailed)
			failed, _ := errors.AsType[*shipping.RegulatoryError](err)
			if read != nil || failed == nil || failed.Request.RequestID != "RD-1" || failed.Step != "analyzed" ||
				(failed.Outcome == not) == strings.HasSuffix(want, shows) ||
				errors.Is(err, shipping.ErrInvalidRequest) != strings.HasPrefix(want, "regulatory") {
				t.Errorf("%v, %v", read, err)
			}
			shippingtest.Contains(t, "error", err, "shipping: analysis failed for request RD-1: "+want)
		}
	}
}

// An analysis that is not finished is waited for, however the request is reached: "analyzing" was refused as "no
// longer a draft". A request that is first read as a draft after an outage of more than a minute is purchased: its time
// as a draft had begun with the first poll. A record may be the only element of a list.
func TestWorkflow_LateDrafts(t *testing.T) {
	t.Parallel()
	draft := record("draft", draftOfTwo)
	two, other := success(`[{"request_id":"RD-1","status":"draft"},{}]`), success(`[{"name":"a form"}]`)
	listed := success(`[{"request_id":"RD-1","status":"draft",` + draftOfTwo + `}]`)
	analyzing, busy, done := record("analyzing"), refusal(503, "busy"), record("completed")
	type row struct {
		analysis httpmock.Responder
		before   httpmock.Responder // the readings for some time
		lasts    time.Duration
		then     httpmock.Responder // the readings until the purchase
		want     string             // in the error; "" if the documents are purchased
	}
	rows := map[string]row{
		"analyzing for 2 s":     {analyzing, analyzing, 2 * time.Second, draft, ""},
		"analyzing, reads fail": {analyzing, busy, 5 * time.Second, draft, ""},
		"analyzing for ever": {analyzing, analyzing, time.Hour, draft,
			`the analysis has not finished after 1m0s; this call purchased nothing; ` +
				`neither the specification nor the dialect lists the status "analyzing"; if this status means that the draft ` +
				`expired, write in the dialect "record.states += analyzing=expired"; if the analysis is under way, write in the ` +
				`dialect "record.states += analyzing=analyzing"; no line can declare it as draft, completed or failed: if it is ` +
				`a draft, ask the service to send the status "draft"; call Regulatory.Resume to continue`},
		"analyzing, then purchased": {analyzing, analyzing, 2 * time.Second, done, "no longer a draft"},
		"no reading for 70 s":       {analyzing, busy, 70 * time.Second, draft, ""},
		"a list of one draft":       {listed, listed, 0, listed, ""},
		"a list of two":             {two, success(`[{},{}]`), time.Hour, draft, "no regulatory request"},
		"a list of no record":       {other, other, time.Hour, draft, "no regulatory request"},
	}
	for _, failed := range shippingtest.Failures() {
		rows["analyzing, then "+failed] = row{analyzing, analyzing, 2 * time.Second, record(failed), "analysis failed"}
	}
	for name, test := range rows {
		for _, way := range []string{"AnalyzeAndPoll", "Resume", "Prepare"} {
			synctest.Test(t, func(t *testing.T) {
				started, purchases := time.Now(), 0
				service := shippingtest.NewService(func(r *http.Request) (*http.Response, error) {
					switch {
					case strings.HasSuffix(r.URL.Path, "/analyze"):
						return test.analysis(r)
					case r.Method == http.MethodPost:
						purchases++
						return success(`[{"request_id":"RD-1","status":"processing"}]`)(r)
					case purchases > 0:
						return success(`[{"request_id":"RD-1","status":"completed"}]`)(r)
					case time.Since(started) < test.lasts:
						return test.before(r)
					}
					return test.then(r)
				})
				err := waysToBuy(selectAll)[way](t.Context(), regulatory(t, service))
				completed := way == "Resume" && name == "analyzing, then purchased" // which is what Resume waits for
				if test.want == "" && (err != nil || purchases != 1) {
					t.Errorf("%s, %s: %d purchases, %v", name, way, purchases, err)
				}
				if test.want != "" && !completed && (err == nil || !strings.Contains(err.Error(), test.want) || purchases != 0) {
					t.Errorf("%s, %s: %d purchases, %v", name, way, purchases, err)
				}
			})
		}
	}
}
