package admin

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"runtime/debug"
	"sync"

	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// consoleFiles contains the console at /_mock/: HTML, styles and scripts, which are served without a build step.
//
//go:embed console
var consoleFiles embed.FS

const consolePage = "index.html"

// consolePolicy restricts the page to content of this server. It forbids inline scripts, HTML made from text, and
// frames.
const consolePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

func consoleRoutes() []Route {
	return []Route{
		route("GET", "", "getIndex", "List the routes, the scenarios and the special inputs; a browser gets the console, "+
			"also at /", "", (*Admin).getIndex).with("text/html"),
		route("GET", "live", "watchWorld", "Get counts and checksums that change with the world", "", (*Admin).watchWorld),
	}
}

// consoleFileRoute is the route of the files of the console, which is not listed, because programs do not need it.
func consoleFileRoute() Route {
	return route("GET", "console/{file}", "getConsoleFile", "Get a file of the console", "", (*Admin).getConsoleFile)
}

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
func (s *Admin) consoleFile(c *control, name string) *wire.Reply {
	asset, known := s.console()[name]
	if !known {
		p := refused(notFound("the console has no file %q: open %s", name, wire.ControlPrefix))
		return &p
	}
	p := &wire.Reply{Status: http.StatusOK, Header: asset.header, ContentType: asset.header.Get("Content-Type"),
		Body: asset.body}
	if wire.MatchesTag(c.Header.Values("If-None-Match"), asset.header.Get("Etag")) {
		p.Status, p.Body = http.StatusNotModified, nil
	}
	return p
}

type fileParameter struct {
	Name string `path:"file" doc:"Name of the file." example:"app.js"`
}

func (s *Admin) getConsoleFile(c *control, file fileParameter, _ none) (string, none, error) {
	c.raw = s.consoleFile(c, file.Name)
	return "", none{}, nil
}

const indexMessage = "Routes of the reference server. Each applies to the world in the query parameter world, such " +
	"as ?world=lowfunds_ci42, or of the key in Authorization: Bearer sk_test_lowfunds_ci42, or else to the home world. " +
	"GET " + wire.ControlPrefix + "worlds lists the worlds. Other machines, and all if serve has -token, need the " +
	"header " + tokenHeader

type index struct {
	Version       string                    `json:"version" doc:"Of the server." example:"v0.1.0"`
	Routes        []routeRow                `json:"routes"`
	Scenarios     []world.ScenarioWord      `json:"scenarios" doc:"Scenario terms for the key of a world; hyphens join several."`
	SpecialInputs []regulatory.SpecialInput `json:"special_inputs" doc:"Inputs of analyze with special effects."`
}

type routeRow struct {
	Method  string   `json:"method"`
	Path    string   `json:"path"`
	Summary string   `json:"summary"`
	Query   []string `json:"query"`
	Body    string   `json:"body,omitempty" doc:"An example of the body."`
}

type indexParameters struct {
	Token string `query:"token" doc:"The token, for a browser on another machine: it gets a cookie that lasts until the browser is closed." example:"N5YV2LQ7"`
}

// Version returns the version of this module in the program, such as v0.1.0, or (devel).
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range append(info.Deps, &info.Main) {
			if module.Path == "github.com/shipping-go/shipping" && module.Version != "" {
				return module.Version
			}
		}
	}
	return "(devel)"
}

// getIndex serves GET /_mock/: the console for browsers, the list of routes for other clients.
func (s *Admin) getIndex(c *control, _ indexParameters, _ none) (string, index, error) {
	switch {
	case c.URL.Query().Has(tokenParameter) && s.Token() != "":
		c.raw = s.signIn(c)
	case wire.Prefers(c.Header, "text/html", "application/json"):
		c.raw = s.consoleFile(c, consolePage)
	}
	c.header = http.Header{"Vary": {"Accept"}}
	var rows []routeRow
	for _, r := range Routes() {
		rows = append(rows, routeRow{r.Method, r.Path, r.Summary, r.queries(), r.Example})
	}
	return indexMessage, index{Version(), rows, world.Scenarios(), regulatory.SpecialInputs()}, nil
}
