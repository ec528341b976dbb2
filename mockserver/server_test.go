package mockserver_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// A server that could not start was reached at the URL mockserver.invalid, which failed in a program's own client as an
// unknown host, after four attempts.
func TestNew_AServerThatDidNotStartRespondsWithTheReason(t *testing.T) {
	t.Parallel()
	taken := shippingtest.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	for want, opts := range map[string][]mockserver.Option{
		"choose another address":     {mockserver.WithAddr(taken.Addr().String())},
		`unknown scenario "lowfund"`: {mockserver.WithScenario("lowfund")},
		"is only a port":             {mockserver.WithAddr("4010")},
	} {
		srv := mockserver.New(opts...)
		defer srv.Close()
		shippingtest.Contains(t, "Err", srv.Err(), want)
		for _, client := range []*http.Client{{Transport: srv.Transport()}, {Transport: &http.Transport{}}} {
			attempts := 0
			observe := shipping.Observer{Attempt: func(context.Context, string, shipping.Attempt) { attempts++ }}
			c := shippingtest.Must(shipping.NewClient(srv.SecretKey, shipping.WithBaseURL(srv.URL),
				shipping.WithHTTPClient(client), shipping.WithObserver(observe)))(t)
			if _, err := c.Rates.List(t.Context(), nil); err == nil || !strings.Contains(err.Error(), want) || attempts != 1 {
				t.Errorf("after %d attempts: %v, want %q in it", attempts, err, want)
			}
		}
	}
}

// With GODEBUG=fips140=only the PDF route panicked, because a library named fonts by their SHA-1.
func TestServer_WithFIPS140Only(t *testing.T) {
	t.Parallel()
	only := exec.Command(os.Args[0],
		"-test.run=^(TestWorlds_APDFWithoutAKeyIsFound|TestReplay_IsReallyDeliveredAndSigned)$", "-test.v")
	only.Env = append(os.Environ(), "GODEBUG=fips140=only")
	if out, err := only.CombinedOutput(); err != nil || strings.Count(string(out), "--- PASS") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestRoutes_RefusesWhatItCannotServe(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ operation, route, want string }{
		{"rates.create", "/v1/rates", "which is not an operation that the specification names without a path"},
		{operations.RetryRequest, "/v1/{request_id}/{", "whose placeholder {} is unknown"},
		{operations.RetryRequest, "/v1//{request_id}", "no empty or dot segments"},
		{operations.RetryRequest, "/v1/{request_id}/{request_id}", "duplicate wildcard name"},
		{operations.DocumentPDF, "/v1/{request_id}/{document_type}/pdf",
			`some requests are also those of regulatory.get, "GET /v1/regulatory-documents/request/{request_id}"`},
		{operations.RetryRequest, "/_mock/{request_id}", "outside /_mock/"},
	} {
		srv := mockserver.New(mockserver.WithoutListener(), dialectOf(t, "routes="+test.operation+"="+test.route))
		defer srv.Close()
		shippingtest.Contains(t, test.route, srv.Err(), test.want)
	}
}
