package mockserver_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/journal"
	"github.com/shipping-go/shipping/mockserver/notify"
)

func inject(t *testing.T, srv *mockserver.Server, rules ...fault.Rule) {
	t.Helper()
	shippingtest.NoError(t, srv.Inject(rules...))
}

// observe sends one request in a bubble of virtual time. It returns what the caller gets as a text, such as "200
// text/html, whole, 2s" or, without a response, "0, 2s", and the fault that the journal names.
func observe(t *testing.T, srv *mockserver.Server, method, path, body string) (got, struck string, reply answer) {
	t.Helper()
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(int, textproto.MIMEHeader) error { got += "a hint, "; return nil },
	})
	began := time.Now()
	reply, err := attempt(srv.Transport(), newRequest(t, srv, method, path, body).WithContext(ctx))
	got += strings.TrimSpace(fmt.Sprint(reply.status, " ", reply.header.Get("Content-Type")))
	if err == nil { // the body did not end early
		got += ", whole"
	}
	if json.Valid(reply.body) {
		got += ", valid"
	}
	struck = srv.Find(journal.Query{Contains: strings.SplitN(path, "?", 2)[0]})[0].Fault
	return fmt.Sprint(got, ", ", time.Since(began)), struck, reply
}

// Faults strike in the order of the rules, each with its effect. In another order, a connection with latency would be
// dropped at once.
func TestFaults_StrikeInTheOrderOfTheRules(t *testing.T) {
	t.Parallel()
	const jsonType = " application/json; charset=utf-8"
	type row struct {
		rules       []fault.Rule
		got, struck string
	}
	shippingtest.EachInBubble(t, map[string]row{
		"another Content-Type": {[]fault.Rule{{Fault: fault.ContentType("text/plain")}},
			"200 text/plain, whole, valid, 0s", "rule 1: content-type"},
		"HTML": {[]fault.Rule{{Fault: fault.HTML(200), Committed: true}},
			"200 text/html; charset=utf-8, whole, 0s", "rule 1: html after the change"},
		"no content": {[]fault.Rule{{Fault: fault.Status(204, nil)}}, "204, whole, 0s", "rule 1: status"},
		"latency and a dropped connection": {[]fault.Rule{{Fault: fault.Latency(2 * time.Second)}, {Fault: fault.Drop()}},
			"0, 2s", "rule 1: latency, rule 2: drop"},
		"latency and a connection that is dropped after the change": {
			[]fault.Rule{{Fault: fault.Drop(), Committed: true}, {Fault: fault.Latency(2 * time.Second)}},
			"0, 2s", "rule 2: latency, rule 1: drop after the change"},
		"a connection that is dropped late": {[]fault.Rule{{Fault: fault.Drop()}, {Fault: fault.Latency(2 * time.Second)}},
			"0, 2s", "rule 1: drop, rule 2: latency"},
		"two latencies add up": {[]fault.Rule{{Fault: fault.Latency(2 * time.Second)},
			{Fault: fault.Latency(3 * time.Second), Committed: true}},
			"200" + jsonType + ", whole, valid, 5s", "rule 1: latency, rule 2: latency after the change"},
		"cut off behind its end": {[]fault.Rule{{Fault: fault.Truncate(1 << 20)}},
			"200" + jsonType + ", valid, 0s", "rule 1: truncate"},
		"a redirect": {[]fault.Rule{{Fault: fault.Redirect("https://elsewhere.example/"), Committed: true}},
			"308" + jsonType + ", whole, valid, 0s", "rule 1: redirect after the change"},
		"a status and early hints": {[]fault.Rule{{Fault: fault.Status(503, nil)}, {Fault: fault.EarlyHints()}},
			"a hint, 503" + jsonType + ", whole, valid, 0s", "rule 1: status, rule 2: early-hints"},
		"early hints and no response": {[]fault.Rule{{Fault: fault.EarlyHints()}, {Fault: fault.Reset()}},
			"a hint, 0, 0s", "rule 1: early-hints, rule 2: reset"},
		"a status, cut off, slow, and of another type": {[]fault.Rule{{Fault: fault.HTML(502)},
			{Fault: fault.Truncate(3)}, {Fault: fault.SlowBody(time.Minute)}, {Fault: fault.ContentType("application/json")}},
			"502 application/json, 2m0s", "rule 1: html, rule 2: truncate, rule 3: slow-body, rule 4: content-type"},
		"a capped page, inserted rows, and malformed JSON of it": {[]fault.Rule{{Fault: fault.CapPage(1)},
			{Fault: fault.InsertRows(2)}, {Fault: fault.Malformed(), Committed: true}},
			"200" + jsonType + ", whole, 0s", "rule 1: cap-page, rule 2: insert-rows, rule 3: malformed after the change"},
		"the first of two statuses": {[]fault.Rule{{First: 1, Fault: fault.Status(503, nil)},
			{Fault: fault.Status(500, nil)}}, "503" + jsonType + ", whole, valid, 0s", "rule 1: status"},
		"a committed rule that was injected first prevails": {
			[]fault.Rule{{First: 1, Fault: fault.Empty(), Committed: true}, {Fault: fault.Drop()},
				{Fault: fault.Latency(time.Second)}},
			"200" + jsonType + ", whole, 1s", "rule 3: latency, rule 1: empty after the change"},
	}, func(t *testing.T, test row) {
		srv := mockserver.New(mockserver.WithoutListener())
		defer srv.Close()
		inject(t, srv, test.rules...)
		got, struck, _ := observe(t, srv, http.MethodGet, "/v1/rates", "")
		shippingtest.Diff(t, "response and fault", []string{test.got, test.struck}, []string{got, struck})
	})
}

// A fault whose effect set a field that nothing read passed all tests.
func TestFaults_EachKindHasAnEffect(t *testing.T) {
	t.Parallel()
	kinds := map[string]fault.Fault{}
	for _, kind := range fault.Kinds() {
		kinds[kind.Kind] = kind.Example
	}
	shippingtest.EachInBubble(t, kinds, func(t *testing.T, example fault.Fault) {
		effects, ofLists, ofPurchases, struck := map[string]bool{}, map[string]bool{}, map[string]bool{}, true
		for _, rule := range []fault.Rule{{Operation: shipping.OpListCountries, Fault: fault.Drop()},
			{Fault: example, Committed: true}} {
			srv := mockserver.New(mockserver.WithoutListener())
			defer srv.Close()
			subscribe(t, srv.World, notify.InboxURL)
			id := analyzeShipment(t, srv, srv.Shipments()[0]).ID
			if srv.Inject(rule) != nil { // the kind determines when the operation is performed
				inject(t, srv, fault.Rule{Fault: example})
				struck = false
			}
			list, _, rates := observe(t, srv, http.MethodGet, "/v1/rates?page=2&perPage=5", "")
			bought, _, request := observe(t, srv, http.MethodPost, regulatoryPath+"/purchase",
				`{"request_id":"`+id+`","document_types":["CUSTOMS"]}`)
			emit(t, srv.World, notify.Event{Kind: "shipment.updated"})
			time.Sleep(time.Hour) // of the bubble: deliveries and their retries have ended
			ofLists[list+string(rates.body)], ofPurchases[bought+string(request.body)] = true, true
			effects[fmt.Sprintf("%s %s %s %s %+v", list, rates.body, bought, request.body, srv.Inbox())] = true
		}
		if struck { // the body of a list is in Rows, until an effect calls Encode
			shippingtest.Diff(t, "different responses of a list, as of a purchase", len(ofPurchases), len(ofLists))
		}
		shippingtest.Diff(t, "different effects, without the fault and with it", 2, len(effects))
	})
}

func TestFaultReset_ResetsASocket(t *testing.T) {
	t.Parallel()
	srv := start(t)
	inject(t, srv, fault.Rule{Fault: fault.Reset()})
	got, err := attempt(&http.Transport{}, newRequest(t, srv, http.MethodGet, "/v1/rates", ""))
	shippingtest.WantError(t, fmt.Sprint("status ", got.status), err, syscall.ECONNRESET)
}

func TestFaultRateLimit_RetryAfterForms(t *testing.T) {
	t.Parallel()
	want := map[fault.RetryAfter]string{
		fault.RetryAfterSeconds:  "8", // 7.5 s, rounded up
		fault.RetryAfterIMF:      "Mon, 05 Jan 2026 09:30:08 GMT",
		fault.RetryAfterRFC850:   "Monday, 05-Jan-26 09:30:08 GMT",
		fault.RetryAfterASCTime:  "Mon Jan  5 09:30:08 2026",
		fault.RetryAfterNegative: "-1",
		fault.RetryAfterHuge:     "99999999999999999999",
		fault.RetryAfterRubbish:  "soon",
		fault.RetryAfterAbsent:   "",
	}
	srv := start(t, mockserver.WithoutListener(), virtual())
	for i, form := range fault.RetryAfters() {
		inject(t, srv, fault.Rule{Nth: i + 1, Fault: fault.RateLimit(form, 7500*time.Millisecond)})
	}
	for _, form := range fault.RetryAfters() {
		got := get(t, srv, "/v1/rates").refusal(t, 429, "injected")
		shippingtest.Diff(t, string(form), want[form], got.header.Get("Retry-After"))
		shippingtest.Diff(t, "Date, by the clock of the world", "Mon, 05 Jan 2026 09:30:00 GMT", got.header.Get("Date"))
	}
}

// Faults of lists change the second reading of a list, for good or in one response. Rows are inserted into every list
// with pages: one without a case in the world logged an error and stayed as it was.
func TestFaultsOfLists(t *testing.T) {
	t.Parallel()
	type page struct {
		first string // the first record
		rows  int
		total int
	}
	type test struct {
		fault         fault.Fault
		operation     string
		before, after string // targets
		want          func(before, after page) bool
	}
	tests := map[string]test{
		"the page before is repeated": {fault.RepeatPage(), shipping.OpListRates, "/v1/rates?perPage=10",
			"/v1/rates?perPage=10&page=2", func(a, b page) bool { return a == b }},
		"perPage is capped": {fault.CapPage(7), shipping.OpListRates, "/v1/rates?perPage=3", "/v1/rates",
			func(a, b page) bool { return b.rows == 7 && b.first == a.first }},
		"a smaller page stays": {fault.CapPage(7), shipping.OpListRates, "/v1/rates?perPage=3",
			"/v1/rates?perPage=3&a=b", func(a, b page) bool { return a == b }},
		"what was first comes later": {fault.InsertRows(5), shipping.OpListRates, "/v1/rates?perPage=5",
			"/v1/rates?perPage=5&page=2", func(a, b page) bool { return a.first == b.first }},
		"rows are removed": {fault.RemoveRows(5), shipping.OpListRates, "/v1/rates?perPage=5&page=2", "/v1/rates?perPage=5",
			func(a, b page) bool { return b.total == a.total-5 && b.first == a.first }},
		"webhooks are removed": {fault.RemoveRows(1), shipping.OpListWebhooks, "/v1/webhooks?perPage=1&page=2",
			"/v1/webhooks?perPage=1", func(a, b page) bool { return a.first == b.first }},
	}
	for _, op := range operations.All() {
		if op.Pages {
			tests["inserted into "+op.Name] = test{fault.InsertRows(2), op.Name, op.Route + "?wallet=",
				op.Route + "?page=1&wallet=", func(a, b page) bool { return b.total == a.total+2 && b.first != a.first }}
		}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := start(t, mockserver.WithoutListener())
			inject(t, srv, fault.Rule{Operation: test.operation, Nth: 2, Fault: test.fault})
			read := func(path string) (got page) {
				if strings.HasSuffix(path, "wallet=") {
					path += srv.Wallets()[0]
				}
				items, pagination := records(t, get(t, srv, path), strings.TrimSuffix(test.operation, ".list"))
				var numbers struct{ Total int }
				if err := json.Unmarshal(pagination, &numbers); err != nil || len(items) == 0 {
					t.Fatalf("%s: %d records, %v", path, len(items), err)
				}
				return page{string(items[0]), len(items), numbers.Total}
			}
			if before, after := read(test.before), read(test.after); !test.want(before, after) {
				t.Errorf("before %+v\nafter %+v", before, after)
			}
			srv.CheckInvariants(t)
		})
	}
}

func TestRespond_SendsExactlyTheResponse(t *testing.T) {
	t.Parallel()
	without := http.Header{"Date": nil, "X-Request-Id": nil, "X-Mock-Why": nil}
	lines := http.Header{"content-type": {"application/json"}, "Set-Cookie": {"a=b", "c=d"}}
	maps.Copy(lines, without)
	own := http.Header{"Date": {"soon"}, "X-Request-Id": {"mine", "and mine"}, "X-Mock-Why": {"because"}}
	sent := own.Clone()
	sent.Set("Content-Length", "1")
	const key = "sk_test_0123456789abcdef0123456789abcdef is wrong"
	for name, test := range map[string]struct {
		fault  fault.Fault
		header http.Header
		body   string
	}{
		"malformed JSON, with a header of several lines": {fault.Respond(200, lines, `{"status":true,"data":{`),
			http.Header{"Content-Length": {"23"}, "Content-Type": {"application/json"}, "Set-Cookie": {"a=b", "c=d"}},
			`{"status":true,"data":{`},
		"bytes that are not text": {fault.Respond(599, without, "\x1f\x8b\x00\xff"),
			http.Header{"Content-Length": {"4"}}, "\x1f\x8b\x00\xff"},
		"what looks like a key":               {fault.Respond(401, without, key), http.Header{"Content-Length": {"49"}}, key},
		"a header that the server would send": {fault.Respond(200, own, "a"), sent, "a"},
	} {
		for when, committed := range map[string]bool{"before": false, "after": true} {
			t.Run(name+" "+when, func(t *testing.T) {
				t.Parallel()
				srv := start(t, mockserver.WithoutListener())
				inject(t, srv, fault.Rule{Committed: committed, Fault: test.fault})
				for range 2 { // nothing of it is used up
					got := get(t, srv, "/v1/rates").want(t, test.fault.Status)
					if diff := cmp.Diff(test.header, got.header); diff != "" || string(got.body) != test.body {
						t.Errorf("body %q, header (-want +got):\n%s", got.body, diff)
					}
				}
				calls := srv.Find(journal.Query{Faulted: true})
				if len(calls) != 2 || calls[0].Status != test.fault.Status || calls[0].ErrorCode != "" {
					t.Errorf("%+v", calls)
				}
			})
		}
	}
}

// The same script and seed give the same faults and the same journal, whichever goroutine is faster, and again after a
// reset. If chance were drawn in the order in which requests arrive, the faults of a request would change between runs.
func TestFaults_TheSameScriptAndSeedGiveTheSameJournal(t *testing.T) {
	t.Parallel()
	script := []fault.Rule{
		{Operation: shipping.OpListRates, Probability: 0.3, Fault: fault.Status(503, nil)},
		{Operation: shipping.OpGetRequest, Probability: 0.3, Committed: true, Fault: fault.Malformed()},
		{Operation: shipping.OpAnalyze, EachRequest: true, First: 1, Fault: fault.Status(429, nil)},
		{Point: fault.BeforeReply, Probability: 0.5, Fault: fault.Status(502, nil)},
		{Point: fault.Generation, Probability: 0.5},
	}
	run := func(srv *mockserver.Server) (lines []string) {
		inject(t, srv, script...)
		var workers sync.WaitGroup
		for worker := range 6 { // each with its own page and its own shipment
			workers.Go(func() {
				for range 5 {
					get(t, srv, fmt.Sprintf("/v1/rates?page=%d", worker+1))
				}
				body := `{"shipment_id":"` + srv.Shipments()[worker] + `"}`
				post(t, srv, regulatoryPath+"/analyze", body)
				id := post(t, srv, regulatoryPath+"/analyze", body).text(t, "request_id")
				purchase(t, srv, id, "CUSTOMS")
				for range 5 {
					get(t, srv, regulatoryPath+"/request/"+id)
				}
			})
		}
		workers.Wait()
		for _, c := range srv.Journal() {
			lines = append(lines, fmt.Sprintf("%s %s %s %d %s", c.At, c.Operation, c.Query, c.Status, c.Fault))
		}
		slices.Sort(lines) // workers overtake each other
		return lines
	}
	world := func(seed uint64) *mockserver.Server {
		return start(t, mockserver.WithoutListener(), virtual(), mockserver.WithSeed(seed))
	}
	first := world(7)
	journaled := run(first)
	first.Reset()
	for what, srv := range map[string]*mockserver.Server{"again": world(7), "after a reset": first} {
		shippingtest.Diff(t, what, journaled, run(srv))
	}
	if cmp.Equal(journaled, run(world(8))) {
		t.Error("another seed met the same faults")
	}
}

func TestAdmin_TakesFaultRulesAsJSON(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	post(t, srv, "/_mock/faults", `{"rules":[
		{"operation":"rates.list","first":1,"fault":{"kind":"status","status":503,"header":{"retry-after":"7"}}},
		{"point":"after-charge"},
		{"operation":"countries.list","fault":{"kind":"latency","duration":"1ns"}}]}`).want(t, 200)
	shippingtest.Diff(t, "Retry-After", "7", get(t, srv, "/v1/rates").want(t, 503).header.Get("Retry-After"))
	get(t, srv, "/v1/rates").want(t, 200)
	get(t, srv, "/_mock/faults").has(t, "data.rules.0.seen=2, data.rules.0.struck=1, data.rules.1.fault.kind=drop, "+
		"data.rules.2.fault.duration=1ns, data.rules.3=<nil>")
	do(t, srv, http.MethodDelete, "/_mock/faults?number=2", "").want(t, 200)
	do(t, srv, http.MethodDelete, "/_mock/faults?number=2", "").refusal(t, 404, "no such fault rule")
	do(t, srv, http.MethodDelete, "/_mock/faults", "").want(t, 200)
	last := len(fault.Kinds()) - 1
	get(t, srv, "/_mock/faults").has(t, fmt.Sprintf("data.rules=[], data.kinds.%d.kind=%s, data.kinds.%d=<nil>", last,
		fault.Kinds()[last].Kind, last+1))
	for _, kind := range fault.Kinds() {
		example := shippingtest.Must(json.Marshal(kind.Example))(t)
		got := post(t, srv, "/_mock/faults", `{"rules":[{"first":1,"fault":`+string(example)+`}]}`).want(t, 200)
		shippingtest.Contains(t, kind.Kind, got.body, string(example))
	}
}

const late = 30 * time.Second

// lateFaults are the faults that take effect late, each with the status of its response, 0 if the connection closes.
var lateFaults = map[int]func(time.Duration) fault.Fault{0: fault.ArriveLate,
	http.StatusGatewayTimeout: fault.GatewayTimeout}

// lose sends a request whose response is lost. It returns the status of the response, 0 if the connection closes.
func lose(t *testing.T, srv *mockserver.Server, method, path, body string) int {
	t.Helper()
	req := newRequest(t, srv, method, path, body)
	req.GetBody = nil // net/http cannot repeat the request
	got, err := attempt(srv.Transport(), req)
	if err != nil {
		return 0
	}
	return got.status
}

// purchaseArrivesLate analyzes a shipment and loses a purchase that a fault lets arrive late. It returns the id of the
// request.
func purchaseArrivesLate(t *testing.T, srv *mockserver.Server, f fault.Fault) string {
	t.Helper()
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	inject(t, srv, fault.Rule{Operation: shipping.OpPurchase, First: 1, Fault: f})
	status := lose(t, srv, http.MethodPost, regulatoryPath+"/purchase",
		`{"request_id":"`+draft.ID+`","document_types":["CUSTOMS"]}`)
	shippingtest.Diff(t, "kind of the fault", lateFaults[status](late).Kind, f.Kind)
	return draft.ID
}

// faultOf returns the fault of the one request of an operation that a fault struck.
func faultOf(t *testing.T, srv *mockserver.Server, operation string) string {
	t.Helper()
	struck := srv.Find(journal.Query{Operation: operation, Faulted: true})
	if len(struck) != 1 {
		t.Fatalf("faults struck %d requests of %s, want 1", len(struck), operation)
	}
	return struck[0].Fault
}

// charged requires that a request was purchased, or that it is a draft.
func charged(t *testing.T, srv *mockserver.Server, id string, want bool) {
	t.Helper()
	if got := lookUp(t, srv, id); (got.TransactionID != "") != want || (got.Status != "draft") != want {
		t.Errorf("status %s and transaction %q, want charged: %v", got.Status, got.TransactionID, want)
	}
}

// No fault took effect after the client had given up, as a request does that a proxy delivers late, or that a
// gateway no longer waits for.
func TestFaultLate_TakesEffectAfterTheExchange(t *testing.T) {
	t.Parallel()
	for _, f := range lateFaults {
		srv, kind := start(t, mockserver.WithoutListener(), virtual()), "rule 1: "+f(late).Kind
		id := purchaseArrivesLate(t, srv, f(late))
		advance(t, srv, late-time.Second)
		charged(t, srv, id, false)
		shippingtest.Diff(t, "fault on its way", kind, faultOf(t, srv, shipping.OpPurchase))
		advance(t, srv, time.Second)
		charged(t, srv, id, true)
		shippingtest.Diff(t, "fault", kind+", took effect at 2026-01-05T09:30:30Z", faultOf(t, srv, shipping.OpPurchase))
		shippingtest.Diff(t, "purchases that were sent", 1, srv.Requests(shipping.OpPurchase))
		srv.CheckInvariants(t)
	}
}

// A gateway responds after its own time, and the service performs the operation later than that.
func TestFaultGatewayTimeout_AfterALatency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := mockserver.New(mockserver.WithoutListener())
		defer srv.Close()
		draft, began := analyzeShipment(t, srv, srv.Shipments()[0]), time.Now()
		inject(t, srv, fault.Rule{Operation: shipping.OpPurchase, Fault: fault.Latency(29 * time.Second)},
			fault.Rule{Operation: shipping.OpPurchase, Fault: fault.GatewayTimeout(91 * time.Second)})
		purchase(t, srv, draft.ID, "CUSTOMS").want(t, http.StatusGatewayTimeout)
		shippingtest.Diff(t, "time of the response", 29*time.Second, time.Since(began))
		time.Sleep(91*time.Second - 1)
		charged(t, srv, draft.ID, false)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		charged(t, srv, draft.ID, true)
	})
}

// Every operation that changes something can arrive late, also one with the id in its path. One that reads changes
// nothing.
func TestFaultArriveLate_StrikesEveryOperationThatChanges(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual())
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	inject(t, srv, fault.Rule{Fault: fault.ArriveLate(late)})
	const effect = ", took effect at 2026-01-05T09:30:30Z"
	for operation, request := range map[string]struct{ method, path, body, result string }{
		shipping.OpAnalyze: {"POST", regulatoryPath + "/analyze", `{"shipment_id":"` + srv.Shipments()[0] + `"}`, effect},
		shipping.OpReplayWebhook: {"POST", "/v1/webhooks/replay",
			`{"shipment_id":"` + srv.Shipments()[0] + `","event":"shipment.created"}`, effect},
		operations.UpdateAddresses: {"PUT", regulatoryPath + "/request/" + draft.ID + "/addresses",
			`{"origin":{"country":"US"}}`, effect},
		operations.RetryRequest: {"POST", regulatoryPath + "/request/" + draft.ID + "/retry", ``, ", was refused ("},
		shipping.OpPurchase:     {"POST", regulatoryPath + "/purchase", `[`, ", was refused ("},
		shipping.OpListRates:    {"GET", "/v1/rates", `{}`, ""},
	} {
		lose(t, srv, request.method, request.path, request.body)
		defer func() {
			if got := faultOf(t, srv, operation); !strings.HasPrefix(got, "rule 1: arrive-late"+request.result) ||
				request.result == "" && got != "rule 1: arrive-late" {
				t.Errorf("the fault of %s is %q", operation, got)
			}
		}()
	}
	before := len(srv.Deliveries())
	advance(t, srv, late)
	if got := len(srv.Deliveries()) - before; got == 0 {
		t.Error("the replay sent nothing")
	}
}

// Clearing the faults performs a request that is on its way; a reset discards it. A timer that a reset forgets would
// purchase in the new world.
func TestFaultArriveLate_EndsWithItsFaultOrItsWorld(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual())
	id := purchaseArrivesLate(t, srv, fault.ArriveLate(late))
	do(t, srv, http.MethodDelete, "/_mock/faults", "").want(t, http.StatusOK)
	charged(t, srv, id, true)
	purchaseArrivesLate(t, srv, fault.ArriveLate(late))
	srv.Reset()
	shippingtest.Diff(t, "functions that the clock calls after a reset", 0, len(advance(t, srv, late)))
	srv.CheckInvariants(t)
}

// A rule without limits must not fill the memory of the server.
func TestFaultArriveLate_HasALimit(t *testing.T) {
	t.Parallel()
	const most = 1000
	srv := start(t, mockserver.WithoutListener(), virtual())
	inject(t, srv, fault.Rule{Operation: shipping.OpAnalyze, Fault: fault.ArriveLate(late)})
	for range most + 1 {
		lose(t, srv, http.MethodPost, regulatoryPath+"/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`"}`)
	}
	shippingtest.Diff(t, "requests that arrived", most, len(advance(t, srv, late)))
	for i, one := range srv.Find(journal.Query{Operation: shipping.OpAnalyze}) {
		want := ", took effect at "
		if i == most {
			want = ", and never takes effect: 1000 requests are on their way, which is the limit"
		}
		if !strings.Contains(one.Fault, want) {
			t.Fatalf("the fault of request %d is %q, want %q in it", i+1, one.Fault, want)
		}
	}
}
