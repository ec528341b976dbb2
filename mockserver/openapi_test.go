package mockserver_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/assumption"
	"github.com/shipping-go/shipping/mockserver/internal/api"
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

// What the document makes depend on an assumption is an assumption.
func TestOpenAPI_DependsOnKnownAssumptions(t *testing.T) {
	t.Parallel()
	document, err := openapi.Load(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = document.Write(shipping.Operations(), func(name string) bool {
		if !slices.Contains(assumption.Names(), name) {
			t.Errorf("x-when names %q, which is not a field of Assumptions", name)
		}
		return false
	})
	if err != nil {
		t.Fatal(err)
	}
}

// In the document, each operation of the service has exactly the query parameters that the server reads.
func TestOpenAPI_HasEveryQueryParameterOfTheService(t *testing.T) {
	t.Parallel()
	text, err := mockserver.OpenAPI(shipping.Operations())
	if err != nil {
		t.Fatal(err)
	}
	type parameter struct {
		Ref      string `json:"$ref"`
		Name, In string
	}
	var document struct {
		Paths map[string]map[string]struct {
			Parameters []parameter
		}
		Components struct{ Parameters map[string]parameter }
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	for _, op := range shipping.Operations() {
		var described []string
		for _, p := range document.Paths[op.Route][strings.ToLower(op.Method)].Parameters {
			if p.Ref != "" {
				p = document.Components.Parameters[strings.TrimPrefix(p.Ref, "#/components/parameters/")]
			}
			if p.In == "query" {
				described = append(described, p.Name)
			}
		}
		known := slices.Sorted(slices.Values(api.Parameters(op.Name)))
		slices.Sort(described)
		if !slices.Equal(described, known) {
			t.Errorf("%s takes the query parameters %v, and internal/specification/service.json has %v: correct its parameters", op.Name, known, described)
		}
	}
}
