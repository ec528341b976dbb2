package mockserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/mockserver"
)

func TestBody_RefusedBeforeAnyRule(t *testing.T) {
	t.Parallel()
	srv := start(t)
	for _, test := range []struct {
		name, body, contentType string
		status                  int
		want                    string
	}{
		{"too long", `{"delivery_id":"` + strings.Repeat("x", 1<<20) + `"}`, "application/json", 413,
			"longer than 1048576 bytes"},
		{"a form", "delivery_id=WD-1", "application/x-www-form-urlencoded", 415, "Content-Type: application/json"},
		{"malformed type", "{}", "json;;", 415, "Content-Type: application/json"},
		{"single quotes", `{'delivery_id':'a'}`, "application/json", 400, "a single quote at byte 2: write double quotes"},
		{"syntax", `{"delivery_id":}`, "application/json", 400, "at byte"},
		{"cut off", `{"delivery_id":"WD`, "application/json", 400, "byte"},
		{"an array", `[]`, "application/json", 400, "not a JSON object"},
		{"null", `null`, "application/json", 400, "not a JSON object"},
		{"another type", `{"delivery_id":7}`, "application/json", 400, "delivery_id"},
		{"two objects", `{} {}`, "application/json", 400, "unexpected text after"},
	} {
		do(t, srv, http.MethodPost, "/v1/webhooks/replay", test.body, "Content-Type", test.contentType).
			refusal(t, test.status, test.want)
	}
}

// A compressed body was refused as "not a JSON object", which does not help.
func TestBody_IsNotEncoded(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	for _, path := range []string{"/v1/webhooks/replay", "/_mock/events"} {
		send(t, srv, "POST "+path+" \x1f\x8b\nContent-Encoding: gzip").refusal(t, 415, `Content-Encoding "gzip"`)
	}
	send(t, srv, `POST /_mock/events {"event":"shipment.updated"}`+"\nContent-Encoding: identity").want(t, 200)
}

// A member whose name differs from a field's only in case counts as unknown, at any depth. Of a member that is given
// twice the last one counts.
func TestBody_NamesMatchByteForByte(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual())
	shipment := srv.Shipments()[0]
	for _, body := range []string{
		`{"shipment_id":"` + shipment + `","Shipment_ID":"SH-1"}`,
		`{"\u017fhipment_id":"SH-1","shipment_id":"` + shipment + `"}`,
		`{"shipment_id":"SH-1","shipment_id":"` + shipment + `"}`,
	} {
		post(t, srv, regulatoryPath+"/analyze", body).want(t, http.StatusOK)
	}
	draft := analyzeShipment(t, srv, shipment)
	do(t, srv, http.MethodPut, regulatoryPath+"/request/"+draft.ID+"/items", `{"line_items":[{"Description":"x"}]}`).
		refusal(t, http.StatusBadRequest, "line_items[0].description must describe the item")
	post(t, srv, regulatoryPath+"/purchase", `{"request_id":"`+draft.ID+`","Document_Types":["FDA"]}`).refusal(t,
		http.StatusBadRequest, "document_types is required")
	post(t, srv, regulatoryPath+"/purchase",
		`{"request_id":"`+draft.ID+`","document_types":["CUSTOMS"],"DOCUMENT_TYPES":["FDA"]}`).want(t, http.StatusOK)
	if bought := lookUp(t, srv, draft.ID).Documents; len(bought) != 1 || bought[0].Type != "CUSTOMS" {
		t.Errorf("%+v were purchased", bought)
	}
}
