package mockserver_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/watch"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Each rule is found by its own script, and no other rule is.
func TestLint_FindsWhatACarefulClientDoesNotDo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rule  journal.LintRule
		calls func(t *testing.T, srv *mockserver.Server)
	}{
		{"", func(t *testing.T, srv *mockserver.Server) {
			client := srv.Client(t)
			for _, err := range client.Rates.All(t.Context(), nil) {
				if err != nil {
					t.Error(err)
				}
			}
			draft, err := client.Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: srv.Shipments()[0]})
			if err != nil {
				t.Fatal(err)
			}
			inject(t, srv, fault.Rule{Point: fault.BeforeReply, First: 1})
			if _, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{"CUSTOMS"}}); err != nil {
				t.Error(err)
			}
		}},
		{journal.LintRepeatedRefusal, func(t *testing.T, srv *mockserver.Server) {
			get(t, srv, "/v1/transactions")
			get(t, srv, "/v1/transactions")
		}},
		{journal.LintRepeatedRefusal, func(t *testing.T, srv *mockserver.Server) { // what was lost in between changed nothing
			get(t, srv, "/v1/transactions")
			inject(t, srv, fault.Rule{First: 1, Fault: fault.Drop()})
			observe(t, srv, http.MethodPost, "/v1/webhooks/replay", "")
			get(t, srv, "/v1/transactions")
		}},
		{"", func(t *testing.T, srv *mockserver.Server) { // something has changed in between
			get(t, srv, regulatoryPath+"/request/RD-1")
			analyzeShipment(t, srv, srv.Shipments()[0])
			get(t, srv, regulatoryPath+"/request/RD-1")
		}},
		{journal.LintIgnoredRetryAfter, func(t *testing.T, srv *mockserver.Server) {
			inject(t, srv, fault.Rule{First: 1, Fault: fault.RateLimit(fault.RetryAfterIMF, 7*time.Second)})
			get(t, srv, "/v1/rates")
			advance(t, srv, 3*time.Second)
			get(t, srv, "/v1/rates")
		}},
		{journal.LintIgnoredRetryAfter, func(t *testing.T, srv *mockserver.Server) {
			inject(t, srv, fault.Rule{First: 1, Fault: fault.Status(503, http.Header{"Retry-After": {"7"}})})
			get(t, srv, "/v1/rates")
			get(t, srv, "/v1/rates")
		}},
		{"", func(t *testing.T, srv *mockserver.Server) {
			inject(t, srv, fault.Rule{First: 1, Fault: fault.RateLimit(fault.RetryAfterSeconds, 7*time.Second)})
			get(t, srv, "/v1/rates")
			advance(t, srv, 7*time.Second)
			get(t, srv, "/v1/rates")
		}},
		{journal.LintRepeatedRefusal, func(t *testing.T, srv *mockserver.Server) { // no time to wait
			inject(t, srv, fault.Rule{First: 2, Fault: fault.Status(400, http.Header{"Retry-After": {"0"}})})
			get(t, srv, "/v1/rates")
			get(t, srv, "/v1/rates")
		}},
		{journal.LintPolledTooFast, func(t *testing.T, srv *mockserver.Server) { poll(t, srv, 20*time.Millisecond) }},
		{"", func(t *testing.T, srv *mockserver.Server) { poll(t, srv, 150*time.Millisecond) }},
		{"", func(t *testing.T, srv *mockserver.Server) { poll(t, srv, 0) }}, // virtual time that stands still
		{journal.LintUnknownParameter, func(t *testing.T, srv *mockserver.Server) { get(t, srv, "/v1/rates?sort=asc&page=1") }},
		{journal.LintUnknownField, func(t *testing.T, srv *mockserver.Server) {
			post(t, srv, regulatoryPath+"/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`","colour":"red"}`).want(t, 200)
		}},
		{journal.LintNoContentType, func(t *testing.T, srv *mockserver.Server) {
			do(t, srv, "POST", regulatoryPath+"/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`"}`, "Content-Type", "")
			do(t, srv, "POST", "/v1/webhooks/replay", `{"delivery_id":"`+srv.Deliveries()[0].ID+`"}`, "Content-Type", "") // there it is optional
		}},
		{journal.LintRepeatedPurchase, func(t *testing.T, srv *mockserver.Server) {
			inject(t, srv, fault.Rule{Point: fault.AfterCharge, First: 1, Fault: fault.Status(502, nil)})
			buyTwice(t, srv, false)
		}},
		{"", func(t *testing.T, srv *mockserver.Server) {
			inject(t, srv, fault.Rule{Point: fault.BeforeCharge, First: 1, Fault: fault.Status(502, nil)})
			buyTwice(t, srv, true)
		}},
		{journal.LintIdempotencyKey, func(t *testing.T, srv *mockserver.Server) {
			draft := analyzeShipment(t, srv, srv.Shipments()[0])
			do(t, srv, "POST", regulatoryPath+"/purchase", `{"request_id":"`+draft.ID+`","document_types":["CUSTOMS"]}`, "Idempotency-Key", "1").want(t, 200)
		}},
		{journal.LintFollowedRedirect, func(t *testing.T, srv *mockserver.Server) {
			inject(t, srv, fault.Rule{First: 1, Fault: fault.Redirect(srv.URL + "/v1/countries")})
			get(t, srv, "/v1/rates")
			get(t, srv, "/v1/countries")
		}},
	}
	for i, test := range tests {
		t.Run(fmt.Sprint(i, " ", test.rule), func(t *testing.T) {
			t.Parallel()
			srv := start(t, mockserver.WithoutListener(), virtual())
			test.calls(t, srv)
			var rules []journal.LintRule
			for _, f := range srv.Findings() {
				rules = append(rules, f.Rule)
				if f.Advice == "" || f.Times < 1 || f.EntryID == "" || f.Operation == shipping.OpReplayWebhook {
					t.Errorf("the finding is %+v", f)
				}
			}
			var want []journal.LintRule
			if test.rule != "" {
				want = append(want, test.rule)
			}
			if !slices.Equal(rules, want) {
				t.Errorf("found %v, want %v", srv.Findings(), want)
			}
			srv.Lint(t, want...)
		})
	}
}

// poll looks a request up ten times while it is under generation.
func poll(t *testing.T, srv *mockserver.Server, gap time.Duration) {
	draft := analyzeShipment(t, srv, "SH-MAGICGENERATESLOWLY")
	post(t, srv, regulatoryPath+"/purchase", `{"request_id":"`+draft.ID+`","document_types":["CUSTOMS"]}`).want(t, 200)
	for range 10 {
		lookUp(t, srv, draft.ID)
		advance(t, srv, gap)
	}
}

func buyTwice(t *testing.T, srv *mockserver.Server, read bool) {
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	body := `{"request_id":"` + draft.ID + `","document_types":["CUSTOMS"]}`
	post(t, srv, regulatoryPath+"/purchase", body).want(t, 502)
	if read {
		lookUp(t, srv, draft.ID)
	}
	post(t, srv, regulatoryPath+"/purchase", body)
}

// A response that comes so late that the client has given up, and has read the request and purchased again, is
// recorded after both.
func TestLint_APurchaseThatEndsLateWasReadAfterwards(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		read bool
		want []journal.LintRule
	}{
		"read":     {true, nil},
		"not read": {false, []journal.LintRule{journal.LintRepeatedPurchase}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
			if got := len(srv.Findings()); got != len(test.want) {
				t.Errorf("%d findings, want %d", got, len(test.want))
			}
		})
	}
}

// A program that starts over after an error pays for the same documents in two requests. CheckInvariants and Lint
// passed it, because each request was charged once.
func TestLint_FindsWhatWasBoughtTwice(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual())
	buy := func(shipment, documents string) string {
		draft := analyzeShipment(t, srv, shipment)
		post(t, srv, regulatoryPath+"/purchase", `{"request_id":"`+draft.ID+`","document_types":[`+documents+`]}`).want(t, 200)
		return draft.ID
	}
	first := buy(srv.Shipments()[0], `"CUSTOMS","FDA"`)
	buy(srv.Shipments()[0], `"WATCH"`)   // another document
	buy(srv.Shipments()[1], `"CUSTOMS"`) // another shipment
	srv.CheckInvariants(t)
	srv.Lint(t)
	analyzeShipment(t, srv, srv.Shipments()[0]) // and does not purchase
	again := buy(srv.Shipments()[0], `"FDA","TEXTILE","CUSTOMS"`)
	found := srv.Findings()
	if len(found) != 1 || found[0].Rule != journal.LintBoughtTwice || found[0].EntryID == "" ||
		found[0].Detail != fmt.Sprintf("CUSTOMS, FDA of %s in %s and %s", srv.Shipments()[0], first, again) {
		t.Errorf("findings %+v", found)
	}
	if text := string(get(t, srv, "/_mock/journal?as=findings").want(t, http.StatusOK).body); !strings.Contains(text, "bought-twice") {
		t.Errorf("found %s", text)
	}
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
	for name, test := range map[string]struct {
		sent []sent
		want string // the operation of the finding
	}{
		"the purchase twice":            {[]sent{purchases, purchases}, purchase},
		"another operation twice":       {[]sent{cancels, cancels}, cancel},
		"one of each":                   {[]sent{purchases, cancels}, ""},
		"twice, and read in between":    {[]sent{cancels, reads, cancels}, ""},
		"of another request":            {[]sent{cancels, {cancel, http.MethodPost, "/request/RD-2/cancel", ""}}, ""},
		"of an operation that may be":   {[]sent{{"regulatory.retry", http.MethodPost, "/request/RD-1/retry", ""}, {"regulatory.retry", http.MethodPost, "/request/RD-1/retry", ""}}, ""},
		"of one that names no request":  {[]sent{{cancel, http.MethodPost, "/cancel", ""}, {cancel, http.MethodPost, "/cancel", ""}}, ""},
		"the read before both of them":  {[]sent{reads, cancels, cancels}, cancel},
		"each once after a common read": {[]sent{purchases, cancels, reads, cancels}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
			if got != test.want {
				t.Errorf("the finding is about %q, want %q", got, test.want)
			}
		})
	}
}

// A finding about a parameter or a field suggests the name that was meant. One about a secret in the query does not show it.
func TestLint_SuggestsTheNameThatWasMeant(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	get(t, srv, "/v1/rates?per_page=1&colour=red")
	get(t, srv, "/v1/rates?per_page=2") // the same finding
	post(t, srv, regulatoryPath+"/analyze", `{"shipmentId":"SH-1"}`)
	meant := map[string]string{"per_page": `did you mean "perPage"?`, "shipmentId": `did you mean "shipment_id"?`, "colour": "it may be ignored"}
	post(t, srv, regulatoryPath+"/analyze?size=1", `{"size":1}`) // two rules, one name
	meant["size"] = "it may be ignored"
	if got := len(srv.Findings()); got != 5 {
		t.Errorf("%d findings: %v", got, srv.Findings())
	}
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
	if !strings.Contains(text, "secret-in-query") || !strings.Contains(text, `"api_key"`) || strings.Contains(text, srv.SecretKey) {
		t.Errorf("found %s", text)
	}
}
