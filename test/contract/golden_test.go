package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// validate checks a JSON text against a schema of the document.
func validate(schema *openapi3.Schema, text []byte) error {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	return schema.VisitJSON(value, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors())
}

// places returns the JSON pointers of the values that a validation refuses, each once.
func places(err error) []string {
	found := map[string]bool{}
	collectPlaces(err, found)
	return slices.Sorted(maps.Keys(found))
}

func collectPlaces(err error, found map[string]bool) {
	if several, ok := errors.AsType[openapi3.MultiError](err); ok {
		for _, each := range several {
			collectPlaces(each, found)
		}
		return
	}
	if one, ok := errors.AsType[*openapi3.SchemaError](err); ok {
		found["/"+strings.Join(one.JSONPointer(), "/")] = true
		return
	}
	if err != nil {
		found[err.Error()] = true
	}
}

// responsesOf returns the documented responses of an operation, by status.
func responsesOf(t *testing.T, document *openapi3.T, op operations.Operation) map[string]*openapi3.ResponseRef {
	t.Helper()
	if path := document.Paths.Value(op.Route); path != nil && path.GetOperation(op.Method) != nil {
		return path.GetOperation(op.Method).Responses.Map()
	}
	t.Fatalf("internal/specification/service.json lacks %s %s (%s): add it to paths", op.Method, op.Route, op.Name)
	return nil
}

// Some golden responses differ from the specification on purpose, as a real service did, to prove that the client reads
// them. odd has the prefixes of those places.
func TestGoldens_ClientAnswersAreAsDocumented(t *testing.T) {
	t.Parallel()
	document := rules(t)
	// of lists: a record in which every field is null; events for event
	odd := map[string][]string{
		"rates.json": {"/data/rates/2/"}, "countries.json": {"/data/3/"}, "transactions.json": {"/data/transactions/2/"},
		"webhooks.json": {"/data/webhooks/1", "/data/webhooks/2/"},
	}
	operation := map[string]string{"webhooks_only_page.json": shipping.OpListWebhooks} // by file
	for _, list := range shippingtest.Lists() {
		operation[list.Name+".json"] = list.Operation
	}
	for _, call := range shippingtest.Calls() {
		operation[call.Golden] = call.Operation
	}
	delete(operation, "")
	for file, name := range operation {
		var found []string
		for status, response := range responsesOf(t, document, shippingtest.Operation(name)) {
			if schema := response.Value.Content.Get("application/json"); status[0] == '2' {
				found = places(validate(schema.Schema.Value, []byte(shippingtest.Golden(t, file))))
			}
		}
		for _, place := range found {
			if !slices.ContainsFunc(odd[file], func(odd string) bool { return strings.HasPrefix(place, odd) }) {
				t.Errorf("%s: %s is not as documented", file, place)
			}
		}
		for _, odd := range odd[file] {
			if !slices.ContainsFunc(found, func(place string) bool { return strings.HasPrefix(place, odd) }) {
				t.Errorf("%s: %s is listed as odd and is as documented", file, odd)
			}
		}
	}
}

// A member that the client sends and the document lacks is refused by programs that follow the document.
func TestClient_EveryMethodSendsWhatIsDocumented(t *testing.T) {
	t.Parallel()
	j := newJudge(t, rules(t))
	for _, call := range shippingtest.Calls() {
		if !slices.ContainsFunc(operations.All(), func(o operations.Operation) bool { return o.Name == call.Operation }) {
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
