package mockserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/journal"
)

func TestJournal_AClosedWorldLeavesRoom(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), mockserver.WithJournal(64, 0), mockserver.WithLimits(400))
	for _, requests := range []int{64, 30} {
		w, err := srv.Open("default_x")
		if err != nil {
			t.Fatal(err)
		}
		for range requests {
			as(t, srv, w.SecretKey, "GET", "/v1/countries", "")
		}
		if got := len(w.Journal()); got != requests {
			t.Errorf("%d entries of %d requests", got, requests)
		}
		w.Close()
	}
}

// A refused request is found behind more good ones than the journal has entries, and so is one that a fault struck.
func TestJournal_KeepsFailedRequestsLonger(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), mockserver.WithJournal(16, 100))
	get(t, srv, "/v1/transactions?first")
	inject(t, srv, fault.Rule{First: 1, Fault: fault.Empty()})
	get(t, srv, "/v1/countries")
	ids := func(q journal.Query) []string {
		var found []string
		for _, e := range srv.Find(q) {
			found = append(found, e.ID)
		}
		return found
	}
	for range 50 {
		get(t, srv, "/v1/rates?perPage=1")
	}
	if diff := cmp.Diff([]string{"req-1"}, ids(journal.Query{Refused: true})); diff != "" {
		t.Errorf("refused requests (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"req-1", "req-2", "req-37"}, ids(journal.Query{Before: "req-38"})); diff != "" {
		t.Errorf("oldest requests (-want +got):\n%s", diff)
	}
	if got := get(t, srv, "/_mock/journal/req-1").want(t, 200).text(t, "query"); got != "first" {
		t.Errorf("the entry of the refused request has the query %q", got)
	}
	get(t, srv, "/_mock/journal/req-36").refusal(t, 404, `the journal has dropped the request "req-36": it keeps the latest 16, and refused ones longer; raise the limit with WithJournal in Go`)
	get(t, srv, "/_mock/journal/req-53").refusal(t, 404, `the journal has no request "req-53"`)
	get(t, srv, "/_mock/journal/52").refusal(t, 404, "")
	if _, err := srv.Why("req-36"); err == nil || !strings.Contains(err.Error(), "mockserver: the journal has dropped") {
		t.Errorf("got %v", err)
	}
	for range 5 { // of which the journal keeps the latest 4
		get(t, srv, "/v1/transactions")
	}
	for range 50 {
		get(t, srv, "/v1/rates?perPage=1")
	}
	if diff := cmp.Diff([]string{"req-54", "req-55", "req-56", "req-57"}, ids(journal.Query{Refused: true})); diff != "" {
		t.Errorf("refused requests (-want +got):\n%s", diff)
	}
	if entries := srv.Journal(); len(entries) != 20 || entries[4].ID != "req-92" {
		t.Errorf("%d entries, the fifth is %s", len(entries), entries[4].ID)
	}
	srv.Reset()
	if entries := srv.Journal(); len(entries) != 0 {
		t.Errorf("%d entries after Reset", len(entries))
	}
}

// A filtered journal is exported as JSON lines and as curl commands, without the key.
func TestJournal_IsExported(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	get(t, srv, "/v1/rates?perPage=1&from=a%20b")
	post(t, srv, "/v1/webhooks/replay", `{"event":"shipment.created"}`)
	export := func(as string) string {
		reply := get(t, srv, "/_mock/journal?refused=true&as="+as).want(t, 200)
		if !strings.HasPrefix(reply.header.Get("Content-Disposition"), "attachment; filename=") || strings.Contains(string(reply.body), srv.SecretKey) {
			t.Errorf("%s: %v\n%s", as, reply.header, reply.body)
		}
		return string(reply.body)
	}
	var entry journal.Entry
	if err := json.Unmarshal([]byte(export("jsonl")), &entry); err != nil || entry.ID != "req-2" {
		t.Errorf("%v, request %q", err, entry.ID)
	}
	want := srv.Journal()[1].Curl(srv.URL)
	if one := string(get(t, srv, "/_mock/journal/req-2?as=curl").want(t, 200).body); one != want || export("curl") != want {
		t.Errorf("the command is %s, want %s", one, want)
	}
	get(t, srv, "/_mock/journal/req-1?as=perl").refusal(t, 400, "write one of curl")
	for _, id := range []string{"req-0", "req-3", "req-x", "7"} {
		get(t, srv, "/_mock/journal/"+id).refusal(t, 404, "has no request")
	}
	analyze := get(t, srv, "/_mock/worlds/home").want(t, http.StatusOK).text(t, "curl")
	if !strings.HasPrefix(analyze, "curl ") || !strings.Contains(analyze, `'{"shipment_id":"`+srv.Shipments()[0]+`"}'`) {
		t.Errorf("the command that analyzes a shipment is %s", analyze)
	}
}

func TestJournal_KeepsTheBeginningOfBodies(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), mockserver.WithJournal(2, 10))
	post(t, srv, "/v1/webhooks/replay", `{"delivery_id":"WD-1"}`)
	get(t, srv, "/v1/countries")
	post(t, srv, "/v1/webhooks/replay", `{"a":1}`) // takes the place of the first
	calls := srv.Journal()
	if len(calls) != 2 || calls[0].Operation != shipping.OpListCountries {
		t.Fatalf("the journal holds %+v", calls)
	}
	if c := calls[0]; len(c.ResponseBody) != 10 || c.ResponseBytes < 50_000 || c.RequestBody != "" {
		t.Errorf("countries are journaled as %+v", c)
	}
	if c := calls[1]; c.RequestBody != `{"a":1}` || c.RequestBytes != 7 {
		t.Errorf("the replay is journaled as %+v", c)
	}
	none := start(t, mockserver.WithoutListener(), mockserver.WithJournal(0, 0))
	get(t, none, "/v1/countries")
	if len(none.Journal()) != 0 || none.Requests(shipping.OpListCountries) != 1 {
		t.Error("a journal of no calls remembers, or does not count")
	}
}

func TestJournal_HoldsNoKey(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	const stranger = "sk_live_0123456789abcdef"
	do(t, srv, http.MethodGet, "/v1/rates?key="+stranger, "", "Authorization", "Bearer "+stranger)
	post(t, srv, "/v1/webhooks/replay", `{"delivery_id":"`+srv.SecretKey+`","event":"`+stranger+`"}`)
	calls := append(srv.Unauthenticated(), srv.Journal()...)
	if all := fmt.Sprintf("%+v", calls); strings.Contains(all, stranger) || strings.Contains(all, srv.SecretKey) {
		t.Errorf("a key is in %s", all)
	}
	if a, b := calls[0].Key, calls[1].Key; !strings.HasPrefix(a, "sk_live_…") || !strings.HasPrefix(b, "sk_test_…") || len(b) != len("sk_test_…")+8 {
		t.Errorf("the keys are shown as %q and %q", a, b)
	}
}

func TestRefusals_ContainNoKey(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	for _, key := range []string{srv.SecretKey, "sk_live_0123456789abcdef"} {
		for _, answer := range []answer{
			get(t, srv, "/v1/transactions?wallet="+key), get(t, srv, "/v1/"+key), get(t, srv, "//v1/"+key),
			post(t, srv, "/v1/regulatory-documents/analyze", `{"shipment_id":"`+key+`"}`),
			post(t, srv, "/v1/regulatory-documents/purchase", `{"request_id":"`+key+`","document_types":["`+key+`"]}`),
			post(t, srv, "/v1/webhooks/replay", `{"shipment_id":"`+key+`","event":"`+key+`","webhook_id":"`+key+`"}`),
		} {
			if answer.status < 400 || strings.Contains(string(answer.body), key[len("sk_live_"):]) {
				t.Errorf("%d: %s", answer.status, answer.body)
			}
		}
	}
}

// Only the responses that open a world, and the list of worlds, contain its key.
func TestWorldResponses_ContainTheKeyOnlyWhenOpened(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	for _, test := range []struct {
		path, body string
		tells      bool
	}{
		{"worlds", `{"scenario":"default","name":"other"}`, true},
		{"worlds/home/reset", "", false},
		{"worlds?keys=false", `{"scenario":"empty","name":"quiet"}`, false},
	} {
		body := string(post(t, srv, "/_mock/"+test.path, test.body).want(t, http.StatusOK).body)
		if strings.Contains(body, "sk_test_") != test.tells {
			t.Errorf("%s: %s", test.path, body)
		}
	}
	if list := string(get(t, srv, "/_mock/worlds?keys=false").want(t, http.StatusOK).body); strings.Contains(list, "sk_test_") {
		t.Errorf("a key in %s", list)
	}
}

func TestFind_ChoosesCalls(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	draft := analyzeShipment(t, srv, srv.Shipments()[0]) // req-1
	lookUp(t, srv, draft.ID)                             // req-2
	get(t, srv, "/v1/transactions")                      // req-3
	inject(t, srv, fault.Rule{Fault: fault.Empty()})
	get(t, srv, "/v1/countries") // req-4
	tests := []struct {
		query journal.Query
		http  string
		want  string
	}{
		{journal.Query{}, "", "req-1 req-2 req-3 req-4"},
		{journal.Query{Operation: shipping.OpGetRequest}, "operation=regulatory.get", "req-2"},
		{journal.Query{Status: 400}, "status=400", "req-3"},
		{journal.Query{Key: "sk_test_…00000000"}, "key=sk_test_%E2%80%A600000000", ""},
		{journal.Query{ID: "req-4"}, "request_id=req-4", "req-4"},
		{journal.Query{Contains: draft.ID}, "contains=" + draft.ID, "req-1 req-2"},
		{journal.Query{Contains: srv.Shipments()[0], Operation: shipping.OpAnalyze}, "operation=regulatory.analyze&contains=" + srv.Shipments()[0], "req-1"},
		{journal.Query{Contains: "wallet is required"}, "contains=wallet+is+required", "req-3"},
		{journal.Query{Contains: "400"}, "contains=400", "req-3"},
		{journal.Query{Contains: "invalid_request"}, "contains=invalid_request", "req-3"},
		{journal.Query{Contains: "regulatory.get"}, "contains=regulatory.get", "req-2"},
		{journal.Query{Method: "POST"}, "method=post", "req-1"},
		{journal.Query{StatusClass: 4}, "status=4xx", "req-3"},
		{journal.Query{Refused: true}, "refused=true", "req-3"},
		{journal.Query{Faulted: true}, "faulted=true", "req-4"},
		{journal.Query{Fault: "empty"}, "fault=empty", "req-4"},
		{journal.Query{Fault: "drop"}, "fault=drop", ""},
		{journal.Query{Before: "req-3"}, "before=req-3", "req-1 req-2"},
		{journal.Query{After: "req-1", Before: "req-4"}, "after=req-1&before=req-4", "req-2 req-3"},
		{journal.Query{Key: "sk_test_…00000000"}, "key=sk_test_%E2%80%A600000000", ""},
	}
	for _, test := range tests {
		t.Run(test.http, func(t *testing.T) {
			t.Parallel()
			var overHTTP []journal.Entry
			get(t, srv, "/_mock/journal?"+test.http).want(t, 200).data(t, &overHTTP)
			for _, calls := range [][]journal.Entry{srv.Find(test.query), overHTTP} {
				var ids []string
				for _, c := range calls {
					ids = append(ids, c.ID)
				}
				if got := strings.Join(ids, " "); got != test.want {
					t.Errorf("%s: %q, want %q", &test.query, got, test.want)
				}
			}
		})
	}
	for query, want := range map[string]string{
		"stats=400": `unknown parameter "stats": did you mean "status"?`, "status=ok": "write a number", "status=axx": "such as 4xx", "operation=rates": "unknown operation",
		"after=soon": "such as req-7", "last=0": "whole number from 1",
		"refused=maybe": "write true or false", "fault=dorp": `did you mean "drop"?`, "before=latest": "such as req-7", "as=xml": "jsonl, curl, findings",
		"faulted=maybe": "write true", "wait=soon": "write a duration", "wait=-1s": "write a duration", "await=5s": `did you mean "wait"?`,
		"wait=1s&count=0": "whole number from 1", "count=2": "count needs wait",
	} {
		get(t, srv, "/_mock/journal?"+query).refusal(t, 400, want)
	}
}

func TestAwait_ErrorListsOtherRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := mockserver.New(mockserver.WithoutListener())
		defer srv.Close()
		q := journal.Query{Operation: shipping.OpPurchase, Status: 200}
		_, err := srv.Await(t.Context(), q, time.Second)
		if err == nil || !strings.Contains(err.Error(), "waited for a request with operation regulatory.purchase, status 200 and found 0 of 1; the journal is empty") {
			t.Errorf("got %v", err)
		}
		get(t, srv, "/v1/rates")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err = srv.Await(ctx, q, 0); err == nil || !strings.Contains(err.Error(), "the journal has 1 request, the latest: GET /v1/rates 200") {
			t.Errorf("got %v", err)
		}
		get(t, srv, "/_mock/journal?operation=regulatory.purchase&wait=5s").refusal(t, http.StatusRequestTimeout, "waited for")
	})
}

// Waiting applies the whole query, including after, last and bodies, and can wait for the next request.
func TestAwait_WaitsForTheNextCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := mockserver.New(mockserver.WithoutListener())
		defer srv.Close()
		get(t, srv, "/v1/rates")
		get(t, srv, "/v1/rates")
		var caller sync.WaitGroup
		defer caller.Wait()
		later := func() {
			caller.Go(func() {
				<-time.After(time.Second)
				get(t, srv, "/v1/rates")
				get(t, srv, "/v1/countries")
			})
		}
		later()
		started := time.Now()
		c, err := srv.Await(t.Context(), journal.Query{After: journal.Latest}, time.Minute)
		if waited := time.Since(started); err != nil || c.ID != "req-3" || waited != time.Second {
			t.Errorf("after the latest: %+v, %v after %v", c, err, waited)
		}
		if c, err := srv.Await(t.Context(), journal.Query{After: "req-1"}, time.Minute); err != nil || c.ID != "req-2" {
			t.Errorf("after the first: %+v, %v", c, err)
		}
		if _, err := srv.Await(t.Context(), journal.Query{After: "soon"}, time.Minute); err == nil || !strings.Contains(err.Error(), "req-7") {
			t.Errorf("after no call: %v", err)
		}
		caller.Wait()
		tests := []struct {
			query string
			want  []string
		}{
			{"after=latest", []string{"req-5"}},
			{"after=req-6&operation=countries.list", []string{"req-8"}},
			{"after=req-8&bodies=false", []string{"req-9"}},
			{"after=req-2&last=2", []string{"req-11", "req-12"}}, // is there already
			{"after=latest&count=2", []string{"req-13", "req-14"}},
			{"after=req-2&count=2", []string{"req-3", "req-4"}}, // the first of many
		}
		for _, test := range tests {
			later()
			if strings.Contains(test.query, "last") {
				caller.Wait()
			}
			var calls []journal.Entry
			get(t, srv, "/_mock/journal?wait=1m&"+test.query).want(t, 200).data(t, &calls)
			caller.Wait()
			var ids []string
			for _, c := range calls {
				if ids = append(ids, c.ID); (c.ResponseBody == "") != strings.Contains(test.query, "bodies") {
					t.Errorf("%s: the body is %q", test.query, c.ResponseBody)
				}
			}
			if diff := cmp.Diff(test.want, ids); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.query, diff)
			}
		}
	})
}

// Entries of an analysis and a purchase looked alike: they named neither the shipment nor what was charged.
func TestJournal_NamesWhatARequestIsAbout(t *testing.T) {
	t.Parallel()
	srv := start(t)
	shipment := srv.Shipments()[0]
	lost := fault.Rule{Operation: shipping.OpPurchase, Committed: true, First: 1, Fault: fault.Drop()}
	if err := srv.Inject(lost); err != nil {
		t.Fatal(err)
	}
	client := srv.Client(t)
	draft, err := client.Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: shipment})
	if err != nil {
		t.Fatal(err)
	}
	bought, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{
		RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{"CUSTOMS"}, Sole: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	post(t, srv, "/v1/webhooks/replay", `{"shipment_id":"SH-X"}`).want(t, http.StatusBadRequest)
	charged := bought.Request.ChargedAmount.StringFixed(2) + " " + bought.Request.Currency
	for _, test := range []struct{ operation, shipment, request, charged string }{
		{shipping.OpAnalyze, shipment, draft.RequestID, ""},
		{shipping.OpPurchase, shipment, draft.RequestID, charged},
		{shipping.OpGetRequest, shipment, draft.RequestID, ""},
		{shipping.OpReplayWebhook, "SH-X", "", ""},
	} {
		e := srv.Find(journal.Query{Operation: test.operation})[0]
		if e.ShipmentID != test.shipment || e.RegulatoryRequestID != test.request || e.Charged != test.charged {
			t.Errorf("%s is about %q, %q, %q; want %+v", test.operation, e.ShipmentID, e.RegulatoryRequestID, e.Charged, test)
		}
	}
	for path, want := range map[string]int{
		"regulatory-requests?contains=" + strings.ToLower(shipment): 1, "regulatory-requests?contains=failed": 0,
		"ledger?contains=" + draft.RequestID: 1,
	} {
		var envelope struct{ Pagination struct{ Total int } }
		if err := json.Unmarshal(get(t, srv, "/_mock/"+path).body, &envelope); err != nil || envelope.Pagination.Total != want {
			t.Errorf("%s: %d records, want %d: %v", path, envelope.Pagination.Total, want, err)
		}
	}
}
