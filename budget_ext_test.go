package shipping_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// Only a member with the exact name is a price. A price that is given twice, that stands beside another one, or whose
// currency is not clear, is unknown, and no budget allows it, even if the budget assumes the currency.
func TestPrice_IsTheOnlyOneUnderItsExactName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // a purchase would wait for a result
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		for documents, want := range prices {
			checkPrice(ctx, t, `"currency":"NGN","available_documents":[`+documents+`]`, want)
		}
		for _, members := range []string{
			`"available_documents":[{"document_type":"FDA","amount":5}],"currency":{"code":"USD"}`,
			`"available_documents":[{"document_type":"FDA","amount":5}],"currency":"USD","currency":"NGN"`,
			`"available_documents":[{"document_type":"FDA","amount":5,"price_currency":"USD"}]`,
			`"available_documents":[{"document_type":"FDA","amount":500}],"available_documents":[{"document_type":"FDA","amount":5}]`,
		} {
			checkPrice(ctx, t, members, "")
		}
	})
}

// prices are available documents, with the price of FDA; "" if it is unknown. TestRead_TakesTheLastOfMembersWithOneName and
// TestOffers_Ambiguity have more.
var prices = map[string]string{
	`{"document_type":"FDA","amount":10.50}`:                        "10.5",
	`{"document_type":"FDA","amount":10.50,"Amount":1}`:             "10.5",
	`{"slug":"FDA","price":10.50,"Price":1,"AMOUNT":2}`:             "10.5",
	`{"document_type":"FDA","DOCUMENT_TYPE":"MSDS","amount":10.50}`: "10.5",
	`{"document_type":"MSDS","ſlug":"FDA","amount":1}`:              "",
	`{"document_type":"MSDS","amount":1}`:                           "",
	`{"document_type":"FDA","Amount":1}`:                            "",
	`{"document_type":"FDA","amount":1,"amount":1}`:                 "",
	`{"document_type":"FDA","amount":1,"amount":null}`:              "",
	`{"document_type":"FDA","amount":1,"price":100}`:                "",
	`{"document_type":"MSDS","document_type":"FDA","amount":5}`:     "",
	// Under both of its names, an equal price is one price.
	`{"document_type":"FDA","amount":10.5,"price":"10.50"}`: "10.5",
	// The same type listed twice.
	`{"document_type":"FDA","amount":1},{"document_type":"FDA","amount":100}`:                                       "",
	`{"document_type":"FDA","amount":1},{"document_type":"MSDS","amount":2},{"document_type":"FDA","amount":1}`:     "",
	`{"document_type":"FDA","amount":1},"FDA"`:                                                                      "",
	`{"document_type":"FDA","amount":100},{"slug":"FDA","price":1}`:                                                 "",
	`{"document_type":"FDA","amount":1},{"document_type":"MSDS","slug":"FDA","amount":100}`:                         "",
	`{"document_type":"FDA","amount":10.50},{"document_type":"MSDS","amount":1},{"document_type":"fda","amount":2}`: "10.5",
	// Beside another amount or another currency.
	`{"document_type":"FDA","amount":1.5,"currency":" ngn ","fee":0,"total":1.50,"name":"total amount due","pages":3}`: "1.5",
	`{"document_type":"FDA","amount":1.5,"converted_amount":2501.03,"currency_converted_to":"NGN"}`:                    "",
	`{"document_type":"FDA","amount":5,"reasons":7,"total":500}`:                                                       "",
	`{"document_type":"FDA","amount":5,"total":1e30}`:                                                                  "",
	`{"document_type":"FDA","amount":5,"currency":"USD","currency":"NGN"}`:                                             "",
	`{"document_type":"FDA","amount":5,"currency":{"code":"USD"}}`:                                                     "",
}

// checkPrice checks the price of FDA of a draft with these members, and that a budget stops a purchase if it is unknown.
func checkPrice(ctx context.Context, t *testing.T, members, want string) {
	t.Helper()
	service := shippingtest.NewService(shippingtest.OK(`{"request_id":"RD-1","status":"draft",` + members + `}`))
	client := shippingtest.NewClient(t, service)
	draft, err := client.Regulatory.Get(t.Context(), "RD-1")
	if err != nil {
		t.Fatalf("%s: %v", members, err)
	}
	budget := shipping.Budget{Amount: shippingtest.Amount(t, "1000"), Currency: "NGN", AssumeCurrency: true}
	got, err := budget.Check(draft, "FDA")
	if text := got.String(); err == nil && text != want || err != nil && want != "" {
		t.Errorf("%s: the price is %s, %v; want %q", members, text, err, want)
	}
	if want != "" {
		return
	}
	shippingtest.WantError(t, members, buyWithin(ctx, t, client, func(*shipping.RegulatoryRequest) {}), shipping.ErrOverBudget)
	if n := service.Count(http.MethodPost); n != 1 { // the analysis
		t.Errorf("%s: %d requests", members, n)
	}
}

// The specification shows no status in the response to an analysis. Such a draft is read before its purchase, and the price
// that is read is the one that counts: a budget was held against the price of the analysis.
func TestBudget_IsHeldAgainstTheDraftThatIsPurchased(t *testing.T) {
	t.Parallel()
	offer := func(price, more string) httpmock.Responder {
		return shippingtest.OK(`{"request_id":"RD-1",` + more + `"currency":"NGN","available_documents":[{"document_type":"FDA","amount":` + price + `}]}`)
	}
	workflow := &shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll, Budget: &shipping.Budget{Amount: shippingtest.Amount(t, "50"), Currency: "NGN"}}
	for way, try := range map[string]func(ctx context.Context, r shipping.RegulatoryService) error{
		"AnalyzeAndPoll": func(ctx context.Context, r shipping.RegulatoryService) error {
			_, err := r.AnalyzeAndPoll(ctx, parcel, workflow)
			return err
		},
		"AnalyzeAndPoll, whose Select changes the draft": func(ctx context.Context, r shipping.RegulatoryService) error {
			changing := *workflow
			changing.Select = func(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
				draft.AvailableDocuments = nil
				return []shipping.DocumentType{"FDA"}, nil
			}
			_, err := r.AnalyzeAndPoll(ctx, parcel, &changing)
			return err
		},
		"Prepare": func(ctx context.Context, r shipping.RegulatoryService) error {
			draft, err := r.Analyze(ctx, parcel)
			if err != nil {
				return err
			}
			purchase, err := r.Prepare(ctx, draft, workflow)
			if err != nil {
				return err
			}
			_, err = r.Purchase(ctx, purchase)
			return err
		},
	} {
		for reads, answers := range map[string][]httpmock.Responder{
			"dearer":                {offer("99", `"status":"draft",`)},
			"dearer, at first late": {shippingtest.Refusal(404, "not found"), offer("99", `"status":"draft",`)},
			"dearer at the end":     {offer("10", ""), offer("99", `"status":"draft",`)},
		} {
			synctest.Test(t, func(t *testing.T) {
				service := shippingtest.NewRequestService([]httpmock.Responder{shippingtest.Confirmation()}, answers)
				service.RegisterResponder(http.MethodPost, shippingtest.BaseURL+"/v1/regulatory-documents/analyze", offer("10", ""))
				err := try(t.Context(), shippingtest.NewClient(t, service).Regulatory)
				if err == nil || service.Count(http.MethodPost) != 1 {
					t.Errorf("%s, %s: %d POST requests, %v", way, reads, service.Count(http.MethodPost), err)
				}
				if failed, ok := errors.AsType[*shipping.PurchaseError](err); ok && failed.Outcome != shipping.OutcomeNotCharged {
					t.Errorf("%s, %s: %v", way, reads, err)
				}
			})
		}
	}
}

// Wherever money is read, an amount that is given twice under one name is unreadable, and the rest of the record is read.
// Otherwise the lower of two prices could pass a budget.
func TestAmount_GivenTwiceIsUnreadable(t *testing.T) {
	t.Parallel()
	rates := shippingtest.NewService(httpmock.NewStringResponder(200, `{"status":true,"message":"","data":{"rates":[{"rate_id":"RT-1","amount":1,"currency":"NGN","amount":2},{"rate_id":"RT-2","amount":3,"AMOUNT":4}]}}`))
	page, err := shippingtest.NewClient(t, rates).Rates.List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	shippingtest.Diff(t, "rates", []shipping.Rate{
		{RateID: "RT-1", Amount: unreadable(t), Currency: "NGN"}, {RateID: "RT-2", Amount: shippingtest.Amount(t, "3")},
	}, page.Items)
	var out struct {
		Fee   shipping.Amount            `json:"fee"`
		Other *shipping.Amount           `json:"other"`
		Named map[string]struct{ A int } `json:"named"`
	}
	if err := shipping.RawJSON(`{"fee":1,"fee":1,"Fee":2,"other":1,"other":2,"named":{"x":{"A":1,"a":2}}}`).Decode(&out); err != nil {
		t.Fatal(err)
	}
	if out.Fee != unreadable(t) || out.Other == nil || *out.Other != unreadable(t) || out.Named["x"].A != 1 {
		t.Errorf("%+v", out)
	}
}

// The parts of a response that are read one by one match names exactly, too.
func TestNames_OfErrorsAndOtherOperations(t *testing.T) {
	t.Parallel()
	const refused = `{"status":0,"message":"no funds","MESSAGE":"x","data":{"request_id":"RD-1","Request_ID":"RD-2"},"Data":7}`
	_, err := shippingtest.NewClient(t, shippingtest.NewService(httpmock.NewStringResponder(402, refused))).Rates.List(t.Context(), nil)
	if failure := shippingtest.ErrorIn(t, err); failure.Message != "no funds" || failure.RequestID != "RD-1" {
		t.Errorf("%+v", err)
	}
	var out struct{ Name string }
	if err := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.OK(`{"name":"x","Name":"y","NAME":"z"}`))).Do(t.Context(), http.MethodGet, "/v1/x", nil, nil, &out); err != nil || out.Name != "y" {
		t.Errorf("%+v, %v", out, err)
	}
	for _, body := range []string{`{"Request":{"request_id":"RD-9","status":"draft"}}`, `{"REQUEST_ID":"RD-9","Status":"draft"}`} {
		_, err := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.OK(body))).Regulatory.Analyze(t.Context(), parcel)
		shippingtest.WantError(t, body, err, shipping.ErrUnexpectedBody)
	}
	got, err := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.OK(`{"request_id":"RD-1","status":"draft","Items":[{"description":"x"}],"LINE_ITEMS":[{}],"Request":{}}`))).Regulatory.Get(t.Context(), "RD-1")
	if err != nil || got.LineItems != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// buyWithin analyzes a shipment and buys FDA if a budget of 10 NGN allows it.
func buyWithin(ctx context.Context, t *testing.T, client *shipping.Client, change func(draft *shipping.RegulatoryRequest)) error {
	t.Helper()
	_, err := client.Regulatory.AnalyzeAndPoll(ctx, parcel, &shipping.AnalyzeAndPollOptions{
		Budget: &shipping.Budget{Amount: shippingtest.Amount(t, "10"), Currency: "NGN", AssumeCurrency: true},
		Select: func(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
			change(draft)
			return []shipping.DocumentType{"FDA"}, nil
		},
	})
	return err
}

// A callback that changes the draft that it is given does not change what the budget allows.
func TestBudget_IsHeldAgainstTheDraftAsItWasSent(t *testing.T) {
	t.Parallel()
	for document, change := range map[string]func(*shipping.RegulatoryRequest){
		`{"document_type":"FDA","amount":500,"currency":"NGN"}`: func(draft *shipping.RegulatoryRequest) {
			draft.AvailableDocuments[0].Amount = shippingtest.Amount(t, "5")
		},
		`{"document_type":"FDA","amount":5,"currency":"USD"}`: func(draft *shipping.RegulatoryRequest) {
			draft.AvailableDocuments[0].Currency = "NGN"
		},
		`{"document_type":"MSDS","amount":5,"currency":"NGN"}`: func(draft *shipping.RegulatoryRequest) {
			draft.AvailableDocuments[0].DocumentType = "FDA"
		},
		`{"document_type":"FDA","amount":5},{"document_type":"FDA","amount":500}`: func(draft *shipping.RegulatoryRequest) {
			draft.AvailableDocuments = draft.AvailableDocuments[:1]
		},
	} {
		service := shippingtest.NewService(shippingtest.OK(`{"request_id":"RD-1","status":"draft","available_documents":[` + document + `]}`))
		shippingtest.WantError(t, document, buyWithin(t.Context(), t, shippingtest.NewClient(t, service), change), shipping.ErrOverBudget)
		if n := service.Count(http.MethodPost); n != 1 { // the analysis
			t.Errorf("%s: %d requests", document, n)
		}
	}
}

// Without a draft, no price is known and nothing can be selected.
func TestBudget_WithoutADraft(t *testing.T) {
	t.Parallel()
	budget := shipping.Budget{Amount: shippingtest.Amount(t, "1"), Currency: "NGN"}
	if _, err := budget.Check(nil, "FDA"); !errors.Is(err, shipping.ErrOverBudget) {
		t.Errorf("%v", err)
	}
	if _, err := budget.Check(&shipping.RegulatoryRequest{}, "FDA"); err == nil || !strings.Contains(err.Error(), "the draft does not offer FDA") {
		t.Errorf("%v", err)
	}
	for name, choose := range map[string]func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error){
		"SelectAll": shipping.SelectAll, "SelectAutomated": shipping.SelectAutomated, "SelectOnly": shipping.SelectOnly("FDA"),
	} {
		if selected, err := choose(nil); err != nil || len(selected) != 0 {
			t.Errorf("%s: %v, %v", name, selected, err)
		}
	}
}
