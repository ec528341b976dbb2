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

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// A refused request is found behind more good ones than the journal has entries, and so is one that a fault struck.
func TestJournal_KeepsFailedRequestsLonger(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), mockserver.WithJournal(16, 100))
	get(t, srv, "/v1/transactions?first")
	inject(t, srv, fault.Rule{First: 1, Fault: fault.Empty()})
	get(t, srv, "/v1/countries")
	if e := srv.Journal()[1]; len(e.ResponseBody) > 100 || e.RequestBody != "" {
		t.Errorf("countries are journaled as %+v", e)
	}
	ids := func(q journal.Query) string {
		var found []string
		for _, e := range srv.Find(q) {
			found = append(found, e.ID)
		}
		return strings.Join(found, " ")
	}
	read := func(times int, path string) {
		for range times {
			get(t, srv, path)
		}
	}
	read(50, "/v1/rates?perPage=1")
	refused, oldest := ids(journal.Query{Refused: true}), ids(journal.Query{Before: "req-38"})
	shippingtest.Diff(t, "refused, and oldest", [2]string{"req-1", "req-1 req-2 req-37"}, [2]string{refused, oldest})
	shippingtest.Diff(t, "query", "first", get(t, srv, "/_mock/journal/req-1").want(t, 200).text(t, "query"))
	for id, want := range map[string]string{
		"req-36": `the journal has dropped the request "req-36": it keeps the latest 16, and refused ones longer; raise ` +
			`the limit with WithJournal in Go`,
		"req-53": `the journal has no request "req-53"`, "52": "",
	} {
		get(t, srv, "/_mock/journal/"+id).refusal(t, 404, want)
	}
	shippingtest.Contains(t, "why", shippingtest.Err(srv.Why("req-36")), "mockserver: the journal has dropped")
	read(5, "/v1/transactions") // of which the journal keeps the latest 4
	read(50, "/v1/rates?perPage=1")
	shippingtest.Diff(t, "refused", "req-54 req-55 req-56 req-57", ids(journal.Query{Refused: true}))
	if entries := srv.Journal(); len(entries) != 20 || entries[4].ID != "req-92" {
		t.Errorf("%d entries, the fifth is %s", len(entries), entries[4].ID)
	}
	srv.Reset()
	shippingtest.Diff(t, "entries after a reset", 0, len(srv.Journal()))
}

// A filtered journal is exported as JSON lines and as curl commands, without the key.
func TestJournal_IsExported(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	get(t, srv, "/v1/rates?perPage=1&from=a%20b")
	post(t, srv, "/v1/webhooks/replay", `{"event":"shipment.created"}`)
	export := func(as string) string {
		reply := get(t, srv, "/_mock/journal?refused=true&as="+as).want(t, 200)
		if !strings.HasPrefix(reply.header.Get("Content-Disposition"), "attachment; filename=") ||
			strings.Contains(string(reply.body), srv.SecretKey) {
			t.Errorf("%s: %v\n%s", as, reply.header, reply.body)
		}
		return string(reply.body)
	}
	var entry journal.Entry
	if err := json.Unmarshal([]byte(export("jsonl")), &entry); err != nil || entry.ID != "req-2" {
		t.Errorf("%v, request %q", err, entry.ID)
	}
	want := srv.Journal()[1].Curl(srv.URL)
	if one := string(get(t, srv, "/_mock/journal/req-2?as=curl").want(t, 200).body); one != want ||
		export("curl") != want {
		t.Errorf("the command is %s, want %s", one, want)
	}
	behind := do(t, srv, http.MethodGet, "/_mock/journal/req-2?as=curl", "", "Host", "mock.example").want(t, 200)
	shippingtest.Diff(t, "the command for a reader of another host", srv.Journal()[1].Curl("http://mock.example"),
		string(behind.body))
	get(t, srv, "/_mock/journal/req-1?as=perl").refusal(t, 400, "write one of curl")
	for _, id := range []string{"req-0", "req-3", "req-x", "7"} {
		get(t, srv, "/_mock/journal/"+id).refusal(t, 404, "has no request")
	}
}

func TestSecrets_AreInNoRefusalAndNotInTheJournal(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	const stranger = "sk_live_0123456789abcdef"
	do(t, srv, http.MethodGet, "/v1/rates?key="+stranger, "", "Authorization", "Bearer "+stranger)
	for _, key := range []string{srv.SecretKey, stranger} {
		for _, answer := range []answer{
			get(t, srv, "/v1/transactions?wallet="+key), get(t, srv, "/v1/"+key), get(t, srv, "//v1/"+key),
			post(t, srv, regulatoryPath+"/analyze", `{"shipment_id":"`+key+`"}`),
			purchase(t, srv, key, key),
			post(t, srv, replayPath, replayBody(t, "shipment_id", key, "event", key, "webhook_id", key, "delivery_id", key)),
		} {
			if answer.status < 400 || strings.Contains(string(answer.body), key[len("sk_live_"):]) {
				t.Errorf("%d: %s", answer.status, answer.body)
			}
		}
	}
	calls := append(srv.Unauthenticated(), srv.Journal()...)
	if all := fmt.Sprintf("%+v", calls); strings.Contains(all, stranger) || strings.Contains(all, srv.SecretKey) {
		t.Errorf("a key is in %s", all)
	}
	a, b := calls[0].Key, calls[1].Key
	if !strings.HasPrefix(a, "sk_live_…") || !strings.HasPrefix(b, "sk_test_…") || len(b) != len("sk_test_…")+8 {
		t.Errorf("the keys are shown as %q and %q", a, b)
	}
}

// Only the responses that open a world, and the list of worlds, contain its key.
func TestWorldResponses_ContainTheKeyOnlyWhenOpened(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	for text, contains := range map[string]bool{
		`POST /_mock/worlds {"scenario":"default","name":"other"}`:          true,
		`POST /_mock/worlds/home/reset`:                                     false,
		`POST /_mock/worlds?keys=false {"scenario":"empty","name":"quiet"}`: false,
		`GET /_mock/worlds?keys=false`:                                      false,
	} {
		shippingtest.Diff(t, text, contains,
			strings.Contains(string(send(t, srv, text).want(t, http.StatusOK).body), "sk_test_"))
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
	for _, test := range []struct {
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
		{journal.Query{Contains: srv.Shipments()[0], Operation: shipping.OpAnalyze},
			"operation=regulatory.analyze&contains=" + srv.Shipments()[0], "req-1"},
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
	} {
		var overHTTP []journal.Entry
		get(t, srv, "/_mock/journal?"+test.http).want(t, 200).data(t, &overHTTP)
		for _, calls := range [][]journal.Entry{srv.Find(test.query), overHTTP} {
			var ids []string
			for _, c := range calls {
				ids = append(ids, c.ID)
			}
			shippingtest.Diff(t, test.query.String(), test.want, strings.Join(ids, " "))
		}
	}
	for query, want := range map[string]string{
		"stats=400": `unknown parameter "stats": did you mean "status"?`, "status=ok": "write a number",
		"status=axx": "such as 4xx", "operation=rates": "unknown operation",
		"after=soon": "such as req-7", "last=0": "whole number from 1",
		"refused=maybe": "write true or false", "fault=dorp": `did you mean "drop"?`, "before=latest": "such as req-7",
		"as=xml":        "jsonl, curl, findings",
		"faulted=maybe": "write true", "wait=soon": "write a duration", "wait=-1s": "write a duration",
		"await=5s":        `did you mean "wait"?`,
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
		shippingtest.Contains(t, "the error", err, "waited for a request with operation regulatory.purchase, status 200 "+
			"and found 0 of 1; the journal is empty")
		get(t, srv, "/v1/rates")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		shippingtest.Contains(t, "the error", shippingtest.Err(srv.Await(ctx, q, 0)),
			"the journal has 1 request, the latest: GET /v1/rates 200")
		get(t, srv, "/_mock/journal?operation=regulatory.purchase&wait=5s").refusal(t, 408, "waited for")
	})
}

// Waiting applies the whole query, including after, last and bodies, and can wait for the next request. A wait that
// looked only at the entries of its begin would end too early, or at its timeout.
func TestAwait_WaitsForTheNextCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := mockserver.New(mockserver.WithoutListener())
		defer srv.Close()
		get(t, srv, "/v1/rates")
		get(t, srv, "/v1/rates")
		var caller sync.WaitGroup
		defer caller.Wait()
		for _, test := range []struct {
			query  string
			want   string
			waited time.Duration
		}{
			{"after=latest", "req-3", time.Second},
			{"after=req-4&operation=countries.list", "req-6", time.Second},
			{"after=req-6&bodies=false", "req-7", time.Second},
			{"after=latest&count=2", "req-9 req-10", time.Second},
			{"after=req-2&count=2", "req-3 req-4", 0},  // the first of many
			{"after=req-2&last=2", "req-11 req-12", 0}, // the last of those that are there
		} {
			caller.Wait()
			caller.Go(func() {
				<-time.After(time.Second)
				get(t, srv, "/v1/rates")
				get(t, srv, "/v1/countries")
			})
			began := time.Now()
			var calls []journal.Entry
			get(t, srv, "/_mock/journal?wait=1m&"+test.query).want(t, 200).data(t, &calls)
			waited := time.Since(began)
			var ids []string
			for _, c := range calls {
				if ids = append(ids, c.ID); (c.ResponseBody == "") != strings.Contains(test.query, "bodies") {
					t.Errorf("%s: the body is %q", test.query, c.ResponseBody)
				}
			}
			shippingtest.Diff(t, test.query, fmt.Sprint(test.want, test.waited), fmt.Sprint(strings.Join(ids, " "), waited))
		}
		_, err := srv.Await(t.Context(), journal.Query{After: "soon"}, time.Minute)
		shippingtest.Contains(t, "after no call", err, "req-7")
	})
}
