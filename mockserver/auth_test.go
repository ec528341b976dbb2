package mockserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// Specification, "Authentication": every operation but the PDF needs the key. For some, that is an
// assumption.
func TestAuth_EveryOperationButThePDFNeedsTheKey(t *testing.T) {
	t.Parallel()
	srv := start(t)
	for _, op := range operations.All() {
		got := do(t, srv, op.Method, shippingtest.PathOf(op), "", "Authorization", "")
		if op.Open {
			got.refusal(t, http.StatusNotFound, shippingtest.RequestID)
			continue
		}
		got.refusal(t, http.StatusUnauthorized, "Authorization header is missing")
		if scheme := got.header.Get("WWW-Authenticate"); !strings.HasPrefix(scheme, "Bearer") {
			t.Errorf("%s: WWW-Authenticate is %q", op.Name, scheme)
		}
	}
}

func TestAuth_Refusals(t *testing.T) {
	t.Parallel()
	srv := start(t)
	tests := []struct{ name, header, want string }{
		{"no scheme", srv.SecretKey, "malformed"},
		{"other scheme", "Basic " + srv.SecretKey, "malformed"},
		{"no key", "Bearer", "malformed"},
		{"other key", "Bearer sk_live_x", "unknown secret key"},
		{"half a key", "Bearer " + srv.SecretKey[:20], "unknown secret key"},
	}
	for _, test := range tests {
		got := do(t, srv, http.MethodGet, "/v1/rates", "", "Authorization", test.header)
		got.refusal(t, http.StatusUnauthorized, test.want)
		if strings.Contains(string(got.body), "sk_") {
			t.Errorf("%s: the answer repeats a key: %s", test.name, got.body)
		}
	}
	do(t, srv, http.MethodGet, "/v1/rates", "", "Authorization", "bearer "+srv.SecretKey).want(t, http.StatusOK)
}

// A request whose key opens no world changes nothing in the home world: neither its fault rules nor its journal nor its
// lint. Otherwise a typo in the key of one test suite would disturb another suite on the same server.
func TestAuthentication_AWrongKeyTouchesNoWorld(t *testing.T) {
	t.Parallel()
	refusals := []struct {
		name, method, path string
		key                string // the Authorization header; "" for none
		status             int
	}{
		{"another key", http.MethodGet, "/v1/rates", "Bearer sk_test_typo", 401},
		{"no key", http.MethodGet, "/v1/rates", "", 401},
		{"another scheme", http.MethodGet, "/v1/rates", "Basic dXNlcg==", 401},
		{"an unknown scenario", http.MethodPost, "/v1/regulatory-documents/purchase", "Bearer sk_test_lowfund_ci42", 401},
		{"a wrong path", http.MethodGet, "/v1/rate", "Bearer sk_test_typo", 404},
		{"a wrong method", http.MethodPut, "/v1/rates", "Bearer sk_test_typo", 405},
		{"an open operation", http.MethodGet, "/v1/countries", "Bearer sk_test_typo", 200},
	}
	for _, test := range refusals {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			srv := start(t, mockserver.WithDialect(&dialect.Dialect{Request: dialect.Request{Open: []string{shipping.OpListCountries}}}))
			inject(t, srv, fault.Rule{First: 1, Fault: fault.Status(http.StatusTeapot, nil)})
			got := do(t, srv, test.method, test.path, "", "Authorization", test.key).want(t, test.status)
			if calls, findings := srv.Journal(), srv.Findings(); len(calls)+len(findings) > 0 {
				t.Errorf("the home world has the requests %+v and the findings %+v", calls, findings)
			}
			if calls := srv.Unauthenticated(); len(calls) != 1 || calls[0].Status != test.status {
				t.Errorf("refused for their key: %+v", calls)
			}
			if why := got.header.Get("X-Mock-Why"); test.status >= 400 {
				get(t, srv, why).want(t, http.StatusOK)
			}
			get(t, srv, "/v1/rates").want(t, http.StatusTeapot)
		})
	}
}
