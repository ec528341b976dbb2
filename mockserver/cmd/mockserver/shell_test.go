package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/internal/shell"
)

// Each value of the banner is quoted for a shell, and a terminal acts on nothing. Package journal tests more values.
func TestServe_TheBannerIsQuoted(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"it's", "$(touch made)", "a;touch\nmade", "\x1b[2J", "\u009b2J"} {
		var out strings.Builder
		shippingtest.NoError(t, greet(&out, ready{URL: "http://127.0.0.1:1", SecretKey: value, Token: value, CA: value,
			Wallets: []string{value}, Shipments: []string{value}, Console: "http://127.0.0.1:1/_mock/"}))
		quoted := strings.NewReplacer(shell.Quote("Authorization: Bearer "+value), "", shell.Quote("X-Mock-Token: "+value),
			"", shell.Quote(`{"shipment_id":"`+value+`"}`), "", shell.Quote(value), "")
		if left := quoted.Replace(out.String()); strings.Contains(left, value) || !shell.Visible(out.String()) {
			t.Errorf("%q: %s", value, &out)
		}
		lines := "  export SHIPPING_SECRET_KEY=" + shell.Quote(value) + "\n  export SHIPPING_WALLET=" + shell.Quote(value)
		if n := strings.Count(out.String(), shell.Quote("Authorization: Bearer "+value)); n != 3 ||
			!strings.Contains(out.String(), lines) || !strings.Contains(out.String(), "Ctrl-C") {
			t.Errorf("%d commands of curl: %s", n, &out)
		}
	}
	empty := start(t, nil, "-scenario", "empty").printed
	if !strings.Contains(empty, "/v1/rates") || strings.Contains(empty, `shipment_id":""`) ||
		strings.Contains(empty, "SHIPPING_SHIPMENT=") {
		t.Errorf("the banner of an empty world:\n%s", empty)
	}
}

// Text from a service reaches the terminal without escape sequences.
func TestReports_HoldNoEscapeSequences(t *testing.T) {
	t.Parallel()
	forger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write([]byte(`{"status":true,"message":"` + `\u001b]0;forged\u0007` +
			`","data":{"request_id":"\u001b[2J","rates":"\u009b2J","pagination":{}}}`))
	}))
	t.Cleanup(forger.Close)
	env := map[string]string{"SHIPPING_SECRET_KEY": "sk_test_1", "SHIPPING_WALLET": "VA-1", "SHIPPING_SHIPMENT": "SH-1"}
	for _, args := range [][]string{{"conform", forger.URL, "-write"}, {"doctor", forger.URL, "-patience", "1m"},
		{"env", "-url", forger.URL}} {
		got := invoke(t, env, args...)
		if strings.ContainsFunc(got.stdout+got.stderr, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
			t.Errorf("%v prints %q", args, got.stdout+got.stderr)
		}
	}
	var stderr strings.Builder
	run(t.Context(), []string{"ready", "a\x1b[2Jb"}, environment{get: os.Getenv}, nil, &stderr, &stderr)
	shippingtest.Contains(t, "standard error", &stderr, `"a\x1b[2Jb"`)
}
