package documents_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// Each operation of the table stands in SPECIFICATION.md, is called by the conformance suite and by the tests of promises,
// and a list has a golden response. The handler and the path in the OpenAPI document are named by tests of the server:
// TestRouter_NamesTheOperationWithoutAHandler and TestOpenAPI_DescribesEveryOperation.
func TestOperations_AreInEveryPlace(t *testing.T) {
	t.Parallel()
	specification := readText(t, "docs/SPECIFICATION.md")
	server := mockserver.New()
	defer server.Close()
	if err := server.Err(); err != nil { // the suite cannot make a call
		t.Error(err)
	}
	placeholder := regexp.MustCompile(`\{(\w+)\}`) // the specification writes :request_id
	conformance.Check(t.Context(), conformance.Target{BaseURL: server.URL, Wallet: server.Wallets()[0], Shipment: server.Shipments()[0]},
		conformance.WithSecretKey(server.SecretKey), conformance.WithWrites())
	for _, op := range shipping.Operations() {
		path := placeholder.ReplaceAllString(strings.TrimPrefix(op.Route, "/v1/regulatory-documents"), ":$1")
		if !op.Provisional && !strings.Contains(specification, "\n## "+op.Method+" "+path+"\n") && !strings.Contains(specification, "| "+op.Method+" `"+path+"`") {
			t.Errorf("docs/SPECIFICATION.md has no rule for %s %s (%s): add its heading and its rows", op.Method, path, op.Name)
		}
		if !op.Provisional && server.Err() == nil && server.Requests(op.Name) == 0 {
			t.Errorf("the conformance suite makes no call of %s: add a check to conformance/", op.Name)
		}
		if !slices.ContainsFunc(shippingtest.Calls(), func(c shippingtest.Call) bool { return c.Operation == op.Name }) {
			t.Errorf("%s is missing in Calls of internal/shippingtest/calls.go, so test/promises runs no failure against it", op.Name)
		}
		if record, is := strings.CutSuffix(op.Name, ".list"); is {
			golden := filepath.Join("internal", "shippingtest", "testdata", record+".json")
			if _, err := os.Stat(golden); err != nil {
				t.Errorf("%s has no golden response %s", op.Name, golden)
			}
		}
	}
}
