package openapi_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/specification"
	"github.com/shipping-go/shipping/mockserver/internal/admin"
	"github.com/shipping-go/shipping/mockserver/internal/api"
)

func write(t *testing.T, operations []operations.Operation, d *dialect.Dialect) string {
	t.Helper()
	text, err := admin.Document(operations, d)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(text) {
		t.Fatal("not JSON")
	}
	return string(text)
}

func TestWrite_LeavesOutAnOperationThatNobodyHasDescribed(t *testing.T) {
	t.Parallel()
	table := append(operations.All(), operations.Operation{Name: "parcels.list", Method: "GET", Route: "/v1/parcels"})
	if write(t, table, new(dialect.Dialect)) != write(t, operations.All(), new(dialect.Dialect)) {
		t.Error("an operation without a description changes the document")
	}
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
	if err := json.Unmarshal(specification.Service(), &file); err != nil {
		t.Fatal(err)
	}
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
			t.Errorf("%s: x-charges, x-provisional and security in service.json are %+v; the table of operations has %+v", op.Name, got, op)
		}
	}
	for row := range described {
		t.Errorf("service.json has %s, which internal/operations does not: remove it, or correct its path, method or operationId", row)
	}
}

func TestWrite_FollowsAssumptions(t *testing.T) {
	t.Parallel()
	plain := write(t, operations.All(), new(dialect.Dialect))
	if strings.Contains(plain, `"x-when"`) || strings.Contains(plain, `"x-every-operation"`) {
		t.Error("a member of the files is in the document")
	}
	changed := write(t, operations.All(), &dialect.Dialect{List: dialect.List{Breakdown: "object"}})
	var document struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]map[string]any }
		}
	}
	if err := json.Unmarshal([]byte(changed), &document); err != nil {
		t.Fatal(err)
	}
	breakdown := document.Components.Schemas["Rate"].Properties["breakdown"]
	if breakdown["type"] != "object" || breakdown["additionalProperties"] == nil || breakdown["description"] == nil {
		t.Errorf("with ObjectBreakdown a breakdown is %v", breakdown)
	}
	if _, has := breakdown["items"]; has {
		t.Error("null did not remove items")
	}
}

// Each operation has one tag, control operations have ids of a verb and a noun, and each parameter has a description and an
// example. test/contract finds invalid parts: an id that occurs twice, a tag that is not defined, an operation without
// summary or security, and a placeholder that no parameter describes.
func TestWrite_DescribesEveryOperationAndParameter(t *testing.T) {
	t.Parallel()
	type parameter struct {
		Name, Description string
		Example           any
	}
	var document struct {
		Paths map[string]map[string]struct {
			ID         string `json:"operationId"`
			Tags       []string
			Parameters []struct {
				Ref string `json:"$ref"`
				parameter
			}
			Responses map[string]any
		}
		Components struct{ Parameters map[string]parameter }
	}
	if err := json.Unmarshal([]byte(write(t, operations.All(), new(dialect.Dialect))), &document); err != nil {
		t.Fatal(err)
	}
	camel := regexp.MustCompile(`^[a-z]+[A-Za-z]+$`)
	for path, methods := range document.Paths {
		control := strings.HasPrefix(path, "/_mock/")
		for method, op := range methods {
			place := method + " " + path
			if control && !camel.MatchString(op.ID) {
				t.Errorf("%s: operationId %q: use a verb and a noun, such as openWorld", place, op.ID)
			}
			if len(op.Tags) != 1 || (op.Tags[0] == "control") != control {
				t.Errorf("%s: operation %s has the tags %q: give it one; control operations, and no others, have the tag control", place, op.ID, op.Tags)
			}
			for _, p := range op.Parameters {
				described := p.parameter
				if p.Ref != "" {
					described = document.Components.Parameters[strings.TrimPrefix(p.Ref, "#/components/parameters/")]
				}
				if described.Description == "" || described.Example == nil {
					t.Errorf("%s: parameter %s%s needs a description and an example", place, described.Name, p.Ref)
				}
			}
			if control && (op.Responses["4XX"] == nil || op.Responses["5XX"] == nil) {
				t.Errorf("%s: responses %v", place, slices.Sorted(maps.Keys(op.Responses)))
			}
		}
	}
}

// What the document makes depend on a dialect is a field with a value that it can have.
func TestOpenAPI_DependsOnKnownFields(t *testing.T) {
	t.Parallel()
	for _, text := range regexp.MustCompile(`"x-when":\s*\{\s*"([\w.]+)=?([^"]*)"`).FindAllStringSubmatch(string(specification.Service()), -1) {
		d := new(dialect.Dialect)
		if err := errors.Join(d.Set(text[1], cmp.Or(text[2], "1s")), d.Check()); err != nil {
			t.Errorf("x-when names %q: %v", text[0], err)
		}
	}
}

// In the document, each operation of the service has exactly the query parameters that the server reads, and needs the key
// unless it is open.
func TestOpenAPI_HasEveryQueryParameterOfTheService(t *testing.T) {
	t.Parallel()
	type parameter struct {
		Ref      string `json:"$ref"`
		Name, In string
	}
	var document struct {
		Paths map[string]map[string]struct {
			Parameters []parameter
			Security   []any
		}
		Components struct{ Parameters map[string]parameter }
	}
	if err := json.Unmarshal([]byte(write(t, operations.All(), new(dialect.Dialect))), &document); err != nil {
		t.Fatal(err)
	}
	for _, op := range operations.All() {
		var described []string
		operation := document.Paths[op.Route][strings.ToLower(op.Method)]
		if (len(operation.Security) == 0) != op.Open {
			t.Errorf("%s: security %v", op.Name, operation.Security)
		}
		for _, p := range operation.Parameters {
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
