package contract

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/shipping-go/shipping"
)

const documentFile = "../../mockserver/openapi.json"

// rulebook is the document in closed form: an object that lists its properties has no others, so that
// a field which nobody documented is found. It is read once, since nothing changes it.
var rulebook = sync.OnceValues(func() (*openapi3.T, error) {
	text, err := os.ReadFile(documentFile)
	if err != nil {
		return nil, err
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	closeObjects(document)
	if text, err = json.Marshal(document); err != nil {
		return nil, err
	}
	return openapi3.NewLoader().LoadFromData(text)
})

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

func rules(t *testing.T) (*openapi3.T, routers.Router) {
	t.Helper()
	document, err := rulebook()
	if err != nil {
		t.Fatal(err)
	}
	router, err := gorillamux.NewRouter(document)
	if err != nil {
		t.Fatal(err)
	}
	return document, router
}

func TestDocument_IsValidOpenAPI(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromFile(documentFile)
	if err != nil {
		t.Fatal(err)
	}
	if document.OpenAPI != "3.1.0" {
		t.Errorf("OpenAPI %s; want 3.1.0", document.OpenAPI)
	}
	if err := document.Validate(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestDocument_ExamplesAreValid(t *testing.T) {
	t.Parallel()
	document, _ := rules(t)
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

func TestDocument_EverySchemaSaysWhereItComesFrom(t *testing.T) {
	t.Parallel()
	document, _ := rules(t)
	for name, schema := range document.Components.Schemas {
		_, assumed := schema.Value.Extensions["x-assumption"]
		if description := schema.Value.Description; !assumed && name != "Amount" && !hasHeading(description) {
			t.Errorf("%s quotes no heading of the specification and is marked as no assumption: %q", name, description)
		}
	}
}

func hasHeading(description string) bool {
	const lead = `Specification, "`
	return len(description) > len(lead) && description[:len(lead)] == lead
}

func TestDocument_MarksWhatIsNotTheSpecifications(t *testing.T) {
	t.Parallel()
	document, _ := rules(t)
	provisional := map[string]bool{}
	for _, op := range shipping.ProvisionalOperations() {
		provisional[op.Name] = true
	}
	for path, item := range document.Paths.Map() {
		for method, op := range item.Operations() {
			control := slices.Contains(op.Tags, "control")
			if wantControl := len(path) > 6 && path[:7] == "/_mock/"; control != wantControl {
				t.Errorf("%s %s: tags %v", method, path, op.Tags)
			}
			if marked := op.Extensions["x-provisional"] == true; marked != provisional[op.OperationID] {
				t.Errorf("%s %s: x-provisional is %v", method, path, op.Extensions["x-provisional"])
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(document.Components.Responses)) {
		if document.Components.Responses[name].Value.Extensions["x-assumption"] == nil {
			t.Errorf("the failure %s is not marked as an assumption", name)
		}
	}
}
