package documents_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// Each field of the records of a list is in every place of the recipe in CONTRIBUTING.md. The test names the places
// that lack it.
func TestFields_AreInEveryPlace(t *testing.T) {
	t.Parallel()
	const optional = `, without spec:"optional"`
	server := mockserver.New(mockserver.WithoutListener())
	defer server.Close()
	schemas := readSchemas(t)
	for _, list := range shippingtest.Lists() {
		if shippingtest.Operation(list.Operation).Route == "" { // TestOperations_AreInEveryPlace reports it
			continue
		}
		name := list.Record.Name()
		fields, required := membersOf(list.Record)
		for place, found := range map[string][]string{
			"properties of components/schemas/" + name +
				" in internal/specification/service.json": slices.Collect(maps.Keys(schemas[name].Properties)),
			"the response of the reference server (mockserver/internal/account and mockserver/internal/seed)": fieldsIn(t, list,
				served(t, server, list), 1<<20),
			// The other records may be odd.
			"the first record of internal/shippingtest/testdata/" + list.Name + ".json": fieldsIn(t, list,
				[]byte(shippingtest.Golden(t, list.Name+".json")), 1),
		} {
			sameFields(t, "type "+name, fields, place, found)
		}
		sameFields(t, name+optional, required, "required in internal/specification/service.json", schemas[name].Required)
	}
	for name, record := range map[string]reflect.Type{
		"Timezone":     reflect.TypeOf(shipping.Country{}.Timezones).Elem(),
		"ReplayResult": reflect.TypeFor[shipping.ReplayResult](),
	} {
		_, required := membersOf(record)
		sameFields(t, name+optional, required, "required in internal/specification/service.json", schemas[name].Required)
	}
}

// sameFields requires that two places have the same fields.
func sameFields(t *testing.T, place string, fields []string, other string, found []string) {
	t.Helper()
	slices.Sort(fields)
	slices.Sort(found)
	shippingtest.Diff(t, place+" and "+other, fields, found)
}

// membersOf returns the names of a struct's members on the wire, and those that are required.
func membersOf(record reflect.Type) (all, required []string) {
	for member := range record.Fields() {
		if member.Tag.Get("json") == "-" {
			continue
		}
		all = append(all, member.Tag.Get("json"))
		if member.Tag.Get("spec") != "optional" {
			required = append(required, member.Tag.Get("json"))
		}
	}
	return all, required
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
	shippingtest.NoError(t, json.Unmarshal([]byte(readText(t, "internal/specification/service.json")), &document))
	return document.Components.Schemas
}

// served returns the response of the server with a list.
func served(t *testing.T, server *mockserver.Server, list shippingtest.List) []byte {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet,
		shippingtest.Operation(list.Operation).Route+"?"+list.Query(server.Wallets()[0]), nil)
	r.Header.Set("Authorization", "Bearer "+server.SecretKey)
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r)
	return w.Body.Bytes()
}

// fieldsIn returns the fields that any of the first records in a response with a list has.
func fieldsIn(t *testing.T, list shippingtest.List, response []byte, most int) []string {
	t.Helper()
	var envelope struct{ Data json.RawMessage }
	err := json.Unmarshal(response, &envelope)
	if list.Paged && err == nil {
		var data map[string]json.RawMessage
		err = json.Unmarshal(envelope.Data, &data)
		envelope.Data = data[list.Name]
	}
	var records []map[string]json.RawMessage
	if err := cmp.Or(err, json.Unmarshal(envelope.Data, &records)); err != nil {
		t.Errorf("%s: %v", list.Name, err)
	}
	all := map[string]json.RawMessage{}
	for _, record := range records[:min(most, len(records))] {
		maps.Copy(all, record)
	}
	return slices.Collect(maps.Keys(all))
}
