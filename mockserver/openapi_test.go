package mockserver_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/internal/openapi"
)

func TestOpenAPI_IsServedAndCanBeCached(t *testing.T) {
	t.Parallel()
	srv := start(t)
	first := get(t, srv, "/_mock/openapi.json")
	document, err := mockserver.OpenAPI(shipping.Operations())
	if err != nil {
		t.Fatal(err)
	}
	if first.status != http.StatusOK || !bytes.Equal(first.body, document) {
		t.Errorf("status %d and %d bytes; want the document of the default table", first.status, len(first.body))
	}
	again := do(t, srv, http.MethodGet, "/_mock/openapi.json", "", "If-None-Match", first.header.Get("Etag"))
	if again.status != http.StatusNotModified || len(again.body) != 0 {
		t.Errorf("status %d and %d bytes; want 304 and none", again.status, len(again.body))
	}
}

func TestOpenAPI_FollowsTheServersOwnRoutes(t *testing.T) {
	t.Parallel()
	table := shipping.Operations()
	i := slices.IndexFunc(table, func(op shipping.Operation) bool { return op.Name == shipping.OpRetryRequest })
	table[i].Route = "/v1/regulatory-retries/{request_id}"
	srv := start(t, mockserver.WithOperations(table))
	document := get(t, srv, "/_mock/openapi.json")
	if !bytes.Contains(document.body, []byte(`"/v1/regulatory-retries/{request_id}"`)) {
		t.Error("the document has not the route that the server has")
	}
}

func TestResponseCheck_AcceptsTheServersAnswersAndFindsADifference(t *testing.T) {
	t.Parallel()
	srv := start(t)
	check, err := srv.ResponseCheck()
	if err != nil {
		t.Fatal(err)
	}
	rates := get(t, srv, "/v1/rates?perPage=2")
	if err := check(shipping.OpListRates, rates.status, rates.body); err != nil {
		t.Error(err)
	}
	unknown := get(t, srv, "/v1/unknown")
	if err := check("", unknown.status, unknown.body); err != nil {
		t.Error(err)
	}
	text := bytes.Replace(rates.body, []byte(`"used":`), []byte(`"Used":`), 1)
	err = check(shipping.OpListRates, rates.status, text)
	for _, want := range []string{"/data/rates/0/used is missing", "/data/rates/0/Used is not in the document"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want an error with %q", err, want)
		}
	}
}

// What the document makes depend on an assumption is an assumption.
func TestOpenAPI_DependsOnKnownAssumptions(t *testing.T) {
	t.Parallel()
	document, err := openapi.Load(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range document.Assumptions() {
		if !slices.Contains(mockserver.AssumptionNames(), name) {
			t.Errorf("x-when names %q, which is not a field of Assumptions", name)
		}
	}
}
