package documents_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
	openapi "github.com/shipping-go/shipping/internal/specification"
	"github.com/shipping-go/shipping/internal/status"
)

// A status was added to the constants alone: the client waited without end, and no test failed.
func TestStatuses_AreInEveryPlace(t *testing.T) {
	t.Parallel()
	var names []string
	ends := map[string]bool{}
	for _, row := range status.All() {
		names = append(names, row.Name)
		ends[row.Name] = row.Final
	}
	var document struct {
		Components struct {
			Schemas map[string]struct{ Enum []string }
		}
	}
	shippingtest.NoError(t, json.Unmarshal(openapi.Service(), &document))
	shippingtest.Diff(t, "RequestStatus in service.json", names, document.Components.Schemas["RequestStatus"].Enum)
	shippingtest.Diff(t, "constants of regulatory.go", names, constants(t, "regulatory.go", "RequestStatus"))
	shippingtest.Diff(t, "constants of mockserver/internal/regulatory/states.go", names,
		constants(t, "mockserver/internal/regulatory/states.go", "State"))
	stages, end := map[string]bool{}, "90"
	for _, element := range literal(t, "conformance/purchase.go", "stages") {
		row := element.(*ast.KeyValueExpr)
		stages[text(row.Key)] = text(row.Value) == end
	}
	shippingtest.Diff(t, "ends in stages of conformance/purchase.go", ends, stages)
}

// constants returns the values of the constants of a type, without the empty one.
func constants(t *testing.T, file, of string) (values []string) {
	t.Helper()
	ast.Inspect(shippingtest.Must(parser.ParseFile(token.NewFileSet(), file, readText(t, file), 0))(t), func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == of && text(spec.Values[0]) != "" {
			values = append(values, text(spec.Values[0]))
		}
		return true
	})
	return values
}

// literal returns the elements of a variable.
func literal(t *testing.T, file, variable string) (elements []ast.Expr) {
	t.Helper()
	ast.Inspect(shippingtest.Must(parser.ParseFile(token.NewFileSet(), file, readText(t, file), 0))(t), func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && spec.Names[0].Name == variable {
			elements = spec.Values[0].(*ast.CompositeLit).Elts
		}
		return true
	})
	return elements
}

// text returns a basic literal without its quotation marks.
func text(of ast.Expr) string {
	written := of.(*ast.BasicLit).Value
	if plain, err := strconv.Unquote(written); err == nil {
		return plain
	}
	return written
}
