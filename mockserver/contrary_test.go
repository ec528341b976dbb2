package mockserver_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/assumption"
	"github.com/shipping-go/shipping/mockserver/notify"
)

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
		funds     = "too little money"
	)
	for name, test := range map[string]struct {
		assume func(*assumption.Set)
		step   string
		status int
		want   map[string]any // by path
		names  map[string]string
	}{
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
			got := map[string]answer{analyzed: post(t, srv, regulatoryPath+"/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`"}`)}
			id := requestID(t, got[analyzed])
			if test.step == funds {
				w, err := srv.Open("lowfunds_choices")
				if err != nil {
					t.Fatal(err)
				}
				id = requestID(t, as(t, srv, w.SecretKey, "POST", regulatoryPath+"/analyze", `{"shipment_id":"`+w.Shipments()[0]+`"}`))
				got[funds] = as(t, srv, w.SecretKey, "POST", regulatoryPath+"/purchase", `{"request_id":"`+id+`","document_types":["CUSTOMS"]}`)
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

// Lists in the other order have the same records; a page is at most as long as the cap.
func TestAssumption_OldestFirst(t *testing.T) {
	t.Parallel()
	plain := start(t, mockserver.WithoutListener())
	srv := start(t, mockserver.WithoutListener(), mockserver.WithAssumptions(func(a *assumption.Set) { a.OldestFirst = true }))
	for path, field := range map[string]string{"/v1/rates": "rates", "/v1/webhooks": "webhooks", "/v1/transactions?wallet=" + srv.Wallets()[0]: "transactions"} {
		separator := "?"
		if strings.Contains(path, "?") {
			separator = "&"
		}
		all := func(srv *mockserver.Server, perPage, pages string) (records []json.RawMessage) {
			for page := range strings.SplitSeq(pages, " ") {
				var data map[string]json.RawMessage
				var some []json.RawMessage
				get(t, srv, path+separator+"perPage="+perPage+"&page="+page).want(t, 200).data(t, &data)
				if err := json.Unmarshal(data[field], &some); err != nil {
					t.Fatal(err)
				}
				records = append(records, some...)
			}
			return records
		}
		want := all(plain, "1000", "1")
		slices.Reverse(want)
		// Webhooks and transactions are fewer than 300; pages after the last one are empty.
		if diff := cmp.Diff(want, all(srv, "100", "1 2 3 4")); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

func TestAssumption_EmptyHasNoPages(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), mockserver.WithAssumptions(func(a *assumption.Set) { a.EmptyHasNoPages, a.UnknownWalletIsEmpty = true, true }))
	for range 3 { // the third is a page that is kept
		got := get(t, srv, "/v1/transactions?wallet=VA-1").want(t, 200)
		if got.at(t, "data.pagination.pageCount") != 0.0 || got.at(t, "data.pagination.hasNextPage") != false {
			t.Errorf("%s", got.body)
		}
	}
	if got := get(t, srv, "/v1/rates"); got.at(t, "data.pagination.pageCount") != 3.0 {
		t.Errorf("%v pages of rates", got.at(t, "data.pagination.pageCount"))
	}
}

// headers collects the headers of notifications.
type headers chan http.Header

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	h <- r.Header
	return &http.Response{StatusCode: 200, Body: http.NoBody, Request: r}, nil
}

func TestAssumption_HeadersOfNotifications(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		assume func(*assumption.Set)
		want   string
	}{
		"default":           {func(*assumption.Set) {}, "X-Webhook-Delivery-Id X-Webhook-Event-Id X-Webhook-Id X-Webhook-Signature"},
		"SHA256Signature":   {func(a *assumption.Set) { a.SHA256Signature = true }, "X-Signature X-Webhook-Delivery-Id X-Webhook-Event-Id X-Webhook-Id"},
		"NoDeliveryHeaders": {func(a *assumption.Set) { a.NoDeliveryHeaders = true }, "X-Webhook-Signature"},
		"Contrary":          {assumption.Contrary, "X-Signature"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent := make(headers, 1)
			srv := start(t, mockserver.WithoutListener(), mockserver.WithDeliveryTransport(sent), mockserver.WithAssumptions(test.assume))
			if _, err := srv.AddWebhook(notify.Webhook{URL: "http://127.0.0.1:1/", Events: []string{"test"}}); err != nil {
				t.Fatal(err)
			}
			if _, err := srv.Emit(events(1)[0]); err != nil {
				t.Fatal(err)
			}
			var names []string
			header := <-sent
			for name := range header {
				if strings.HasPrefix(name, "X-") {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			if signature := header.Get("X-Signature"); signature != "" && (!strings.HasPrefix(signature, "sha256=") || len(signature) != len("sha256=")+64) {
				t.Errorf("signature %s", signature)
			}
		})
	}
}

// Contrary changes every assumption about the service. The two others concern this server.
func TestContrary_ChangesEveryChoice(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), mockserver.WithAssumptions(assumption.Contrary))
	var same []string
	for _, row := range srv.Assumptions() {
		if !row.Changed {
			same = append(same, row.Field)
		}
	}
	if diff := cmp.Diff([]string{"OneWorld", "DeliverAnywhere"}, same); diff != "" {
		t.Error(diff)
	}
}

// A world can be opened with the preset over HTTP, and with changes to it. The rest of the server keeps its own.
func TestAdmin_OpensAContraryWorld(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	open := func(body string) string {
		return post(t, srv, "/_mock/worlds", body).want(t, 200).text(t, "secret_key")
	}
	key := open(`{"name":"default_other","preset":"contrary"}`)
	if got := as(t, srv, key, "GET", "/v1/rates?perPage=1000", "").want(t, 200); got.at(t, "data.pagination.perPage") != 100.0 {
		t.Errorf("%s", got.body)
	}
	as(t, srv, key, "GET", "/v1/transactions", "").want(t, 422)
	key = open(`{"name":"default_changed","preset":"contrary","assumptions":{"PerPageCap":7,"RuleFailureStatus":409}}`)
	if got := as(t, srv, key, "GET", "/v1/rates", "").want(t, 200); got.at(t, "data.pagination.perPage") != 7.0 {
		t.Errorf("%s", got.body)
	}
	as(t, srv, key, "GET", "/v1/transactions", "").want(t, 409)
	get(t, srv, "/v1/transactions").refusal(t, 400, "wallet is required")
	for body, want := range map[string]string{
		`{"name":"default_x","preset":"contrari"}`:     `did you mean "contrary"?`,
		`{"name":"default_other","preset":"contrary"}`: "change its assumptions with PATCH",
	} {
		if got := post(t, srv, "/_mock/worlds", body); got.status/100 != 4 || !strings.Contains(string(got.body), strings.ReplaceAll(want, `"`, `\"`)) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
}
