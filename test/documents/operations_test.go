package documents_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// Each operation of the table is called by the conformance suite and by the tests of promises. Other tests name the
// handler (TestRouter_NamesTheOperationWithoutAHandler), the path in the OpenAPI document
// (TestOpenAPI_DescribesEveryOperation) and the golden response of a list (TestLists_EveryFieldOfTheGoldenResponse)
// that are missing.
func TestOperations_AreInEveryPlace(t *testing.T) {
	t.Parallel()
	server := mockserver.New()
	defer server.Close()
	if err := server.Err(); err != nil { // the suite cannot make a call
		t.Error(err)
	}
	conformance.Check(t.Context(), conformance.Target{BaseURL: server.URL, Wallet: server.Wallets()[0],
		Shipment: server.Shipments()[0]},
		conformance.WithSecretKey(server.SecretKey), conformance.WithPurchase("CUSTOMS", "100000"))
	for _, list := range shippingtest.Lists() {
		switch op := shippingtest.Operation(list.Operation); {
		case op.Route == "":
			t.Errorf("the table in operations.go has no %s, for List of client.%s: add a row of that name", list.Operation,
				strings.ToUpper(list.Name[:1])+list.Name[1:])
		case op.Pages != list.Paged:
			t.Errorf("%s: Pages is %t in operations.go, and List returns pages: %t", list.Operation, op.Pages, list.Paged)
		}
	}
	rules := readText(t, "docs/internals/RULES.md")
	for _, op := range operations.All() {
		if path := strings.NewReplacer("{", ":", "}", "").Replace(op.Route); !op.Provisional &&
			!strings.Contains(rules, path) {
			t.Errorf("docs/internals/RULES.md has no rule of %s: add a row that names its path, %s", op.Name, path)
		}
		if !op.Provisional && server.Err() == nil && server.Requests(op.Name) == 0 {
			t.Errorf("the conformance suite makes no call of %s: add a check to conformance/", op.Name)
		}
		if slices.ContainsFunc(shippingtest.Calls(), func(c shippingtest.Call) bool { return c.Operation == op.Name }) {
			continue
		}
		if name, isList := strings.CutSuffix(op.Name, ".list"); isList {
			t.Errorf("%s: shipping.Client has no field %q of a service with a method List: add the service to %s.go and the "+
				"field to client.go", op.Name, strings.ToUpper(name[:1])+name[1:], name)
		} else {
			t.Errorf("%s is missing in Calls of internal/shippingtest/calls.go, so test/promises runs no failure against it",
				op.Name)
		}
	}
}
