package mockserver_test

import (
	"strings"
	"testing"

	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/assumption"
)

// Each switch refuses a tolerated request.
func TestAssumption_Strictness(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		want                     string
	}{
		{"unknown parameter", "GET", "/v1/rates?sort=asc&page=1", "", nil, 400, "has no query parameter sort: it takes perPage, page"},
		{"parameter of none", "GET", "/v1/countries?page=1", "", nil, 400, "it takes none"},
		{"page that is not a number", "GET", "/v1/rates?page=two", "", nil, 400, "whole number of at least 1"},
		{"page before the first", "GET", "/v1/webhooks?perPage=0", "", nil, 400, "whole number of at least 1"},
		{"unknown field", "POST", regulatoryPath + "/analyze", `{"shipment_id":"SHIPMENT","colour":"red"}`, nil, 400, "colour"},
		{"no content type", "POST", regulatoryPath + "/analyze", `{"shipment_id":"SHIPMENT"}`, []string{"Content-Type", ""}, 415, "has no Content-Type"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tolerant := start(t, mockserver.WithoutListener())
			body := strings.ReplaceAll(test.body, "SHIPMENT", tolerant.Shipments()[0])
			do(t, tolerant, test.method, test.path, body, test.headers...).want(t, 200)
			strict := start(t, mockserver.WithoutListener(), mockserver.WithAssumptions(assumption.Strict))
			do(t, strict, test.method, test.path, body, test.headers...).refusal(t, test.status, test.want)
		})
	}
}
