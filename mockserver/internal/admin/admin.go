package admin

import (
	"crypto/subtle"
	"fmt"
	"html"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/api"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

const Root = "/_mock"

type Config struct {
	Worlds     *world.Worlds
	Operations []operations.Operation
	Hosts      []string // host names to accept, besides those of this machine
	Logger     *slog.Logger
	// Token returns the token of the control surface, or "".
	Token func() string
	// TokenForAll is set if programs on this machine need the token too, because the user has chosen it.
	TokenForAll bool
}

type Admin struct {
	Config
	console func() map[string]consoleAsset // by name
	mux     *http.ServeMux
}

func (s *Admin) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Redirect redirects /_mock, and a browser at /, to the index, by a relative address, so that a proxy can serve both
// below a prefix.
func (s *Admin) Redirect(w http.ResponseWriter, r *http.Request) {
	p := wire.Redirect(strings.TrimPrefix(wire.ControlPrefix, "/"))
	p.Header.Set("Vary", "Accept")
	s.write(w, r, &p)
}

func New(c Config) *Admin {
	mux := http.NewServeMux()
	s := &Admin{Config: c, console: consoleAssets(), mux: mux}
	paths := map[string]map[string]Route{} // by path and method
	for _, route := range append(Routes(), consoleFileRoute()) {
		if paths[route.Path] == nil {
			paths[route.Path] = map[string]Route{}
		}
		paths[route.Path][route.Method] = route
	}
	for path, byMethod := range paths {
		if path == wire.ControlPrefix {
			path += "{$}"
		}
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			p := s.reply(w, r, byMethod)
			s.write(w, r, &p)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		advice := fmt.Sprintf("GET %s lists the routes, and GET %[1]sworlds/home the wallets, shipments, invoices and "+
			"webhooks of the server's own world", wire.ControlPrefix)
		meant := api.Nearest(r.URL.Path, slices.Collect(maps.Keys(paths)))
		if meant != "" && spelling.Distance(meant, r.URL.Path) < 3 {
			advice = "did you mean " + meant + "?"
		}
		p := wire.Refused(http.StatusNotFound, wire.CodeNotFound,
			fmt.Sprintf("no route %s %s: %s", r.Method, r.URL.Path, advice))
		s.write(w, r, &p)
	})
	return s
}

func (s *Admin) reply(w http.ResponseWriter, r *http.Request, byMethod map[string]Route) wire.Reply {
	public := r.URL.Path == healthPath
	if problem := s.foreign(r); problem != "" && !public {
		if r.URL.Path == wire.ControlPrefix && wire.Prefers(r.Header, "text/html", "application/json") {
			return signInPage(problem)
		}
		return wire.Refused(http.StatusForbidden, wire.CodeForbidden, problem)
	}
	route, known := byMethod[r.Method]
	if !known && r.Method == http.MethodHead {
		route, known = byMethod[http.MethodGet]
	}
	if !known {
		methods := slices.Collect(maps.Keys(byMethod))
		if byMethod[http.MethodGet].serve != nil {
			methods = append(methods, http.MethodHead)
		}
		slices.Sort(methods)
		return wire.MethodNotAllowed(r, methods)
	}
	world, err := s.Worlds.Home(), error(nil)
	if !public {
		world, err = s.addressed(r)
	}
	if err == nil {
		err = unknownParameter(r.URL.Query(), route.queries())
	}
	if world != nil && !public {
		w.Header().Set(worldHeader, world.Name())
	}
	if err != nil {
		return refused(err)
	}
	if world != nil { // control requests keep it open, too
		defer world.Use()()
	}
	c := &control{Exchange: &wire.Exchange{Request: r}, world: world}
	if route.Method != http.MethodGet {
		body, refusal := wire.ReadBody(w, r)
		if refusal != nil {
			return *refusal
		}
		c.Body = body
	}
	return route.serve(s, c)
}

// addressed returns the world of a request to the control surface: the world in its path, in the query parameter world,
// or of its key, or else the home world.
func (s *Admin) addressed(r *http.Request) (*world.World, error) {
	if name := r.PathValue("world"); name != "" {
		return s.opened(name)
	}
	if name := r.URL.Query().Get(worldParameter); name != "" {
		if w := s.named(name); w != nil {
			return w, nil
		}
		return nil, s.noWorld(name)
	}
	_, key := api.Bearer(r)
	if key == "" {
		return s.Worlds.Home(), nil
	}
	if w := s.Worlds.ByKey(key); w != nil {
		return w, nil
	}
	return nil, notFound("no open world has the key in Authorization: open one with POST %sworlds or a request to the "+
		"service, or name another with ?world=NAME", wire.ControlPrefix)
}

const worldHeader = "X-Mock-World"

// named returns the world of a name, or nil.
func (s *Admin) named(name string) *world.World {
	switch name {
	case world.HomeName:
		return s.Worlds.Home()
	case world.UnauthenticatedName:
		return s.Worlds.Unauthenticated
	}
	return s.Worlds.ByKey(account.KeyPrefix + name)
}

func (s *Admin) write(w http.ResponseWriter, r *http.Request, p *wire.Reply) {
	wire.Skip(w, r)
	w.Header().Set("Cache-Control", "no-store") // unless the reply has its own
	if err := p.Write(w); err != nil {
		s.Logger.Debug("the client did not read the response", "error", err)
	}
}

// Places of the token in a request.
const (
	tokenHeader    = "X-Mock-Token"
	tokenCookie    = "mock_token" // set when a browser opens the console with tokenParameter
	tokenParameter = "token"      // of GET /_mock/ only
)

// foreign returns why a request may not use the control surface: it comes from a page of another site, lacks a token
// that it needs, or has an unknown host name, such as a rebound DNS name.
func (s *Admin) foreign(r *http.Request) string {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return wire.ControlPrefix + " refuses pages of other sites: open it by its address"
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || !strings.EqualFold(u.Host, r.Host) {
			return wire.ControlPrefix + " refuses pages of other origins: use the page that this server serves"
		}
	}
	sent := s.tokenOf(r)
	if wire.IsInMemory(r) || s.Token() != "" && subtle.ConstantTimeCompare([]byte(sent), []byte(s.Token())) == 1 {
		return ""
	}
	lacks := ""
	switch {
	case s.TokenForAll:
		lacks = "needs the token that the server was started with"
	case !delivery.IsLoopbackAddress(r.RemoteAddr):
		lacks = "from another machine needs the token"
	case isForwarded(r.Header):
		lacks = "through a proxy needs the token"
	}
	switch {
	case lacks != "" && sent != "":
		return fmt.Sprintf("the token in %s is wrong: send the one that serve printed at its last start, or that it got "+
			"with -token or MOCKSERVER_TOKEN (in Go: WithToken, Server.Token)", tokenHeader)
	case lacks != "":
		return fmt.Sprintf("%s %s: send the header %s with the token that serve prints; "+
			"set it with -token or MOCKSERVER_TOKEN (in Go: WithToken, Server.Token)", wire.ControlPrefix, lacks, tokenHeader)
	}
	host := (&url.URL{Host: r.Host}).Hostname()
	named := func(name string) bool { return strings.EqualFold(name, host) }
	if !delivery.IsLoopback(host) && !slices.ContainsFunc(s.Hosts, named) {
		return fmt.Sprintf("%s accepts only host names of this machine, not %q: use 127.0.0.1 or localhost, or add the "+
			"name with -hosts (in Go: WithHosts)", wire.ControlPrefix, host)
	}
	return ""
}

// isForwarded reports whether a proxy on this machine has forwarded a request, perhaps from another machine.
func isForwarded(header http.Header) bool {
	for name := range header {
		if name == "Forwarded" || name == "Via" || name == "X-Real-Ip" || strings.HasPrefix(name, "X-Forwarded-") {
			return true
		}
	}
	return false
}

// tokenOf returns the token that a request contains, or "".
func (s *Admin) tokenOf(r *http.Request) string {
	sent := r.Header.Get(tokenHeader)
	if cookie, err := r.Cookie(tokenCookie); err == nil && sent == "" {
		sent, _ = url.QueryUnescape(cookie.Value) // see signIn
	}
	if sent == "" && r.URL.Path == wire.ControlPrefix {
		sent = r.URL.Query().Get(tokenParameter)
	}
	return sent
}

// signInPage returns the page for a browser that lacks the token, with a field for it.
func signInPage(problem string) wire.Reply {
	const page = `<!doctype html><html lang="en"><meta charset="utf-8">` +
		`<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">` +
		`<title>Shipping console</title><main><h1>Shipping console</h1><p>%s.</p>` +
		`<form><label>Token <input name="token" type="password" required autofocus></label> ` +
		`<button>Open</button></form></main>`
	return wire.Reply{
		Status: http.StatusForbidden, ContentType: "text/html; charset=utf-8",
		Header: http.Header{
			"Content-Security-Policy": {"default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"},
			"Referrer-Policy":         {"no-referrer"}, "Vary": {"Accept"}, "X-Content-Type-Options": {"nosniff"},
		},
		Body:    fmt.Appendf(nil, page, html.EscapeString(problem)),
		Refusal: wire.Refusal{Code: wire.CodeForbidden, Message: problem},
	}
}

// signIn responds to a browser that opens the console with the token in its address: it sets a cookie and redirects to
// the address without the token. The value of the cookie is escaped: a token can have characters that a cookie cannot.
// The path of the cookie is the directory of the address, in the browser's view.
func (s *Admin) signIn(c *control) *wire.Reply {
	cookie := http.Cookie{
		Name: tokenCookie, Value: url.QueryEscape(s.Token()), HttpOnly: true, Secure: c.TLS != nil,
		SameSite: http.SameSiteStrictMode,
	}
	p := wire.Redirect("./")
	p.Status = http.StatusSeeOther
	p.Header.Set("Set-Cookie", cookie.String())
	return &p
}
