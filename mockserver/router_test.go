package mockserver_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

func TestRouter_UnknownPathsAre404InTheEnvelope(t *testing.T) {
	t.Parallel()
	srv := start(t)
	for _, path := range []string{
		"/", "/v1", "/v1/", "/rates", "/v2/rates", "/v1/rates/", "/v1/rates/RT-1", "/v1/Rates",
		"//v1/rates", "/v1//rates", "/v1/./rates", "/v1/x/../rates", "/v1/%2e%2e/rates", "/v1/rates%2F",
		"/v1/regulatory-documents/request/", "/_mock//healthz",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			get(t, srv, path).refusal(t, http.StatusNotFound, "no route GET")
		})
	}
}

// A base address with a path gave "no route", which did not mention the base address.
func TestRouter_NamesThePathOfABaseAddress(t *testing.T) {
	t.Parallel()
	srv := start(t)
	for path, prefix := range map[string]string{"/api/v1/rates": "/api", "/v1/v1/rates": "/v1", "/a/b/v1/rates/RT-1": "/a/b"} {
		get(t, srv, path).refusal(t, http.StatusNotFound, "begins with "+prefix+", and those of the service with /v1: remove "+prefix+" from the base address")
	}
}

// The refusal of a route that the server does not have described another mistake, and named no way to add the route.
func TestRouter_NamesTheNearestRouteAndTheStub(t *testing.T) {
	t.Parallel()
	srv := start(t)
	if err := srv.Stub("POST", "/v1/shipments/{id}", http.NotFoundHandler()); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/v1/rate":                             "did you mean /v1/rates? World.Stub (POST /_mock/stubs) adds a route",
		"/v1/regulatory-document/request/RD-1": "did you mean /v1/regulatory-documents/request/RD-1?",
		"/v1/shipment/SH-1":                    "did you mean /v1/shipments/SH-1?",
		"/v1/shipments/SH-1":                   "the path has other methods only: World.Stub",
		"/v1/parcels":                          "the specification has no such route: World.Stub (POST /_mock/stubs) adds a route",
		"/v1/rates/":                           "no trailing slash",
	} {
		get(t, srv, path).refusal(t, http.StatusNotFound, want)
	}
}

func TestRouter_OtherMethodsAre405WithAllow(t *testing.T) {
	t.Parallel()
	srv := start(t)
	tests := []struct{ method, path, allow string }{
		{"POST", "/v1/rates", "GET, HEAD"},
		{"DELETE", "/v1/countries", "GET, HEAD"},
		{"OPTIONS", "/v1/webhooks", "GET, HEAD"},
		{"GET", "/v1/webhooks/replay", "POST"},
		{"HEAD", "/v1/regulatory-documents/analyze", "POST"},
		{"GET", "/v1/regulatory-documents/purchase", "POST"},
		{"POST", "/v1/regulatory-documents/request/RD-1", "GET, HEAD"},
		{"PATCH", "/v1/regulatory-documents/request/RD-1/items", "PUT"},
	}
	for _, test := range tests {
		t.Run(test.method+" "+test.path, func(t *testing.T) {
			t.Parallel()
			got := do(t, srv, test.method, test.path, "").want(t, http.StatusMethodNotAllowed)
			if allow := got.header.Get("Allow"); allow != test.allow {
				t.Errorf("Allow is %q, want %q", allow, test.allow)
			}
		})
	}
}

func TestRouter_HeadHasTheHeadersOfGetAndNoBody(t *testing.T) {
	t.Parallel()
	srv := start(t)
	full := get(t, srv, "/v1/rates").want(t, http.StatusOK)
	head := do(t, srv, http.MethodHead, "/v1/rates", "").want(t, http.StatusOK)
	if len(head.body) != 0 {
		t.Errorf("HEAD has a body of %d bytes", len(head.body))
	}
	for _, name := range []string{"Content-Type", "Content-Length"} {
		if head.header.Get(name) != full.header.Get(name) {
			t.Errorf("%s: HEAD %q, GET %q", name, head.header.Get(name), full.header.Get(name))
		}
	}
	if full.header.Get("Content-Length") != strconv.Itoa(len(full.body)) {
		t.Errorf("Content-Length %s for %d bytes", full.header.Get("Content-Length"), len(full.body))
	}
}

// A segment may be written in any encoding; an encoded slash does not end it.
func TestRouter_DecodesSegments(t *testing.T) {
	t.Parallel()
	srv := start(t)
	record := analyze(t, srv, analyzeFirst(srv.World)).ID
	for _, id := range []string{record, strings.Replace(record, "-", "%2D", 1), fmt.Sprintf("%%%X%s", record[0], record[1:])} {
		if got := get(t, srv, "/v1/regulatory-documents/request/"+id).want(t, http.StatusOK); !strings.Contains(string(got.body), record) {
			t.Errorf("%s: %s", id, got.body)
		}
	}
	get(t, srv, "/v1/r%61tes").want(t, http.StatusOK)
	get(t, srv, "/v1/regulatory-documents/request/a%2Fitems").refusal(t, http.StatusNotFound, "a/items")
	do(t, srv, http.MethodGet, "/v1/regulatory-documents/request/a/items", "").refusal(t, http.StatusMethodNotAllowed, "use PUT")
}
