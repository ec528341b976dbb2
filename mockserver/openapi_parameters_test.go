package mockserver_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/internal/api"
)

// In the document, each operation of the service has exactly the query parameters that the server reads.
func TestOpenAPI_HasEveryQueryParameterOfTheService(t *testing.T) {
	t.Parallel()
	text, err := mockserver.OpenAPI()
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
	for _, op := range operations.All() {
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
