package mockserver_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/watch"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Each rule is found by its own script, and no other rule is. A step is a request, one without a response, an
// analysis, a purchase of the last draft {id}, or a time that passes.
func TestLint_FindsWhatACarefulClientDoesNotDo(t *testing.T) {
	t.Parallel()
	const (
		unread    = "GET /v1/transactions" // is refused
		rates     = "GET /v1/rates"
		lookUp    = "GET {docs}/request/{id}"
		untyped   = "\nContent-Type: "
		slow      = "analyze SH-MAGICGENERATESLOWLY; buy"
		analyzeAs = `POST {docs}/analyze {"shipment_id":"{shipment}"`
		buyAs     = `POST {docs}/purchase {"request_id":"{id}","document_types":["CUSTOMS"]}`
		add       = `POST /_mock/shipments {"shipment_id":"SH-NEW",` +
			`"documents":[{"document_type":"CUSTOMS","amount":"999999999"}]}`
		fund      = `PATCH /_mock/ledger {"fund":[{"wallet":"{wallet}","amount":"999999999"}]}`
		unknown   = `POST {docs}/analyze {"shipment_id":"SH-NEW"}`
		replay    = `POST /v1/webhooks/replay {"webhook_id":"WA-1","event":"shipment.created"}`
		noInvoice = `POST {docs}/analyze {"file_url":"https://a.test/1.pdf"}`
	)
	once := func(f fault.Fault) []fault.Rule { return []fault.Rule{{First: 1, Fault: f}} }
	charge := func(point fault.Point) []fault.Rule {
		return []fault.Rule{{Point: point, First: 1, Fault: fault.Status(502, nil)}}
	}
	wait := func(seconds string) http.Header { return http.Header{"Retry-After": {seconds}} }
	for i, test := range []struct {
		rule   journal.LintRule
		faults []fault.Rule
		script string
	}{
		{journal.LintRepeatedRefusal, nil, unread + "; " + unread},
		{ // what was lost in between changed nothing
			journal.LintRepeatedRefusal, []fault.Rule{{Operation: shipping.OpReplayWebhook, Fault: fault.Drop()}},
			unread + "; lose /v1/webhooks/replay; " + unread,
		},
		{"", nil, "GET {docs}/request/RD-1; analyze {shipment}; GET {docs}/request/RD-1"},
		// A change of the world that was not a request to the service did not count.
		{journal.LintRepeatedRefusal, nil, add + "; analyze SH-NEW; buy; GET /_mock/ledger; buy"},
		{"", nil, add + "; analyze SH-NEW; buy; " + fund + "; buy"},
		{"", nil, unknown + "; " + add + "; " + unknown},
		{"", nil, noInvoice + `; POST /_mock/invoices {"file_url":"https://a.test/1.pdf"}; ` + noInvoice},
		{
			"", nil, replay + `; POST /_mock/webhooks {"url":"http://127.0.0.1:9/","events":["shipment.created"]}; ` + replay,
		},
		{journal.LintIgnoredRetryAfter, once(fault.RateLimit(fault.RetryAfterIMF, 7*time.Second)), rates + "; 3s; " + rates},
		{journal.LintIgnoredRetryAfter, once(fault.Status(503, wait("7"))), rates + "; " + rates},
		{"", once(fault.RateLimit(fault.RetryAfterSeconds, 7*time.Second)), rates + "; 7s; " + rates},
		{ // no time to wait
			journal.LintRepeatedRefusal, []fault.Rule{{First: 2, Fault: fault.Status(400, wait("0"))}},
			rates + "; " + rates,
		},
		{journal.LintPolledTooFast, nil, slow + strings.Repeat("; "+lookUp+"; 20ms", 10)},
		{"", nil, slow + strings.Repeat("; "+lookUp+"; 150ms", 10)},
		{"", nil, slow + strings.Repeat("; "+lookUp, 10)}, // virtual time that stands still
		{journal.LintUnknownParameter, nil, "GET /v1/rates?sort=asc&page=1"},
		{journal.LintUnknownField, nil, analyzeAs + `,"colour":"red"}`},
		{journal.LintNoContentType, nil, analyzeAs + "}" + untyped +
			`; POST /v1/webhooks/replay {"delivery_id":"{delivery}"}` + untyped},
		{journal.LintRepeatedPurchase, charge(fault.AfterCharge), "analyze {shipment}; buy; buy"},
		{"", charge(fault.BeforeCharge), "analyze {shipment}; buy; " + lookUp + "; buy"},
		{ // what a lost purchase has done is not known: the draft may have expired
			"", append(charge(fault.BeforeCharge), fault.Rule{Operation: shipping.OpGetRequest, Fault: fault.Status(404, nil)}),
			"analyze {shipment}; buy; " + lookUp + "; " + lookUp,
		},
		{journal.LintIdempotencyKey, nil, "analyze {shipment}; " + buyAs + "\nIdempotency-Key: 1"},
		{journal.LintFollowedRedirect, once(fault.Redirect("/v1/countries")), rates + "; GET /v1/countries"},
	} {
		t.Run(fmt.Sprint(i, " ", test.rule), func(t *testing.T) {
			t.Parallel()
			srv := start(t, mockserver.WithoutListener(), virtual())
			inject(t, srv, test.faults...)
			play(t, srv, test.script)
			for _, rule := range srv.Faults() {
				if rule.Struck == 0 {
					t.Errorf("%+v struck no request", rule)
				}
			}
			var want []journal.LintRule
			if test.rule != "" {
				want = append(want, test.rule)
			}
			found := srv.Findings()
			for i, f := range found {
				if len(found) != len(want) || f.Rule != want[i] || f.Advice == "" || f.Times < 1 || f.EntryID == "" ||
					f.Operation == shipping.OpReplayWebhook {
					t.Errorf("the finding is %+v, want %v", f, want)
				}
			}
			if len(found) != len(want) {
				t.Errorf("found %v, want %v", found, want)
			}
			srv.Lint(t, want...)
		})
	}
}

// play performs the steps of a script.
func play(t *testing.T, srv *mockserver.Server, script string) {
	t.Helper()
	id := ""
	for step := range strings.SplitSeq(script, "; ") {
		step = strings.NewReplacer("{id}", id, "{shipment}", srv.Shipments()[0], "{wallet}", srv.Wallets()[0],
			"{delivery}", srv.Deliveries()[0].ID).Replace(step)
		if shipment, analyzes := strings.CutPrefix(step, "analyze "); analyzes {
			id = analyzeShipment(t, srv, shipment).ID
		} else if passes, err := time.ParseDuration(step); err == nil {
			advance(t, srv, passes)
		} else if path, lost := strings.CutPrefix(step, "lose "); lost {
			lose(t, srv, http.MethodPost, path, "")
		} else if step == "buy" {
			purchase(t, srv, id, "CUSTOMS")
		} else {
			send(t, srv, step)
		}
	}
}

// A careful client, which reads a request back after a lost response, has no findings.
func TestLint_FindsNothingAboutTheClient(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual())
	client := srv.Client(t)
	for _, err := range client.Rates.All(t.Context(), nil) {
		shippingtest.NoError(t, err)
	}
	inject(t, srv, fault.Rule{Point: fault.BeforeReply, First: 1})
	_, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{
		RequestID: analyzeShipment(t, srv, srv.Shipments()[0]).ID, DocumentTypes: []shipping.DocumentType{"CUSTOMS"},
	})
	if found := srv.Findings(); err != nil || len(found) > 0 {
		t.Errorf("%v; found %v", err, found)
	}
}

// A response that comes so late that the client has given up, and has read the request and purchased again, is
// recorded after both. Lint that followed the order of the entries would find a purchase that was not read.
func TestLint_APurchaseThatEndsLateWasReadAfterwards(t *testing.T) {
	t.Parallel()
	type row struct {
		read bool
		want []journal.LintRule
	}
	shippingtest.EachRow(t, map[string]row{
		"read":     {true, nil},
		"not read": {false, []journal.LintRule{journal.LintRepeatedPurchase}},
	}, func(t *testing.T, test row) {
		srv := start(t, mockserver.WithoutListener(), virtual())
		draft := analyzeShipment(t, srv, srv.Shipments()[0])
		body := `{"request_id":"` + draft.ID + `","document_types":["CUSTOMS"]}`
		inject(t, srv, fault.Rule{Operation: shipping.OpPurchase, First: 1, Fault: fault.Latency(time.Hour)})
		var late sync.WaitGroup
		late.Go(func() { post(t, srv, regulatoryPath+"/purchase", body) })
		for srv.Pending() == 0 {
			runtime.Gosched()
		}
		if test.read {
			lookUp(t, srv, draft.ID)
		}
		post(t, srv, regulatoryPath+"/purchase", body).want(t, 200)
		advance(t, srv, time.Hour)
		late.Wait()
		srv.Lint(t, test.want...)
		shippingtest.Diff(t, "findings", len(test.want), len(srv.Findings()))
	})
}

// A program that starts over after an error pays for the same documents in two requests. CheckInvariants and Lint
// passed it, because each request was charged once.
func TestLint_FindsWhatWasBoughtTwice(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual())
	buy := func(shipment string, documents ...string) string {
		draft := analyzeShipment(t, srv, shipment)
		purchase(t, srv, draft.ID, documents...).want(t, 200)
		return draft.ID
	}
	first := buy(srv.Shipments()[0], "CUSTOMS", "FDA")
	buy(srv.Shipments()[0], "WATCH")   // another document
	buy(srv.Shipments()[1], "CUSTOMS") // another shipment
	srv.CheckInvariants(t)
	srv.Lint(t)
	analyzeShipment(t, srv, srv.Shipments()[0]) // and does not purchase
	again := buy(srv.Shipments()[0], "FDA", "TEXTILE", "CUSTOMS")
	found := srv.Findings()
	if len(found) != 1 || found[0].Rule != journal.LintBoughtTwice || found[0].EntryID == "" ||
		found[0].Detail != fmt.Sprintf("CUSTOMS, FDA of %s in %s and %s", srv.Shipments()[0], first, again) {
		t.Errorf("findings %+v", found)
	}
	shippingtest.Contains(t, "findings", get(t, srv, "/_mock/journal?as=findings").want(t, 200).body, "bought-twice")
	srv.Lint(t, journal.LintBoughtTwice)
	get(t, srv, "/v1/rates?sort=asc") // another finding
	srv.Reset()
	srv.Lint(t)
}

// Lint knew the purchase by its name, so that no other operation that must not be repeated was watched.
func TestLint_WatchesEveryOperationThatMustNotBeRepeated(t *testing.T) {
	t.Parallel()
	const purchase, cancel = shipping.OpPurchase, "regulatory.cancel"
	type sent struct{ operation, method, path, body string }
	purchases := sent{purchase, http.MethodPost, "/purchase", `{"request_id":"RD-1"}`}
	cancels := sent{cancel, http.MethodPost, "/request/RD-1/cancel", ""}
	reads := sent{shipping.OpGetRequest, http.MethodGet, "/request/RD-1", ""}
	// after returns a request, others of the same operation, and the same request again. Lint remembers 4,096.
	after := func(others int) []sent {
		all := []sent{purchases}
		for i := range others {
			all = append(all, sent{purchase, http.MethodPost, "/purchase", fmt.Sprintf(`{"request_id":"RD-%d"}`, i+2)})
		}
		return append(all, purchases)
	}
	type row struct {
		sent []sent
		want string // the operation of the finding
	}
	shippingtest.EachRow(t, map[string]row{
		"the purchase twice":         {[]sent{purchases, purchases}, purchase},
		"another operation twice":    {[]sent{cancels, cancels}, cancel},
		"twice, and read in between": {[]sent{cancels, reads, cancels}, ""},
		"of another request":         {[]sent{cancels, {cancel, http.MethodPost, "/request/RD-2/cancel", ""}}, ""},
		"of one that names no request": {[]sent{{cancel, http.MethodPost, "/cancel", ""},
			{cancel, http.MethodPost, "/cancel", ""}}, ""},
		"the read before both of them": {[]sent{reads, cancels, cancels}, cancel},
		"that is still remembered":     {after(4095), purchase},
		"that was forgotten":           {after(4096), ""},
	}, func(t *testing.T, test row) {
		none := func(string) []string { return nil }
		lint := watch.NewLint([]string{purchase, cancel}, none, none)
		at := time.Now()
		for _, one := range test.sent {
			at = at.Add(time.Second)
			r := httptest.NewRequest(one.method, one.path, nil)
			r.SetPathValue("request_id", "RD-1")
			r.Header.Set("Content-Type", "application/json")
			lint.See(&wire.Exchange{Operation: one.operation, Began: at, At: at, Request: r, Body: []byte(one.body)})
		}
		got := ""
		for _, f := range lint.All() {
			if f.Rule == journal.LintRepeatedPurchase {
				got += f.Operation
			}
		}
		shippingtest.Diff(t, "operation of the finding", test.want, got)
	})
}

// All logs count the requests that they record; one that has ended, or was cleared, leaves its room.
func TestLog_CountsWhatItRecords(t *testing.T) {
	t.Parallel()
	var all atomic.Int64
	log := watch.NewLog(4, 10, &all, 100)
	see := func(times int) {
		for range times {
			log.See(&wire.Exchange{Request: httptest.NewRequest("GET", "/", nil)})
		}
	}
	for _, step := range []struct {
		do   func()
		want int64
	}{
		{func() { see(3) }, 3}, {func() { see(3) }, 4}, {log.Clear, 0}, {func() { see(2) }, 2}, {log.End, 0},
		{func() { see(1) }, 0},
		{log.Clear, 0},
	} {
		step.do()
		shippingtest.Diff(t, "requests that are counted", step.want, all.Load())
	}
}

// A finding about a parameter or a field suggests the name that was meant. One about a secret in the query does not
// show it.
func TestLint_SuggestsTheNameThatWasMeant(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	get(t, srv, "/v1/rates?per_page=1&colour=red")
	get(t, srv, "/v1/rates?per_page=2") // the same finding
	post(t, srv, regulatoryPath+"/analyze", `{"shipmentId":"SH-1"}`)
	meant := map[string]string{"per_page": `did you mean "perPage"?`, "shipmentId": `did you mean "shipment_id"?`,
		"colour": "it may be ignored"}
	post(t, srv, regulatoryPath+"/analyze?size=1", `{"size":1}`) // two rules, one name
	meant["size"] = "it may be ignored"
	shippingtest.Diff(t, "findings", 5, len(srv.Findings()))
	for _, f := range srv.Findings()[:4] {
		if end, known := meant[f.Detail]; !known || !strings.HasSuffix(f.Advice, end) {
			t.Errorf("%+v does not end with %s", f, end)
		}
		delete(meant, f.Detail)
	}
	if len(meant) > 0 {
		t.Errorf("no finding about %v", meant)
	}
	get(t, srv, "/v1/rates?api_key="+srv.SecretKey)
	text := string(get(t, srv, "/_mock/journal?as=findings").want(t, http.StatusOK).body)
	if !strings.Contains(text, "secret-in-query") || !strings.Contains(text, `"api_key"`) ||
		strings.Contains(text, srv.SecretKey) {
		t.Errorf("found %s", text)
	}
}

// The console's own purchase under a lost response, which browsers send again, was a finding about the program.
func TestLint_LeavesOutTheConsole(t *testing.T) {
	t.Parallel()
	srv := start(t)
	id := buy(t, srv, srv.World)
	again := `{"request_id":"` + id + `","document_types":["CUSTOMS"]}`
	for range 2 {
		do(t, srv, "POST", regulatoryPath+"/purchase", again, "X-Mock-Console", "1").want(t, http.StatusBadRequest)
	}
	get(t, srv, "/_mock/journal?operation=regulatory.purchase&last=1").has(t, "data.0.console=true")
	shippingtest.Diff(t, "findings", 0, len(srv.Findings()))
}
