package mockserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// Each switch refuses a tolerated request.
func TestAssumption_Strictness(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		want                     string
	}{
		{"unknown parameter", "GET", "/v1/rates?sort=asc&page=1", "", nil, 400, "has no query parameter sort: it takes perPage, page"},
		{"parameter of none", "GET", "/v1/countries?page=1", "", nil, 400, "it takes none"},
		{"page that is not a number", "GET", "/v1/rates?page=two", "", nil, 400, "whole number of at least 1"},
		{"page before the first", "GET", "/v1/webhooks?perPage=0", "", nil, 400, "whole number of at least 1"},
		{"unknown field", "POST", regulatoryPath + "/analyze", `{"shipment_id":"SHIPMENT","colour":"red"}`, nil, 400, "colour"},
		{"no content type", "POST", regulatoryPath + "/analyze", `{"shipment_id":"SHIPMENT"}`, []string{"Content-Type", ""}, 415, "has no Content-Type"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tolerant := start(t, mockserver.WithoutListener())
			body := strings.ReplaceAll(test.body, "SHIPMENT", tolerant.Shipments()[0])
			do(t, tolerant, test.method, test.path, body, test.headers...).want(t, 200)
			strict := start(t, mockserver.WithoutListener(), mockserver.WithAssumptions(mockserver.Strict))
			do(t, strict, test.method, test.path, body, test.headers...).refusal(t, test.status, test.want)
		})
	}
}

// Specification, replay: "Content-Type: application/json (optional)".
func TestAssumption_RequireContentTypeSparesReplay(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), mockserver.WithAssumptions(mockserver.Strict))
	body := `{"delivery_id":"` + srv.Deliveries()[0].ID + `"}`
	do(t, srv, "POST", "/v1/webhooks/replay", body, "Content-Type", "").want(t, 200)
}

func TestAssumption_TolerateWrongTypesTakesThemAsAbsent(t *testing.T) {
	t.Parallel()
	lenient := start(t, mockserver.WithoutListener(), mockserver.WithAssumptions(func(a *mockserver.Assumptions) { a.TolerateWrongTypes = true }))
	body := `{"file_url":7,"shipment_id":"` + lenient.Shipments()[0] + `"}`
	post(t, lenient, regulatoryPath+"/analyze", body).want(t, 200)
	post(t, lenient, regulatoryPath+"/analyze", `{"shipment_id":7}`).refusal(t, 400, "shipment_id or file_url is required")
}

// In strict mode every response is checked against the OpenAPI document, and all of this server conform.
func TestAssumption_CheckResponsesLetsThisServersAnswersPass(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual(), mockserver.WithAssumptions(mockserver.Strict))
	for _, list := range shippingtest.Lists() {
		get(t, srv, listPath(srv, list)).want(t, 200)
	}
	get(t, srv, "/v1/transactions").refusal(t, 400, "wallet is required")
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	if _, err := srv.Client(t).Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: draft.ID, DocumentTypes: []shipping.DocumentType{shipping.DocumentCustoms}}); err != nil {
		t.Error(err)
	}
	lookUp(t, srv, draft.ID)
}

// The OpenAPI document follows the assumptions that change responses, so that a strict server does not refuse its own
// responses with any of them.
func TestAssumption_CheckResponsesFollowsTheOthers(t *testing.T) {
	t.Parallel()
	edits := map[string]func(*mockserver.Assumptions){
		"OpenOperations": func(a *mockserver.Assumptions) {
			a.OpenOperations = []string{shipping.OpListCountries, shipping.OpListWebhooks}
		},
		"RuleFailureStatus":    func(a *mockserver.Assumptions) { a.RuleFailureStatus = 422 },
		"PerPageCap":           func(a *mockserver.Assumptions) { a.PerPageCap = 2 },
		"LastPageNull":         func(a *mockserver.Assumptions) { a.LastPageNull = true },
		"ObjectBreakdown":      func(a *mockserver.Assumptions) { a.ObjectBreakdown = true },
		"UnknownWalletIsEmpty": func(a *mockserver.Assumptions) { a.UnknownWalletIsEmpty = true },
		"ReplayToNobody":       func(a *mockserver.Assumptions) { a.ReplayToNobody = true },
		"AnalyzeFailureOK":     func(a *mockserver.Assumptions) { a.AnalyzeFailureOK = true },
		"Purchasing":           func(a *mockserver.Assumptions) { a.Purchasing = time.Minute },
		"GenerationScale":      func(a *mockserver.Assumptions) { a.GenerationScale = -1 },
		"NoOther":              func(a *mockserver.Assumptions) { a.NoOther = true },
		"FundsStatus":          func(a *mockserver.Assumptions) { a.FundsStatus = 402 },
		"AnalyzeStatus":        func(a *mockserver.Assumptions) { a.AnalyzeStatus = 201 },
		"PurchaseStatus":       func(a *mockserver.Assumptions) { a.PurchaseStatus = 202 },
		"ProblemRefusals":      func(a *mockserver.Assumptions) { a.ProblemRefusals = true },
		"OtherRefusalNames":    func(a *mockserver.Assumptions) { a.OtherRefusalNames = true },
		"EmptyHasNoPages":      func(a *mockserver.Assumptions) { a.EmptyHasNoPages = true },
		"OldestFirst":          func(a *mockserver.Assumptions) { a.OldestFirst = true },
		"WrapRecord":           func(a *mockserver.Assumptions) { a.WrapRecord = true },
		"OtherRecordNames":     func(a *mockserver.Assumptions) { a.OtherRecordNames = true },
		"MinimalRecord":        func(a *mockserver.Assumptions) { a.MinimalRecord = true },
		"MinimalPurchase":      func(a *mockserver.Assumptions) { a.MinimalPurchase = true },
		"UnknownState":         func(a *mockserver.Assumptions) { a.UnknownState = time.Minute },
		"Contrary":             mockserver.Contrary,
		"Contrary with refusals in the envelope": func(a *mockserver.Assumptions) {
			mockserver.Contrary(a)
			a.ProblemRefusals, a.AnalyzeFailureOK, a.Purchasing = false, false, 0
		},
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := start(t, mockserver.WithoutListener(), virtual(), mockserver.WithAssumptions(mockserver.Strict), mockserver.WithAssumptions(edit))
			id := requestID(t, post(t, srv, regulatoryPath+"/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`"}`))
			requests := [][3]string{
				{"GET", "/v1/transactions?wallet=VA-1"}, {"GET", "/v1/transactions"},
				{"POST", replayPath, `{"shipment_id":"` + srv.Shipments()[0] + `","event":"shipment.unknown"}`},
				{"POST", regulatoryPath + "/analyze", `{"file_url":"https://invoices.example/unknown.pdf"}`},
				{"POST", regulatoryPath + "/purchase", `{"request_id":"` + id + `","document_types":["CUSTOMS"]}`},
				{"GET", regulatoryPath + "/request/" + id},
			}
			for _, list := range shippingtest.Lists() {
				requests = append(requests, [3]string{"GET", listPath(srv, list, "perPage=1000")})
			}
			for _, r := range requests {
				if got := do(t, srv, r[0], r[1], r[2]); got.status == 500 {
					t.Errorf("%s %s: %s", r[0], r[1], got.body)
				}
			}
		})
	}
}
