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
)

// workflowService is a service with one request: analyzing makes a draft of two documents for 1500.00 and
// 900.50 NGN, a purchase starts the generation, and some reads later it is completed.
type workflowService struct {
	*shippingtest.Service
	draft, status string
	reads         int
	// instead returns another responder for a request, or nil.
	instead func(r *http.Request) httpmock.Responder
}

const draftOfTwo = `"currency":"NGN","available_documents":[{"document_type":"FDA","amount":1500,"currency":"NGN"},{"document_type":"CUSTOMS","amount":900.5}]`

func newWorkflowService() *workflowService {
	s := &workflowService{draft: draftOfTwo, status: "draft"}
	s.Service = shippingtest.NewService(s.respond)
	return s
}

func (s *workflowService) respond(r *http.Request) (*http.Response, error) {
	if s.instead != nil {
		if responder := s.instead(r); responder != nil {
			return responder(r)
		}
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/purchase"):
		s.status = "processing"
		return shippingtest.Record("processing", `"charged_amount":2400.5`, `"currency":"NGN"`)(r)
	case r.Method == http.MethodGet && s.status == "processing":
		if s.reads++; s.reads > 2 {
			s.status = "completed"
		}
	}
	return shippingtest.Record(s.status, `"source":"shipment"`, s.draft)(r)
}

var parcel = &shipping.AnalyzeRequest{ShipmentID: "SH-1"}

func TestAnalyzeAndPoll_TheWholeWorkflow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := newWorkflowService()
		var told []string
		record, err := shippingtest.NewClient(t, service).Regulatory.AnalyzeAndPoll(t.Context(), parcel, &shipping.AnalyzeAndPollOptions{
			Edit:   func(context.Context, *shipping.RegulatoryRequest) error { return nil },
			Select: shipping.SelectAll,
			Budget: &shipping.Budget{Amount: shippingtest.Amount(t, "2400.50"), Currency: "NGN"}, // exactly the price
			Poll: shipping.PollOptions{Progress: func(event shipping.PollEvent) {
				if event.RequestID != "RD-1" {
					t.Errorf("an event of no request: %+v", event)
				}
				told = append(told, fmt.Sprintf("%s %d %t", event.Step, event.Polls, event.Purchase != nil))
			}},
		})
		if err != nil || record.Status != shipping.StatusCompleted {
			t.Fatalf("%+v, %v", record, err)
		}
		shippingtest.Diff(t, "progress", []string{
			"analyzed 0 false", "edited 0 false", "selected 0 false", "purchased 0 true", "polled 1 false", "polled 2 false", "ended 3 false",
		}, told)
		var sent []string
		for _, got := range service.Requests() {
			sent = append(sent, got.Method+" "+got.Path[strings.LastIndex(got.Path, "/"):]+" "+got.Body)
		}
		shippingtest.Diff(t, "requests", []string{
			`POST /analyze {"shipment_id":"SH-1"}`, "GET /RD-1 ", `POST /purchase {"request_id":"RD-1","document_types":["FDA","CUSTOMS"]}`,
			"GET /RD-1 ", "GET /RD-1 ", "GET /RD-1 ",
		}, sent)
	})
}

func TestAnalyzeAndPoll_WithoutSelect(t *testing.T) {
	t.Parallel()
	none := func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error) { return nil, nil }
	for name, options := range map[string]*shipping.AnalyzeAndPollOptions{
		"no options":      nil,
		"empty options":   {},
		"selects nothing": {Select: none},
	} {
		service := newWorkflowService()
		draft, err := shippingtest.NewClient(t, service).Regulatory.AnalyzeAndPoll(t.Context(), parcel, options)
		if err != nil || draft.Status != shipping.StatusDraft || service.Count("") != 1 {
			t.Errorf("%s: %+v, %v after %d requests", name, draft, err, service.Count(""))
		}
	}
}

func TestAnalyzeAndPoll_BudgetStopsBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	document := func(members string) string { return `"available_documents":[{"document_type":"FDA",` + members + `}]` }
	for name, test := range map[string]struct {
		draft, budget, currency, want string
	}{
		"over by a hundredth": {draftOfTwo, "2400.49", "NGN", "over budget: 2400.50 NGN needed, 2400.49 NGN allowed"},
		"over by a thousandth": {document(`"amount":1.001,"currency":"KWD"`), "1", "KWD",
			"over budget: 1.001 KWD needed, 1.00 KWD allowed"},
		"no budget at all": {draftOfTwo, "0", "NGN", "over budget: 2400.50 NGN needed, 0.00 NGN allowed"},
		"another currency": {draftOfTwo, "1000000", "USD", "budget of 1000000.00 USD: the draft is priced in NGN"},
		"missing price": {document(`"currency":"NGN"`), "1000000", "NGN",
			"FDA has no price that could be read (it shows neither amount nor price): measure it with mockserver conform " +
				"-write -most, or set offer.amount of the dialect; nothing was purchased"},
		"price in an object": {document(`"price":{"gross":1},"currency":"NGN"`), "1000000", "NGN",
			"FDA has no price that could be read (price is an object): measure it with mockserver conform " +
				"-write -most, or set offer.amount of the dialect; nothing was purchased"},
		"null price":             {document(`"amount":null,"currency":"NGN"`), "1000000", "NGN", "FDA has no price that could be read"},
		"unreadable price":       {document(`"amount":"free","currency":"NGN"`), "1000000", "NGN", "FDA has no price that could be read"},
		"negative price":         {document(`"amount":-1,"currency":"NGN"`), "1000000", "NGN", "FDA has the negative price -1"},
		"price without currency": {document(`"amount":1`), "1000000", "NGN", "FDA has a price without a currency"},
		"mixed currencies": {`"available_documents":[{"document_type":"FDA","amount":1,"currency":"NGN"},{"document_type":"MSDS","amount":1,"currency":"USD"}]`,
			"1000000", "NGN", "MSDS is priced in USD, others in NGN"},
		"too much to add": {`"currency":"NGN","available_documents":[{"document_type":"FDA","amount":999999999999999999},{"document_type":"MSDS","amount":999999999999999999}]`,
			"1000000", "NGN", "amount does not fit in 18 digits"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := newWorkflowService()
			service.draft = test.draft
			budget := &shipping.Budget{Currency: test.currency}
			budget.Amount = shippingtest.Amount(t, test.budget)
			draft, err := shippingtest.NewClient(t, service).Regulatory.AnalyzeAndPoll(t.Context(), parcel, &shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll, Budget: budget})
			shippingtest.WantError(t, "workflow", err, shipping.ErrOverBudget)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasSuffix(err.Error(), "; nothing was purchased") {
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
}

func TestAnalyzeAndPoll_EveryErrorAfterTheAnalysisCarriesTheRequest(t *testing.T) {
	t.Parallel()
	stop := errors.New("not this one")
	for name, test := range map[string]struct {
		options shipping.AnalyzeAndPollOptions
		answers map[string]httpmock.Responder // by the end of the path
		stage   shipping.Step
		want    error
		text    string
	}{
		"edit": {shipping.AnalyzeAndPollOptions{Edit: func(context.Context, *shipping.RegulatoryRequest) error { return stop }},
			nil, "edited", stop, "shipping: request RD-1 (last seen draft): edit: not this one"},
		"reading the edited draft": {shipping.AnalyzeAndPollOptions{Edit: func(context.Context, *shipping.RegulatoryRequest) error { return nil }},
			map[string]httpmock.Responder{"/RD-1": shippingtest.Refusal(404, "gone")}, "edited", shipping.ErrNotFound, "edit: regulatory.get: 404 Not Found: gone"},
		"select": {shipping.AnalyzeAndPollOptions{Select: func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error) { return nil, stop }},
			nil, "selected", stop, "shipping: request RD-1 (last seen draft): select: not this one"},
		"selecting an unknown slug": {shipping.AnalyzeAndPollOptions{Select: func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
			return []shipping.DocumentType{"NEW"}, nil
		}}, nil, "purchased", shipping.ErrInvalidRequest, `names "NEW"`},
		"purchase": {shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll},
			map[string]httpmock.Responder{"/purchase": shippingtest.Refusal(400, "insufficient funds")}, "purchased", shipping.ErrInvalidRequest, "shipping: purchase of request RD-1: outcome not charged: regulatory.purchase: 400 Bad Request: insufficient funds"},
		"lost purchase": {shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll},
			map[string]httpmock.Responder{"/purchase": shippingtest.NoResponse()}, "purchased", shipping.ErrConnection, "outcome unknown"},
		"wait": {shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll},
			map[string]httpmock.Responder{"/RD-1": shippingtest.Refusal(404, "gone")}, "polled", shipping.ErrNotFound, "shipping: request RD-1: wait: regulatory.get: 404 Not Found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := newWorkflowService()
				service.instead = func(r *http.Request) httpmock.Responder {
					for end, answer := range test.answers {
						if strings.HasSuffix(r.URL.Path, end) {
							return answer
						}
					}
					return nil
				}
				_, err := shippingtest.NewClient(t, service).Regulatory.AnalyzeAndPoll(t.Context(), parcel, &test.options)
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
		})
	}
}

func TestResume_GoesOnFromEachState(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status  string
		options *shipping.AnalyzeAndPollOptions
		want    shipping.RequestStatus
		bought  int
	}{
		"a draft without Select is returned": {"draft", nil, shipping.StatusDraft, 0},
		"a draft is bought and waited for":   {"draft", &shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll}, shipping.StatusCompleted, 1},
		"a purchased one is not bought":      {"processing", &shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll}, shipping.StatusCompleted, 0},
		"a completed one is returned":        {"completed", &shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll}, shipping.StatusCompleted, 0},
		"a failed one is an error":           {"failed", &shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll}, shipping.StatusFailed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := newWorkflowService()
				service.status = test.status
				record, err := shippingtest.NewClient(t, service).Regulatory.Resume(t.Context(), "RD-1", test.options)
				if (err != nil) != (test.want == shipping.StatusFailed) || record == nil || record.Status != test.want {
					t.Errorf("%+v, %v", record, err)
				}
				if got := service.Count(http.MethodPost); got != test.bought {
					t.Errorf("bought %d times, want %d", got, test.bought)
				}
			})
		})
	}
}

func TestResume_AfterAFailedReadItWaitsAndBuysNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := states(shippingtest.Refusal(503, "busy"), shippingtest.Refusal(503, "busy"), shippingtest.Refusal(503, "busy"), shippingtest.Refusal(503, "busy"), shippingtest.Record("processing"), shippingtest.Record("completed"))
		record, err := shippingtest.NewClient(t, service).Regulatory.Resume(t.Context(), "RD-1", &shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll})
		if err != nil || record.Status != shipping.StatusCompleted || service.Count(http.MethodPost) != 0 {
			t.Errorf("%+v, %v", record, err)
		}
		busy, fails := newWorkflowService(), 4
		busy.instead = func(*http.Request) httpmock.Responder {
			if fails--; fails >= 0 {
				return shippingtest.Refusal(503, "busy")
			}
			return nil
		}
		record, err = shippingtest.NewClient(t, busy).Regulatory.Resume(t.Context(), "RD-1", &shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll})
		if err != nil || record.Status != shipping.StatusCompleted || busy.Count(http.MethodPost) != 1 {
			t.Errorf("a draft behind failed reads: %+v, %v", record, err)
		}
		_, err = shippingtest.NewClient(t, states(shippingtest.Refusal(404, "gone"))).Regulatory.Resume(t.Context(), "RD-1", nil)
		shippingtest.WantError(t, "a request that is gone", err, shipping.ErrNotFound)
		if failure, _ := errors.AsType[*shipping.RegulatoryError](err); failure == nil || failure.RequestID != "RD-1" {
			t.Errorf("%v", err)
		}
	})
}

// A budget is checked against the draft as it is after Edit. If Edit changes the prices on the service, the new prices
// count.
func TestAnalyzeAndPoll_TheBudgetSeesThePricesAfterTheEdit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := newWorkflowService()
		service.draft = `"available_documents":[{"document_type":"FDA","amount":10,"currency":"NGN"}]`
		_, err := shippingtest.NewClient(t, service).Regulatory.AnalyzeAndPoll(t.Context(), parcel, &shipping.AnalyzeAndPollOptions{
			Edit: func(context.Context, *shipping.RegulatoryRequest) error {
				service.draft = `"available_documents":[{"document_type":"FDA","amount":100,"currency":"NGN"}]`
				return nil
			},
			Select: shipping.SelectAll,
			Budget: &shipping.Budget{Amount: shippingtest.Amount(t, "10"), Currency: "NGN"},
		})
		shippingtest.WantError(t, "a price above the budget", err, shipping.ErrOverBudget)
		for _, got := range service.Requests() {
			if strings.HasSuffix(got.Path, "/purchase") {
				t.Error("a document for 100 was purchased within a budget of 10")
			}
		}
	})
}

// The zero value of an error type has a text and no cause.
func TestErrors_ZeroValuesHaveATextAndNoCause(t *testing.T) {
	t.Parallel()
	for _, err := range []error{&shipping.RegulatoryError{}, &shipping.BudgetError{}, &shipping.ListError{}} {
		if text := err.Error(); !strings.HasPrefix(text, "shipping: ") || strings.Contains(text, "nil") || strings.HasSuffix(text, ": ") {
			t.Errorf("%T: %q", err, text)
		}
		if errors.Is(err, context.Canceled) {
			t.Errorf("%T has a cause", err)
		}
	}
	if text := new(shipping.RegulatoryError).Error(); !strings.Contains(text, "do not purchase again") {
		t.Error(text) // it must not invite another purchase
	}
}

func TestParseBudget(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]shipping.Budget{
		"150.00 NGN":   {Amount: shippingtest.Amount(t, "150"), Currency: "NGN"},
		" 0.5555  BTC": {Amount: shippingtest.Amount(t, "0.5555"), Currency: "BTC"},
		"0 USD":        {Amount: shippingtest.Amount(t, "0"), Currency: "USD"},
	} {
		budget, err := shipping.ParseBudget(text)
		if err != nil || *budget != want {
			t.Errorf("%q: %+v, %v", text, budget, err)
		}
	}
	for text, want := range map[string]string{
		"": "got an empty text", "150.00": "needs an amount and a currency", "NGN": "write the number first", "-1 NGN": "0 or more",
		"150 NGN USD": "three letters", "much NGN": "write the number first", "1.234,56 NGN": "use a point for decimals",
	} {
		if budget, err := shipping.ParseBudget(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %+v, %v", text, budget, err)
		}
	}
}

func TestSelect_ChoosesFromWhatTheDraftOffers(t *testing.T) {
	t.Parallel()
	draft := &shipping.RegulatoryRequest{AvailableDocuments: []shipping.AvailableDocument{
		{DocumentType: "FDA", Mode: "automated"}, {DocumentType: "MSDS", Mode: "manual"}, {DocumentType: "CUSTOMS"}, {DocumentType: "NEW"},
	}}
	for name, test := range map[string]struct {
		choose func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error)
		want   []shipping.DocumentType
	}{
		"all":                             {shipping.SelectAll, []shipping.DocumentType{"FDA", "MSDS", "CUSTOMS", "NEW"}},
		"automated":                       {shipping.SelectAutomated, []shipping.DocumentType{"FDA"}},
		"only two":                        {shipping.SelectOnly("CUSTOMS", "MSDS", "WATCH"), []shipping.DocumentType{"MSDS", "CUSTOMS"}},
		"only a type that is not offered": {shipping.SelectOnly("WATCH"), nil},
		"an unknown type that is offered": {shipping.SelectOnly("NEW"), []shipping.DocumentType{"NEW"}},
	} {
		got, err := test.choose(draft)
		if err != nil {
			t.Error(err)
		}
		shippingtest.Diff(t, name, test.want, got)
	}
	if got, err := shipping.SelectOnly("FDA", "fda")(draft); got != nil || !errors.Is(err, shipping.ErrInvalidRequest) {
		t.Errorf("a type that nobody lists: %v, %v", got, err)
	}
}

// A mode is read in any case, and one of another service is not taken for manual. A service need not show which documents
// are automated. Selecting none would look like a draft that needs none.
func TestSelectAutomated_Modes(t *testing.T) {
	t.Parallel()
	for modes, test := range map[string]struct {
		selected int
		err      string
	}{
		"automated,manual": {selected: 1}, "AUTOMATED,Manual": {selected: 1}, "Automated": {selected: 1}, "MANUAL": {},
		"auto": {err: "offer.automated"}, "auto,manual": {err: "offer.automated"}, ",": {err: "does not show which"},
	} {
		draft := &shipping.RegulatoryRequest{}
		for i, mode := range strings.Split(modes, ",") {
			draft.AvailableDocuments = append(draft.AvailableDocuments,
				shipping.AvailableDocument{DocumentType: shipping.DocumentTypes()[i], Mode: mode})
		}
		selected, err := shipping.SelectAutomated(draft)
		if (err == nil) != (test.err == "") || !strings.Contains(fmt.Sprint(err), test.err) || len(selected) != test.selected {
			t.Errorf("%s: %v, %v", modes, selected, err)
		}
	}
	if selected, err := shipping.SelectAutomated(&shipping.RegulatoryRequest{}); err != nil || len(selected) != 0 {
		t.Errorf("nothing offered: %v, %v", selected, err)
	}
}

// Offers whose types are elsewhere would look like a draft that offers nothing of interest.
func TestSelect_OffersWithoutTypesAreAnError(t *testing.T) {
	t.Parallel()
	draft := &shipping.RegulatoryRequest{AvailableDocuments: []shipping.AvailableDocument{{Mode: "automated"}, {Mode: "manual"}}}
	for name, choose := range map[string]func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error){
		"SelectAutomated": shipping.SelectAutomated, "SelectAll": shipping.SelectAll, "SelectOnly": shipping.SelectOnly("FDA"),
	} {
		if selected, err := choose(draft); err == nil || !strings.Contains(err.Error(), "offer.document_type") {
			t.Errorf("%s: %v, %v", name, selected, err)
		}
	}
}

// states is a service whose request is in each of these states in turn, and stays in the last.
func states(answers ...httpmock.Responder) *shippingtest.Service {
	return shippingtest.NewRequestService([]httpmock.Responder{shippingtest.Confirmation()}, answers)
}

func TestWait_UntilCompletedOrFailed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers []httpmock.Responder
		polls   int
		status  shipping.RequestStatus
		want    error
	}{
		"completed at once":           {[]httpmock.Responder{shippingtest.Record("completed")}, 1, shipping.StatusCompleted, nil},
		"through all states":          {[]httpmock.Responder{shippingtest.Record("purchasing"), shippingtest.Record("processing"), shippingtest.Record("processing"), shippingtest.Record("completed")}, 4, shipping.StatusCompleted, nil},
		"states nobody knows":         {[]httpmock.Responder{shippingtest.Record("queued"), shippingtest.Record("under review"), shippingtest.Record("completed")}, 3, shipping.StatusCompleted, nil},
		"a draft for a moment":        {[]httpmock.Responder{shippingtest.Record("draft"), shippingtest.Record("draft"), shippingtest.Record("processing"), shippingtest.Record("completed")}, 4, shipping.StatusCompleted, nil},
		"failed":                      {[]httpmock.Responder{shippingtest.Record("processing"), shippingtest.Record("failed")}, 2, shipping.StatusFailed, shipping.ErrRequestFailed},
		"a request that vanishes":     {[]httpmock.Responder{shippingtest.Record("processing"), shippingtest.Refusal(404, "x")}, 2, shipping.StatusProcessing, shipping.ErrNotFound},
		"an unknown request":          {[]httpmock.Responder{shippingtest.Refusal(404, "x"), shippingtest.Record("completed")}, 1, "", shipping.ErrNotFound},
		"a key that is revoked":       {[]httpmock.Responder{shippingtest.Record("processing"), shippingtest.Refusal(401, "no")}, 2, shipping.StatusProcessing, shipping.ErrUnauthorized},
		"a proxy's page":              {[]httpmock.Responder{shippingtest.Record("processing"), httpmock.NewStringResponder(200, "<html>")}, 2, shipping.StatusProcessing, shipping.ErrUnexpectedBody},
		"a response without a record": {[]httpmock.Responder{shippingtest.Record("processing"), shippingtest.OK(`{}`)}, 2, shipping.StatusProcessing, shipping.ErrUnexpectedBody},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := states(test.answers...)
				record, err := shippingtest.NewClient(t, service).Regulatory.Wait(t.Context(), "RD-1", nil)
				if !errors.Is(err, test.want) || test.want == nil && err != nil {
					t.Errorf("error %v, want %v", err, test.want)
				}
				if cmp.Or(record, &shipping.RegulatoryRequest{}).Status != test.status {
					t.Errorf("record %+v, want status %s", record, test.status)
				}
				if got := service.Count(""); got != test.polls {
					t.Errorf("%d polls, want %d", got, test.polls)
				}
			})
		})
	}
}

func TestWait_AFailedRequestIsReturnedWithTheReason(t *testing.T) {
	t.Parallel()
	record, err := shippingtest.NewClient(t, shippingtest.NewGoldenService(t, "request.json")).Regulatory.Wait(t.Context(), shippingtest.RequestID, nil)
	const want = "shipping: generation failed for request " + shippingtest.RequestID +
		": a document could not be generated; TEXTILE: no fibre percentages"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	failed, _ := errors.AsType[*shipping.RegulatoryError](err)
	if failed == nil || failed.Request != record || failed.Step != "polled" {
		t.Errorf("%+v", failed)
	}
}

func TestWait_ADraftThatStaysIsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ set, want time.Duration }{
		"default": {0, time.Minute}, "set": {10 * time.Minute, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				started := time.Now()
				record, err := shippingtest.NewClient(t, states(shippingtest.Record("draft"))).Regulatory.Wait(t.Context(), "RD-1", &shipping.PollOptions{DraftFor: test.set})
				shippingtest.WantError(t, "wait", err, shipping.ErrNotPurchased)
				if took := time.Since(started); took < test.want || took > test.want+time.Minute {
					t.Errorf("it took %s, want %s", took, test.want)
				}
				const text = "shipping: request RD-1 (last seen draft): wait: the regulatory request is still a draft after "
				if record == nil || !strings.HasPrefix(err.Error(), text+test.want.String()+": nothing has purchased it: call Regulatory.Purchase;") {
					t.Errorf("record %v, error %v", record, err)
				}
			})
		})
	}
}

// A caller that was asked to purchase a request that is purchased would pay twice.
func TestWait_ARequestThatWasPurchasedIsNotToBePurchasedAgain(t *testing.T) {
	t.Parallel()
	workflow := &shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll}
	draft := shippingtest.Record("draft", draftOfTwo)
	for name, test := range map[string]struct {
		reads []httpmock.Responder
		call  func(ctx context.Context, r shipping.RegulatoryService) (*shipping.RegulatoryRequest, error)
	}{
		"after a confirmed purchase": {[]httpmock.Responder{draft}, func(ctx context.Context, r shipping.RegulatoryService) (*shipping.RegulatoryRequest, error) {
			return r.AnalyzeAndPoll(ctx, parcel, workflow)
		}},
		"resumed": {[]httpmock.Responder{shippingtest.Record("processing"), draft}, func(ctx context.Context, r shipping.RegulatoryService) (*shipping.RegulatoryRequest, error) {
			return r.Resume(ctx, "RD-1", workflow)
		}},
		"waited for": {[]httpmock.Responder{shippingtest.Record("purchasing"), draft}, func(ctx context.Context, r shipping.RegulatoryService) (*shipping.RegulatoryRequest, error) {
			return r.Wait(ctx, "RD-1", nil)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := states(test.reads...)
				service.RegisterResponder(http.MethodPost, shippingtest.BaseURL+"/v1/regulatory-documents/analyze", draft)
				_, err := test.call(t.Context(), shippingtest.NewClient(t, service).Regulatory)
				if err == nil || errors.Is(err, shipping.ErrNotPurchased) || !strings.Contains(err.Error(), "do not purchase again") {
					t.Error(err)
				}
			})
		})
	}
}

// A copy of the data that lags behind does not have the request yet. A program whose purchase had succeeded was told
// that the request does not exist.
func TestAnalyzeAndPoll_AReadingBehindThePurchase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		behind := shippingtest.Refusal(404, "no such request")
		service := states(behind, behind, shippingtest.Record("completed"))
		service.RegisterResponder(http.MethodPost, shippingtest.BaseURL+"/v1/regulatory-documents/analyze",
			shippingtest.Record("draft", draftOfTwo))
		_, err := shippingtest.NewClient(t, service).Regulatory.AnalyzeAndPoll(t.Context(), parcel,
			&shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestWait_FailuresThatPassAreTolerated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		once := shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1})
		passing := []httpmock.Responder{
			shippingtest.Record("processing"), shippingtest.Refusal(503, "busy"), shippingtest.NoResponse(), httpmock.NewStringResponder(502, "<html>"), shippingtest.Refusal(429, "slow down"), shippingtest.Refusal(500, "oops"),
			httpmock.NewStringResponder(200, "").Delay(time.Hour), shippingtest.Record("processing"), shippingtest.Refusal(503, "busy"), shippingtest.Record("completed"),
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
		record, err := shippingtest.NewClient(t, states(passing...), once).Regulatory.Wait(t.Context(), "RD-1", options)
		if err != nil || record.Status != shipping.StatusCompleted || failed != 7 {
			t.Errorf("%+v, %v, %d failed polls", record, err, failed)
		}
	})
}

func TestWait_HonoursRetryAfterAlsoNearTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		once := shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1})
		service := states(shippingtest.Refusal(503, "busy").HeaderSet(http.Header{"Retry-After": {"40"}}), shippingtest.Record("completed"))
		if _, err := shippingtest.NewClient(t, service, once).Regulatory.Wait(t.Context(), "RD-1", nil); err != nil {
			t.Fatal(err)
		}
		got := service.Requests()
		if between := got[1].At.Sub(got[0].At); between < 40*time.Second {
			t.Errorf("the next poll followed after %s, the service asked for 40 s", between)
		}

		near := states(shippingtest.Refusal(503, "busy").HeaderSet(http.Header{"Retry-After": {"40"}}), shippingtest.Record("completed"))
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		started := time.Now()
		_, err := shippingtest.NewClient(t, near, once).Regulatory.Wait(ctx, "RD-1", nil)
		shippingtest.WantError(t, "wait", err, context.DeadlineExceeded, shipping.ErrServer)
		if time.Since(started) != 0 || near.Count("") != 1 {
			t.Errorf("%d polls and %s, although the service's wait outlasts the deadline", near.Count(""), time.Since(started))
		}
	})
}

// A wait that ends with its context reports why the polls before failed, also if the context ends during a poll or after
// one: only the end of the context was reported then.
func TestWait_TheEndOfTheContextJoinsTheLastFailure(t *testing.T) {
	t.Parallel()
	hangs := httpmock.NewStringResponder(200, "").Delay(time.Hour)
	for name, reads := range map[string][]httpmock.Responder{
		"between polls": {shippingtest.Refusal(503, "busy")},
		"during a poll": {shippingtest.Refusal(503, "busy"), hangs},
	} {
		for _, resumed := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
				defer stop()
				regulatory := shippingtest.NewClient(t, states(reads...), shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1})).Regulatory
				wait := func() (*shipping.RegulatoryRequest, error) { return regulatory.Wait(ctx, "RD-1", nil) }
				if resumed {
					wait = func() (*shipping.RegulatoryRequest, error) { return regulatory.Resume(ctx, "RD-1", nil) }
				}
				_, err := wait()
				shippingtest.WantError(t, name, err, context.DeadlineExceeded, shipping.ErrServer)
				if !strings.HasSuffix(err.Error(), "; call Regulatory.Wait to continue") {
					t.Error(err)
				}
			})
		}
	}
}

func TestAnalyze_AFailedAnalysisCarriesItsRequest(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]httpmock.Responder{
		"in an error":  httpmock.NewStringResponder(400, `{"status":false,"message":"unreadable invoice","data":{"request_id":"RD-1","status":"failed","error_code":"analysis_failed"}}`),
		"in a success": shippingtest.OK(`{"request_id":"RD-1","status":"failed","failure_reason":"unreadable invoice"}`),
	} {
		record, err := shippingtest.NewClient(t, shippingtest.NewService(answer)).Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-1"})
		failed, _ := errors.AsType[*shipping.RegulatoryError](err)
		if record != nil || failed == nil || failed.Request.RequestID != "RD-1" || failed.Step != "analyzed" || failed.Outcome != shipping.OutcomeNotCharged || !errors.Is(err, shipping.ErrRequestFailed) {
			t.Errorf("%s: %v, %v", name, record, err)
		}
	}
	_, err := shippingtest.NewClient(t, shippingtest.NewService(httpmock.NewStringResponder(400, `{"status":false,"message":"m","data":{"request_id":"RD-1","status":"failed"}}`))).
		Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-1"})
	const want = "shipping: analysis failed for request RD-1: regulatory.analyze: 400 Bad Request: m; nothing was charged"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	shippingtest.WantError(t, "analysis", err, shipping.ErrInvalidRequest)
}

// Prepare edits, selects and compares the price, and sends no purchase; Purchase takes its result.
func TestPrepare(t *testing.T) {
	t.Parallel()
	budget := func(amount string) *shipping.Budget {
		budget, err := shipping.ParseBudget(amount + " NGN")
		if err != nil {
			t.Fatal(err)
		}
		return budget
	}
	onlyFDA := shipping.SelectOnly("FDA")
	for name, test := range map[string]struct {
		options  *shipping.AnalyzeAndPollOptions
		selected int
		err      error
	}{
		"without options":  {nil, 0, nil},
		"nothing selected": {&shipping.AnalyzeAndPollOptions{Select: shipping.SelectOnly("MSDS"), Budget: budget("1")}, 0, nil},
		"selected":         {&shipping.AnalyzeAndPollOptions{Select: onlyFDA, Budget: budget("1500")}, 1, nil},
		"over the budget":  {&shipping.AnalyzeAndPollOptions{Select: onlyFDA, Budget: budget("1499.99")}, 0, shipping.ErrOverBudget},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := newWorkflowService()
			regulatory := shippingtest.NewClient(t, service).Regulatory
			draft, err := regulatory.Analyze(t.Context(), parcel)
			if err != nil {
				t.Fatal(err)
			}
			prepared, err := regulatory.Prepare(t.Context(), draft, test.options)
			if !errors.Is(err, test.err) || (prepared == nil) != (err != nil) {
				t.Fatalf("%+v, %v", prepared, err)
			}
			if err != nil {
				return
			}
			if len(prepared.DocumentTypes) != test.selected || prepared.Draft != draft || service.status != "draft" {
				t.Errorf("%+v; the request is %s", prepared, service.status)
			}
			_, err = regulatory.Purchase(t.Context(), prepared)
			if bought := service.status == "processing"; bought != (test.selected > 0) || bought != (err == nil) {
				t.Errorf("the request is %s, %v", service.status, err)
			}
		})
	}
	for _, draft := range []*shipping.RegulatoryRequest{nil, {}} {
		_, err := shippingtest.NewClient(t, newWorkflowService()).Regulatory.Prepare(t.Context(), draft, nil)
		if _, ok := errors.AsType[*shipping.ValidationError](err); !ok {
			t.Errorf("%+v: %v", draft, err)
		}
	}
}

// An analysis that is not finished is waited for, however the request is reached: "analyzing" was refused as "not a draft any more".
// A request that is first read as a draft after an outage of more than a minute is purchased: its time as a draft had
// begun with the first poll. A record may be the only element of a list.
func TestWorkflow_LateDrafts(t *testing.T) {
	t.Parallel()
	all := &shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll}
	draft := shippingtest.Record("draft", draftOfTwo)
	listed := shippingtest.OK(`[{"request_id":"RD-1","status":"draft",` + draftOfTwo + `}]`)
	analyzing, busy, done := shippingtest.Record("analyzing"), shippingtest.Refusal(503, "busy"), shippingtest.Record("completed")
	for name, test := range map[string]struct {
		analysis httpmock.Responder
		before   httpmock.Responder // the readings for some time
		lasts    time.Duration
		then     httpmock.Responder // the readings until the purchase
		want     string             // in the error; "" if the documents are purchased
	}{
		"analyzing for 2 s":         {analyzing, analyzing, 2 * time.Second, draft, ""},
		"analyzing, reads fail":     {analyzing, busy, 5 * time.Second, draft, ""},
		"analyzing, then failed":    {analyzing, analyzing, 2 * time.Second, shippingtest.Record("failed"), "failed"},
		"analyzing for ever":        {analyzing, analyzing, time.Hour, draft, `the analysis has not finished after 1m0s: the status is "analyzing"; this call purchased nothing`},
		"analyzing, then purchased": {analyzing, analyzing, 2 * time.Second, done, "not a draft any more"},
		"no reading for 70 s":       {analyzing, busy, 70 * time.Second, draft, ""},
		"a list of one draft":       {listed, listed, 0, listed, ""},
		"a list of two":             {shippingtest.OK(`[{"request_id":"RD-1","status":"draft"},{}]`), shippingtest.OK(`[{},{}]`), time.Hour, draft, "no regulatory request"},
		"a list of no record":       {shippingtest.OK(`[{"name":"a form"}]`), shippingtest.OK(`[{"name":"a form"}]`), time.Hour, draft, "no regulatory request"},
	} {
		for way, buy := range map[string]func(ctx context.Context, r shipping.RegulatoryService) (*shipping.RegulatoryRequest, error){
			"AnalyzeAndPoll": func(ctx context.Context, r shipping.RegulatoryService) (*shipping.RegulatoryRequest, error) {
				return r.AnalyzeAndPoll(ctx, parcel, all)
			},
			"Resume": func(ctx context.Context, r shipping.RegulatoryService) (*shipping.RegulatoryRequest, error) {
				return r.Resume(ctx, "RD-1", all)
			},
			"Prepare": func(ctx context.Context, r shipping.RegulatoryService) (*shipping.RegulatoryRequest, error) {
				draft, err := r.Analyze(ctx, parcel)
				if err != nil {
					return nil, err
				}
				prepared, err := r.Prepare(ctx, draft, all)
				if err != nil {
					return nil, err
				}
				if _, err := r.Purchase(ctx, prepared); err != nil {
					return nil, err
				}
				return r.Wait(ctx, "RD-1", nil)
			},
		} {
			synctest.Test(t, func(t *testing.T) {
				started, purchases := time.Now(), 0
				service := shippingtest.NewService(func(r *http.Request) (*http.Response, error) {
					switch {
					case strings.HasSuffix(r.URL.Path, "/analyze"):
						return test.analysis(r)
					case r.Method == http.MethodPost:
						purchases++
						return shippingtest.OK(`[{"request_id":"RD-1","status":"processing"}]`)(r)
					case purchases > 0:
						return shippingtest.OK(`[{"request_id":"RD-1","status":"completed"}]`)(r)
					case time.Since(started) < test.lasts:
						return test.before(r)
					}
					return test.then(r)
				})
				record, err := buy(t.Context(), shippingtest.NewClient(t, service).Regulatory)
				completed := way == "Resume" && name == "analyzing, then purchased" // which is what Resume waits for
				if test.want == "" && (err != nil || record.Status != shipping.StatusCompleted || purchases != 1) {
					t.Errorf("%s, %s: %d purchases, %+v, %v", name, way, purchases, record, err)
				}
				if test.want != "" && !completed && (err == nil || !strings.Contains(err.Error(), test.want) || purchases != 0) {
					t.Errorf("%s, %s: %d purchases, %v", name, way, purchases, err)
				}
			})
		}
	}
}
