package admin

import (
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// Places of the token in a request.
const (
	tokenHeader    = "X-Mock-Token"
	tokenCookie    = "mock_token" // set when a browser opens the console with tokenParameter
	tokenParameter = "token"      // of GET /_mock/ only
)

// foreign returns why a request may not use the control surface: it comes from a page of another site, from
// another machine without the token, or has an unknown host name, such as a rebound DNS name.
func (s *Admin) foreign(r *http.Request) string {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return wire.ControlPrefix + " refuses pages of other sites: open it by its address"
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || !strings.EqualFold(u.Host, r.Host) {
			return wire.ControlPrefix + " refuses pages of other origins: use the page that this server serves"
		}
	}
	if wire.IsInMemory(r) || s.hasToken(r) {
		return ""
	}
	if !wire.IsLoopbackAddress(r.RemoteAddr) {
		return fmt.Sprintf("%s needs the token from another machine: send the header %s with the token that serve prints; set it with -token or MOCKSERVER_TOKEN (in Go: WithToken, Server.Token)", wire.ControlPrefix, tokenHeader)
	}
	host := (&url.URL{Host: r.Host}).Hostname()
	named := func(name string) bool { return strings.EqualFold(name, host) }
	if !delivery.IsLoopback(host) && !slices.ContainsFunc(s.Hosts, named) {
		return fmt.Sprintf("%s accepts only host names of this machine, not %q: use 127.0.0.1 or localhost, or add the name with -hosts (in Go: WithHosts)", wire.ControlPrefix, host)
	}
	return ""
}

// hasToken reports whether a request carries the token.
func (s *Admin) hasToken(r *http.Request) bool {
	sent := r.Header.Get(tokenHeader)
	if cookie, err := r.Cookie(tokenCookie); err == nil && sent == "" {
		sent, _ = url.QueryUnescape(cookie.Value) // see signIn
	}
	if sent == "" && r.URL.Path == wire.ControlPrefix {
		sent = r.URL.Query().Get(tokenParameter)
	}
	return s.Token() != "" && subtle.ConstantTimeCompare([]byte(sent), []byte(s.Token())) == 1
}

// signIn responds to a browser that opens the console with the token in its address: it sets a cookie and redirects to
// the address without the token. The value of the cookie is escaped: a token can have characters that a cookie cannot.
func (s *Admin) signIn(c *control) *wire.Reply {
	cookie := http.Cookie{
		Name: tokenCookie, Value: url.QueryEscape(s.Token()), Path: wire.ControlPrefix, HttpOnly: true, Secure: c.TLS != nil, SameSite: http.SameSiteStrictMode,
	}
	p := wire.Redirect(wire.ControlPrefix)
	p.Status = http.StatusSeeOther
	p.Header.Set("Set-Cookie", cookie.String())
	return &p
}
