package shipping_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// buyWithin analyzes a shipment and buys FDA if a budget of 10 NGN allows it.
func buyWithin(ctx context.Context, t *testing.T, client *shipping.Client, change func(draft *shipping.RegulatoryRequest)) error {
	t.Helper()
	_, err := client.Regulatory.AnalyzeAndPoll(ctx, parcel, &shipping.AnalyzeAndPollOptions{
		Budget: &shipping.Budget{Amount: shippingtest.Amount(t, "10"), Currency: "NGN", AssumeCurrency: true},
		Select: func(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
			change(draft)
			return []shipping.DocumentType{shipping.DocumentFDA}, nil
		},
	})
	return err
}

// C26: a price whose currency is given twice or cannot be read, or beside which another one is shown, passes
// no budget, whatever else is odd about the document and also if the budget assumes its currency.
func TestBudget_APriceThatIsNotTheOnlyOneDoesNotPass(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // a purchase would wait for a result
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		for _, members := range []string{
			`"available_documents":[{"document_type":"FDA","amount":5,"currency":"USD","currency":"NGN"}]`,
			`"available_documents":[{"document_type":"FDA","amount":5,"currency":{"code":"USD"}}]`,
			`"available_documents":[{"document_type":"FDA","amount":5,"currency":["USD"]}]`,
			`"available_documents":[{"document_type":"FDA","amount":5,"currency":{"code":"USD"}}],"currency":"NGN"`,
			`"available_documents":[{"document_type":"FDA","amount":5}],"currency":{"code":"USD"}`,
			`"available_documents":[{"document_type":"FDA","amount":5}],"currency":"USD","currency":"NGN"`,
			`"available_documents":[{"document_type":"FDA","amount":5,"price_currency":"USD"}]`,
			`"available_documents":[{"document_type":"FDA","amount":5,"price_currency":"USD"}],"currency":"NGN"`,
			`"available_documents":[{"document_type":"FDA","amount":5,"name":7,"total":500}]`,
			`"available_documents":[{"document_type":"FDA","amount":5,"reasons":7,"total":500}]`,
			`"available_documents":[{"document_type":"FDA","amount":5,"total":500,"total":5}]`,
			`"available_documents":[{"document_type":"FDA","amount":5,"cost":{"total":500,"total":5}}]`,
			`"available_documents":[{"document_type":"FDA","amount":5,"fees":[{"amount":500}]}]`,
			`"available_documents":[{"document_type":"MSDS","document_type":"FDA","amount":5}]`,
			`"available_documents":[{"document_type":"FDA","amount":500}],"available_documents":[{"document_type":"FDA","amount":5}]`,
		} {
			service := shippingtest.NewService(shippingtest.OK(`{"request_id":"RD-1","status":"draft",` + members + `}`))
			shippingtest.WantError(t, members, buyWithin(ctx, t, shippingtest.NewClient(t, service), func(*shipping.RegulatoryRequest) {}), shipping.ErrOverBudget)
			if n := service.Count(http.MethodPost); n != 1 { // the analysis
				t.Errorf("%s: %d requests", members, n)
			}
		}
	})
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
			draft.AvailableDocuments[0].DocumentType = shipping.DocumentFDA
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
