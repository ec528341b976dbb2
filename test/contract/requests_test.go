package contract

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
)

const base = "/v1/regulatory-documents"

// caller sends requests made by hand and has them judged.
type caller struct {
	t     *testing.T
	judge *judge
	srv   *mockserver.Server
}

func newCaller(t *testing.T, srv *mockserver.Server) caller {
	return caller{t, newJudge(t, rules(t)), srv}
}

// send returns the status and the data of the answer. Headers are given as name and value in turn; an
// empty value leaves the header out.
func (c caller) send(method, path, body string, headers ...string) (int, map[string]any) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.srv.URL+path, strings.NewReader(body))
	shippingtest.NoError(c.t, err)
	req.Header.Set("Authorization", "Bearer "+c.srv.SecretKey)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Del(headers[i])
		if headers[i+1] != "" {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	resp, err := c.judge.RoundTrip(req)
	shippingtest.NoError(c.t, err)
	text, err := io.ReadAll(resp.Body)
	shippingtest.NoError(c.t, err)
	var envelope struct{ Data any }
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(text, &envelope); err != nil {
			c.t.Fatalf("%v in %s", err, text)
		}
	}
	data, _ := envelope.Data.(map[string]any)
	return resp.StatusCode, data
}

// succeed is send for what must succeed and what the document allows.
func (c caller) succeed(method, path, body string, headers ...string) map[string]any {
	c.t.Helper()
	status, data := c.send(method, path, body, headers...)
	if status != http.StatusOK {
		c.t.Fatalf("%s %s %s: status %d, %v", method, path, body, status, data)
	}
	if err := c.judge.latest(); err != nil {
		c.t.Errorf("%s %s %s: the document does not allow it: %v", method, path, body, err)
	}
	return data
}

// analyze returns the path of a new draft.
func (c caller) analyze(body string) string {
	c.t.Helper()
	id, _ := c.succeed("POST", base+"/analyze", body)["request_id"].(string)
	return base + "/request/" + id
}

func purchase(path, types string) string {
	return `{"request_id":"` + path[strings.LastIndex(path, "/")+1:] + `","document_types":[` + types + `]}`
}

func TestRequests_EveryOperationSucceedsAsDocumented(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithVirtualClock(time.Time{}))
	c := newCaller(t, srv)
	for _, list := range shippingtest.Lists() {
		for _, page := range []string{"", "perPage=7&page=2", "perPage=100000", "page=999"} {
			c.succeed("GET", shippingtest.Operation(list.Operation).Route+"?"+list.Query(srv.Wallets()[0])+"&"+page, "")
		}
	}

	hook := shippingtest.Must(srv.AddWebhook(notify.Webhook{URL: "http://127.0.0.1:9/", Inactive: false}))(t)
	sent := c.succeed("POST", "/v1/webhooks/replay",
		`{"shipment_id":"`+srv.Shipments()[0]+`","event":"shipment.created","webhook_id":"`+hook+`"}`)
	delivery, _ := sent["delivery_id"].(string)
	c.succeed("POST", "/v1/webhooks/replay", `{"delivery_id":"`+delivery+`"}`)
	c.succeed("POST", "/v1/webhooks/replay",
		`{"delivery_id":"`+delivery+`","shipment_id":"SH-OTHER","event":"shipment.cancelled"}`)
	c.send("GET", "/v1/countries", "", "If-None-Match", "*") // the caller has them: 304

	c.analyze(`{"shipment_id":"` + srv.Shipments()[0] + `","wallet":"` + srv.Wallets()[0] + `"}`)
	invoice := c.analyze(`{"file_url":"https://invoices.example/fail-once.pdf"}`)
	c.succeed("PUT", invoice+"/items", `{"line_items":[
		{"description":"Quartz wristwatch","hs_code":"9102.11","quantity":2,"unit_price":89.9,"currency":"USD","weight":0.12,
			"origin_country":"CN"},
		{"description":"Cotton shirt","quantity":1,"unit_price":12,"currency":"USD"}]}`)
	c.succeed("PUT", invoice+"/addresses",
		`{"destination":{"name":"Ada Brooks","city":"Newark","state":"NJ","country":"US"}}`)
	c.succeed("PUT", invoice+"/shipping", `{"carrier_slug":"fedex","incoterm":"DDP","estimated_arrival":"2026-01-31"}`)
	c.succeed("PUT", invoice+"/profiles/CUSTOMS", `{"incoterm":"DDP","reason_for_export":"sale"}`)
	c.succeed("GET", invoice, "")
	c.succeed("POST", base+"/purchase", purchase(invoice, `"CUSTOMS","WATCH"`))
	c.succeed("GET", invoice, "")
	c.advance(time.Hour)
	c.expectStatus(invoice, "failed")
	c.succeed("POST", invoice+"/retry", "")
	c.advance(time.Hour)
	c.expectStatus(invoice, "completed")
	c.succeed("GET", invoice+"/documents/WATCH/pdf", "", "Authorization", "")

	perfume := c.analyze(`{"shipment_id":"SH-MAGICNEEDEVIDENCE"}`)
	c.succeed("POST", base+"/purchase", purchase(perfume, `"MSDS"`))
	c.advance(time.Hour)
	c.expectStatus(perfume, "processing")

	hanging := c.analyze(`{"shipment_id":"SH-MAGICHANGINPURCHASING"}`)
	c.succeed("POST", base+"/purchase", purchase(hanging, `"CUSTOMS"`))
	c.expectStatus(hanging, "purchasing")

	var wanted []exchange
	for _, op := range operations.All() {
		wanted = append(wanted, exchange{op.Name, http.StatusOK})
	}
	if missing := c.judge.missing(wanted); len(missing) > 0 {
		t.Errorf("never seen to succeed: %v; add a request to test/contract/requests_test.go", missing)
	}
}

func (c caller) advance(d time.Duration) {
	c.t.Helper()
	shippingtest.Must(c.srv.Advance(d))(c.t)
}

func (c caller) expectStatus(path, want string) {
	c.t.Helper()
	if data := c.succeed("GET", path, ""); data["status"] != want {
		c.t.Fatalf("%s is %v; want %s", path, data["status"], want)
	}
}

// allowed is whether the document allows a request that the server refuses: it cannot know, for
// instance, that an id does not exist.
type allowed bool

const (
	valid   allowed = true
	invalid allowed = false
)

// refuse is send for what must fail with a status.
func (c caller) refuse(name string, want int, document allowed, method, path, body string, headers ...string) {
	c.t.Helper()
	status, data := c.send(method, path, body, headers...)
	if err := c.judge.latest(); status != want || (err == nil) != bool(document) {
		c.t.Errorf("%s: status %d, %v; want %d; the document: %v; want it allowed: %t", name, status, data, want, err,
			document)
	}
}

func TestRequests_EveryRefusalIsAsDocumented(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithVirtualClock(time.Time{}))
	c := newCaller(t, srv)
	shipment := srv.Shipments()[0]
	draft := c.analyze(`{"shipment_id":"SH-MAGICFAILONCE"}`)
	bought := c.analyze(`{"shipment_id":"SH-MAGICFAILONCE"}`)
	c.succeed("POST", base+"/purchase", purchase(bought, `"CUSTOMS"`))
	nowhere := base + "/request/RD-NOWHERE"

	tests := []struct {
		name, method, path, body string
		status                   int
		document                 allowed
	}{
		{"no route", "GET", "/v1/shipments", "", 404, invalid},
		{"transactions without a wallet", "GET", "/v1/transactions", "", 400, invalid},
		{"transactions of an unknown wallet", "GET", "/v1/transactions?wallet=VA-0", "", 404, valid},
		{"replay of nothing", "POST", "/v1/webhooks/replay", `{}`, 400, invalid},
		{"replay of a shipment without an event", "POST", "/v1/webhooks/replay", `{"shipment_id":"` + shipment + `"}`, 400,
			invalid},
		{"replay of an event without a shipment", "POST", "/v1/webhooks/replay", `{"event":"shipment.created"}`, 400,
			invalid},
		{"replay of an unknown delivery", "POST", "/v1/webhooks/replay", `{"delivery_id":"WD-0"}`, 404, valid},
		{"replay to an unknown webhook", "POST", "/v1/webhooks/replay",
			`{"shipment_id":"` + shipment + `","event":"shipment.created","webhook_id":"WA-0"}`, 400, valid},
		{"analyze of nothing", "POST", base + "/analyze", `{}`, 400, invalid},
		{"analyze of both", "POST", base + "/analyze", `{"shipment_id":"SH-1","file_url":"https://invoices.example/1.pdf"}`,
			400, invalid},
		{"analyze of an invalid URL", "POST", base + "/analyze", `{"file_url":"invoice.pdf"}`, 400, invalid},
		{"analyze of an unknown shipment", "POST", base + "/analyze", `{"shipment_id":"SH-NOWHERE"}`, 404, valid},
		{"analyze for an unknown wallet", "POST", base + "/analyze", `{"shipment_id":"` + shipment + `","wallet":"VA-0"}`,
			404, valid},
		{"analyze that fails", "POST", base + "/analyze", `{"shipment_id":"SH-MAGICFAILANALYSIS"}`, 400, valid},
		{"analyze of broken JSON", "POST", base + "/analyze", `{"shipment_id":`, 400, invalid},
		{"purchase of nothing", "POST", base + "/purchase", `{}`, 400, invalid},
		{"purchase of no types", "POST", base + "/purchase", purchase(draft, ``), 400, invalid},
		{"purchase of an unknown type", "POST", base + "/purchase", purchase(draft, `"VISA"`), 400, invalid},
		{"purchase of a type that is not offered", "POST", base + "/purchase", purchase(draft, `"STEEL"`), 400, valid},
		{"purchase of an unknown request", "POST", base + "/purchase", purchase(nowhere, `"FDA"`), 404, valid},
		{"purchase again", "POST", base + "/purchase", purchase(bought, `"CUSTOMS"`), 400, valid},
		{"read of an unknown request", "GET", nowhere, "", 404, valid},
		{"items: none", "PUT", draft + "/items", `{"line_items":[]}`, 400, invalid},
		{"items: no quantity", "PUT", draft + "/items",
			`{"line_items":[{"description":"Book","quantity":0,"unit_price":1,"currency":"USD"}]}`, 400, invalid},
		{"items of an unknown request", "PUT", nowhere + "/items",
			`{"line_items":[{"description":"Book","quantity":1,"unit_price":1,"currency":"USD"}]}`, 404, valid},
		{"addresses: an invalid country code", "PUT", draft + "/addresses", `{"origin":{"country":"Nigeria"}}`, 400, invalid},
		{"addresses of an unknown request", "PUT", nowhere + "/addresses", `{"origin":{"country":"NG"}}`, 404, valid},
		{"shipping in the shipment flow", "PUT", draft + "/shipping", `{"incoterm":"DAP"}`, 400, valid},
		{"shipping of an unknown request", "PUT", nowhere + "/shipping", `{"incoterm":"DAP"}`, 404, valid},
		{"profile: an unknown field", "PUT", draft + "/profiles/CUSTOMS", `{"colour":"red"}`, 400, valid},
		{"profile of an unknown request", "PUT", nowhere + "/profiles/CUSTOMS", `{}`, 404, valid},
		{"retry of a draft", "POST", draft + "/retry", `{}`, 400, valid},
		{"retry of an unknown request", "POST", nowhere + "/retry", "", 404, valid},
		{"PDF of a document that is not generated", "GET", bought + "/documents/CUSTOMS/pdf", "", 400, valid},
		{"PDF of a document that was not purchased", "GET", bought + "/documents/FDA/pdf", "", 404, valid},
	}
	for _, test := range tests {
		c.refuse(test.name, test.status, test.document, test.method, test.path, test.body)
	}

	path := c.analyze(`{"shipment_id":"SH-MAGICFAILONCE","wallet":"` + srv.Wallets()[len(srv.Wallets())-1] + `"}`)
	if status, data := c.send("POST", base+"/purchase", purchase(path, `"WATCH"`)); status != 400 ||
		data["error_code"] != "insufficient_funds" {
		t.Errorf("purchase from a poor wallet: status %d, %v", status, data)
	}
	for _, op := range operations.All() {
		c.refuseInGeneral(op, strings.Replace(shippingtest.PathOf(op), shippingtest.RequestID,
			draft[strings.LastIndex(draft, "/")+1:], 1))
	}
	if missing := c.judge.missing(c.documentedRefusals()); len(missing) > 0 {
		t.Errorf("documented, and never seen: %v", missing)
	}
}

// refuseInGeneral sends what every operation refuses in the same way.
func (c caller) refuseInGeneral(op operations.Operation, path string) {
	c.t.Helper()
	body := ""
	if op.Method != http.MethodGet {
		body = `{}`
	}
	tests := []struct {
		want    int
		method  string
		body    string
		headers []string
		applies bool
	}{
		{401, op.Method, body, []string{"Authorization", ""}, !op.Open},
		{401, op.Method, body, []string{"Authorization", "Basic abc"}, !op.Open},
		{405, "DELETE", "", nil, true},
		{413, op.Method, `{"a":"` + strings.Repeat("a", 1<<20) + `"}`, nil, body != ""},
		{415, op.Method, body, []string{"Content-Type", "text/plain"}, body != ""},
		{400, op.Method, `[`, nil, body != ""},
	}
	for _, test := range tests {
		if !test.applies {
			continue
		}
		if status, _ := c.send(test.method, path, test.body, test.headers...); status != test.want {
			c.t.Errorf("%s: status %d; want %d", op.Name, status, test.want)
		}
	}
}

// documentedRefusals is every failure that the document lists by its status.
func (c caller) documentedRefusals() []exchange {
	var out []exchange
	for _, op := range operations.All() {
		for status := range responsesOf(c.t, c.judge.document, op) {
			if number, err := strconv.Atoi(status); err == nil && number >= 400 {
				out = append(out, exchange{op.Name, number})
			}
		}
	}
	return out
}

// The document of a server that chooses otherwise at an open point is valid, and describes its responses.
func TestDocument_FollowsTheOtherChoices(t *testing.T) {
	t.Parallel()
	documents := map[string]*openapi3.T{} // in closed form, by text: most choices do not change it
	choices := shippingtest.Choices(t)
	choices["strict"], choices["reference"] = shippingtest.Dialect(t, "strict"), shippingtest.Dialect(t, "reference")
	for name, d := range choices {
		srv := start(t, mockserver.WithVirtualClock(time.Time{}), mockserver.WithDialect(d))
		text := documentOf(t, srv)
		if documents[text] == nil {
			document, err := openapi3.NewLoader().LoadFromData([]byte(text))
			shippingtest.NoError(t, err)
			if err := document.Validate(t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if documents[text], err = closed([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyChoice(t, srv, newJudge(t, documents[text]))
		})
	}
}

// documentOf returns the document that a server serves.
func documentOf(t *testing.T, srv *mockserver.Server) string {
	t.Helper()
	resp := shippingtest.Must((&http.Client{Transport: srv.Transport()}).Get(srv.URL + "/_mock/openapi.json"))(t)
	defer resp.Body.Close()
	text := shippingtest.Must(io.ReadAll(resp.Body))(t)
	return string(text)
}

// everyChoice makes the calls whose responses the assumptions change. The judge checks each.
func everyChoice(t *testing.T, srv *mockserver.Server, j *judge) {
	t.Helper()
	client := srv.Client(t, shipping.WithHTTPClient(&http.Client{Transport: j}), shippingtest.WithRoutes())
	ctx := t.Context()
	for _, list := range shippingtest.Lists() {
		route := shippingtest.Operation(list.Operation).Route
		caller{t, j, srv}.send(http.MethodGet, route+"?"+list.Query(srv.Wallets()[0]), "")
	}
	shippingtest.Must(client.Transactions.List(ctx,
		&shipping.TransactionListOptions{Wallet: srv.Wallets()[0], Page: 3}))(t)
	for _, source := range []shipping.AnalyzeRequest{{ShipmentID: "SH-MAGICFAILANALYSIS"}, {ShipmentID: "SH-NOSUCH"}} {
		if _, err := client.Regulatory.Analyze(ctx, &source); err == nil {
			t.Errorf("%+v succeeded", source)
		}
	}
	draft := shippingtest.Must(client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: srv.Shipments()[0]}))(t)
	if _, err := client.Regulatory.UpdateItems(ctx, draft.RequestID, nil); err == nil {
		t.Error("a draft without items")
	}
	shippingtest.Must(client.Regulatory.Purchase(ctx,
		&shipping.PurchaseRequest{RequestID: draft.RequestID,
			DocumentTypes: []shipping.DocumentType{"CUSTOMS"}}))(t)
	for _, wait := range []time.Duration{0, time.Minute, time.Hour} {
		shippingtest.Must(srv.Advance(wait))(t)
		shippingtest.Must(client.Regulatory.Get(ctx, draft.RequestID))(t)
	}
}
