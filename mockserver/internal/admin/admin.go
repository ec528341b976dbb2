package admin

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/api"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/watch"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// Root is the address of the console without the trailing slash.
const Root = "/_mock"

// Route is an operation of the control surface.
type Route struct {
	Method  string
	Path    string // below wire.ControlPrefix
	Summary string
	query   string // names of the query parameters, without world
	handle  func(s *Admin, c *control) wire.Reply
}

// control is a request to the control surface.
type control struct {
	*wire.Exchange
	world *world.World // the world of the request
}

// Parameters returns the names of the query parameters of a route.
func (r *Route) Parameters() []string { return append(strings.Fields(r.query), worldParameter) }

func Routes() []Route {
	return []Route{
		{"GET", "", "this list; a browser gets the console, also at /", "token", (*Admin).listControlRoutes},
		{"GET", "console/{file}", "a file of the console", "", (*Admin).getConsoleFile},
		{"GET", "live", "counts that change with the world; with Accept: text/event-stream one message for each change", "", (*Admin).watchWorld},
		{"GET", "healthz", "whether the server is ready, and its time", "", (*Admin).getHealth},
		{"GET", "metrics", "counters and durations in the text format of Prometheus", "", (*Admin).getMetrics},
		{"GET", "assumptions", "every open point of the specification, its switch and its value in the world", "", (*Admin).listAssumptions},
		{"PATCH", "assumptions", `change assumptions of the world for what happens from now on: {"assumptions":{"PerPageCap":2}}; null undoes a change; {"preset":"contrary"} makes every other choice, {"preset":"default"} none`, "", (*Admin).changeAssumptions},
		{"GET", "openapi.json", "the OpenAPI 3.1 document of this server", "", (*Admin).getOpenAPI},
		{"GET", "special-inputs", "inputs of analyze with special effects", "", (*Admin).listSpecialInputs},
		{"GET", "faults", "the fault rules, and the kinds of faults", "", (*Admin).listFaults},
		{"POST", "faults", `add fault rules: {"rules":[{"operation":"rates.list","first":2,"fault":{"kind":"status","status":503}}]}`, "", (*Admin).addFaults},
		{"DELETE", "faults", "remove every fault rule", "", (*Admin).clearFaults},
		{"PATCH", "faults/{number}", `disable or enable a fault rule: {"disabled":true}`, "", (*Admin).changeFault},
		{"PUT", "faults/{number}", `replace a fault rule: {"operation":"rates.list","first":3,"fault":{"kind":"status","status":503}}`, "", (*Admin).replaceFault},
		{"DELETE", "faults/{number}", "remove a fault rule", "", (*Admin).removeFault},
		{"GET", "journal", "the journal: the latest requests to the service, oldest first; operation, method, status (400 or 4xx), request_id, key, contains, refused, faulted and fault filter; after=req-7 selects later ones, after=latest future ones, before=req-7 earlier ones, last=50 the latest; bodies=false omits bodies; wait=5s waits for the first, wait=5s&count=2 for two; as=jsonl, as=har and as=curl export", "operation method status request_id key contains refused faulted fault after before last bodies wait count as", (*Admin).listJournal},
		{"POST", "requests", `send a request to the service with the key of the world: {"method":"GET","target":"/v1/rates?perPage=2"}, and optionally "body"`, "", (*Admin).sendRequest},
		{"GET", "journal/{request_id}", "an entry of the journal; as=curl or as=go returns a command or a test that sends the request again", "as", (*Admin).getJournalEntry},
		{"GET", "why/{request_id}", "why a request was refused, the section of the specification, and the nearest valid request", "", (*Admin).explainRefusal},
		{"GET", "lint", "the findings of the linter", "", (*Admin).listFindings},
		{"GET", "deliveries", "webhook deliveries, newest first; contains filters; page and perPage as in lists; wait=5s waits until none is queued", "contains page perPage wait", (*Admin).listDeliveries},
		{"GET", "inbox", "the notifications to the inbox, oldest first, with their signatures verified; a webhook to its url needs no receiver; contains filters; after=7 selects later ones; wait=5s waits for the first, wait=5s&count=2 for two", "contains after wait count", (*Admin).listInbox},
		{"POST", "inbox", "receive a notification in the inbox; status=503 responds with that status", "status", (*Admin).receiveNotification},
		{"DELETE", "inbox", "remove every notification from the inbox", "", (*Admin).clearInbox},
		{"GET", "ledger", "wallets, entries newest first, and violated invariants; page, perPage, and wallet for one wallet", "page perPage wallet", (*Admin).getLedger},
		{"POST", "ledger/fund", `deposit money into a wallet: {"wallet":"VA-…","amount":100.50}`, "", (*Admin).fundWallet},
		{"GET", "exchange-rates", "units of each currency per US dollar", "", (*Admin).listExchangeRates},
		{"POST", "exchange-rates", `set an exchange rate for future analyses: {"currency":"NGN","per_dollar":1600}`, "", (*Admin).setExchangeRate},
		{"GET", "clock", "the time, and pending timers", "", (*Admin).getClock},
		{"POST", "clock/advance", `move a virtual clock: {"duration":"90s"}`, "", (*Admin).advanceClock},
		{"GET", "webhooks", "the webhooks, newest first; contains filters; page and perPage as in lists", "contains page perPage", (*Admin).listWebhooks},
		{"POST", "webhooks", `subscribe a receiver: {"url":"http://127.0.0.1:9000/","events":["shipment.created"]}`, "", (*Admin).addWebhook},
		{"PATCH", "webhooks/{webhook_id}", `change a webhook: any of {"name","url","events","active","order"}`, "", (*Admin).changeWebhook},
		{"DELETE", "webhooks/{webhook_id}", "remove a webhook", "", (*Admin).removeWebhook},
		{"POST", "events", `send an event to its subscribers: {"event":"shipment.updated","shipment_id":"SH-…"} or with "data"`, "", (*Admin).emitEvent},
		{"POST", "schedule", `deliver events in a given order: {"events":[{"event":"shipment.updated"}],"steps":[{"event":0,"before_reply":true},{"event":0,"after":"1s"}],"request":{"method":"GET","target":"/v1/rates"}}`, "", (*Admin).runSchedule},
		{"GET", "consignments", "what can be analyzed: the shipments, newest first, and the URLs of the invoices", "", (*Admin).listConsignments},
		{"GET", "countries", "the countries, as in GET /v1/countries", "", (*Admin).listCountries},
		{"GET", "scenarios", "the terms of scenarios in keys", "", (*Admin).listScenarios},
		{"GET", "worlds", "the open worlds, the home world first; page and perPage; keys=false omits the secret keys", "page perPage keys", (*Admin).listWorlds},
		{"GET", "worlds/{world}", "one world, with its wallets, shipments, invoices and webhooks", "keys", (*Admin).getWorld},
		{"POST", "worlds", `open a world: {"scenario":"lowfunds","name":"ci42"}; the default of scenario is default; with {"assumptions":{"PerPageCap":2}} one with other assumptions; the first request with its key also opens it`, "keys", (*Admin).openWorld},
		{"DELETE", "worlds/{world}", "close a world", "keys", (*Admin).closeWorld},
		{"POST", "worlds/{world}/fork", `open a copy: {"name":"what-if"}; with {"snapshot":"…"} of that snapshot`, "keys", (*Admin).forkWorld},
		{"POST", "worlds/{world}/reset", "restore the initial contents of a world", "keys", (*Admin).resetWorld},
		{"POST", "worlds/{world}/snapshot", `take a snapshot of a world: {"snapshot":"before"}`, "keys", (*Admin).takeSnapshot},
		{"DELETE", "worlds/{world}/snapshot", "remove the snapshot of the name in snapshot", "snapshot keys", (*Admin).removeSnapshot},
		{"POST", "worlds/{world}/restore", `restore a snapshot: {"snapshot":"before"}`, "keys", (*Admin).restoreSnapshot},
		{"POST", "state/save", "save every world to the file that -state named", "", (*Admin).saveState},
		{"GET", "regulatory-requests", "the regulatory requests, newest first, summarized; page and perPage", "page perPage", (*Admin).listRegulatoryRequests},
		{"GET", "regulatory-requests/{request_id}", "one regulatory request, with its history", "", (*Admin).getRegulatoryRequest},
		{"GET", PDFPath, "the PDF of a document in this world; a fork and its parent have the same request ids", "", (*Admin).getDocumentPDF},
		{"POST", "regulatory-requests/{request_id}/evidence/{document_type}", "submit the evidence for a manual document", "", (*Admin).submitEvidence},
	}
}

// Config holds what the control surface needs from a server.
type Config struct {
	Worlds     *world.Book
	Operations []shipping.Operation
	Metrics    *watch.Metrics
	Memory     *watch.Memory // of all journals
	MaxBody    int64
	Hosts      []string // host names to accept, besides those of this machine
	Logger     *slog.Logger
	// Token returns the token for other machines; "" if they have no access.
	Token func() string
	// Assumptions returns the table of assumptions with the values of a world.
	Assumptions func(w *world.World) any
	// OpenAPI returns the OpenAPI document of a world, and its ETag.
	OpenAPI func(w *world.World) (document []byte, tag string, err error)
	// Transport returns a transport to the server without a socket.
	Transport func() http.RoundTripper
	// Save saves all worlds to the file of the server; nil without one.
	Save func() error
}

// Admin serves the requests below [wire.ControlPrefix].
type Admin struct {
	Config
	console  func() map[string]consoleAsset // by name
	mux      *http.ServeMux
	watching atomic.Int64  // open streams
	leaving  chan struct{} // closed when streams must stop
	// Leave ends all streams.
	Leave func()
}

// ServeHTTP serves a request to the control surface.
func (s *Admin) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Redirect redirects /_mock, and a browser at /, to the index.
func (s *Admin) Redirect(w http.ResponseWriter, r *http.Request) {
	p := wire.Redirect(wire.ControlPrefix)
	p.Header.Set("Vary", "Accept")
	s.write(w, r, &p)
}

// New returns the control surface of a server.
func New(c Config) *Admin {
	mux := http.NewServeMux()
	s := &Admin{Config: c, console: consoleAssets(), mux: mux, leaving: make(chan struct{})}
	s.Leave = sync.OnceFunc(func() { close(s.leaving) })
	paths := map[string]map[string]Route{} // by path and method
	for _, route := range Routes() {
		if paths[route.Path] == nil {
			paths[route.Path] = map[string]Route{}
		}
		paths[route.Path][route.Method] = route
	}
	for path, byMethod := range paths {
		mux.HandleFunc(wire.ControlPrefix+cmp.Or(path, "{$}"), func(w http.ResponseWriter, r *http.Request) {
			p := s.reply(w, r, byMethod)
			s.write(w, r, &p)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		p := wire.Refused(http.StatusNotFound, wire.CodeNotFound, fmt.Sprintf(
			"no route %s %s: GET %[3]s lists the routes, and GET %[3]sworlds/home the wallets, shipments, invoices and webhooks of the server's own world",
			r.Method, r.URL.Path, wire.ControlPrefix))
		s.write(w, r, &p)
	})
	return s
}

func (s *Admin) reply(w http.ResponseWriter, r *http.Request, byMethod map[string]Route) wire.Reply {
	if problem := s.foreign(r); problem != "" {
		return wire.Refused(http.StatusForbidden, wire.CodeForbidden, problem)
	}
	route, known := byMethod[r.Method]
	if !known && r.Method == http.MethodHead {
		route, known = byMethod[http.MethodGet]
	}
	if !known {
		methods := slices.Collect(maps.Keys(byMethod))
		if byMethod[http.MethodGet].handle != nil {
			methods = append(methods, http.MethodHead)
		}
		slices.Sort(methods)
		allow := strings.Join(methods, ", ")
		message := fmt.Sprintf("%s is not allowed on %s: use %s", r.Method, r.URL.Path, allow)
		if r.URL.Path == wire.ControlPrefix+"requests" {
			message += fmt.Sprintf("; GET %sjournal lists the requests", wire.ControlPrefix)
		}
		p := wire.Refused(http.StatusMethodNotAllowed, wire.CodeMethod, message)
		p.Header = http.Header{"Allow": {allow}}
		return p
	}
	world, refusal := s.addressed(r)
	if refusal == nil {
		refusal = unknownParameter(r.URL.Query(), route.Parameters())
	}
	if concerned := s.concerned(r, world); concerned != nil {
		w.Header().Set(worldHeader, concerned.Name())
	}
	if refusal != nil {
		return *refusal
	}
	c := &control{Exchange: &wire.Exchange{Request: r}, world: world}
	if route.Method != http.MethodGet {
		body, refusal := wire.ReadBody(w, r, s.MaxBody, false)
		if refusal != nil {
			return *refusal
		}
		c.Body = body
	}
	return route.handle(s, c)
}

// addressed returns the world of a request to the control surface: the one in the query parameter world, or of its
// key, else the home world.
func (s *Admin) addressed(r *http.Request) (*world.World, *wire.Reply) {
	if name := r.URL.Query().Get(worldParameter); name != "" {
		if w := s.named(name); w != nil {
			return w, nil
		}
		p := wire.Refused(http.StatusNotFound, wire.CodeNotFound, s.noWorld(name))
		return nil, &p
	}
	_, key := api.Bearer(r)
	if key == "" {
		return s.Worlds.Home(), nil
	}
	if w := s.Worlds.ByKey(key); w != nil {
		return w, nil
	}
	p := wire.Refused(http.StatusNotFound, wire.CodeNotFound, fmt.Sprintf("no open world has the key in Authorization: open one with POST %sworlds or a request to the service, or name the world with ?world=NAME instead", wire.ControlPrefix))
	return nil, &p
}

// worldHeader is the header of a response with the name of its world.
const worldHeader = "X-Mock-World"

// concerned returns the world in the path, or nil if that world is not open. If the path has no world, it returns the
// addressed one.
func (s *Admin) concerned(r *http.Request, addressed *world.World) *world.World {
	if name := r.PathValue("world"); name != "" {
		return s.named(name)
	}
	return addressed
}

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

func (s *Admin) getHealth(c *control) wire.Reply {
	return wire.Succeed("OK", struct {
		Now   jsontext.Timestamp `json:"now"`
		Clock string             `json:"clock"`
	}{jsontext.Timestamp(c.world.Clock.Now()), clockKind(c.world)})
}
