package documents_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// place is a place where the recipe for a field of a record, in CONTRIBUTING.md, puts it.
type place struct {
	name   string
	fields []string // names on the wire
	add    string
}

// Each field of the records of a list is in every place of the recipe. The test names the places that lack it.
func TestFields_AreInEveryPlace(t *testing.T) {
	t.Parallel()
	server := mockserver.New()
	defer server.Close()
	if err := server.Err(); err != nil {
		t.Fatal(err)
	}
	schemas := readSchemas(t)
	for _, list := range shippingtest.Lists() {
		if shippingtest.Operation(list.Operation).Route == "" { // TestOperations_AreInEveryPlace reports it
			continue
		}
		record := list.Record.Name()
		fields, source := memberNames(list.Record), sourceOf(t, record)
		missing := fieldsMissing(
			place{"type " + record, fields, "add a field with its struct tag to " + source},
			place{
				"the schema " + record, slices.Collect(maps.Keys(schemas[record].Properties)),
				"add it to properties of components/schemas/" + record + " in internal/specification/service.json, and to required unless it is optional",
			},
			place{
				"a response of the reference server", fieldsServed(t, server, list),
				"set it in mockserver/internal/seed, after adding it to the record in mockserver/internal/account if there is one",
			},
			place{
				"the golden response", fieldsOf(recordsIn(t, list, []byte(shippingtest.Golden(t, list.Name+".json")))[:1]), // the others may be odd
				"add it to the records of internal/shippingtest/testdata/" + list.Name + ".json",
			},
		)
		for _, problem := range missing {
			t.Error(problem)
		}
	}
}

// fieldsMissing returns which fields of any place are missing in which others.
func fieldsMissing(places ...place) (problems []string) {
	in := map[string]string{} // a place that has the field
	for _, p := range places {
		for _, field := range p.fields {
			in[field] = p.name
		}
	}
	for _, p := range places {
		if len(p.fields) == 0 {
			problems = append(problems, fmt.Sprintf("%s has none of the fields %s: %s", p.name, strings.Join(slices.Sorted(maps.Keys(in)), ", "), p.add))
			continue
		}
		for _, field := range slices.Sorted(maps.Keys(in)) {
			if !slices.Contains(p.fields, field) {
				problems = append(problems, fmt.Sprintf("%s lacks the field %s, which %s has: %s", p.name, field, in[field], p.add))
			}
		}
	}
	return problems
}

// schema is a record of the OpenAPI document.
type schema struct {
	Properties map[string]any
	Required   []string
}

func readSchemas(t *testing.T) map[string]schema {
	t.Helper()
	var document struct {
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal([]byte(readText(t, "internal/specification/service.json")), &document); err != nil {
		t.Fatal(err)
	}
	return document.Components.Schemas
}

// The members that a schema of the OpenAPI document requires are those of the Go type of its name that have no struct tag
// spec:"optional".
func TestFields_AreRequiredInTheSchemaUnlessOptionalInGo(t *testing.T) {
	t.Parallel()
	schemas := readSchemas(t)
	records := []reflect.Type{reflect.TypeFor[shipping.Timezone](), reflect.TypeFor[shipping.ReplayResult]()}
	for _, list := range shippingtest.Lists() {
		records = append(records, list.Record)
	}
	for _, of := range records {
		var required []string
		for member := range of.Fields() {
			if member.Tag.Get("spec") != "optional" {
				required = append(required, member.Tag.Get("json"))
			}
		}
		want := schemas[of.Name()].Required
		slices.Sort(required)
		slices.Sort(want)
		if diff := cmp.Diff(want, required); diff != "" {
			t.Errorf("%s (-required in internal/specification/service.json +without spec:\"optional\" in %s):\n%s", of.Name(), sourceOf(t, of.Name()), diff)
		}
	}
}

// memberNames returns the names of a struct's members on the wire.
func memberNames(of reflect.Type) (names []string) {
	for member := range of.Fields() {
		names = append(names, member.Tag.Get("json"))
	}
	return names
}

// sourceOf returns the file of the root package that declares a type.
func sourceOf(t *testing.T, name string) string {
	t.Helper()
	fromRoot(t)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.Contains(readText(t, file), "\ntype "+name+" struct {") {
			return file
		}
	}
	t.Errorf("no file of the root package declares type %s", name)
	return ""
}

// fieldsServed returns the fields of the records that the server lists.
func fieldsServed(t *testing.T, server *mockserver.Server, list shippingtest.List) []string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		server.URL+shippingtest.Operation(list.Operation).Route+"?"+list.Query(server.Wallets()[0]), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+server.SecretKey)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fieldsOf(recordsIn(t, list, body))
}

// recordsIn returns the records in a response with a list, or one record without a field.
func recordsIn(t *testing.T, list shippingtest.List, response []byte) (records []map[string]json.RawMessage) {
	t.Helper()
	var envelope struct{ Data json.RawMessage }
	if err := json.Unmarshal(response, &envelope); err != nil {
		t.Fatal(err)
	}
	if list.Paged {
		var data map[string]json.RawMessage
		if err := json.Unmarshal(envelope.Data, &data); err != nil {
			t.Fatal(err)
		}
		envelope.Data = data[list.Name]
	}
	if json.Unmarshal(envelope.Data, &records) != nil || len(records) == 0 {
		return make([]map[string]json.RawMessage, 1)
	}
	return records
}

// fieldsOf returns the fields that any of the records has.
func fieldsOf(records []map[string]json.RawMessage) []string {
	all := map[string]json.RawMessage{}
	for _, record := range records {
		maps.Copy(all, record)
	}
	return slices.Collect(maps.Keys(all))
}
