package admin

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"sync"

	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// consoleFiles contains the console at /_mock/: HTML, styles and scripts, which are served without a build step.
//
//go:embed console
var consoleFiles embed.FS

// consolePage is the file for /_mock/ itself.
const consolePage = "index.html"

// consolePolicy restricts the page to content of this server. It forbids inline scripts, HTML made from text, and
// frames.
const consolePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// consoleTypes returns the media types of the files by extension. The system's table of types is not used, because it
// differs between machines.
func consoleTypes() map[string]string {
	return map[string]string{
		".html": "text/html; charset=utf-8",
		".css":  "text/css; charset=utf-8",
		".js":   "text/javascript; charset=utf-8",
		".svg":  "image/svg+xml",
	}
}

// consoleAsset is a file of the page, ready to be sent.
type consoleAsset struct {
	body   []byte
	header http.Header
}

// consoleAssets returns a function that reads the files once, on first use.
func consoleAssets() func() map[string]consoleAsset {
	return sync.OnceValue(func() map[string]consoleAsset {
		assets, types := map[string]consoleAsset{}, consoleTypes()
		names, _ := fs.Glob(consoleFiles, "console/*") // the pattern is well-formed
		for _, name := range names {
			body, err := consoleFiles.ReadFile(name)
			if err != nil {
				continue // a folder
			}
			assets[path.Base(name)] = consoleAsset{body, http.Header{
				"Cache-Control":                {"no-cache"}, // cached, and revalidated by tag
				"Content-Security-Policy":      {consolePolicy},
				"Content-Type":                 {types[path.Ext(name)]},
				"Cross-Origin-Opener-Policy":   {"same-origin"},
				"Cross-Origin-Resource-Policy": {"same-origin"},
				"Etag":                         {fmt.Sprintf(`"%x"`, sha256.Sum256(body))},
				"Referrer-Policy":              {"no-referrer"},
				"Vary":                         {"Accept"},
				"X-Content-Type-Options":       {"nosniff"},
			}}
		}
		return assets
	})
}

// consoleFile returns a file of the page, or 304 if the browser has it.
func (s *Admin) consoleFile(c *control, name string) wire.Reply {
	asset, known := s.console()[name]
	if !known {
		return wire.Refused(http.StatusNotFound, wire.CodeNotFound, fmt.Sprintf("the console has no file %q: open %s", name, wire.ControlPrefix))
	}
	p := wire.Reply{Status: http.StatusOK, Header: asset.header, ContentType: asset.header.Get("Content-Type"), Body: asset.body}
	if wire.MatchesTag(c.Header.Values("If-None-Match"), asset.header.Get("Etag")) {
		p.Status, p.Body = http.StatusNotModified, nil
	}
	return p
}

func (s *Admin) getConsoleFile(c *control) wire.Reply {
	return s.consoleFile(c, c.PathValue("file"))
}

// indexMessage explains how to select a world.
const indexMessage = "Routes of the reference server. Each applies to the world in the query parameter world, such as ?world=lowfunds_ci42, " +
	"or of the key in Authorization: Bearer sk_test_lowfunds_ci42, or else to the home world. GET " + wire.ControlPrefix + "worlds lists the worlds. Other machines need the header " + tokenHeader

// routeView is a route in the index.
type routeView struct {
	Method  string   `json:"method"`
	Path    string   `json:"path"`
	Summary string   `json:"summary"`
	Query   []string `json:"query"`
}

func viewRoute(r Route) routeView {
	return routeView{r.Method, wire.ControlPrefix + r.Path, r.Summary, r.Parameters()}
}

// listControlRoutes serves GET /_mock/: the console for browsers, the list of routes for other clients.
func (s *Admin) listControlRoutes(c *control) wire.Reply {
	if c.URL.Query().Has(tokenParameter) && s.Token() != "" {
		return s.signIn(c)
	}
	if wire.Prefers(c.Header, "text/html", "application/json") {
		return s.consoleFile(c, consolePage)
	}
	p := wire.Succeed(indexMessage, list.Map(Routes(), viewRoute))
	p.Header = http.Header{"Vary": {"Accept"}}
	return p
}
