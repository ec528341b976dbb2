package mockserver_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/assumption"
	"github.com/shipping-go/shipping/mockserver/fault"
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

// The document has exactly the routes of the control surface, each with exactly the query parameters that it reads: a
// route refuses every other parameter.
func TestOpenAPI_HasEveryControlRoute(t *testing.T) {
	t.Parallel()
	const file = "mockserver/internal/openapi/control.json"
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
	srv := start(t, mockserver.WithoutListener())
	if err := json.Unmarshal(get(t, srv, "/_mock/openapi.json").body, &document); err != nil {
		t.Fatal(err)
	}
	described := map[string][]string{} // query parameters by method and path
	for path, methods := range document.Paths {
		if !strings.HasPrefix(path, "/_mock/") {
			continue
		}
		for method, operation := range methods {
			name, placeholders := strings.ToUpper(method)+" "+path, strings.Count(path, "{")
			described[name] = []string{}
			for _, p := range operation.Parameters {
				if p.Ref != "" {
					p = document.Components.Parameters[strings.TrimPrefix(p.Ref, "#/components/parameters/")]
				}
				switch {
				case p.In == "query":
					described[name] = append(described[name], p.Name)
				case p.In == "path" && strings.Contains(path, "{"+p.Name+"}"):
					placeholders--
				}
			}
			if placeholders != 0 {
				t.Errorf("%s: the path parameters of %s in %s are not those of its path", name, name, file)
			}
			slices.Sort(described[name])
		}
	}
	var index []struct {
		Method, Path string
		Query        []string
	}
	get(t, srv, "/_mock/").data(t, &index)
	for _, route := range index {
		name := route.Method + " " + route.Path
		query, known := described[name]
		if !known {
			t.Errorf("the server has the route %s, and %s does not: add it to paths, with its parameters, body and responses", name, file)
			continue
		}
		delete(described, name)
		slices.Sort(route.Query)
		if !slices.Equal(query, route.Query) {
			t.Errorf("%s reads the query parameters %v, and %s has %v: correct its parameters", name, route.Query, file, query)
		}
	}
	for name := range described {
		t.Errorf("%s has %s, and the server does not: remove it, or add the route to the table of control routes", file, name)
	}
}

// The enumerations of the document are those of the server.
func TestOpenAPI_EnumeratesWhatTheServerKnows(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Enum       []string
				Properties map[string]struct{ Enum []string }
			}
		}
	}
	if err := json.Unmarshal(get(t, srv, "/_mock/openapi.json").body, &document); err != nil {
		t.Fatal(err)
	}
	schemas := document.Components.Schemas
	var faults struct {
		Kinds  []struct{ Kind string }
		Points []string
	}
	get(t, srv, "/_mock/faults").data(t, &faults)
	var kinds, forms []string
	for _, k := range faults.Kinds {
		kinds = append(kinds, k.Kind)
	}
	for _, form := range fault.RetryAfters() {
		forms = append(forms, string(form))
	}
	for _, test := range []struct {
		schema    string
		got, want []string
	}{
		{"FaultKindName", schemas["FaultKindName"].Enum, kinds},
		{"Failpoint", schemas["Failpoint"].Enum, faults.Points},
		{"Fault.retry_after", schemas["Fault"].Properties["retry_after"].Enum, forms},
	} {
		slices.Sort(test.got)
		slices.Sort(test.want)
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s in mockserver/internal/openapi/control.json (-server +document):\n%s", test.schema, diff)
		}
	}
}

// What the document makes depend on an assumption is an assumption.
func TestOpenAPI_DependsOnKnownAssumptions(t *testing.T) {
	t.Parallel()
	document, err := openapi.Load()
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

// The body of a control operation has exactly the fields that the server reads. The server refuses every other field, and
// lists the fields that it accepts.
func TestOpenAPI_HasEveryFieldOfAControlBody(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	text := get(t, srv, "/_mock/openapi.json").body
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	written := []string{"number", "seen", "struck"} // of a fault rule; the server does not read them
	placeholders := strings.NewReplacer("{world}", "home", "{webhook_id}", srv.Webhooks()[0], "{number}", "1", "{request_id}", "RD-1", "{document_type}", "FDA")
	for path, methods := range document["paths"].(map[string]any) {
		for method, operation := range methods.(map[string]any) {
			if method == "get" || !strings.HasPrefix(path, "/_mock/") || path == "/_mock/inbox" && method == "post" { // a notification has any fields
				continue
			}
			described := map[string]bool{}
			fields(document, operation.(map[string]any)["requestBody"], described)
			got := slices.Sorted(maps.Keys(described))
			refused := do(t, srv, strings.ToUpper(method), placeholders.Replace(path), `{"zzzzzzzzzz":1}`)
			refused.refusal(t, http.StatusBadRequest, `unknown field "zzzzzzzzzz"`)
			var answer struct{ Message string }
			if err := json.Unmarshal(refused.body, &answer); err != nil {
				t.Fatal(err)
			}
			_, list, _ := strings.Cut(answer.Message, ": use one of ")
			want := strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(", ", r) })
			if strings.HasSuffix(path, "/faults") {
				want = slices.DeleteFunc(want, func(name string) bool { return slices.Contains(written, name) })
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s %s reads the fields %v, and mockserver/internal/openapi/control.json has %v: correct the schema of its body", strings.ToUpper(method), path, want, got)
			}
		}
	}
}

// fields collects the names of the properties in a part of the document, at any depth.
func fields(document map[string]any, node any, names map[string]bool) {
	object, _ := node.(map[string]any)
	for name, value := range object {
		switch name {
		case "$ref":
			schema := strings.TrimPrefix(value.(string), "#/components/schemas/")
			if schema != "WorldAssumptions" { // its fields follow from those of the server
				fields(document, document["components"].(map[string]any)["schemas"].(map[string]any)[schema], names)
			}
		case "properties":
			for property, schema := range value.(map[string]any) {
				names[property] = true
				fields(document, schema, names)
			}
		case "content", "application/json", "schema", "items":
			fields(document, value, names)
		}
	}
}
