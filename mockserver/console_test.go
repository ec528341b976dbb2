package mockserver_test

import (
	"net/http"
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
)

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// The first address that serve prints led a browser to an error.
func TestConsole_ABrowserIsRedirectedToIt(t *testing.T) {
	t.Parallel()
	srv := start(t)
	got := send(t, srv, "GET /\nAccept: "+browser+"\nAuthorization: ").want(t, http.StatusPermanentRedirect)
	shippingtest.Diff(t, "header", [3]string{"_mock/", "Accept", "no-store"}, [3]string{got.header.Get("Location"),
		got.header.Get("Vary"), got.header.Get("Cache-Control")})
	// HTML of weight 0 is not acceptable: it was sent.
	do(t, srv, http.MethodGet, "/_mock/", "", "Accept", "text/html;q=0, */*").want(t, http.StatusOK).
		data(t, &struct{ Routes []any }{})
	do(t, srv, http.MethodGet, "/", "", "Accept", "*/*").refusal(t, http.StatusNotFound, "no route GET /")
	get(t, srv, "/_mock/wallets").refusal(t, http.StatusNotFound, "GET /_mock/worlds/home")
}

func TestConsole_EachFileComesWithItsTypeItsTagAndAStrictPolicy(t *testing.T) {
	t.Parallel()
	srv := start(t)
	const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
	for _, test := range []struct{ file, kind string }{
		{"index.html", "text/html; charset=utf-8"}, {"app.js", "text/javascript; charset=utf-8"},
	} {
		path := "/_mock/console/" + test.file
		got := do(t, srv, http.MethodGet, path, "", "Authorization", "").want(t, http.StatusOK)
		for name, want := range map[string]string{
			"Content-Type": test.kind, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "Content-Security-Policy": policy,
		} {
			shippingtest.Diff(t, path+": "+name, want, got.header.Get(name))
		}
		tag := got.header.Get("Etag")
		again := do(t, srv, http.MethodGet, path, "", "If-None-Match", tag).want(t, http.StatusNotModified)
		shippingtest.Diff(t, path+": body and tag with 304", [2]string{"", tag},
			[2]string{string(again.body), again.header.Get("Etag")})
		shippingtest.Diff(t, "body of HEAD "+path, "", string(send(t, srv, "HEAD "+path).want(t, http.StatusOK).body))
	}
	do(t, srv, http.MethodGet, "/_mock/", "", "Accept", browser, "If-None-Match", "*").want(t, http.StatusNotModified)
	get(t, srv, "/_mock/console/nothing.js").refusal(t, http.StatusNotFound, "/_mock/")
	get(t, srv, "/_mock/console/..%2fconsole.go").refusal(t, http.StatusNotFound, "no route")
}
