package contract

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3filter"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// A member that the client sends and the document lacks is refused by programs that follow the document.
func TestClient_EveryMethodSendsWhatIsDocumented(t *testing.T) {
	t.Parallel()
	j := newJudge(t, rules(t))
	for _, call := range shippingtest.Calls() {
		if !operations.Exists(call.Operation) {
			continue // Do sends what the caller gives
		}
		service := shippingtest.NewService(call.Success())
		shippingtest.Must(call.Do(t.Context(), shippingtest.NewClient(t, service, shippingtest.WithRoutes())))(t)
		for _, sent := range service.Requests() {
			request := httptest.NewRequest(sent.Method, sent.Path+"?"+sent.Query.Encode(), strings.NewReader(sent.Body))
			request.Header = sent.Header
			in, err := j.input(request)
			if err == nil {
				err = openapi3filter.ValidateRequest(t.Context(), in)
			}
			if err != nil || in.Route.Operation.OperationID != call.Operation {
				t.Errorf("%s: %v", call.Operation, err)
			}
		}
	}
}
