package mockserver_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/mockserver"
)

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
		"half a body":                  {"POST", analyze, `{"shipment_id":`, 400, "it is incomplete, with 15 bytes: send the whole JSON object"},
		"a misspelt field":             {"POST", analyze, `{"shipmentId":"SH-1"}`, 400, `unknown field "shipmentId": did you mean "shipment_id"?`},
		"a misspelt field, purchase":   {"POST", buy, `{"requestId":"` + draft.ID + `","document_types":["FDA"]}`, 400, `unknown field "requestId": did you mean "request_id"?`},
		"a misspelt field, replay":     {"POST", replay, `{"deliveryId":"WD-1"}`, 400, `unknown field "deliveryId": did you mean "delivery_id"?`},
		"a document in lower case":     {"POST", buy, `{"request_id":"` + draft.ID + `","document_types":["customs"]}`, 400, `is not a document type: did you mean "CUSTOMS"?`},
		"further documents":            {"POST", buy, `{"request_id":"` + bought.ID + `","document_types":["FDA"]}`, 400, "analyze again to purchase further ones"},
		"an unknown shipment":          {"POST", analyze, `{"shipment_id":"SH-1"}`, 404, "GET /_mock/consignments lists the shipments"},
		"an unknown shipment, replay":  {"POST", replay, `{"shipment_id":"SH-1","event":"shipment.created"}`, 404, "GET /_mock/consignments lists the shipments"},
		"a shipment as request":        {"GET", regulatoryPath + "/request/" + srv.Shipments()[0], "", 404, "that is the id of a shipment: analyze the shipment, and use the request_id in the response"},
		"a shipment as request to buy": {"POST", buy, `{"request_id":"` + srv.Shipments()[0] + `","document_types":["FDA"]}`, 404, "that is the id of a shipment"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			do(t, srv, test.method, test.path, test.body).refusal(t, test.status, test.want)
		})
	}
	// A field that an operation does not need and that is not similar to one of its fields is no part of the message.
	got := post(t, srv, analyze, `{"colour":"red"}`).want(t, http.StatusBadRequest)
	if strings.Contains(string(got.body), "colour") {
		t.Errorf("%s", got.body)
	}
}

// POST /_mock/events printed the payload of each notification: 7 KB for a first event. GET /_mock/deliveries has it.
func TestAdmin_EmitsEventsWithAShortResponse(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	if _, err := srv.AddWebhook(mockserver.Webhook{URL: mockserver.InboxURL}); err != nil {
		t.Fatal(err)
	}
	got := post(t, srv, "/_mock/events", `{"event":"shipment.updated"}`).want(t, http.StatusOK)
	if len(got.body) > 2000 {
		t.Errorf("%d bytes: %s", len(got.body), got.body)
	}
	var deliveries []struct {
		Payload json.RawMessage `json:"payload"`
	}
	get(t, srv, "/_mock/deliveries?perPage=1").data(t, &deliveries)
	if len(deliveries) != 1 || len(deliveries[0].Payload) < 1000 {
		t.Errorf("the delivery is %+v", deliveries)
	}
}
