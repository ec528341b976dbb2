package openapi_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/internal/specification"
	"github.com/shipping-go/shipping/mockserver/internal/admin"
	"github.com/shipping-go/shipping/mockserver/internal/api"
)

func write(t *testing.T, operations []operations.Operation, choices string) string {
	t.Helper()
	text := shippingtest.Must(admin.Document(operations, shippingtest.Dialect(t, choices)))(t)
	if !json.Valid(text) {
		t.Fatal("not JSON")
	}
	return string(text)
}

// Every operation of the table is in service.json under its own route, and the file has no others.
func TestOpenAPI_DescribesEveryOperation(t *testing.T) {
	t.Parallel()
	var file struct {
		Paths map[string]map[string]struct {
			ID          string                `json:"operationId"`
			Security    []map[string][]string `json:"security"`
			Charges     bool                  `json:"x-charges"`
			Provisional bool                  `json:"x-provisional"`
		}
	}
	shippingtest.NoError(t, json.Unmarshal(specification.Service(), &file))
	described := map[string]bool{}
	for path, methods := range file.Paths {
		for method, op := range methods {
			described[method+" "+path+" "+op.ID] = true
		}
	}
	for _, op := range operations.All() {
		row := strings.ToLower(op.Method) + " " + op.Route + " " + op.Name
		if !described[row] {
			t.Errorf("internal/specification/service.json lacks %s: add it to paths, and its records to components/schemas", row)
			continue
		}
		delete(described, row)
		got := file.Paths[op.Route][strings.ToLower(op.Method)]
		if got.Charges != op.Charges || got.Provisional != op.Provisional || (len(got.Security) == 0) != op.Open {
			t.Errorf("%s: x-charges, x-provisional and security in service.json are %+v; the table of operations has %+v",
				op.Name, got, op)
		}
	}
	for row := range described {
		t.Errorf("service.json has %s, which internal/operations does not: remove it, or correct its path, method or "+
			"operationId", row)
	}
}

// What the document makes depend on a dialect is a field with a value that it can have.
func TestOpenAPI_DependsOnKnownFields(t *testing.T) {
	t.Parallel()
	when := regexp.MustCompile(`"x-when":\s*\{\s*"([\w.]+)=?([^"]*)"`)
	for _, text := range when.FindAllStringSubmatch(string(specification.Service()), -1) {
		if err := shippingtest.Dialect(t, text[1]+"="+text[2]).Check(); err != nil {
			t.Errorf("x-when names %q: %v", text[0], err)
		}
	}
}

// In the document, each operation of the service has exactly the query parameters that the server reads, and needs the
// key unless it is open. Each parameter has a description and an example, and control operations have ids of a verb and
// a noun. test/contract finds invalid parts.
func TestOpenAPI_HasEveryParameter(t *testing.T) {
	t.Parallel()
	type parameter struct {
		Ref                   string `json:"$ref"`
		Name, In, Description string
		Example               any
	}
	var document struct {
		Paths map[string]map[string]struct {
			ID         string `json:"operationId"`
			Tags       []string
			Parameters []parameter
			Security   []any
			Responses  map[string]any
		}
		Components struct{ Parameters map[string]parameter }
	}
	shippingtest.NoError(t, json.Unmarshal([]byte(write(t, operations.All(), "")), &document))
	camel := regexp.MustCompile(`^[a-z]+[A-Za-z]+$`)
	query := map[string][]string{} // by operation
	for path, methods := range document.Paths {
		control := strings.HasPrefix(path, "/_mock/")
		for method, op := range methods {
			for _, p := range op.Parameters {
				if p.Ref != "" {
					p = document.Components.Parameters[strings.TrimPrefix(p.Ref, "#/components/parameters/")]
				}
				if p.Description == "" || p.Example == nil {
					t.Errorf("%s %s: parameter %s needs a description and an example", method, path, p.Name)
				}
				if p.In == "query" {
					query[op.ID] = append(query[op.ID], p.Name)
				}
			}
			if len(op.Tags) != 1 || (op.Tags[0] == "control") != control || control && (!camel.MatchString(op.ID) ||
				op.Responses["4XX"] == nil || op.Responses["5XX"] == nil) {
				t.Errorf("%s %s: use an operationId such as openWorld, one tag, and responses 4XX and 5XX, not %+v", method, path,
					op)
			}
		}
	}
	for _, op := range operations.All() {
		security := document.Paths[op.Route][strings.ToLower(op.Method)].Security
		shippingtest.Diff(t, op.Name+" is open", op.Open, len(security) == 0)
		described, known := query[op.Name], slices.Sorted(slices.Values(api.Parameters(op.Name)))
		slices.Sort(described)
		shippingtest.Diff(t, "parameters in internal/specification/service.json of "+op.Name, known, described)
	}
}

func TestWrite_FollowsAssumptions(t *testing.T) {
	t.Parallel()
	plain := write(t, operations.All(), "")
	if strings.Contains(plain, `"x-when"`) || strings.Contains(plain, `"x-every-operation"`) {
		t.Error("a member of the files is in the document")
	}
	changed := write(t, operations.All(),
		"offer.mode=kind,offer.automated=auto,refusal.code=data.reason,purchase.confirmation=empty")
	var document struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]map[string]any }
		}
	}
	shippingtest.NoError(t, json.Unmarshal([]byte(changed), &document))
	if code := document.Components.Schemas["RefusalData"].Properties; code["reason"] == nil || code["error_code"] != nil {
		t.Errorf("the data of a refusal are %v", code)
	}
	if receipt := document.Components.Schemas["PurchaseResult"].Properties; len(receipt) > 0 {
		t.Errorf("an empty receipt has %v", receipt)
	}
	for _, name := range []string{"AvailableDocument", "Document"} {
		mode := document.Components.Schemas[name].Properties["kind"]
		shippingtest.Diff(t, name, []any{"auto", "manual"}, mode["enum"])
	}
}
