package mockserver_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// The first address that serve prints led a browser to an error.
func TestConsole_ABrowserIsRedirectedToIt(t *testing.T) {
	t.Parallel()
	srv := start(t)
	got := do(t, srv, http.MethodGet, "/", "", "Accept", browser, "Authorization", "").want(t, http.StatusPermanentRedirect)
	if got.header.Get("Location") != "/_mock/" || got.header.Get("Vary") != "Accept" || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the header is %v", got.header)
	}
	// HTML of weight 0 is not acceptable: it was sent.
	do(t, srv, http.MethodGet, "/_mock/", "", "Accept", "text/html;q=0, */*").want(t, http.StatusOK).data(t, &struct{ Routes []any }{})
	do(t, srv, http.MethodGet, "/", "", "Accept", "*/*").refusal(t, http.StatusNotFound, "no route GET /")
	get(t, srv, "/_mock/wallets").refusal(t, http.StatusNotFound, "GET /_mock/worlds/home")
}

func TestConsole_EachFileComesWithItsTypeItsTagAndAStrictPolicy(t *testing.T) {
	t.Parallel()
	srv := start(t)
	files, err := filepath.Glob("internal/admin/console/*")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	types := map[string]string{
		".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	}
	for _, file := range files {
		path := "/_mock/console/" + filepath.Base(file)
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := do(t, srv, http.MethodGet, path, "", "Authorization", "").want(t, http.StatusOK)
		if !bytes.Equal(got.body, want) {
			t.Errorf("%s is not the file", path)
		}
		for name, value := range map[string]string{
			"Content-Type": types[filepath.Ext(file)], "X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got.header.Get(name) != value {
				t.Errorf("%s: %s is %q, want %q", path, name, got.header.Get(name), value)
			}
		}
		policy := got.header.Get("Content-Security-Policy")
		for _, part := range []string{
			"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "base-uri 'none'",
			"form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
		} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: the policy %q has not %q", path, policy, part)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") || strings.Contains(policy, "*") {
			t.Errorf("%s: the policy lets in more than this server: %q", path, policy)
		}
		tag := got.header.Get("Etag")
		again := do(t, srv, http.MethodGet, path, "", "If-None-Match", tag).want(t, http.StatusNotModified)
		if len(again.body) != 0 || again.header.Get("Etag") != tag {
			t.Errorf("%s: %d bytes with 304, tag %q", path, len(again.body), again.header.Get("Etag"))
		}
		do(t, srv, http.MethodGet, path, "", "If-None-Match", `"other"`).want(t, http.StatusOK)
		if head := do(t, srv, http.MethodHead, path, "").want(t, http.StatusOK); len(head.body) != 0 {
			t.Errorf("%s: HEAD has a body", path)
		}
	}
	do(t, srv, http.MethodGet, "/_mock/", "", "Accept", browser, "If-None-Match", "*").want(t, http.StatusNotModified)
	get(t, srv, "/_mock/console/nothing.js").refusal(t, http.StatusNotFound, "/_mock/")
	get(t, srv, "/_mock/console/..%2fconsole.go").refusal(t, http.StatusNotFound, "no route")
}
