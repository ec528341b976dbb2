package shipping_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// A response that contradicts itself, or whose request id cannot be read, confirms nothing. The request is then read
// back, and here it stays a draft.
func TestPurchase_AContradictoryResponseConfirmsNothing(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		`{"request_id":"RD-1","request":{"request_id":"RD-1","status":"draft"}}`,
		`{"request_id":"RD-1","request":{"request_id":"RD-2","status":"processing"}}`,
		`{"request_id":7,"request":{"request_id":"RD-1","status":"processing"}}`,
		`{"request_id":"RD-1","status":"processing","request":{"status":"completed"}}`,
		`{"request":{"request":{"request_id":"RD-2","status":"draft"}}}`,
		`{"request":[{"request_id":"RD-2","status":"draft"}]}`,
		`[{"request_id":"RD-2","status":"draft"}]`,
		`{"request_id":["RD-2"],"status":"processing"}`,
		`{"request_id":{"id":"RD-2"},"status":"processing"}`,
		`{"request_id":"RD-2","request_id":"RD-1","status":"processing"}`,
		`{"request_id":"RD-1","status":"draft","status":"processing"}`,
		`{"request_id":"RD-1","documents":["CUSTOMS"],"documents":["FDA"]}`,
		`{"request":{"request_id":"RD-2","request_id":"RD-1"}}`,
		`{"request_id":"RD-2"},"data":{"request_id":"RD-1","status":"processing"}`,
		`{"request_id":"RD-1","status":"Draft"}`,
		`{"request_id":"RD-1","status":" draft "}`,
		`{"request_id":"RD-1","status":["draft"]}`,
		`{"request_id":"RD-1","documents":{"document_type":"CUSTOMS"}}`,
		`{"request_id":"RD-1","documents":"CUSTOMS"}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			result, err := shippingtest.Purchase(t.Context(), shippingtest.NewClient(t, shippingtest.NewRequestService([]httpmock.Responder{shippingtest.OK(data)}, []httpmock.Responder{shippingtest.Record("draft")})), false)
			if got := shippingtest.Outcome(result, err); got != shipping.OutcomeUnknown {
				t.Errorf("%s: outcome %q, want unknown", data, got)
			}
		})
	}
}

// A record that contradicts itself, or whose request id or documents cannot be read, proves nothing. A draft with
// anything in a member that shows a charge is no proof that nothing was charged.
func TestPurchase_AContradictoryRecordDecidesNothing(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		`{"request_id":["RD-2"],"status":"processing","documents":["FDA"]}`,
		`{"request_id":"RD-2","request_id":"RD-1","status":"processing"}`,
		`{"request_id":"RD-1","status":"draft","status":"processing"}`,
		`{"request_id":"RD-1","status":"DRAFT","documents":["FDA"]}`,
		`{"status":"draft","request":{"request_id":"RD-1","status":"processing","documents":["FDA"]}}`,
		`{"request_id":"RD-1","status":"processing","status":"draft"}`,
		`{"request_id":"RD-1","status":"processing"},"data":{"request_id":"RD-1","status":"draft"}`,
		`{"request_id":"RD-1","status":"processing","documents":["CUSTOMS"],"documents":["FDA"]}`,
		`{"request":{"request_id":"RD-1","status":"processing"},"documents":["CUSTOMS"]}`,
		`{"request_id":"RD-1","status":"processing","documents":{"document_type":"CUSTOMS"}}`,
		`{"request_id":"RD-1","status":"processing","documents":"CUSTOMS"}`,
		`{"request_id":"RD-1","status":"completed","documents":[{"document_type":{"slug":"FDA"}}]}`,
		`{"request_id":"RD-1","status":"completed","documents":[{"document_type":["FDA"]}]}`,
		`{"request_id":"RD-1","status":"completed","documents":[7]}`,
		`{"request_id":"RD-1","status":"completed","documents":[" "]}`,
		`{"request_id":"RD-1","status":"draft","charged_amount":5,"charged_amount":0}`,
		`{"request_id":"RD-1","status":"draft","charged_amount":"5 NGN"}`,
		`{"request_id":"RD-1","status":"draft","charged_amount":{"amount":5}}`,
		`{"request_id":"RD-1","status":"draft","charged_amount":-5}`,
		`{"request_id":"RD-1","status":"draft","transaction_id":{"id":"TR-1"}}`,
		`{"request_id":"RD-1","status":"draft","transaction_id":["TR-1"]}`,
		`{"request_id":"RD-1","status":"draft","transaction_id":"TR-1","transaction_id":""}`,
		`{"request":{"request_id":"RD-1","status":"draft"},"transaction_id":"TR-1"}`,
		`{"request":{"request_id":"RD-1","status":"draft"},"charged_amount":5}`,
	} {
		for name, response := range map[string]httpmock.Responder{"lost": httpmock.NewStringResponder(500, ""), "refusal": shippingtest.Refusal(400, "no")} {
			synctest.Test(t, func(t *testing.T) {
				result, err := shippingtest.Purchase(t.Context(), shippingtest.NewClient(t, shippingtest.NewRequestService([]httpmock.Responder{response}, []httpmock.Responder{shippingtest.OK(data)})), false)
				if got := shippingtest.Outcome(result, err); got != shipping.OutcomeUnknown {
					t.Errorf("%s, %s: outcome %q, want unknown", name, data, got)
				}
			})
		}
		synctest.Test(t, func(t *testing.T) {
			result, err := shippingtest.NewClient(t, shippingtest.NewRequestService(nil, []httpmock.Responder{shippingtest.OK(data)})).Regulatory.SettlePurchase(t.Context(),
				&shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{shipping.DocumentFDA}, Draft: shippingtest.DraftRecord("RD-1")})
			if got := shippingtest.Outcome(result, err); got != shipping.OutcomeUnknown {
				t.Errorf("settled, %s: outcome %q, want unknown", data, got)
			}
		})
	}
}

// A charge or a purchase that an earlier read-back shows is not disproved by a later read-back that shows neither.
func TestPurchase_AnEarlierReadingCounts(t *testing.T) {
	t.Parallel()
	for name, reads := range map[string][]httpmock.Responder{
		"a draft that shows a charge, then one that does not": {shippingtest.Record("draft", charge), shippingtest.Record("draft")},
		"purchasing with a charge, then a draft":              {shippingtest.Record("purchasing", charge), shippingtest.Record("draft")},
		"a draft that shows a charge, then 404":               {shippingtest.Record("draft", charge), shippingtest.Refusal(404, "no")},
		"purchasing, then 404":                                {shippingtest.Record("purchasing"), shippingtest.Refusal(404, "no")},
	} {
		synctest.Test(t, func(t *testing.T) {
			result, err := shippingtest.Purchase(t.Context(), shippingtest.NewClient(t, shippingtest.NewRequestService([]httpmock.Responder{shippingtest.Refusal(404, "no")}, reads)), false)
			if got := shippingtest.Outcome(result, err); got != shipping.OutcomeUnknown {
				t.Errorf("%s: outcome %q, want unknown", name, got)
			}
		})
	}
}

// Whether a response is a refusal is decided by its whole body, of which an error keeps only the start.
func TestPurchase_ARefusalIsTheWholeBody(t *testing.T) {
	t.Parallel()
	const problemType = "application/problem+json"
	spaces := strings.Repeat(" ", 70<<10)
	for name, test := range map[string]struct {
		response httpmock.Responder
		want     shipping.PurchaseOutcome
	}{
		"data of 70 KB":             {httpmock.NewStringResponder(400, `{"status":false,"data":"`+spaces+`"}`), shipping.OutcomeNotCharged},
		"problem of 70 KB":          {httpmock.NewStringResponder(400, `{"title":"no","detail":"`+spaces+`"}`).HeaderSet(http.Header{"Content-Type": {problemType}}), shipping.OutcomeNotCharged},
		"then other text":           {httpmock.NewStringResponder(400, `{"status":false}`+spaces+"x"), shipping.OutcomeUnknown},
		"then another envelope":     {httpmock.NewStringResponder(200, `{"status":false}`+spaces+`{"status":true}`), shipping.OutcomeUnknown},
		"another status at the end": {httpmock.NewStringResponder(200, `{"status":false,"data":"`+spaces+`","status":true}`), shipping.OutcomeUnknown},
		"longer than is read":       {httpmock.NewStringResponder(400, `{"status":false}`+strings.Repeat(" ", 2<<20)), shipping.OutcomeUnknown},
		"problem, then other text":  {httpmock.NewStringResponder(400, `{"title":"no"}`+spaces+"x").HeaderSet(http.Header{"Content-Type": {problemType}}), shipping.OutcomeUnknown},
		"problem, status true":      {httpmock.NewStringResponder(400, `{"status":true}`).HeaderSet(http.Header{"Content-Type": {problemType}}), shipping.OutcomeUnknown},
	} {
		synctest.Test(t, func(t *testing.T) {
			result, err := shippingtest.Purchase(t.Context(), shippingtest.NewClient(t, shippingtest.NewRequestService([]httpmock.Responder{test.response}, []httpmock.Responder{shippingtest.Record("draft")})), false)
			if got := shippingtest.Outcome(result, err); got != test.want {
				t.Errorf("%s: outcome %q, want %q", name, got, test.want)
			}
		})
	}
}

// A charge that is shown beside the wrapped record is that of the record.
func TestPurchase_TheChargeBesideAWrappedRecord(t *testing.T) {
	t.Parallel()
	result, err := shippingtest.Purchase(t.Context(), shippingtest.NewClient(t, shippingtest.NewRequestService([]httpmock.Responder{shippingtest.OK(
		`{"request":{"request_id":"RD-1","status":"processing"},"charged_amount":5,"currency":"NGN","transaction_id":"TR-1"}`)}, nil)), false)
	if err != nil || result.ChargedAmount != shippingtest.Amount(t, "5") || result.Currency != "NGN" || result.TransactionID != "TR-1" {
		t.Errorf("%+v, %v", result, err)
	}
}

// A request that cannot be read back is not purchased, and settling it does not wait for it.
func TestPurchase_OfARequestThatCannotBeReadBackIsNotSent(t *testing.T) {
	t.Parallel()
	for _, id := range []string{".", "..", "RD-\xff"} {
		service := shippingtest.NewService(shippingtest.OK(`{}`))
		client := shippingtest.NewClient(t, service)
		_, purchase := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: id, DocumentTypes: []shipping.DocumentType{shipping.DocumentFDA}, Draft: shippingtest.DraftRecord(id)})
		_, settle := client.Regulatory.SettlePurchase(t.Context(), &shipping.PurchaseRequest{RequestID: id})
		for name, err := range map[string]error{"purchase": purchase, "settle": settle} {
			if _, ok := errors.AsType[*shipping.ValidationError](err); !ok {
				t.Errorf("%q, %s: %v", id, name, err)
			}
		}
		if n := service.Count(""); n != 0 {
			t.Errorf("%q: %d requests", id, n)
		}
	}
}
