package mockserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

func TestRouter_UnknownPathsAre404InTheEnvelope(t *testing.T) {
	t.Parallel()
	srv := start(t)
	for _, path := range []string{
		"/", "/v1", "/v1/", "/rates", "/v2/rates", "/v1/rates/", "/v1/rates/RT-1", "/v1/Rates",
		"//v1/rates", "/v1//rates", "/v1/./rates", "/v1/x/../rates", "/v1/%2e%2e/rates", "/v1/rates%2F",
		"/v1/regulatory-documents/request/", "/_mock//healthz",
	} {
		get(t, srv, path).refusal(t, http.StatusNotFound, "no route GET")
	}
}

// The refusal of a route that the server does not have described another mistake, and named no way to add the route.
func TestRouter_NamesTheNearestRouteAndTheStub(t *testing.T) {
	t.Parallel()
	srv := start(t)
	shippingtest.NoError(t, srv.Stub("POST", "/v1/shipments/{id}", http.NotFoundHandler()))
	for path, want := range map[string]string{
		"/v1/rate":                             "did you mean /v1/rates? World.Stub (POST /_mock/stubs) adds a route",
		"/v1/regulatory-document/request/RD-1": "did you mean /v1/regulatory-documents/request/RD-1?",
		"/v1/shipment/SH-1":                    "did you mean /v1/shipments/SH-1?",
		"/v1/shipments/SH-1":                   "the path has other methods only: World.Stub",
		"/v1/zzzzzz":                           "no such route: World.Stub (POST /_mock/stubs) adds a route",
		"/v1/rates/":                           "no trailing slash",
		"/api/v1/rates":                        "those of the service with /v1: remove /api from the base address",
	} {
		get(t, srv, path).refusal(t, http.StatusNotFound, want)
	}
}

func TestRouter_OtherMethodsAre405WithAllow(t *testing.T) {
	t.Parallel()
	srv := start(t)
	for _, test := range []struct{ method, path, allow string }{
		{"POST", "/v1/rates", "GET, HEAD"},
		{"OPTIONS", "/v1/webhooks", "GET, HEAD"},
		{"HEAD", "/v1/regulatory-documents/analyze", "POST"},
		{"PATCH", "/v1/regulatory-documents/request/RD-1/items", "PUT"},
	} {
		got := do(t, srv, test.method, test.path, "").want(t, http.StatusMethodNotAllowed)
		shippingtest.Diff(t, test.method+" "+test.path, test.allow, got.header.Get("Allow"))
	}
}

// A segment may be written in any encoding; an encoded slash does not end it.
func TestRouter_DecodesSegments(t *testing.T) {
	t.Parallel()
	srv := start(t)
	record := analyze(t, srv, analyzeFirst(srv.World)).ID
	for _, id := range []string{record, strings.Replace(record, "-", "%2D", 1),
		fmt.Sprintf("%%%X%s", record[0], record[1:])} {
		got := get(t, srv, "/v1/regulatory-documents/request/"+id).want(t, http.StatusOK)
		shippingtest.Contains(t, id, got.body, record)
	}
	get(t, srv, "/v1/r%61tes").want(t, http.StatusOK)
	get(t, srv, "/v1/regulatory-documents/request/a%2Fitems").refusal(t, http.StatusNotFound, "a/items")
	send(t, srv, "GET {docs}/request/a/items").refusal(t, http.StatusMethodNotAllowed, "use PUT")
}

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
		{"single quotes", `{'delivery_id':'a'}`, "application/json", 400, "a single quote: write double quotes"},
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
