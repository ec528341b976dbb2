package contract

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
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
	document, err := rulebook()
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func TestDocument_ExamplesAreValid(t *testing.T) {
	t.Parallel()
	document := rules(t)
	checked := 0
	for name, schema := range document.Components.Schemas {
		for property, p := range schema.Value.Properties {
			for _, example := range p.Value.Examples {
				checked++
				if err := p.Value.VisitJSON(example, openapi3.EnableJSONSchema2020()); err != nil {
					t.Errorf("example %v of %s.%s: %v", example, name, property, err)
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d examples were found", checked)
	}
}

// A field without a type would allow any value.
func TestDocument_EveryFieldHasAType(t *testing.T) {
	t.Parallel()
	var untyped []string
	for name, schema := range rules(t).Components.Schemas {
		untyped = append(untyped, fieldsWithoutType(name, schema)...)
	}
	slices.Sort(untyped)
	anything := []string{"NewWorld.dialect", "NotifyDelivery.payload", "NotifyEvent.data", "NotifyReceived.payload",
		"Rate.breakdown[]"}
	if !slices.Equal(untyped, anything) {
		t.Errorf("fields without a type: %q, want %q", untyped, anything)
	}
}

// fieldsWithoutType returns the places of a schema, and of those in it, that have no type.
func fieldsWithoutType(place string, schema *openapi3.SchemaRef) (found []string) {
	if schema == nil || schema.Ref != "" {
		return nil
	}
	s := schema.Value
	if s.Type == nil && s.OneOf == nil && s.AnyOf == nil && s.AllOf == nil && s.Enum == nil {
		found = append(found, place)
	}
	for name, property := range s.Properties {
		found = append(found, fieldsWithoutType(place+"."+name, property)...)
	}
	return append(found, fieldsWithoutType(place+"[]", s.Items)...)
}

func TestDocument_MarksWhatIsNotTheSpecifications(t *testing.T) {
	t.Parallel()
	document := rules(t)
	provisional := map[string]bool{}
	for _, op := range operations.All() {
		provisional[op.Name] = op.Provisional
	}
	for path, item := range document.Paths.Map() {
		for method, op := range item.Operations() {
			if marked := op.Extensions["x-provisional"] == true; marked != provisional[op.OperationID] {
				t.Errorf("%s %s: x-provisional is %v", method, path, op.Extensions["x-provisional"])
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(document.Components.Responses)) {
		if !strings.HasPrefix(name, "Control") && document.Components.Responses[name].Value.Extensions["x-assumption"] == nil {
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
