package mockserver_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
)

func TestOpenAPI_CheckedInDocumentIsCurrent(t *testing.T) {
	t.Parallel()
	checkedIn, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	current, err := mockserver.OpenAPI(shipping.Operations())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(checkedIn, current) {
		t.Error("openapi.json is not what the tables say: run go generate ./mockserver and commit it")
	}
}

func TestOpenAPI_DescribesEveryOperation(t *testing.T) {
	t.Parallel()
	document, err := mockserver.OpenAPI(shipping.Operations())
	if err != nil {
		t.Fatal(err)
	}
	type operation struct {
		ID          string                `json:"operationId"`
		Security    []map[string][]string `json:"security"`
		Charges     bool                  `json:"x-charges"`
		Provisional bool                  `json:"x-provisional"`
	}
	var parsed struct {
		Paths map[string]map[string]operation `json:"paths"`
	}
	if err := json.Unmarshal(document, &parsed); err != nil {
		t.Fatal(err)
	}
	for _, row := range shipping.Operations() {
		got, there := parsed.Paths[row.Route][strings.ToLower(row.Method)]
		if !there || got.ID != row.Name {
			t.Errorf("%s: %s %s is %q in the document", row.Name, row.Method, row.Route, got.ID)
		}
		if got.Charges != row.Charges || got.Provisional != row.Provisional || (len(got.Security) == 0) != row.Open {
			t.Errorf("%s: %+v in the document; the table has %+v", row.Name, got, row)
		}
	}
}

func TestOpenAPI_IsServedAndCanBeCached(t *testing.T) {
	t.Parallel()
	srv := start(t)
	first := get(t, srv, "/_mock/openapi.json")
	checkedIn, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if first.status != http.StatusOK || !bytes.Equal(first.body, checkedIn) {
		t.Errorf("status %d and %d bytes; want the checked-in document", first.status, len(first.body))
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

// S31, U2: the document has every parameter of a control route, with what it means, and what its answers are.
func TestOpenAPI_DescribesControlRoutes(t *testing.T) {
	t.Parallel()
	document, err := mockserver.OpenAPI(shipping.Operations())
	if err != nil {
		t.Fatal(err)
	}
	var parsed struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In, Description string }
			Responses  map[string]struct{ Content map[string]any }
		}
	}
	if err := json.Unmarshal(document, &parsed); err != nil {
		t.Fatal(err)
	}
	var index []struct {
		Method, Path string
		Query        []string
	}
	srv := start(t, mockserver.WithoutListener())
	get(t, srv, "/_mock/").data(t, &index)
	for _, route := range index {
		op := parsed.Paths[route.Path][strings.ToLower(route.Method)]
		var query []string
		for _, p := range op.Parameters {
			if p.In == "query" {
				query = append(query, p.Name)
			}
			if p.Description == "" || p.Description == "Which one." {
				t.Errorf("%s %s: parameter %s is %q", route.Method, route.Path, p.Name, p.Description)
			}
		}
		if !slices.Equal(query, route.Query) {
			t.Errorf("%s %s takes %v, and the document has %v", route.Method, route.Path, route.Query, query)
		}
	}
	for path, media := range map[string]string{
		"/_mock/": "text/html", "/_mock/live": "text/event-stream", "/_mock/console/{file}": "text/javascript", "/_mock/calls/{request_id}": "text/plain",
		"/_mock/worlds": "application/json",
	} {
		if content := parsed.Paths[path]["get"].Responses["200"].Content; content[media] == nil {
			t.Errorf("%s answers with %v", path, content)
		}
	}
}
