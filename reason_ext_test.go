package shipping_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// The reason of a refusal was shown only if it was a text under "message".
func TestError_ShowsTheReasonInAnyForm(t *testing.T) {
	t.Parallel()
	const notEnvelope = ": the response is JSON but not the documented envelope: "
	long := strings.Repeat("x", 300)
	for name, test := range map[string]struct {
		status     int
		body, want string
	}{
		"a list of messages": {400, `{"status":false,"message":["perPage is too small","page is not a number"]}`,
			"perPage is too small; page is not a number"},
		"the list, on a 200": {200, `{"status":false,"message":["perPage is too small"]}`, "perPage is too small"},
		"an object": {400, `{"status":false,"message":{"text":"This wallet is closed"}}`,
			"text: This wallet is closed"},
		"an error text": {400, `{"status":false,"error":"This wallet is closed"}`, "This wallet is closed"},
		"an error object": {400, `{"status":false,"error":{"code":"W17","message":"This wallet is closed"}}`,
			"This wallet is closed"},
		"an error flag": {400, `{"error":true,"message":"This wallet is closed"}`, "This wallet is closed"},
		"a list of errors": {400, `{"errors":[{"field":"wallet","message":"is closed"},{"title":"Bad","detail":"page"}]}`,
			"wallet: is closed; Bad: page"},
		"errors by field": {422, `{"status":false,"errors":{"wallet":["is closed","is another's"],"page":"is 0"}}`,
			"wallet: is closed; is another's; page: is 0"},
		"message and errors": {422, `{"message":"Invalid","errors":{"wallet":["is closed"]}}`, "Invalid: wallet: is closed"},
		"a text twice": {400, `{"statusCode":400,"message":["page is 0"],"error":"Bad Request","detail":"page is 0"}`,
			"page is 0"},
		"problem details": {400,
			`{"type":"about:blank","title":"Wallet not usable","status":400,"detail":"This wallet is closed"}`,
			"Wallet not usable: This wallet is closed"},
		"reason in the data": {400, `{"status":false,"data":{"reason":"This wallet is closed"}}`, "This wallet is closed"},
		"a bare text":        {400, `"This wallet is closed"`, "This wallet is closed"},
		"a bare list":        {400, `["This wallet is closed",7]`, "This wallet is closed; 7"},
		"line separators":    {400, `{"message":"This\u2028wallet is\u2029closed"}`, "This wallet is closed"},
		"no JSON":            {400, "no healthy\nupstream", "the body is not JSON: no healthy upstream"},
		"half a body":        {400, `{"wallet":["is closed"],`, `the body is not valid JSON, or ends early`},
		"unknown names":      {400, "{\"wallet\":[\"is closed\"],\n \"page\": 7}", `{"wallet":["is closed"], "page": 7}`},
		"a long body":        {400, `{"wallet":"` + long + `"}`, (`{"wallet":"` + long)[:200] + "…"},
		"a huge body": {400, `{"message":"This wallet is closed","wallet":"` + strings.Repeat(long, 300) + `"}`,
			"This wallet is closed"},
		"deep nesting": {400, `{"message":` + strings.Repeat(`{"a":`, 60) + `"x"` + strings.Repeat("}", 61),
			(`{"message":` + strings.Repeat(`{"a":`, 60))[:200] + "…"},
		"nothing": {400, `{"status":false,"data":null}`, ""},
		"the key": {400, `{"errors":{"key":["` + shippingtest.Key + `"]}}`,
			"[withheld: it contains the secret key]"},
		"the key, unknown": {400, `{"used":"` + shippingtest.Key + `"}`, "[withheld: it contains the secret key]"},
		// Such a status was reported as missing, without the reason.
		"status error": {200, `{"status":"error","message":"This wallet is closed"}`,
			"This wallet is closed" + notEnvelope + `its status is "error" instead of true or false`},
		"status success": {200, `{"status":"success","message":"Found","data":{"rates":[]}}`,
			"Found" + notEnvelope + `its status is "success" instead of true or false`},
		"status 200": {200, `{"status":200,"data":{"rates":[]}}`,
			`{"status":200,"data":{"rates":[]}}` + notEnvelope + "its status is 200 instead of true or false"},
		"no status": {200, `{"error":"This wallet is closed"}`, "This wallet is closed" + notEnvelope + "it has no status"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := shippingtest.NewClient(t, shippingtest.NewService(httpmock.NewStringResponder(test.status, test.body)))
			_, err := client.Rates.List(t.Context(), nil)
			if test.want == "" {
				want := "shipping: rates.list: 400 Bad Request; correct the request, which would be refused again"
				if err == nil || err.Error() != want {
					t.Errorf("%v, want %s", err, want)
				}
				return
			}
			want := http.StatusText(test.status) + ": " + test.want
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
			if _, ok := err.(*shipping.Error); !ok || strings.Contains(err.Error(), "\n") {
				t.Errorf("%T of several lines: %v", err, err)
			}
		})
	}
}
