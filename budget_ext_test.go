package shipping_test

import (
	"cmp"
	"context"
	"encoding/json"
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

// remedy ends each error over budget.
const remedy = ": raise the budget or select fewer documents; nothing was purchased"

// The error over budget names each amount that it counted beside the price, in whichever document.
func TestBudget_NamesWhatItCounted(t *testing.T) {
	t.Parallel()
	draft, err := regulatory(t, shippingtest.NewService(record("draft", `"currency":"NGN","available_documents":[`+
		`{"slug":"FDA","amount":100,"tax_rate":7.5,"fees":[{"name":"stamp","amount":4}]},`+
		`{"slug":"MSDS","amount":"1.500"},{"slug":"WATCH","amount":10,"total":12}]`))).Get(t.Context(), "RD-1")
	shippingtest.NoError(t, err)
	budget := shipping.Budget{Amount: shippingtest.Amount(t, "1600"), Currency: "NGN"}
	_, err = budget.Check(draft, "FDA", "MSDS", "WATCH")
	const want = "shipping: over budget: 1623.50 NGN needed, 1600.00 NGN allowed: raise the budget or select fewer " +
		"documents; the cost counts amounts beside the price (FDA: tax_rate 7.5 (7.5); FDA: fees.amount 4; MSDS: a price " +
		"that may be 1500; WATCH: total 12): list what a purchase does not charge in offer.beside of the dialect; nothing " +
		"was purchased"
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	if price, _, err := draft.Price("FDA", "MSDS", "WATCH"); err != nil || price != shippingtest.Amount(t, "111.5") {
		t.Errorf("the price is %s, %v", price, err)
	}
	cost, currency, err := draft.Cost("FDA", "MSDS", "WATCH")
	if err != nil || cost != shippingtest.Amount(t, "1623.5") || currency != "NGN" {
		t.Errorf("the cost is %s %s, %v", cost, currency, err)
	}
}

// The specification shows no status in the response to an analysis. Such a draft is read before its purchase, and the
// price that is read is the one that counts: a budget was held against the price of the analysis.
func TestBudget_IsHeldAgainstTheDraftThatIsPurchased(t *testing.T) {
	t.Parallel()
	offer := func(price, more string) httpmock.Responder {
		return success(`{"request_id":"RD-1",` + more + `"currency":"NGN","available_documents":[{"document_type":"FDA",` +
			`"amount":` + price + `}]}`)
	}
	budget := &shipping.Budget{Amount: shippingtest.Amount(t, "50"), Currency: "NGN"}
	ways := waysToBuy(&shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll, Budget: budget})
	changing := waysToBuy(&shipping.AnalyzeAndPollOptions{Budget: budget,
		Select: func(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
			draft.AvailableDocuments = nil
			return fda, nil
		}})
	for way, try := range map[string]func(context.Context, shipping.RegulatoryService) error{
		"AnalyzeAndPoll": ways["AnalyzeAndPoll"], "Prepare": ways["Prepare"],
		"AnalyzeAndPoll, whose Select changes the draft": changing["AnalyzeAndPoll"],
	} {
		for reads, answers := range map[string]responders{
			"dearer":                {offer("99", `"status":"draft",`)},
			"dearer, at first late": {refusal(404, "not found"), offer("99", `"status":"draft",`)},
			"dearer at the end":     {offer("10", ""), offer("99", `"status":"draft",`)},
			"unclear at the end":    {offer("10", ""), offer(`"much"`, `"status":"draft",`)},
			"with a fee at the end": {offer("10", ""), offer(`10,"fee":89`, `"status":"draft",`)},
		} {
			synctest.Test(t, func(t *testing.T) {
				service := workflow(offer("10", ""), answers...)
				err := try(t.Context(), regulatory(t, service))
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
		service := shippingtest.NewService(record("draft", `"available_documents":[`+document+`]`))
		inWallet := shipping.WithDialect(&dialect.Dialect{Offer: dialect.Offer{DefaultCurrency: "wallet"}})
		_, err := regulatory(t, service, inWallet).AnalyzeAndPoll(t.Context(), parcel, &shipping.AnalyzeAndPollOptions{
			Budget: &shipping.Budget{Amount: shippingtest.Amount(t, "10"), Currency: "NGN"},
			Select: func(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
				change(draft)
				return fda, nil
			},
		})
		shippingtest.WantError(t, document, err, shipping.ErrOverBudget)
		if n := service.Count(http.MethodPost); n != 1 { // the analysis
			t.Errorf("%s: %d requests", document, n)
		}
	}
}

// A draft that a program stores as JSON and reads back costs as much. Without the text that the service sent, its tax
// did not count.
func TestBudget_IsHeldAgainstADraftThatWasStored(t *testing.T) {
	t.Parallel()
	draft := `{"request_id":"RD-1","status":"draft",` +
		`"available_documents":[{"document_type":"FDA","amount":4700,"currency":"NGN","vat":352.5}]}`
	for _, data := range []string{draft, `{"request":` + draft + `}`} {
		sent := shippingtest.Must(regulatory(t, shippingtest.NewService(success(data))).Get(t.Context(), "RD-1"))(t)
		for _, text := range [][]byte{shippingtest.Must(json.Marshal(sent))(t), []byte(sent.Raw)} {
			var stored shipping.RegulatoryRequest
			shippingtest.NoError(t, json.Unmarshal(text, &stored))
			shippingtest.Diff(t, "the stored draft", *sent, stored)
			cost, err := shipping.Budget{Amount: shippingtest.Amount(t, "5000"), Currency: "NGN"}.Check(&stored, "FDA")
			if !errors.Is(err, shipping.ErrOverBudget) || cost != shippingtest.Amount(t, "5052.5") {
				t.Errorf("%s: the cost is %s, %v", text, cost, err)
			}
		}
	}
	made := shipping.RegulatoryRequest{RequestID: "RD-1", Status: "draft", FileURL: "https://invoices.example/1.pdf"}
	var stored shipping.RegulatoryRequest
	shippingtest.NoError(t, json.Unmarshal(shippingtest.Must(json.Marshal(made))(t), &stored))
	if stored.Raw = ""; stored.RequestID != "RD-1" || stored.FileURL != made.FileURL {
		t.Errorf("a record that a program has made is read back as %+v", stored)
	}
	var values struct{ Draft shipping.RegulatoryRequest }
	if err := json.Unmarshal([]byte(`{"Draft":null}`), &values); err != nil || values.Draft.Raw != "" {
		t.Errorf("null, which changes nothing by convention: %+v, %v", values, err)
	}
	if err := json.Unmarshal([]byte(`"RD-1"`), &stored); err == nil {
		t.Errorf("a text is read as the record %+v", stored)
	}
}

// Without a draft, no price is known and nothing can be selected.
func TestBudget_WithoutADraft(t *testing.T) {
	t.Parallel()
	one, empty := shippingtest.Amount(t, "1"), &shipping.RegulatoryRequest{}
	_, noDraft := shipping.Budget{Amount: one, Currency: "NGN"}.Check(nil, "FDA")
	_, noOffer := shipping.Budget{Amount: one, Currency: "NGN"}.Check(empty, "FDA")
	_, noCurrency := shipping.Budget{Amount: one}.Check(empty)
	for want, err := range map[string]error{
		"the draft is nil": noDraft, "FDA is not offered by the draft": noOffer,
		"the budget needs an amount and a currency": noCurrency,
	} {
		if !errors.Is(err, shipping.ErrOverBudget) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if cost, err := (shipping.Budget{Amount: one, Currency: "NGN"}).Check(empty); err != nil || cost.Sign() != 0 {
		t.Errorf("no documents: %s, %v", cost, err) // they have no currency to compare
	}
	for _, choose := range choices("FDA") {
		if selected, err := choose(nil); err != nil || len(selected) != 0 {
			t.Errorf("%v, %v", selected, err)
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
		{"40", "60.01", "shipping: budget of 100.00 NGN: 60.01 needed, 60.00 left" + remedy},
		{"140", "5", "shipping: budget of 100.00 NGN: 5.00 needed, 0.00 left" + remedy},
		{"999999999999999999", "1", "shipping: amount does not fit in 18 digits"},
	} {
		err := budget.Fits(shippingtest.Amount(t, test.committed), shippingtest.Amount(t, test.needed))
		if err == nil && test.want != "" || err != nil && !strings.HasPrefix(err.Error(), cmp.Or(test.want, "none")) {
			t.Errorf("%s of %s: %v", test.needed, test.committed, err)
		}
	}
}
