package mockserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
)

// Specification, "Authentication": every operation but the PDF needs the key. That countries and
// webhooks do is an assumption.
func TestAuth_EveryOperationButThePDFNeedsTheKey(t *testing.T) {
	t.Parallel()
	srv := start(t)
	for _, op := range operations() {
		t.Run(op.Name, func(t *testing.T) {
			t.Parallel()
			path := strings.NewReplacer("{request_id}", "RD-1", "{document_type}", "FDA").Replace(op.Route)
			got := do(t, srv, op.Method, path, "", "Authorization", "")
			if op.Open {
				got.refusal(t, http.StatusNotFound, "RD-1")
				return
			}
			got.refusal(t, http.StatusUnauthorized, "Authorization header is missing")
			if scheme := got.header.Get("WWW-Authenticate"); !strings.HasPrefix(scheme, "Bearer") {
				t.Errorf("WWW-Authenticate is %q", scheme)
			}
		})
	}
}

func TestAuth_SaysWhatIsWrongWithTheHeader(t *testing.T) {
	t.Parallel()
	srv := start(t)
	tests := []struct{ name, header, want string }{
		{"no scheme", srv.SecretKey, "malformed"},
		{"other scheme", "Basic " + srv.SecretKey, "malformed"},
		{"no key", "Bearer", "malformed"},
		{"other key", "Bearer sk_live_x", "not one of this server's"},
		{"half a key", "Bearer " + srv.SecretKey[:20], "not one of this server's"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := do(t, srv, http.MethodGet, "/v1/rates", "", "Authorization", test.header)
			got.refusal(t, http.StatusUnauthorized, test.want)
			if strings.Contains(string(got.body), "sk_") {
				t.Errorf("the answer repeats a key: %s", got.body)
			}
		})
	}
	do(t, srv, http.MethodGet, "/v1/rates", "", "Authorization", "bearer "+srv.SecretKey).want(t, http.StatusOK)
}

func TestAssumption_OpenOperationsNeedNoKey(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithAssumptions(func(a *mockserver.Assumptions) {
		a.OpenOperations = []string{shipping.OpListCountries}
	}))
	do(t, srv, http.MethodGet, "/v1/countries", "", "Authorization", "").want(t, http.StatusOK)
	do(t, srv, http.MethodGet, "/v1/webhooks", "", "Authorization", "").want(t, http.StatusUnauthorized)
}
