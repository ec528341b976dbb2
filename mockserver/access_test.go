package mockserver_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/mockserver"
)

// The control surface accepts programs on this machine, which connect from a loopback address, and programs that send the
// token. The Host header alone, which any caller can forge, is not enough.
func TestAccess_ByAddressOrToken(t *testing.T) {
	t.Parallel()
	guarded := start(t, mockserver.WithoutListener(), mockserver.WithToken("secret-token"))
	open := start(t, mockserver.WithoutListener())
	tests := []struct {
		name, remote, host, token string
		header                    http.Header
		status                    int
		says                      string
	}{
		{"this machine", "127.0.0.1:9", "localhost", "", nil, 200, ""},
		{"this machine, IPv6", "[::1]:9", "[::1]:4010", "", nil, 200, ""},
		{"this machine, mapped", "[::ffff:127.0.0.1]:9", "127.0.0.1", "", nil, 200, ""},
		{"a rebound name", "127.0.0.1:9", "evil.example", "", nil, 403, "-hosts"},
		{"another machine", "192.0.2.7:9", "localhost", "", nil, 403, "X-Mock-Token"},
		{"the gateway of a container", "172.17.0.1:9", "127.0.0.1:4010", "", nil, 403, "-token"},
		{"no address", "@", "localhost", "", nil, 403, "X-Mock-Token"},
		{"the token", "192.0.2.7:9", "mockserver:4010", "secret-token", nil, 200, ""},
		{"another token", "192.0.2.7:9", "localhost", "secret-tokem", nil, 403, "X-Mock-Token"},
		{"the cookie", "192.0.2.7:9", "mockserver:4010", "", http.Header{"Cookie": {"mock_token=secret-token"}}, 200, ""},
		{"another cookie", "192.0.2.7:9", "mockserver:4010", "", http.Header{"Cookie": {"mock_token=x"}}, 403, "X-Mock-Token"},
		{"own page", "127.0.0.1:9", "localhost", "", http.Header{"Origin": {"http://localhost"}, "Sec-Fetch-Site": {"same-origin"}}, 200, ""},
		{"a page of another site", "127.0.0.1:9", "localhost", "", http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403, "other sites"},
		{"a page of another port", "127.0.0.1:9", "localhost", "", http.Header{"Sec-Fetch-Site": {"same-site"}}, 403, "other sites"},
		{"another origin", "127.0.0.1:9", "localhost", "", http.Header{"Origin": {"https://evil.example"}}, 403, "other origins"},
		{"an opaque origin", "127.0.0.1:9", "localhost", "", http.Header{"Origin": {"null"}}, 403, "other origins"},
		{"the token from another site", "192.0.2.7:9", "mockserver:4010", "", http.Header{"Cookie": {"mock_token=secret-token"}, "Sec-Fetch-Site": {"cross-site"}}, 403, "other sites"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodGet, "/_mock/worlds", nil)
			r.RemoteAddr, r.Host = test.remote, test.host
			for name, values := range test.header {
				r.Header[name] = values
			}
			if test.token != "" {
				r.Header.Set("X-Mock-Token", test.token)
			}
			recorder := httptest.NewRecorder()
			guarded.ServeHTTP(recorder, r)
			for _, path := range []string{"/_mock/", "/_mock/console/app.js", "/_mock/live"} { // the console and the stream, too
				also := r.Clone(r.Context())
				also.URL.Path = path
				other := httptest.NewRecorder()
				if guarded.ServeHTTP(other, also); other.Code != test.status {
					t.Errorf("%s: %d", path, other.Code)
				}
			}
			if recorder.Code != test.status || !strings.Contains(recorder.Body.String(), test.says) {
				t.Errorf("%d: %s", recorder.Code, recorder.Body)
			}
			if strings.Contains(recorder.Body.String(), "secret-token") {
				t.Errorf("the token is in %s", recorder.Body)
			}
			recorder = httptest.NewRecorder()
			if open.ServeHTTP(recorder, r); test.status == 403 && recorder.Code != 403 {
				t.Errorf("without a token: %d", recorder.Code)
			}
		})
	}
}

// A server that other machines can reach has a random token; other servers have none.
func TestAccess_TokenOfAServerThatOthersCanReach(t *testing.T) {
	t.Parallel()
	first, second := start(t, mockserver.WithAddr(":0")), start(t, mockserver.WithAddr(":0"))
	if len(first.Token()) < 20 || first.Token() == second.Token() {
		t.Errorf("the tokens are %q and %q", first.Token(), second.Token())
	}
	if token := start(t).Token(); token != "" {
		t.Errorf("a server on the loopback address has the token %q", token)
	}
}

// A browser that opens the console with the token gets it as a cookie, and is redirected to the address without it. A token
// with characters that a cookie cannot have signed a browser in with another token, and then with none.
func TestAccess_ABrowserSignsIn(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"secret-token", `a;b`, `a"b`, `a\b`, "a b", "a,b", "zażółć", "100%41", "a+b"} {
		srv := start(t, mockserver.WithoutListener(), mockserver.WithToken(token))
		visit := func(target string, cookies ...*http.Cookie) *http.Response {
			r := httptest.NewRequest(http.MethodGet, target, nil)
			r.RemoteAddr, r.Host = "192.0.2.7:9", "mockserver:4010"
			r.Header.Set("Accept", "text/html")
			for _, cookie := range cookies {
				r.AddCookie(cookie)
			}
			recorder := httptest.NewRecorder()
			srv.ServeHTTP(recorder, r)
			return recorder.Result()
		}
		query := "?token=" + url.QueryEscape(token)
		for _, target := range []string{"/_mock/", "/_mock/?token=wrong", "/_mock/worlds" + query} {
			if got := visit(target); got.StatusCode != http.StatusForbidden {
				t.Errorf("%s: %s", target, got.Status)
			}
		}
		in := visit("/_mock/" + query)
		if in.StatusCode != http.StatusSeeOther || in.Header.Get("Location") != "/_mock/" || len(in.Cookies()) != 1 {
			t.Errorf("%q: %s to %q", token, in.Status, in.Header.Get("Location"))
			continue
		}
		if cookie := in.Cookies()[0]; !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/_mock/" {
			t.Errorf("the cookie is %s", cookie)
		}
		for _, target := range []string{"/_mock/", "/_mock/console/app.js", "/_mock/live", "/_mock/worlds"} {
			if got := visit(target, in.Cookies()...); got.StatusCode != http.StatusOK {
				t.Errorf("%q: %s %s with the cookie %q", token, target, got.Status, in.Header["Set-Cookie"])
			}
		}
	}
}
