package shipping_test

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// offers is a table of offers of FDA: the price, the most that a purchase may charge, the charge, and the members of the offer.
// "-" stands for a price that is not clear, which no budget covers.
//
//go:embed internal/evidence/testdata/offers.tsv
var offers string

// A budget buys what fits, and nothing above it is charged, whichever of the amounts that an offer shows the service charges.
// An ordinary offer with a tax could not be bought with any budget.
func TestBudget_CountsTheMostThatAnOfferCanCost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cases, bought := 0, 0
		for line := range strings.Lines(offers) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			row := strings.Split(strings.TrimSpace(line), "\t")
			budgets := []string{"1", "99.99", "100000000"}
			most, unclear := shipping.ParseAmount(row[1])
			if unclear == nil {
				budgets = append(budgets, most.String())
				for _, amount := range []shipping.Amount{most, shippingtest.Amount(t, row[0])} {
					if below, err := amount.Sub(shippingtest.Amount(t, "0.0001")); err == nil && below.Sign() > 0 {
						budgets = append(budgets, below.String(), amount.String())
					}
				}
			}
			for _, text := range budgets {
				budget := shippingtest.Amount(t, text)
				cases++
				fits := unclear == nil && most.AtMost(budget)
				purchases := buyWithin(t, budget, `"currency":"NGN","available_documents":[{"document_type":"FDA",`+row[3]+`}]`)
				switch {
				case purchases == 1 && !shippingtest.Amount(t, row[2]).AtMost(budget):
					t.Errorf("%s: %s is charged with a budget of %s", row[3], row[2], text)
				case (purchases == 1) != fits:
					t.Errorf("%s: %d purchases with a budget of %s", row[3], purchases, text)
				}
				bought += purchases
			}
		}
		if bought < cases/3 {
			t.Errorf("%d of %d were bought", bought, cases)
		}
	})
}

// buyWithin selects FDA from a draft with these members, and returns the number of purchases.
func buyWithin(t *testing.T, budget shipping.Amount, members string) (purchases int) {
	t.Helper()
	service := shippingtest.NewRequestService([]httpmock.Responder{shippingtest.OK("null")}, []httpmock.Responder{shippingtest.Record("completed")})
	service.RegisterResponder(http.MethodPost, shippingtest.BaseURL+"/v1/regulatory-documents/analyze", shippingtest.Record("draft", members))
	_, err := shippingtest.NewClient(t, service).Regulatory.AnalyzeAndPoll(t.Context(), parcel, &shipping.AnalyzeAndPollOptions{
		Select: shipping.SelectOnly("FDA"), Budget: &shipping.Budget{Amount: budget, Currency: "NGN"},
	})
	purchases = service.Count(http.MethodPost) - 1 // the analysis
	if (err == nil) != (purchases == 1) || err != nil && !errors.Is(err, shipping.ErrOverBudget) {
		t.Errorf("%s: %d purchases, %v", members, purchases, err)
	}
	return purchases
}

// The error over budget names each amount that it counted beside the price, in whichever document.
func TestBudget_NamesWhatItCounted(t *testing.T) {
	t.Parallel()
	draft, err := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.Record("draft", `"currency":"NGN","available_documents":[`+
		`{"slug":"FDA","amount":100,"tax_rate":7.5,"fees":[{"name":"stamp","amount":4}]},{"slug":"MSDS","amount":"1.500"},{"slug":"WATCH","amount":10,"total":12}]`))).
		Regulatory.Get(t.Context(), "RD-1")
	if err != nil {
		t.Fatal(err)
	}
	budget := shipping.Budget{Amount: shippingtest.Amount(t, "1600"), Currency: "NGN"}
	_, err = budget.Check(draft, "FDA", "MSDS", "WATCH")
	const want = "shipping: over budget: 1623.50 NGN needed, which counts amounts beside the price (FDA: tax_rate 7.5 (7.5); FDA: fees.amount 4; " +
		"MSDS: a price that may be 1500; WATCH: total 12; list what a purchase does not charge in offer.beside of the dialect), 1600.00 NGN allowed: raise the budget or select fewer documents; nothing was purchased"
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	if price, _, err := draft.Price("FDA", "MSDS", "WATCH"); err != nil || price != shippingtest.Amount(t, "111.5") {
		t.Errorf("the price is %s, %v", price, err)
	}
	if cost, currency, err := draft.Cost("FDA", "MSDS", "WATCH"); err != nil || cost != shippingtest.Amount(t, "1623.5") || currency != "NGN" {
		t.Errorf("the cost is %s %s, %v", cost, currency, err)
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
			"unclear at the end":    {offer("10", ""), offer(`"much"`, `"status":"draft",`)},
			"with a fee at the end": {offer("10", ""), offer(`10,"fee":89`, `"status":"draft",`)},
		} {
			synctest.Test(t, func(t *testing.T) {
				service := shippingtest.NewRequestService([]httpmock.Responder{shippingtest.Confirmation()}, answers)
				service.RegisterResponder(http.MethodPost, shippingtest.BaseURL+"/v1/regulatory-documents/analyze", offer("10", ""))
				err := try(t.Context(), shippingtest.NewClient(t, service).Regulatory)
				if err == nil || service.Count(http.MethodPost) != 1 {
					t.Errorf("%s, %s: %d POST requests, %v", way, reads, service.Count(http.MethodPost), err)
				}
				failed, ok := errors.AsType[*shipping.RegulatoryError](err)
				selected := reads != "dearer" || ok && failed.Step == "selected" // the draft that Select is given
				if ok && failed.Outcome != shipping.OutcomeNotCharged || !selected {
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
		_, err := shippingtest.NewClient(t, service, shipping.WithDialect(&dialect.Dialect{Offer: dialect.Offer{DefaultCurrency: "wallet"}})).Regulatory.AnalyzeAndPoll(t.Context(), parcel, &shipping.AnalyzeAndPollOptions{
			Budget: &shipping.Budget{Amount: shippingtest.Amount(t, "10"), Currency: "NGN"},
			Select: func(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
				change(draft)
				return []shipping.DocumentType{"FDA"}, nil
			},
		})
		shippingtest.WantError(t, document, err, shipping.ErrOverBudget)
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
	if cost, err := budget.Check(&shipping.RegulatoryRequest{}); err != nil || cost.Sign() != 0 {
		t.Errorf("no documents: %s, %v", cost, err)
	}
	if _, err := (shipping.Budget{Amount: budget.Amount}).Check(&shipping.RegulatoryRequest{}); err == nil || !strings.Contains(err.Error(), "the budget needs an amount and a currency") {
		t.Errorf("no currency: %v", err)
	}
	if _, err := budget.Check(&shipping.RegulatoryRequest{}, "FDA"); err == nil || !strings.Contains(err.Error(), "FDA is not offered by the draft") {
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

// What is spent or reserved already leaves less of a budget.
func TestBudget_Fits(t *testing.T) {
	t.Parallel()
	budget := shipping.Budget{Amount: shippingtest.Amount(t, "100"), Currency: "NGN"}
	for _, test := range []struct{ committed, needed, want string }{
		{"0", "100", ""},
		{"40", "60", ""},
		{"40", "60.01", "shipping: budget of 100.00 NGN: 60.01 needed, 60.00 left: raise the budget or select fewer documents; nothing was purchased"},
		{"140", "5", "shipping: budget of 100.00 NGN: 5.00 needed, 0.00 left: raise the budget or select fewer documents; nothing was purchased"},
		{"999999999999999999", "1", "shipping: amount does not fit in 18 digits"},
	} {
		err := budget.Fits(shippingtest.Amount(t, test.committed), shippingtest.Amount(t, test.needed))
		if err == nil && test.want != "" || err != nil && !strings.HasPrefix(err.Error(), cmp.Or(test.want, "none")) {
			t.Errorf("%s of %s: %v", test.needed, test.committed, err)
		}
	}
}
