package mockserver_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
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
		"/v1/parcels":                          "the specification has no such route: World.Stub (POST /_mock/stubs) adds a route",
		"/v1/rates/":                           "no trailing slash",
		"/api/v1/rates":                        "begins with /api, and those of the service with /v1: remove /api from the base address",
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

// A path of a dialect may match some of the paths of an operation with another method.
func TestRouter_RoutesOfDifferentMethodsMayOverlap(t *testing.T) {
	t.Parallel()
	srv := start(t, dialectOf(t, "routes="+operations.RetryRequest+"=POST "+regulatoryPath+"/{request_id}/retries"))
	post(t, srv, regulatoryPath+"/RD-1/retries", "").refusal(t, http.StatusNotFound, "RD-1")
	post(t, srv, regulatoryPath+"/request/retries", "").refusal(t, http.StatusNotFound,
		`no regulatory document request "request"`)
	get(t, srv, regulatoryPath+"/request/retries").refusal(t, http.StatusNotFound,
		`no regulatory document request "retries"`)
	got := do(t, srv, http.MethodPut, regulatoryPath+"/request/retries", "").want(t, http.StatusMethodNotAllowed)
	shippingtest.Diff(t, "Allow", "GET, HEAD, POST", got.header.Get("Allow"))
}

func TestRouter_HeadHasTheHeadersOfGetAndNoBody(t *testing.T) {
	t.Parallel()
	srv := start(t)
	full, head := get(t, srv, "/v1/rates"), do(t, srv, http.MethodHead, "/v1/rates", "").want(t, http.StatusOK)
	for name, want := range map[string]string{
		"Content-Type": full.header.Get("Content-Type"), "Content-Length": strconv.Itoa(len(full.body)),
	} {
		if got := head.header.Get(name); len(head.body) != 0 || got != want {
			t.Errorf("%s is %q, want %q; the body has %d bytes", name, got, want, len(head.body))
		}
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
