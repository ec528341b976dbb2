package mockserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

func TestAdmin_AnswersToTheNamesThatItIsGiven(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithHosts("Mock.internal", "10.0.0.7"))
	for host, status := range map[string]int{
		"mock.internal:4010": 200, "10.0.0.7": 200, "localhost": 200, "other.internal:4010": 403, "10.0.0.70": 403,
	} {
		do(t, srv, http.MethodGet, "/_mock/live", "", "Host", host).want(t, status)
		do(t, srv, http.MethodGet, "/_mock/healthz", "", "Host", host, "Authorization", "Bearer of-another-service").
			want(t, 200)
	}
}

// Each control response names the world that it is about, so that a forgotten ?world= is noticed.
func TestAdmin_NamesTheWorldOfEachResponse(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual())
	ci := shippingtest.Must(srv.Open("lowfunds_ci42"))(t)
	for text, want := range map[string]string{
		"GET /_mock/\nAuthorization: ":                                               "home",
		"GET /_mock/journal\nAuthorization: ":                                        "home",
		"GET /_mock/journal?world=lowfunds_ci42":                                     "lowfunds_ci42",
		"GET /_mock/journal?world=unauthenticated":                                   "unauthenticated",
		"GET /_mock/journal\nAuthorization: Bearer " + ci.SecretKey:                  "lowfunds_ci42",
		"GET /_mock/journal\nAuthorization: Bearer sk_test_lowfunds_closed":          "", // it opens no world
		`POST /_mock/clock/advance?world=lowfunds_ci42 {"duration":"never"}`:         "lowfunds_ci42",
		"POST /_mock/worlds/lowfunds_ci42/reset":                                     "lowfunds_ci42",
		`POST /_mock/worlds {"scenario":"empty","name":"NYZ"}` + "\nAuthorization: ": "empty_NYZ",
		"GET /_mock/worlds/nowhere\nAuthorization: ":                                 "",
		"GET /_mock/journal?world=nowhere\nAuthorization: ":                          "",
	} {
		shippingtest.Diff(t, text, want, send(t, srv, text).header.Get("X-Mock-World"))
	}
	get(t, srv, "/_mock/worlds").has(t, "data.1.name=lowfunds_ci42, data.2.name=empty_NYZ, data.3=<nil>")
}

// Refusals and messages suit clients in any language: they name routes and JSON values, not Go functions.
func TestAdmin_Messages(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual())
	// A field or parameter that a route does not accept changes nothing. If a misspelt "scenario" were ignored, a new
	// world would have other contents.
	for text, want := range map[string]string{
		`POST /_mock/worlds {"name":"default_x","key":"a"}`:                        `"key": use one of dialect, `,
		`POST /_mock/worlds {"name":"x","Scenario":"lowfunds"}`:                    `did you mean "scenario"?`,
		`DELETE /_mock/worlds/home {"name":"x"}`:                                   `unknown field "name"`,
		`DELETE /_mock/faults {"number":1}`:                                        `unknown field "number": leave it out`,
		`POST /_mock/regulatory-requests/RD-1/evidence/FDA {"file":"x"}`:           `unknown field "file"`,
		`POST /_mock/faults {"rules":[{"operaton":"rates.list"}]}`:                 `did you mean "operation"?`,
		`POST /_mock/faults {"operation":"rates.list"}`:                            `in this place: it is a field of "rules"`,
		`POST /_mock/faults {"rules":[{"rules":[]}]}`:                              "a field of the outermost object",
		`POST /_mock/faults {"rules":[]}`:                                          "no rule was added",
		`POST /_mock/faults {"rules":[{"until":"tomorrow"}]}`:                      "write it as 2026-01-05T09:30:00Z",
		`POST /_mock/faults {"rules":[{"from":5}]}`:                                "for the n-th request use nth or first",
		`POST /_mock/faults {"rules":[{"fault":{"kind":"latency","duration":2}}]}`: `write a string with a unit`,
		"GET /_mock/worlds?perpage=1":                                              `"perpage": did you mean "perPage"?`,
		// The refusal had types of Go, and no form.
		`POST /_mock/faults {"rules":[{"fault":"drop"}]}`:                      `must be an object such as {"kind":…}`,
		`POST /_mock/faults {"rules":{}}`:                                      `"rules" is an object, and must be a list`,
		`POST /_mock/faults {"rules":[{"nth":"2"}]}`:                           `text, and must be a whole number`,
		`PATCH /_mock/ledger {"fund":{}}`:                                      `must be a list such as [{"wallet":…}]`,
		`POST /_mock/webhooks {"url":"localhost:8080/hooks"}`:                  `write "http://localhost:8080/hooks"`,
		`PATCH /_mock/ledger {"fund":[{"wallet":"VA-1","amount":1}]}`:          `"VA-1": use one that GET /_mock/ledger`,
		`PATCH /_mock/ledger {"fund":[{"wallet":"VA-1","amount":"lots"}]}`:     "write a number above zero, such as 100.50",
		`POST /_mock/clock/advance {}`:                                         "1h30m",
		`POST /_mock/clock/advance {"duration":"soon"}`:                        "1h30m",
		`POST /_mock/clock/advance {"duration":"-1s"}`:                         "1h30m",
		`POST /_mock/clock/advance {"duration":3600}`:                          `such as "90s"`,
		`POST /_mock/events {"event":"shipment.updated","shipment_id":"SH-1"}`: "GET /_mock/worlds/NAME",
	} {
		send(t, srv, text).refusal(t, http.StatusBadRequest, want)
	}
	shippingtest.Diff(t, "open worlds", 1, len(srv.Worlds()))
	mistyped := post(t, srv, "/_mock/webhooks", `{"url":"http://localhost:1","events":["shipment.new"]}`).want(t, 200).body
	shippingtest.Contains(t, "an unknown event", mistyped, `no event \"shipment.new\" is known: use one of `)
	post(t, start(t), "/_mock/clock/advance", `{"duration":"90s"}`).refusal(t, http.StatusConflict, "virtual")
	sent := post(t, srv, "/_mock/events", `{"event":"shipment.created"}`).want(t, 200).body
	shippingtest.Contains(t, "the seeded webhooks are not on this machine", sent, `"message":"0 notifications queued, `,
		" not sent: see reason")
}

// A request can wait until no delivery is queued. With a virtual clock, the error explains that deliveries are sent as
// the clock advances.
func TestAdminDeliveries_AreWaitedFor(t *testing.T) {
	t.Parallel()
	box := &inbox{}
	srv := start(t, mockserver.WithoutListener(), virtual(), mockserver.WithDeliveryTransport(box))
	hook := post(t, srv, "/_mock/webhooks", `{"url":"http://127.0.0.1:9/","events":["test"]}`).want(t, 200).text(t,
		"webhook_id")
	post(t, srv, "/_mock/events", `{"event":"test"}`).want(t, 200)
	get(t, srv, "/_mock/deliveries?wait=1m&perPage=1").want(t, 200).has(t, "data.0.state=delivered, data.1=<nil>")
	do(t, srv, http.MethodPatch, "/_mock/webhooks/"+hook, `{"url":"http://inbox.localhost/?status=503"}`).want(t, 200)
	post(t, srv, "/_mock/events", `{"event":"test"}`).want(t, 200)
	get(t, srv, "/_mock/deliveries").want(t, 200) // at once
	get(t, srv, "/_mock/deliveries?wait=1ms").refusal(t, http.StatusRequestTimeout, "as the clock of the world advances")
	get(t, srv, "/_mock/deliveries?wait=long").refusal(t, http.StatusBadRequest, "write a duration")
}

func TestAdminRequests_History(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	var ids []string
	for range 3 {
		ids = append(ids, analyzeShipment(t, srv, srv.Shipments()[0]).ID)
	}
	purchase(t, srv, ids[0], "CUSTOMS").want(t, http.StatusOK)
	post(t, srv, "/_mock/clock/advance", `{"duration":"1h"}`).want(t, http.StatusOK)
	for query, want := range map[string]string{
		"perPage=2": ids[2] + " draft, " + ids[1] + " draft, ", "perPage=2&page=2": ids[0] + " completed, ",
		"page=2147483647&perPage=2147483647": "", "contains=completed": ids[0] + " completed, ",
	} {
		var rows []request
		get(t, srv, "/_mock/regulatory-requests?"+query).data(t, &rows)
		got := ""
		for _, row := range rows {
			got += row.ID + " " + row.Status + ", "
		}
		shippingtest.Diff(t, query, want, got)
	}
	shippingtest.Diff(t, "status", "completed", get(t, srv, "/_mock/regulatory-requests/"+ids[0]).text(t, "status"))
	get(t, srv, "/_mock/regulatory-requests/RD-NOBODY").refusal(t, http.StatusNotFound, "RD-NOBODY")
}

func TestAdminLedger_OfOneWallet(t *testing.T) {
	t.Parallel()
	srv := start(t)
	wallet := srv.Wallets()[1]
	var view struct {
		Wallets []struct{ Reference string }
		Entries []struct{ Wallet string }
	}
	get(t, srv, "/_mock/ledger?perPage=1000&wallet="+wallet).want(t, http.StatusOK).data(t, &view)
	if len(view.Wallets) != 1 || view.Wallets[0].Reference != wallet || len(view.Entries) == 0 {
		t.Errorf("%d entries of the wallets %v, want only %s", len(view.Entries), view.Wallets, wallet)
	}
	for _, e := range view.Entries {
		shippingtest.Diff(t, "wallet of an entry", wallet, e.Wallet)
	}
	get(t, srv, "/_mock/ledger?wallet=1").refusal(t, 404, `the world has no wallet "1": use one of `+srv.Wallets()[0])
	get(t, srv, "/_mock/ledger?wallet="+wallet+"0").refusal(t, http.StatusNotFound, `did you mean "`+wallet+`"?`)
}

// Lists have their total beside the data, times are in UTC, refusals have no prefix, and Allow contains HEAD.
func TestAdmin_IsConsistent(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual())
	for path, total := range map[string]int{
		"worlds": 1, "webhooks": len(srv.Webhooks()), "deliveries": len(srv.Deliveries()), "regulatory-requests": 0,
	} {
		var envelope struct{ Pagination json.RawMessage }
		err := json.Unmarshal(get(t, srv, "/_mock/"+path+"?perPage=1").body, &envelope)
		want := fmt.Sprintf(`{"total":%d,"perPage":1,"page":1,"pageCount":%d}`, total, max(1, total))
		if got := string(envelope.Pagination); err != nil || got != want {
			t.Errorf("%s has the pagination %s, want %s", path, got, want)
		}
	}
	analyzeShipment(t, srv, srv.Shipments()[0])
	post(t, srv, "/_mock/events", `{"event":"shipment.updated","data":{}}`).want(t, 200)
	local := regexp.MustCompile(`"[0-9-]{10}T[0-9:]{8}(\.[0-9]+)?[+-]`)
	for _, path := range []string{
		"journal", "journal/req-1", "worlds/home", "deliveries", "ledger", "webhooks", "regulatory-requests", "live",
	} {
		shippingtest.Diff(t, path, "", local.FindString(string(get(t, srv, "/_mock/"+path).want(t, 200).body)))
	}
	for path, body := range map[string]string{
		"webhooks": `{"url":"ftp://x"}`, "events": `{"event":"nobody"}`, "faults": `{"rules":[{"first":-1}]}`,
	} {
		if got := post(t, srv, "/_mock/"+path, body).refusal(t, 400, ""); strings.Contains(string(got.body), "mockserver: ") {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	shippingtest.Diff(t, "Allow", "GET, HEAD, POST", send(t, srv, "PUT /_mock/webhooks").header.Get("Allow"))
	shippingtest.Diff(t, "Location", "_mock/", get(t, srv, "/_mock").want(t, 308).header.Get("Location"))
}

// Everything that a page shows has a mark in the summary that differs when it changes, also if a second change undid
// the first.
func TestLive_Changes(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual())
	marks := func() map[string]uint32 {
		var summary struct{ Marks map[string]uint32 }
		get(t, srv, "/_mock/live").want(t, http.StatusOK).has(t, "data.clock=virtual").data(t, &summary)
		return summary.Marks
	}
	began := marks()
	for text, mark := range map[string]string{
		"POST {docs}/analyze " + analyzeFirst(srv.World):                                      "regulatory_requests",
		`PATCH /_mock/ledger {"fund":[{"wallet":"` + srv.Wallets()[0] + `","amount":12.50}]}`: "ledger",
		`PATCH /_mock/ledger {"exchange_rates":{"NGN":1600}}`:                                 "ledger",
		`POST /_mock/webhooks {"url":"http://127.0.0.1:9/"}`:                                  "webhooks",
		`POST /_mock/events {"event":"shipment.created"}`:                                     "deliveries",
		`POST /_mock/inbox {}`: "inbox",
		`POST /_mock/faults {"rules":[{"nth":1000,"fault":{"kind":"drop"}}]}`: "faults",
		`POST /_mock/worlds {"scenario":"empty","name":"x"}`:                  "worlds",
	} {
		before := marks()
		send(t, srv, text).want(t, http.StatusOK)
		if marks()[mark] == before[mark] {
			t.Errorf("the mark %s is the same after %s", mark, text)
		}
	}
	before := marks()
	srv.ClearFaults()
	if after := marks(); after["faults"] == before["faults"] || after["faults"] == began["faults"] {
		t.Error("the mark of the faults is the same after they were cleared")
	}
	srv.Reset()
	after := marks()
	for _, part := range []string{"ledger", "regulatory_requests", "deliveries", "inbox", "webhooks"} {
		if after[part] == before[part] {
			t.Errorf("the mark %s is the same after a reset", part)
		}
	}
}

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// The first address that serve prints led a browser to an error.
func TestConsole_ABrowserIsRedirectedToIt(t *testing.T) {
	t.Parallel()
	srv := start(t)
	got := send(t, srv, "GET /\nAccept: "+browser+"\nAuthorization: ").want(t, http.StatusPermanentRedirect)
	shippingtest.Diff(t, "header", [3]string{"_mock/", "Accept", "no-store"}, [3]string{got.header.Get("Location"),
		got.header.Get("Vary"), got.header.Get("Cache-Control")})
	// HTML of weight 0 is not acceptable: it was sent.
	do(t, srv, http.MethodGet, "/_mock/", "", "Accept", "text/html;q=0, */*").want(t, http.StatusOK).
		data(t, &struct{ Routes []any }{})
	do(t, srv, http.MethodGet, "/", "", "Accept", "*/*").refusal(t, http.StatusNotFound, "no route GET /")
	get(t, srv, "/_mock/wallets").refusal(t, http.StatusNotFound, "GET /_mock/worlds/home")
}

func TestConsole_EachFileComesWithItsTypeItsTagAndAStrictPolicy(t *testing.T) {
	t.Parallel()
	srv := start(t)
	const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
		"trusted-types 'none'"
	for _, test := range []struct{ file, kind string }{
		{"index.html", "text/html; charset=utf-8"}, {"app.js", "text/javascript; charset=utf-8"},
	} {
		path := "/_mock/console/" + test.file
		got := do(t, srv, http.MethodGet, path, "", "Authorization", "").want(t, http.StatusOK)
		for name, want := range map[string]string{
			"Content-Type": test.kind, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "Content-Security-Policy": policy,
		} {
			shippingtest.Diff(t, path+": "+name, want, got.header.Get(name))
		}
		tag := got.header.Get("Etag")
		again := do(t, srv, http.MethodGet, path, "", "If-None-Match", tag).want(t, http.StatusNotModified)
		shippingtest.Diff(t, path+": body and tag with 304", [2]string{"", tag},
			[2]string{string(again.body), again.header.Get("Etag")})
		shippingtest.Diff(t, "body of HEAD "+path, "", string(send(t, srv, "HEAD "+path).want(t, http.StatusOK).body))
	}
	do(t, srv, http.MethodGet, "/_mock/", "", "Accept", browser, "If-None-Match", "*").want(t, http.StatusNotModified)
	get(t, srv, "/_mock/console/nothing.js").refusal(t, http.StatusNotFound, "/_mock/")
	get(t, srv, "/_mock/console/..%2fconsole.go").refusal(t, http.StatusNotFound, "no route")
}
