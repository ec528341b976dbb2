package mockserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/mockserver"
)

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
			"GET /_mock/worlds/NAME lists the shipments"},
		{"GET /v1/transactions?wallet=SHIPMENT", 404, "that is the id of a shipment: use a wallet"},
		{"GET /v1/rate", 404, "no route GET /v1/rate: did you mean /v1/rates?"},
		{`POST /v1/webhooks/replay {"shipment_id":"SHIPMENT","event":"shipment.create"}`, 400,
			`to shipment.create: did you mean "shipment.created"?`},
		{"GET {docs}/request/SHIPMENT", 404,
			"that is the id of a shipment: analyze the shipment, and use the request_id in the response"},
		{`POST {docs}/purchase {"request_id":"SHIPMENT","document_types":["FDA"]}`, 404, "that is the id of a shipment"},
	} {
		t.Log(test.send)
		send(t, srv, fill.Replace(test.send)).refusal(t, test.status, test.want)
	}
	// A field that an operation does not need and that is not similar to one of its fields is not in the message.
	got := post(t, srv, regulatoryPath+"/analyze", `{"colour":"red"}`).want(t, http.StatusBadRequest)
	if strings.Contains(string(got.body), "colour") {
		t.Errorf("%s", got.body)
	}
}
