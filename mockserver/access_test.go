package mockserver_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// Every client needs a token that was given. Only other machines, and requests that a proxy has forwarded, need a
// random one: the control surface was open behind a proxy on the same machine that sets Host to its target. The Host
// header alone, which any caller can forge, is not enough.
func TestAccess_ByAddressOrToken(t *testing.T) {
	t.Parallel()
	given, random := start(t, mockserver.WithoutListener(), mockserver.WithToken("secret-token")), start(t)
	none := start(t, mockserver.WithoutListener())
	const local, proxied, cross = "this machine", "a proxy", "another site"
	forwarded := func(name string) http.Header { return http.Header{name: {"for=192.0.2.7"}} }
	for _, test := range []struct {
		name, remote, host string
		header             http.Header
		random             int // its status; without a token that of the server with one is 403
		says               string
	}{
		{local, "127.0.0.1:9", "localhost", nil, 200, ""},
		{local + ", IPv6", "[::1]:9", "[::1]:4010", nil, 200, ""},
		{local + ", mapped", "[::ffff:127.0.0.1]:9", "127.0.0.1", nil, 200, ""},
		{"a rebound name", "127.0.0.1:9", "evil.example", nil, 403, "-hosts"},
		{"another machine", "192.0.2.7:9", "localhost", nil, 403, "X-Mock-Token"},
		{"the gateway of a container", "172.17.0.1:9", "127.0.0.1:4010", nil, 403, "-token"},
		{"no address", "@", "localhost", nil, 403, "X-Mock-Token"},
		{proxied, "127.0.0.1:9", "localhost", forwarded("Forwarded"), 403, "through a proxy"},
		{proxied + " of 1999", "127.0.0.1:9", "localhost", forwarded("Via"), 403, "through a proxy"},
		{proxied + " of a router", "[::1]:9", "127.0.0.1:4010", forwarded("X-Forwarded-For"), 403, "through a proxy"},
		{proxied + " for TLS", "127.0.0.1:9", "127.0.0.1:4010", forwarded("X-Forwarded-Proto"), 403, "through a proxy"},
		{proxied + " with an address", "127.0.0.1:9", "localhost", forwarded("X-Real-Ip"), 403, "through a proxy"},
		{"own page", "127.0.0.1:9", "localhost", http.Header{"Origin": {"http://localhost"},
			"Sec-Fetch-Site": {"same-origin"}}, 200, ""},
		{cross, "127.0.0.1:9", "localhost", http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403, "other sites"},
		{cross + ": a port", "127.0.0.1:9", "localhost", http.Header{"Sec-Fetch-Site": {"same-site"}}, 403, "other sites"},
		{cross + ": an origin", "127.0.0.1:9", "localhost", http.Header{"Origin": {"https://evil.example"}}, 403,
			"other origins"},
		{cross + ": an opaque origin", "127.0.0.1:9", "localhost", http.Header{"Origin": {"null"}}, 403, "other origins"},
	} {
		ask := func(srv *mockserver.Server, path string, headers ...string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.RemoteAddr, r.Host = test.remote, test.host
			maps.Copy(r.Header, test.header)
			for i := 0; i < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
			recorder := httptest.NewRecorder()
			srv.ServeHTTP(recorder, r)
			return recorder
		}
		byToken := 200
		if strings.HasPrefix(test.name, cross) { // also with the token
			byToken = 403
		}
		for _, path := range []string{"/_mock/worlds", "/_mock/", "/_mock/console/app.js", "/_mock/live"} {
			if got := ask(random, path); got.Code != test.random || !strings.Contains(got.Body.String(), test.says) {
				t.Errorf("%s: %s: %d: %s", test.name, path, got.Code, got.Body)
			}
			for _, row := range []struct {
				got  *httptest.ResponseRecorder
				want int
			}{
				{ask(none, path), test.random}, {ask(random, path, "X-Mock-Token", random.Token()), byToken},
				{ask(given, path), 403}, {ask(given, path, "X-Mock-Token", "secret-tokem"), 403},
				{ask(given, path, "Cookie", "mock_token=x"), 403}, {ask(given, path, "X-Mock-Token", "secret-token"), byToken},
				{ask(given, path, "Cookie", "mock_token=secret-token"), byToken},
			} {
				if row.got.Code != row.want || row.want == 403 && strings.Contains(row.got.Body.String(), "secret-token") {
					t.Errorf("%s: %s: %d, want %d: %s", test.name, path, row.got.Code, row.want, row.got.Body)
				}
			}
			wrong := ask(given, path, "X-Mock-Token", "secret-tokem").Body.String()
			if byToken == 200 && !strings.Contains(wrong, "the token in X-Mock-Token is wrong") {
				t.Errorf("%s: %s: a wrong token: %s", test.name, path, wrong)
			}
		}
		for _, srv := range []*mockserver.Server{given, random, none} {
			got := ask(srv, "/_mock/healthz")
			if got.Code != 200 || got.Body.String() != `{"status":true,"message":"Ready","data":{}}` {
				t.Errorf("%s: healthz: %d: %s", test.name, got.Code, got.Body)
			}
		}
	}
}

// A server that listens has its own random token. One on a wildcard address shows an address that it accepts
// itself: it showed [::], and refused it.
func TestAccess_AServerThatListens(t *testing.T) {
	t.Parallel()
	tokens := map[string]bool{}
	for _, addr := range []string{"127.0.0.1:0", ":0", "0.0.0.0:0", "[::]:0"} {
		srv := start(t, mockserver.WithAddr(addr))
		if !strings.HasPrefix(srv.URL, "http://127.0.0.1:") {
			t.Errorf("%s is shown as %s", addr, srv.URL)
		}
		get(t, srv, "/_mock/worlds").want(t, http.StatusOK)
		tokens[srv.Token()] = len(srv.Token()) >= 20
	}
	if len(tokens) != 4 || slices.Contains(slices.Collect(maps.Values(tokens)), false) {
		t.Errorf("the tokens are %v", tokens)
	}
}

// A browser that opens the console with the token gets it as a cookie, and is redirected to the address without it. If
// the token had characters that are not allowed in a cookie, the browser was signed in with another token, or none.
func TestAccess_ABrowserSignsIn(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"secret-token", `a;b"c\d e,f`, "zażółć", "100%41+b"} {
		srv := start(t, mockserver.WithoutListener(), mockserver.WithToken(token))
		visit := func(target, cookie string) *http.Response {
			r := httptest.NewRequest(http.MethodGet, target, nil)
			r.RemoteAddr, r.Host = "192.0.2.7:9", "mockserver:4010"
			r.Header = http.Header{"Accept": {"text/html"}, "Cookie": {cookie}}
			recorder := httptest.NewRecorder()
			srv.ServeHTTP(recorder, r)
			return recorder.Result()
		}
		query := "?token=" + url.QueryEscape(token)
		in := visit("/_mock/"+query, "")
		cookie, attributes, _ := strings.Cut(in.Header.Get("Set-Cookie"), "; ")
		if in.Header.Get("Location") != "./" || attributes != "HttpOnly; SameSite=Strict" {
			t.Errorf("%q: %s, the header is %v", token, in.Status, in.Header)
		}
		for target, status := range map[string]int{"/_mock/?token=wrong": 403, "/_mock/worlds" + query: 403,
			"/_mock/" + query: 303} {
			shippingtest.Diff(t, target, status, visit(target, "").StatusCode)
		}
		shippingtest.Diff(t, token+" with the cookie "+cookie, http.StatusOK, visit("/_mock/worlds", cookie).StatusCode)
	}
}

// A browser without the token got JSON that asks for a header, which a browser cannot send.
func TestToken_ABrowserIsAskedForIt(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithToken("secret"))
	got := do(t, srv, "GET", "/_mock/", "", "Accept", "text/html").want(t, http.StatusForbidden)
	shippingtest.Contains(t, "page", string(got.body), `<input name="token"`)
	shippingtest.Contains(t, "content type", got.header.Get("Content-Type"), "text/html")
	get(t, srv, "/_mock/").refusal(t, http.StatusForbidden, "X-Mock-Token")
	do(t, srv, "GET", "/_mock/ledger", "", "Accept", "text/html").refusal(t, http.StatusForbidden, "X-Mock-Token")
}

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
