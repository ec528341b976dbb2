package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// rulebook is the document in closed form: an object that lists its properties has no others, so that
// a field which nobody documented is found. It is made once, since nothing changes it.
var rulebook = sync.OnceValues(func() (*openapi3.T, error) {
	openapi3filter.RegisterBodyDecoder("text/javascript", openapi3filter.FileBodyDecoder)
	text, err := mockserver.OpenAPI(nil)
	if err != nil {
		return nil, err
	}
	return closed(text)
})

// closed returns a document in closed form.
func closed(text []byte) (*openapi3.T, error) {
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	closeObjects(document)
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	return openapi3.NewLoader().LoadFromData(text)
}

func closeObjects(node any) {
	switch node := node.(type) {
	case map[string]any:
		_, isRecord := node["properties"].(map[string]any)
		if _, decided := node["additionalProperties"]; isRecord && node["type"] == "object" && !decided {
			node["additionalProperties"] = false
		}
		for _, child := range node {
			closeObjects(child)
		}
	case []any:
		for _, child := range node {
			closeObjects(child)
		}
	}
}

func rules(t *testing.T) *openapi3.T {
	t.Helper()
	return shippingtest.Must(rulebook())(t)
}

// The document and the client know the same document types.
func TestClient_DocumentTypesOfTheDocument(t *testing.T) {
	t.Parallel()
	document := rules(t)
	var listed []shipping.DocumentType
	for _, value := range document.Components.Schemas["DocumentType"].Value.Enum {
		listed = append(listed, shipping.DocumentType(value.(string)))
	}
	shippingtest.Diff(t, "document types", shipping.DocumentTypes(), listed)
}

// A field without a type would allow any value, and an example must be one that the field allows.
func TestDocument_EveryFieldHasAType(t *testing.T) {
	t.Parallel()
	var found []string
	for name, schema := range rules(t).Components.Schemas {
		found = append(found, oddFields(name, schema)...)
	}
	slices.Sort(found)
	anything := []string{"NewWorld.dialect", "NotifyDelivery.payload", "NotifyEvent.data", "NotifyReceived.payload",
		"Rate.breakdown[]"}
	shippingtest.Diff(t, "fields without a type, and invalid examples", anything, found)
}

// The members of control requests, of deliveries and of the journal were explained only in the console and in Go.
func TestDocument_DescribesControlRequests(t *testing.T) {
	t.Parallel()
	document := rules(t)
	for _, name := range []string{"NotifyDelivery", "NotifyReceived", "JournalEntry"} {
		for _, place := range undescribed(name, document.Components.Schemas[name]) {
			t.Errorf("%s has no description", place)
		}
	}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			if strings.HasPrefix(path, "/_mock/") && operation.RequestBody != nil {
				body := operation.RequestBody.Value.Content.Get("application/json").Schema
				for _, place := range undescribed(method+" "+path, body) {
					t.Errorf("%s has no description", place)
				}
			}
		}
	}
}

// undescribed returns the properties of a schema, and of those in it, that have no description. An address and an
// amount are those of the service.
func undescribed(place string, schema *openapi3.SchemaRef) (found []string) {
	if schema == nil || strings.HasSuffix(schema.Ref, "/ShippingAddress") || strings.HasSuffix(schema.Ref, "/Amount") {
		return nil
	}
	for name, property := range schema.Value.Properties {
		if property.Value.Description == "" && property.Extensions["description"] == nil {
			found = append(found, place+" "+name)
		}
		found = append(found, undescribed(place+" "+name, property)...)
	}
	return append(found, undescribed(place, schema.Value.Items)...)
}

// oddFields returns the places of a schema, and of those in it, that have no type or an invalid example.
func oddFields(place string, schema *openapi3.SchemaRef) (found []string) {
	if schema == nil || schema.Ref != "" {
		return nil
	}
	s := schema.Value
	if s.Type == nil && s.OneOf == nil && s.AnyOf == nil && s.AllOf == nil && s.Enum == nil {
		found = append(found, place)
	}
	for _, example := range s.Examples {
		if s.VisitJSON(example, openapi3.EnableJSONSchema2020()) != nil {
			found = append(found, fmt.Sprint(place, " = ", example))
		}
	}
	for name, property := range s.Properties {
		found = append(found, oddFields(place+"."+name, property)...)
	}
	return append(found, oddFields(place+"[]", s.Items)...)
}

// The specification does not have the responses of failures.
func TestDocument_FailuresAreMarkedAsAssumptions(t *testing.T) {
	t.Parallel()
	for name, response := range rules(t).Components.Responses {
		if !strings.HasPrefix(name, "Control") && response.Value.Extensions["x-assumption"] == nil {
			t.Errorf("the failure %s is not marked as an assumption", name)
		}
	}
}

// The document allows what the specification allows, unless it marks a restriction as an assumption.
func TestDocument_IsNotStricterThanTheSpecification(t *testing.T) {
	t.Parallel()
	document := rules(t)
	for _, test := range []struct{ schema, property, value string }{
		{"RegulatoryRequest", "request_id", `"8f14e45f-ceea"`}, // identifier; no format is shown
		{"PurchaseRequest", "request_id", `"8f14e45f-ceea"`},
		{"PurchaseResult", "request_id", `"8f14e45f-ceea"`},
		{"RefusalData", "request_id", `"8f14e45f-ceea"`},
		{"Rate", "carrier_logo", `"/carriers/dhl.png"`}, // URL of the logo
		{"Rate", "carrier_logo", `"data:image/png;base64,"`},
		{"Rate", "breakdown", `[1,"a",{"b":2}]`},           // shape of an entry: not shown
		{"Webhook", "url", `"amqp://example.com/"`},        // target URL
		{"Country", "isoCode", `"ng"`},                     // two-letter country code
		{"Timezone", "gmtOffsetName", `"UTC\u00b101:00"`},  // e.g. UTC+hh:mm
		{"Transaction", "status", `"reversed"`},            // the full set of values: not shown
		{"ReplayResult", "replay_mode", `"fresh_payload"`}, // value that occurs: stored_payload
	} {
		property := document.Components.Schemas[test.schema].Value.Properties[test.property].Value
		if err := validate(property, []byte(test.value)); err != nil {
			t.Errorf("%s.%s = %s: %v", test.schema, test.property, test.value, err)
		}
	}

	purchase := shippingtest.Operation(shipping.OpPurchase)
	if responses := responsesOf(t, document, purchase); responses["2XX"] == nil { // no status is shown
		t.Errorf("%s is documented with %v only", purchase.Name, slices.Sorted(maps.Keys(responses)))
	}
}
