package mockserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
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
	for header, want := range map[string]string{
		srv.SecretKey: "malformed", "Basic " + srv.SecretKey: "malformed", "Bearer": "malformed",
		"Bearer sk_live_x": "unknown secret key", "Bearer " + srv.SecretKey[:20]: "unknown secret key",
	} {
		got := do(t, srv, http.MethodGet, "/v1/rates", "", "Authorization", header)
		got.refusal(t, http.StatusUnauthorized, want)
		if strings.Contains(string(got.body), "sk_") {
			t.Errorf("%s: the response repeats a key: %s", header, got.body)
		}
	}
	do(t, srv, http.MethodGet, "/v1/rates", "", "Authorization", "bearer "+srv.SecretKey).want(t, http.StatusOK)
}

// A request whose key opens no world changes nothing in the home world: neither its fault rules nor its journal nor its
// lint. Otherwise a typo in the key of one test suite would disturb another suite on the same server.
func TestAuthentication_AWrongKeyTouchesNoWorld(t *testing.T) {
	t.Parallel()
	for text, status := range map[string]int{
		"GET /v1/rates\nAuthorization: Bearer sk_test_typo":                401,
		"GET /v1/rates\nAuthorization: ":                                   401,
		"GET /v1/rates\nAuthorization: Basic dXNlcg==":                     401,
		"POST {docs}/purchase\nAuthorization: Bearer sk_test_lowfund_ci42": 401,
		"GET /v1/rate\nAuthorization: Bearer sk_test_typo":                 404,
		"PUT /v1/rates\nAuthorization: Bearer sk_test_typo":                405,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			srv := start(t)
			inject(t, srv, fault.Rule{First: 1, Fault: fault.Status(http.StatusTeapot, nil)})
			got := send(t, srv, text).want(t, status)
			if calls, findings := srv.Journal(), srv.Findings(); len(calls)+len(findings) > 0 {
				t.Errorf("the home world has the requests %+v and the findings %+v", calls, findings)
			}
			if calls := srv.Unauthenticated(); len(calls) != 1 || calls[0].Status != status {
				t.Errorf("refused for their key: %+v", calls)
			}
			if why := got.header.Get("X-Mock-Why"); status >= 400 {
				get(t, srv, why).want(t, http.StatusOK)
			}
			get(t, srv, "/v1/rates").want(t, http.StatusTeapot)
		})
	}
}
