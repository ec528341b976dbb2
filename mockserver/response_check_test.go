package mockserver

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/api"
)

// A response that does not conform to the OpenAPI document is replaced. The document is modified here: rates are checked
// against the schema of countries.
func TestAssumption_CheckResponsesReplacesAnAnswerThatDoesNotFit(t *testing.T) {
	t.Parallel()
	srv := New(WithoutListener(), WithAssumptions(Strict))
	t.Cleanup(srv.Close)
	check, err := srv.ResponseCheck()
	if err != nil {
		t.Fatal(err)
	}
	srv.checks.made[""].check = func(_ string, status int, body []byte) error { return check(shipping.OpListCountries, status, body) }
	for path, status := range map[string]int{"/v1/countries": http.StatusOK, "/v1/rates": http.StatusInternalServerError} {
		req, err := http.NewRequest(http.MethodGet, srv.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+srv.SecretKey)
		resp, err := srv.Transport().RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != status {
			t.Errorf("%s: status %d (%v), want %d", path, resp.StatusCode, err, status)
		}
		if status != http.StatusOK && !strings.Contains(string(body), "the response of rates.list does not conform to the OpenAPI document") {
			t.Errorf("%s: unexpected body %s", path, body)
		}
	}
}

// In the document, each operation of the service has exactly the query parameters that the server reads.
func TestOpenAPI_HasEveryQueryParameterOfTheService(t *testing.T) {
	t.Parallel()
	text, err := OpenAPI(shipping.Operations())
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
	for _, op := range shipping.Operations() {
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
