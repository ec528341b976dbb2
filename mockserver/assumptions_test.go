package mockserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/assumption"
)

// Assumptions apply to lists, documents and deliveries, and not to the lists of the control surface.
func TestAssumptions_ReachDocumentsAndDeliveries(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual(), mockserver.WithAssumptions(func(a *assumption.Set) {
		a.Purchasing, a.SHA256Signature, a.DeliveryAttempts, a.PerPageCap = time.Hour, true, 1, 2
	}))
	perPage := get(t, srv, "/v1/rates?perPage=50").want(t, http.StatusOK).at(t, "data.pagination.perPage")
	var uncapped []any
	if get(t, srv, "/_mock/webhooks?perPage=50").data(t, &uncapped); perPage != 2.0 || len(uncapped) != 50 {
		t.Errorf("perPage is %v, want 2; a list of the control surface has %d records", perPage, len(uncapped))
	}
	draft := post(t, srv, "/v1/regulatory-documents/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`"}`).text(t, "request_id")
	post(t, srv, "/v1/regulatory-documents/purchase", `{"request_id":"`+draft+`","document_types":["CUSTOMS"]}`).want(t, http.StatusOK)
	if got := get(t, srv, "/v1/regulatory-documents/request/"+draft).text(t, "status"); got != "purchasing" {
		t.Errorf("the request is %s", got)
	}
	subscribeInbox(t, srv.World, "?status=503")
	emit(t, srv.World)
	n := awaitInbox(t, srv.World, 1)[0]
	if n.Header.Get("X-Signature") == "" || !n.Valid {
		t.Errorf("received %v, valid: %t", n.Header, n.Valid)
	}
	if d, err := srv.WaitDelivery(t.Context(), n.DeliveryID); err != nil || len(d.Attempts) != 1 || d.State != "failed" {
		t.Errorf("the delivery is %s after %+v (%v)", d.State, d.Attempts, err)
	}
}

// requestID returns the identifier of the request that a response is about.
func requestID(t *testing.T, a answer) string {
	t.Helper()
	var body struct {
		Data struct {
			ID      string `json:"request_id"`
			Request struct {
				ID string `json:"request_id"`
			}
		}
	}
	if err := json.Unmarshal(a.body, &body); err != nil || a.status/100 != 2 {
		t.Fatalf("%d %v: %s", a.status, err, a.body)
	}
	return body.Data.ID + body.Data.Request.ID
}

// at returns the value at a path such as data.request.items.0, or nil.
func (a answer) at(t *testing.T, path string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(a.body, &value); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	for name := range strings.SplitSeq(path, ".") {
		switch inner := value.(type) {
		case map[string]any:
			value = inner[name]
		case []any:
			if name != "0" || len(inner) == 0 {
				return nil
			}
			value = inner[0]
		default:
			return nil
		}
	}
	return value
}

// names returns the member names of the object at a path, sorted.
func (a answer) names(t *testing.T, path string) string {
	t.Helper()
	object, _ := a.at(t, path).(map[string]any)
	var names []string
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// Each switch changes the behaviour that it names, and the response check follows.
func TestAssumption_OtherChoices(t *testing.T) {
	t.Parallel()
	const (
		analyzed  = "analyze"
		purchased = "purchase"
		lookedUp  = "get"
		refused   = "refusal"
		failed    = "failed analysis"
		funds     = "too little money"
	)
	for name, test := range map[string]struct {
		assume func(*assumption.Set)
		step   string
		status int
		want   map[string]any // by path
		names  map[string]string
	}{
		"the default": {func(*assumption.Set) {}, failed, 400, map[string]any{
			"status": false, "data.status": "failed", "data.error_code": "analysis_failed",
		}, nil},
		"AnalyzeFailureOK": {func(a *assumption.Set) { a.AnalyzeFailureOK = true }, failed, 200, map[string]any{
			"status": true, "data.status": "failed",
		}, nil},
		"AnalyzeStatus":  {func(a *assumption.Set) { a.AnalyzeStatus = 201 }, analyzed, 201, map[string]any{"data.status": "draft"}, nil},
		"PurchaseStatus": {func(a *assumption.Set) { a.PurchaseStatus = 202 }, purchased, 202, map[string]any{"data.status": "processing"}, nil},
		"FundsStatus":    {func(a *assumption.Set) { a.FundsStatus = 402 }, funds, 402, map[string]any{"data.error_code": "insufficient_funds"}, nil},
		"ProblemRefusals": {func(a *assumption.Set) { a.ProblemRefusals = true }, funds, 400,
			map[string]any{"status": 400.0, "title": "Bad Request", "error_code": "insufficient_funds"},
			map[string]string{"": "", "data": ""}},
		"ProblemRefusals, unknown id": {func(a *assumption.Set) { a.ProblemRefusals = true }, refused, 404,
			map[string]any{"status": 404.0, "error_code": "not_found"}, nil},
		"OtherRefusalNames": {func(a *assumption.Set) { a.OtherRefusalNames = true }, refused, 404,
			map[string]any{"status": false, "data.code": "ERR_NOT_FOUND", "data.error_code": nil}, nil},
		"OtherRefusalNames and ProblemRefusals": {func(a *assumption.Set) { a.OtherRefusalNames, a.ProblemRefusals = true, true }, refused, 404,
			map[string]any{"code": "ERR_NOT_FOUND", "error_code": nil}, nil},
		"WrapRecord": {func(a *assumption.Set) { a.WrapRecord = true }, lookedUp, 200,
			map[string]any{"data.request.status": "processing", "data.status": nil}, map[string]string{"data": "request"}},
		"OtherRecordNames": {func(a *assumption.Set) { a.OtherRecordNames = true }, lookedUp, 200,
			map[string]any{"data.purchased_documents.0.slug": "CUSTOMS", "data.line_items": nil, "data.documents": nil},
			map[string]string{"data.available_documents.0": "currency mode name price profile_fields reasons slug"}},
		"MinimalRecord": {func(a *assumption.Set) { a.MinimalRecord = true }, lookedUp, 200, nil, map[string]string{
			"data": "available_documents line_items request_id source status", "data.available_documents.0": "amount currency document_type"}},
		"MinimalPurchase": {func(a *assumption.Set) { a.MinimalPurchase = true }, purchased, 200, map[string]any{"status": true}, map[string]string{"data": ""}},
		"UnknownState":    {func(a *assumption.Set) { a.UnknownState = time.Second }, lookedUp, 200, map[string]any{"data.status": "queued"}, nil},
		"UnknownState in the confirmation": {func(a *assumption.Set) { a.UnknownState = time.Second }, purchased, 200,
			map[string]any{"data.status": "queued"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := start(t, mockserver.WithoutListener(), virtual(), mockserver.WithScenario("default"),
				mockserver.WithAssumptions(assumption.Strict), mockserver.WithAssumptions(test.assume))
			got := map[string]answer{
				analyzed: post(t, srv, regulatoryPath+"/analyze", analyzeFirst(srv.World)),
				failed:   post(t, srv, regulatoryPath+"/analyze", `{"shipment_id":"SH-MAGICFAILANALYSIS"}`),
			}
			id := requestID(t, got[analyzed])
			if test.step == funds {
				w, err := srv.Open("lowfunds_choices")
				if err != nil {
					t.Fatal(err)
				}
				_, got[funds] = purchaseFirst(t, srv, w)
			} else {
				got[purchased] = purchase(t, srv, id, "CUSTOMS")
				got[lookedUp] = get(t, srv, regulatoryPath+"/request/"+id)
				got[refused] = get(t, srv, regulatoryPath+"/request/RD-NOSUCH")
			}
			response := got[test.step].want(t, test.status)
			for path, want := range test.want {
				if diff := cmp.Diff(want, response.at(t, path)); diff != "" {
					t.Errorf("%s: %s in %s", path, diff, response.body)
				}
			}
			for path, want := range test.names {
				if names := response.names(t, path); names != want {
					t.Errorf("%s has %q, want %q", path, names, want)
				}
			}
			if problem := response.header.Get("Content-Type") == "application/problem+json"; problem != (strings.HasPrefix(name, "Problem") || strings.Contains(name, "and Problem")) {
				t.Errorf("Content-Type %q", response.header.Get("Content-Type"))
			}
		})
	}
}

// The unknown state passes.
func TestAssumption_UnknownStateEnds(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual(), mockserver.WithAssumptions(func(a *assumption.Set) {
		a.Purchasing, a.UnknownState, a.GenerationScale = time.Second, time.Second, 1000
	}))
	id := analyzeShipment(t, srv, srv.Shipments()[0]).ID
	purchase(t, srv, id, "CUSTOMS").want(t, 200)
	var states []any
	for range 3 {
		states = append(states, get(t, srv, regulatoryPath+"/request/"+id).at(t, "data.status"))
		advance(t, srv, time.Second)
	}
	if diff := cmp.Diff([]any{"purchasing", "queued", "processing"}, states); diff != "" {
		t.Error(diff)
	}
}

// Refusals of requests that name no operation have the form of the world.
func TestAssumption_ProblemRefusalsOfUnknownRoutes(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), mockserver.WithAssumptions(assumption.Contrary))
	for _, got := range []answer{
		get(t, srv, "/v1/nothing").want(t, 404), do(t, srv, "DELETE", "/v1/rates", "").want(t, 405),
		do(t, srv, "GET", "/v1/rates", "", "Authorization", "Bearer wrong").want(t, 401), get(t, srv, "/v1/transactions").want(t, 422),
	} {
		if got.header.Get("Content-Type") != "application/problem+json" || got.at(t, "detail") == nil || got.at(t, "code") == nil {
			t.Errorf("%s: %s", got.header.Get("Content-Type"), got.body)
		}
	}
}

// Lists in the other order have the same records, a page is at most as long as the cap, and nothing comes after the last page.
func TestAssumption_Lists(t *testing.T) {
	t.Parallel()
	plain := start(t, mockserver.WithoutListener())
	other := start(t, mockserver.WithoutListener(), mockserver.WithAssumptions(func(a *assumption.Set) { a.OldestFirst, a.LastPageNull, a.PerPageCap = true, true, 50 }))
	for _, list := range []string{"rates", "webhooks", "transactions"} {
		path := "/v1/" + list + "?wallet=" + plain.Wallets()[0] + "&perPage=1000"
		all, _ := records(t, get(t, plain, path), list)
		slices.Reverse(all)
		last := (len(all)-1)/50 + 1
		some, pagination := records(t, get(t, other, fmt.Sprint(path, "&page=", last)), list)
		if diff := cmp.Diff(all[(last-1)*50:], some); diff != "" {
			t.Errorf("%s (-want +got):\n%s", list, diff)
		}
		if list == "transactions" && !strings.Contains(string(pagination), `"nextPage":null`) {
			t.Errorf("%s", pagination)
		}
	}
}

func TestAssumption_EmptyHasNoPages(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), mockserver.WithAssumptions(func(a *assumption.Set) { a.EmptyHasNoPages, a.UnknownWalletIsEmpty = true, true }))
	got := get(t, srv, "/v1/transactions?wallet=VA-1").want(t, 200)
	if got.at(t, "data.pagination.pageCount") != 0.0 || got.at(t, "data.pagination.hasNextPage") != false {
		t.Errorf("%s", got.body)
	}
	if got := get(t, srv, "/v1/rates"); got.at(t, "data.pagination.pageCount") != 3.0 {
		t.Errorf("%v pages of rates", got.at(t, "data.pagination.pageCount"))
	}
}

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
			strict := start(t, mockserver.WithoutListener(), mockserver.WithAssumptions(assumption.Strict))
			do(t, strict, test.method, test.path, body, test.headers...).refusal(t, test.status, test.want)
		})
	}
}

// A world can be opened over HTTP with its own assumptions, and shows them.
func TestAdmin_OpensAWorldWithAssumptions(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), mockserver.WithAssumptions(assumption.Strict))
	key := post(t, srv, "/_mock/worlds", `{"scenario":"default","name":"ci","assumptions":{"PerPageCap":2,"LastPageNull":true,"ObjectBreakdown":true,"Purchasing":"5s"}}`).want(t, 200).text(t, "secret_key")
	var page struct {
		Rates []struct{ Breakdown map[string]json.Number }
	}
	as(t, srv, key, "GET", "/v1/rates?perPage=10", "").want(t, 200).data(t, &page)
	if len(page.Rates) != 2 || len(page.Rates[0].Breakdown) == 0 {
		t.Errorf("%+v", page)
	}
	var rows []struct {
		Field   string
		Changed bool
		Value   any
	}
	get(t, srv, "/_mock/assumptions?world=default_ci").data(t, &rows)
	shown := map[string]any{}
	for _, row := range rows {
		if row.Changed {
			shown[row.Field] = row.Value
		}
	}
	want := map[string]any{
		"PerPageCap": 2.0, "LastPageNull": true, "ObjectBreakdown": true, "Purchasing": "5s", "RefuseUnknownFields": true,
		"RefuseUnknownParameters": true, "RefuseWrongParameters": true, "RequireContentType": true,
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Error(diff)
	}
	var document struct {
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(get(t, srv, "/_mock/openapi.json?world=default_ci").body, &document); err != nil {
		t.Fatal(err)
	}
	if text, _ := json.Marshal(document.Components.Schemas["TransactionPagination"]); !strings.Contains(string(text), `"null"`) {
		t.Errorf("the document of the world has %s", text)
	}
	for body, status := range map[string]int{
		`{"name":"default_x","preset":"contrari"}`:             http.StatusBadRequest,
		`{"name":"default_ci","assumptions":{"PerPageCap":3}}`: http.StatusConflict,
		`{"name":"home","assumptions":{"PerPageCap":3}}`:       http.StatusConflict,
		`{"name":"default_x","assumptions":{"PerPgeCap":3}}`:   http.StatusBadRequest,
		`{"name":"default_x","assumptions":{"OneWorld":true}}`: http.StatusBadRequest,
	} {
		post(t, srv, "/_mock/worlds", body).refusal(t, status, "")
	}
	if worlds := srv.Worlds(); len(worlds) != 2 {
		t.Errorf("%d worlds are open", len(worlds))
	}
}

// Every way to set an assumption checks its range: an option and the route that opens a world.
func TestAssumptions_AreCheckedEverywhere(t *testing.T) {
	t.Parallel()
	const want = "PerPageCap is -1: it must be from 1 to 1000000"
	refused := mockserver.New(mockserver.WithoutListener(), mockserver.WithAssumption("PerPageCap", "-1"))
	defer refused.Close()
	srv := start(t, mockserver.WithoutListener())
	post(t, srv, "/_mock/worlds", `{"name":"ci","assumptions":{"PerPageCap":-1}}`).refusal(t, http.StatusBadRequest, want)
	if err := refused.Err(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the option: %v", err)
	}
}
