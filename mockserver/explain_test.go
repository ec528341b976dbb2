package mockserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/redact"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/internal/specification"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Every refusal has its status and error code, which the OpenAPI document lists. It charges nothing, and carries the
// address of its explanation. The request that the explanation suggests is accepted.
func TestWhy_SuggestsARequestThatIsAccepted(t *testing.T) {
	t.Parallel()
	described := describedCodes(t)
	for _, test := range []struct {
		send      string
		code      string // status and error code
		heading   string
		operation string // of the suggestion; "" without one
		keeps     string // a text that it keeps
	}{
		{"GET /v1/transactions?perPage=7&page=0", "400 invalid_request", "GET /v1/transactions", "transactions.list",
			"perPage=7"},
		{"GET /v1/transactions?wallet=VA-1", "404 not_found", "GET /v1/transactions", "transactions.list", "wallet=VA-"},
		{"GET /v1/countrys", "404 not_found", "every path begins with /v1", "countries.list", "/v1/countries"},
		{"DELETE /v1/rates", "405 method_not_allowed", "Endpoints", "rates.list", ""},
		{"GET /v1/rates?page=2\nAuthorization: ", "401 unauthorized", "Authentication", "rates.list", "page=2"},
		{"POST {docs}/analyze shipment_id=1\nContent-Type: text/plain", "415 unsupported_media_type", "Content-Type",
			"regulatory.analyze", ""},
		{"POST {docs}/analyze {", "400 malformed_body", "bodies and responses are JSON", "regulatory.analyze", "shipment_id"},
		{`POST {docs}/analyze {"shipment_id":"SHIPMENT","file_url":"INVOICE"}`, "400 invalid_request", "POST /analyze",
			"regulatory.analyze", "SHIPMENT"},
		{`POST {docs}/analyze {"file_url":"https://x.example/1","wallet":"WALLET"}`, "400 analysis_failed",
			"request states", "regulatory.analyze", "WALLET"},
		{`POST {docs}/analyze {"file_url":"http://[::1"}`, "400 invalid_request", "POST /analyze",
			"regulatory.analyze", ""},
		{`POST {docs}/analyze {}`, "400 invalid_request", "POST /analyze", "regulatory.analyze", ""},
		{`POST {docs}/analyze {"shipment_id":"SH-1"}`, "404 not_found", "", "regulatory.analyze", ""},
		// A misspelt field has its value in the suggestion, unless the body has the right name, too.
		{`POST {docs}/analyze {"shipmentId":"SHIPMENT"}`, "400 invalid_request", "", "regulatory.analyze", "SHIPMENT"},
		{`POST {docs}/analyze {"shipmentId":"SH-1","shipment_id":"SHIPMENT","file_url":"INVOICE"}`, "400 invalid_request",
			"", "regulatory.analyze", "SHIPMENT"},
		{`POST /v1/webhooks/replay {}`, "400 invalid_request", "webhooks/replay, Rules", "webhooks.replay",
			"shipment.created"},
		{`POST /v1/webhooks/replay {"shipment_id":"SHIPMENT","event":"shipment.updated","webhook_id":"WA-1"}`,
			"400 invalid_request", "Rules", "webhooks.replay", "shipment.updated"},
		{`POST /v1/webhooks/replay {"shipment_id":"SHIPMENT","event":"shipment.lost"}`, "400 invalid_request", "Rules",
			"webhooks.replay", "SHIPMENT"},
		{`POST /v1/webhooks/replay {"delivery_id":"WD-1"}`, "404 not_found", "webhooks/replay", "webhooks.replay", ""},
		{`POST {docs}/purchase {"request_id":"DRAFT"}`, "400 invalid_request", "POST /purchase", "regulatory.purchase",
			"DRAFT"},
		{`POST {docs}/purchase {"request_id":"DRAFT","document_types":["CUSTOMS","MUSEUM"]}`, "400 document_not_offered",
			"POST /purchase", "regulatory.purchase", `["CUSTOMS"]`},
		// The nearest valid request corrects a misspelt document type, and never purchases another regulatory request.
		{`POST {docs}/purchase {"request_id":"DRAFT","document_types":["fda","CUSTOM"]}`, "400 unknown_document_type",
			"POST /purchase", "regulatory.purchase", `["CUSTOMS","FDA"]`},
		{`POST {docs}/purchase {"request_id":"RD-1","document_types":["CUSTOMS"]}`, "404 not_found", "POST /purchase",
			"regulatory.analyze", "shipment_id"},
		{`POST {docs}/purchase {"document_types":["CUSTOMS"]}`, "400 invalid_request", "POST /purchase",
			"regulatory.analyze", "shipment_id"},
		{`POST {docs}/purchase {"request_id":"BOUGHT","document_types":["CUSTOMS"]}`, "400 already_purchased",
			"POST /purchase", "regulatory.get", "BOUGHT"},
		{`POST {docs}/purchase {"request_id":"POOR","document_types":["CUSTOMS"]}`, "400 insufficient_funds",
			"POST /purchase", "", ""},
		{`POST {docs}/purchase {"request_id":"DRAFT","document_types":["FDA","FDA"]}`, "400 repeated_document_type",
			"POST /purchase", "regulatory.purchase", `["FDA"]`},
		{"GET {docs}/request/RD-1", "404 not_found", "GET /request/:request_id", "regulatory.get", ""},
		{`PUT {docs}/request/DRAFT/items {"line_items":[]}`, "400 invalid_request", "provisional", "regulatory.get", "DRAFT"},
		{"PUT {docs}/request/BOUGHT/addresses {}", "400 not_editable", "provisional", "regulatory.get", "BOUGHT"},
		{`PUT {docs}/request/DRAFT/shipping {"service":"x"}`, "400 shipment_flow", "provisional", "regulatory.get", "DRAFT"},
		{"PUT {docs}/request/DRAFT/profiles/MUSEUM {}", "400 document_not_offered", "provisional", "regulatory.get", "DRAFT"},
		{`PUT {docs}/request/DRAFT/profiles/CUSTOMS {"colour":"red"}`, "400 invalid_profile", "provisional",
			"regulatory.get", "DRAFT"},
		{"POST {docs}/request/BOUGHT/retry", "400 not_retryable", "provisional", "regulatory.get", "BOUGHT"},
		{"GET {docs}/request/DRAFT/documents/FDA/pdf", "404 not_found", "provisional", "regulatory.get", "DRAFT"},
	} {
		t.Run(test.send, func(t *testing.T) {
			t.Parallel()
			srv := start(t, mockserver.WithoutListener(), virtual())
			bought := analyzeShipment(t, srv, srv.Shipments()[0])
			purchase(t, srv, bought.ID, "CUSTOMS").want(t, 200)
			advance(t, srv, time.Hour)
			poor := analyze(t, srv, `{"shipment_id":"`+srv.Shipments()[0]+`","wallet":"`+
				srv.Wallets()[len(srv.Wallets())-1]+`"}`)
			draft := analyzeShipment(t, srv, srv.Shipments()[0])
			fill := strings.NewReplacer("DRAFT", draft.ID, "POOR", poor.ID, "BOUGHT", bought.ID, "SHIPMENT", srv.Shipments()[1],
				"INVOICE", srv.Invoices()[0], "WALLET", srv.Wallets()[1])
			before := string(get(t, srv, "/_mock/ledger").body)
			refusal := send(t, srv, fill.Replace(test.send))
			if got := fmt.Sprint(refusal.status, " ", refusal.text(t, "error_code")); got != test.code {
				t.Fatalf("%s, want %s: %s", got, test.code, refusal.body)
			}
			if !slices.Contains(described, test.code) {
				t.Errorf("x-codes in internal/specification/service.json do not have %s", test.code)
			}
			shippingtest.Diff(t, "ledger", before, string(get(t, srv, "/_mock/ledger").body))
			link := refusal.header.Get("X-Mock-Why")
			if path, _, _ := strings.Cut(link, "?"); path != "/_mock/journal/"+refusal.header.Get("X-Request-Id") {
				t.Fatalf("X-Mock-Why is %q", link)
			}
			why := whyAt(t, srv, link)
			if !strings.Contains(why.Specification, test.heading) || why.Message == "" || why.ErrorCode == "" {
				t.Errorf("it rests on %q, %q", why.Specification, why.Rule)
			}
			near := why.Nearest
			if test.operation == "" && near == nil {
				return
			}
			if near == nil || near.Operation != test.operation ||
				!strings.Contains(near.Target+near.Body, fill.Replace(test.keeps)) || !strings.HasPrefix(near.Curl, "curl -i") {
				t.Fatalf("the nearest valid request is %+v", near)
			}
			do(t, srv, near.Method, near.Target, near.Body).want(t, http.StatusOK)
		})
	}
}

// describedCodes returns the statuses of failures with their codes, as the OpenAPI document lists them.
func describedCodes(t *testing.T) (described []string) {
	type response struct {
		Ref   string                  `json:"$ref"`
		Codes []struct{ Code string } `json:"x-codes"`
	}
	var document struct {
		Paths      map[string]map[string]struct{ Responses map[string]response }
		Components struct{ Responses map[string]response }
	}
	shippingtest.NoError(t, json.Unmarshal(specification.Service(), &document))
	for _, methods := range document.Paths {
		for _, operation := range methods {
			for status, r := range operation.Responses {
				for _, row := range document.Components.Responses[path.Base(r.Ref)].Codes {
					described = append(described, status+" "+row.Code)
				}
			}
		}
	}
	return described
}

// The error of the client did not name the path that explains it. In a world whose name is a part of the key, the
// header with the path is withheld; the key selects the world, too.
func TestWhy_EndsTheErrorOfTheClient(t *testing.T) {
	t.Parallel()
	for _, d := range []string{"", "contrary"} {
		srv := start(t, dialectOf(t, d))
		for _, w := range []*mockserver.World{srv.World, srv.NewWorld(t, "lowfunds")} {
			_, err := w.Client(t).Regulatory.Get(t.Context(), "RD-1")
			_, end, _ := strings.Cut(fmt.Sprint(err), "; see ")
			path, _, _ := strings.Cut(end, " ")
			got := send(t, srv, "GET "+path+"\nAuthorization: Bearer "+w.SecretKey).want(t, http.StatusOK)
			shippingtest.Contains(t, err.Error(), got.body, "RD-1")
		}
	}
}

func TestWhy_Summary(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	inject(t, srv, fault.Rule{First: 1, Committed: true, Fault: fault.ContentType("text/plain")})
	get(t, srv, "/v1/rates")
	shippingtest.Diff(t, "X-Mock-Why of a response", "", get(t, srv, "/v1/rates").header.Get("X-Mock-Why"))
	for id, want := range map[string]string{"req-1": "met an injected fault", "req-2": "was not refused"} {
		why, err := srv.Why(id)
		if err != nil || !strings.Contains(why.Summary(), want) || (why.Fault == "") != (id == "req-2") {
			t.Errorf("%+v, %v, want %q", why, err, want)
		}
	}
}

// An empty world explains a refusal, even if it has no request to suggest.
func TestWhy_InAnEmptyWorld(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	key := "Bearer sk_test_empty_why2"
	for _, op := range operations.All() {
		refusal := do(t, srv, op.Method, shippingtest.PathOf(op),
			`{"request_id":"RD-1","shipment_id":"SH-1","event":"x","document_types":[7]}`, "Authorization", key, "Content-Type",
			"text/plain")
		if refusal.status < 400 {
			continue // a list, which is empty
		}
		why := whyAt(t, srv, refusal.header.Get("X-Mock-Why"))
		if why.Specification == "" || why.Operation != op.Name {
			t.Errorf("%s: %+v", op.Name, why)
		}
		if near := why.Nearest; near != nil {
			do(t, srv, near.Method, near.Target, near.Body, "Authorization", key).want(t, http.StatusOK)
		}
	}
}

// whyAt returns the explanation in a journal entry.
func whyAt(t *testing.T, srv *mockserver.Server, path string) journal.Why {
	t.Helper()
	var entry struct{ Why journal.Why }
	get(t, srv, path).want(t, http.StatusOK).data(t, &entry)
	return entry.Why
}

// A refusal repeats only a limited part of the request, in its response and in the journal, and still states what to
// do.
func TestMessages_AreBounded(t *testing.T) {
	t.Parallel()
	const length = 400_000
	srv := start(t, mockserver.WithoutListener())
	long := strings.Repeat("x", length)
	items := `{"line_items":[` + strings.TrimSuffix(strings.Repeat(`{"currency":"`+long[:200]+`"},`, 1000), ",") + `]}`
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	fill := strings.NewReplacer("LONG", long, "DRAFT", draft.ID, "ITEMS", items, "CUT",
		strings.Repeat("x", 600)+srv.SecretKey+long)
	for text, keeps := range map[string]string{
		`POST /v1/webhooks/replay {"event":"shipment.created","shipment_id":"LONG"}`: "GET /_mock/worlds/NAME",
		`POST /v1/webhooks/replay {"shipment_id":"x","event":"LONG"}`:                "send a kind such as",
		`POST /v1/webhooks/replay {"delivery_id":"LONG"}`:                            "/_mock/deliveries",
		`POST /v1/webhooks/replay {"delivery_id":"CUT"}`:                             "",
		`POST {docs}/analyze {"shipment_id":"LONG"}`:                                 "",
		`PUT {docs}/request/DRAFT/items ITEMS`:                                       "",
		`PUT {docs}/request/DRAFT/profiles/CUSTOMS {"LONG":1}`:                       "",
		`POST /_mock/events {"event":"LONG"}`:                                        "subscribe",
		`POST /_mock/webhooks {"url":"ftp://LONG"}`:                                  "",
		`POST /_mock/webhooks {"LONG":1}`:                                            "",
		`POST /_mock/faults {"rules":[{"fault":{"kind":"LONG"}}]}`:                   "choose one of",
	} {
		got := send(t, srv, fill.Replace(text))
		got.refusal(t, got.status, keeps)
		if got.status < 400 || len(got.body) > 64<<10 {
			t.Errorf("%s: status %d, %d bytes", text, got.status, len(got.body))
		}
		if strings.Contains(string(got.body), srv.SecretKey[len("sk_test_"):]) {
			t.Errorf("%s: the key is in %s", text, got.body)
		}
	}
	for _, c := range srv.Journal() {
		if len(c.Message) > 2000 {
			t.Errorf("the journal has a message of %d bytes", len(c.Message))
		}
	}
}

// The message of a refusal contains what to do next. These did not: they named the symptom only.
func TestMessages_ContainWhatToDo(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	poor := shippingtest.Must(srv.Open("lowfunds_messages"))(t)
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	bought := analyzeShipment(t, srv, srv.Shipments()[0])
	purchase(t, srv, bought.ID, "CUSTOMS").want(t, http.StatusOK)
	fill := strings.NewReplacer("DRAFT", draft.ID, "BOUGHT", bought.ID, "SHIPMENT", srv.Shipments()[0])
	for _, test := range []struct {
		send   string
		status int
		want   string
	}{
		{`POST {docs}/analyze {"shipment_id":`, 400, "it is incomplete, with 15 bytes: send the whole JSON object"},
		{`POST {docs}/analyze {}`, 400, "shipment_id or file_url is required"},
		{`POST {docs}/analyze {"shipmentId":"SH-1"}`, 400, `unknown field "shipmentId": did you mean "shipment_id"?`},
		{`POST {docs}/purchase {"requestId":"DRAFT","document_types":["FDA"]}`, 400,
			`unknown field "requestId": did you mean "request_id"?`},
		{`POST /v1/webhooks/replay {"deliveryId":"WD-1"}`, 400, `unknown field "deliveryId": did you mean "delivery_id"?`},
		{`POST {docs}/purchase {"request_id":"DRAFT","document_types":["customs"]}`, 400,
			`is not a document type: did you mean "CUSTOMS"?`},
		{`POST {docs}/purchase {"request_id":"BOUGHT","document_types":["FDA"]}`, 400,
			"analyze again to purchase further ones"},
		{`POST {docs}/analyze {"shipment_id":"SH-1"}`, 404, `no shipment "SH-1": use one that GET /_mock/worlds/NAME lists`},
		{`POST {docs}/analyze {"shipment_id":"DRAFT"}`, 404, "that is the id of a regulatory request"},
		{`POST {docs}/analyze {"file_url":"https://invoices.example/9.pdf"}`, 400, "add it with POST /_mock/invoices"},
		{`POST /v1/webhooks/replay {"shipment_id":"SH-1","event":"shipment.created"}`, 404,
			"use one that GET /_mock/worlds/NAME lists"},
		{"GET /v1/transactions?wallet=SHIPMENT", 404, "that is the id of a shipment: use a wallet"},
		{"GET /v1/rate", 404, "no route GET /v1/rate: did you mean /v1/rates?"},
		{"GET {docs}/RD-1", 404, "did you mean " + regulatoryPath + "/request/RD-1?"},
		{`POST {docs}/purchase {"request_id":"DRAFT","document_types":"FDA"}`, 400,
			`field "document_types" is a text, and must be a list such as ["…"]; nothing was charged`},
		{`POST /v1/webhooks/replay {"shipment_id":"SHIPMENT","event":"shipment.create"}`, 400,
			`to shipment.create: did you mean "shipment.created"?`},
		{"GET {docs}/request/SHIPMENT", 404,
			"that is the id of a shipment: analyze the shipment, and use the request_id in the response"},
		{`POST {docs}/purchase {"request_id":"SHIPMENT","document_types":["FDA"]}`, 404, "that is the id of a shipment"},
	} {
		t.Log(test.send)
		send(t, srv, fill.Replace(test.send)).refusal(t, test.status, test.want)
		// A text with a part of the key, such as the name of its world, would be withheld by the client of this world.
		got := send(t, srv, fill.Replace(test.send)+"\nAuthorization: Bearer "+poor.SecretKey)
		if text := string(got.body); got.status < 400 || redact.New(poor.SecretKey).In(text) {
			t.Errorf("%s: %s", test.send, text)
		}
	}
	// A refusal without money contains the request that deposits it.
	id, refused := purchaseFirst(t, srv, poor)
	message, _ := refused.want(t, http.StatusBadRequest).at(t, "message").(string)
	_, order, _ := strings.Cut(message, "add money with ")
	order, _, _ = strings.Cut(order, " and the same Authorization (in Go")
	send(t, srv, order+"\nAuthorization: Bearer "+poor.SecretKey).want(t, http.StatusOK)
	as(t, srv, poor.SecretKey, "POST", regulatoryPath+"/purchase", `{"request_id":"`+id+
		`","document_types":["CUSTOMS"]}`).want(t, http.StatusOK)
	// A field that an operation does not need and that is not similar to one of its fields is not in the message.
	got := post(t, srv, regulatoryPath+"/analyze", `{"colour":"red"}`).want(t, http.StatusBadRequest)
	if strings.Contains(string(got.body), "colour") {
		t.Errorf("%s", got.body)
	}
}
