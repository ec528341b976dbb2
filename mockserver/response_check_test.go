package mockserver

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/openapi"
)

// An answer that does not fit the OpenAPI document never reaches the client as if it did. The document
// is made to disagree here: rates are held against what it says of countries.
func TestAssumption_CheckResponsesReplacesAnAnswerThatDoesNotFit(t *testing.T) {
	t.Parallel()
	srv := New(WithoutListener(), WithAssumptions(Strict))
	t.Cleanup(srv.Close)
	check, err := srv.ResponseCheck()
	if err != nil {
		t.Fatal(err)
	}
	srv.checks.made = map[openapi.Choices]responseCheck{
		{}: func(_ string, status int, body []byte) error { return check(shipping.OpListCountries, status, body) },
	}
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
		if status != http.StatusOK && !strings.Contains(string(body), "the answer to rates.list does not fit the OpenAPI document") {
			t.Errorf("%s does not say what is wrong: %s", path, body)
		}
	}
}
