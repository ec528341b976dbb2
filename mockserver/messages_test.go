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
	tests := []struct{ name, method, path, body, keeps string }{
		{"shipment of a replay", "POST", replayPath, `{"event":"shipment.created","shipment_id":"` + long + `"}`,
			"GET /_mock/worlds/NAME"},
		{"event of a replay", "POST", replayPath, `{"shipment_id":"x","event":"` + long + `"}`, "send a kind such as"},
		{"delivery of a replay", "POST", replayPath, `{"delivery_id":"` + long + `"}`, "/_mock/deliveries"},
		{"shipment of an analysis", "POST", regulatoryPath + "/analyze", `{"shipment_id":"` + long + `"}`, ""},
		{"items of a draft", "PUT", regulatoryPath + "/request/" + draft.ID + "/items", items, ""},
		{"name of a profile field", "PUT", regulatoryPath + "/request/" + draft.ID + "/profiles/CUSTOMS",
			`{"` + long + `":1}`, ""},
		{"event to emit", "POST", "/_mock/events", `{"event":"` + long + `"}`, "subscribe"},
		{"URL of a webhook", "POST", "/_mock/webhooks", `{"url":"ftp://` + long + `"}`, ""},
		{"unknown field", "POST", "/_mock/webhooks", `{"` + long + `":1}`, ""},
		{"fault kind", "POST", "/_mock/faults", `{"rules":[{"fault":{"kind":"` + long + `"}}]}`, "choose one of"},
		{"a key at the cut", "POST", replayPath,
			`{"delivery_id":"` + strings.Repeat("x", 600) + srv.SecretKey + long + `"}`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := do(t, srv, test.method, test.path, test.body)
			got.refusal(t, got.status, test.keeps)
			if got.status < 400 || len(got.body) > 64<<10 {
				t.Errorf("status %d, %d bytes", got.status, len(got.body))
			}
			if strings.Contains(string(got.body), srv.SecretKey[len("sk_test_"):]) {
				t.Errorf("the key is in %s", got.body)
			}
		})
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
	analyze, buy, replay := regulatoryPath+"/analyze", regulatoryPath+"/purchase", "/v1/webhooks/replay"
	for name, test := range map[string]struct {
		method, path, body string
		status             int
		want               string
	}{
		"half a body": {"POST", analyze, `{"shipment_id":`, 400,
			"it is incomplete, with 15 bytes: send the whole JSON object"},
		"nothing": {"POST", analyze, `{}`, 400, "shipment_id or file_url is required"},
		"a misspelt field": {"POST", analyze, `{"shipmentId":"SH-1"}`, 400,
			`unknown field "shipmentId": did you mean "shipment_id"?`},
		"a misspelt field, purchase": {"POST", buy, `{"requestId":"` + draft.ID + `","document_types":["FDA"]}`, 400,
			`unknown field "requestId": did you mean "request_id"?`},
		"a misspelt field, replay": {"POST", replay, `{"deliveryId":"WD-1"}`, 400,
			`unknown field "deliveryId": did you mean "delivery_id"?`},
		"a document in lower case": {"POST", buy, `{"request_id":"` + draft.ID + `","document_types":["customs"]}`, 400,
			`is not a document type: did you mean "CUSTOMS"?`},
		"further documents": {"POST", buy, `{"request_id":"` + bought.ID + `","document_types":["FDA"]}`, 400,
			"analyze again to purchase further ones"},
		"an unknown shipment": {"POST", analyze, `{"shipment_id":"SH-1"}`, 404,
			`no shipment "SH-1": GET /_mock/worlds/NAME lists the shipments`},
		"an unknown shipment, replay": {"POST", replay, `{"shipment_id":"SH-1","event":"shipment.created"}`, 404,
			"GET /_mock/worlds/NAME lists the shipments"},
		"a shipment as wallet": {"GET", "/v1/transactions?wallet=" + srv.Shipments()[0], "", 404,
			"that is the id of a shipment: use a wallet"},
		"a misspelt path": {"GET", "/v1/rate", "", 404, "no route GET /v1/rate: did you mean /v1/rates?"},
		"a misspelt event, replay": {"POST", replay, `{"shipment_id":"` + srv.Shipments()[0] + `","event":"shipment.create"}`,
			400, `to shipment.create: did you mean "shipment.created"?`},
		"a shipment as request": {"GET", regulatoryPath + "/request/" + srv.Shipments()[0], "", 404,
			"that is the id of a shipment: analyze the shipment, and use the request_id in the response"},
		"a shipment as request to buy": {"POST", buy, `{"request_id":"` + srv.Shipments()[0] + `","document_types":["FDA"]}`,
			404, "that is the id of a shipment"},
	} {
		t.Log(name)
		do(t, srv, test.method, test.path, test.body).refusal(t, test.status, test.want)
	}
	// A field that an operation does not need and that is not similar to one of its fields is not in the message.
	got := post(t, srv, analyze, `{"colour":"red"}`).want(t, http.StatusBadRequest)
	if strings.Contains(string(got.body), "colour") {
		t.Errorf("%s", got.body)
	}
}
