package mockserver_test

import (
	"net/http"
	"testing"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

func TestOpenAPI_FollowsTheServersOwnRoutes(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithDialect(&dialect.Dialect{Routes: map[string]string{operations.RetryRequest: "/v1/regulatory-retries/{request_id}"}}))
	post(t, srv, "/v1/regulatory-retries/RD-1", "").refusal(t, http.StatusNotFound, "RD-1")
	post(t, srv, regulatoryPath+"/request/RD-1/retry", "").refusal(t, http.StatusNotFound, "no route")
	// the dialect has none
	get(t, srv, regulatoryPath+"/request/RD-1/documents/FDA/pdf").refusal(t, http.StatusNotFound, "no route")
	document := get(t, srv, "/_mock/openapi.json")
	shippingtest.Contains(t, "the document", document.body, `"/v1/regulatory-retries/{request_id}"`)
}
