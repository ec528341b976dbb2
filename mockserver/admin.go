package mockserver

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// adminPrefix begins the paths that are the server's own. They need no key, are never faulted, and
// answer this machine only.
const adminPrefix = "/_mock/"

func isAdminPath(path string) bool { return strings.HasPrefix(path, adminPrefix) }

// adminRoute is one of the server's own operations.
type adminRoute struct {
	Method  string `json:"method"`
	Path    string `json:"path"`
	Summary string `json:"summary"`
	answer  func(s *Server, c *call) reply
}

func adminRoutes() []adminRoute {
	return []adminRoute{
		{"GET", "", "this list", (*Server).adminIndex},
		{"GET", "healthz", "whether the server works, and its time", (*Server).adminHealth},
		{"GET", "assumptions", "every open point of the specification and its switch", (*Server).adminAssumptions},
		{"GET", "openapi.json", "the OpenAPI 3.1 document of this server", (*Server).adminOpenAPI},
		{"GET", "magic", "inputs of analyze that make special things happen", (*Server).adminMagic},
		{"GET", "calls", "the latest requests, oldest first", (*Server).adminCalls},
		{"GET", "deliveries", "webhook deliveries, newest first; page and perPage as in lists", (*Server).adminDeliveries},
		{"GET", "ledger", "wallets, entries newest first, and what is wrong with them; page and perPage", (*Server).adminLedger},
		{"POST", "clock/advance", `move a virtual clock: {"duration":"90s"}`, (*Server).adminAdvance},
		{"POST", "webhooks", `subscribe a receiver: {"url":"http://127.0.0.1:9000/","events":["shipment.created"]}`, (*Server).adminAddWebhook},
		{"POST", "requests/{request_id}/evidence/{document_type}", "submit what a manual document waits for", (*Server).adminEvidence},
	}
}

// newAdmin serves the table of admin routes.
func newAdmin(s *Server) http.Handler {
	mux := http.NewServeMux()
	for _, route := range adminRoutes() {
		pattern := adminPrefix + cmp.Or(route.Path, "{$}")
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			p := s.askAdmin(w, r, route)
			s.writeAdmin(w, &p)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		p := refused(http.StatusNotFound, codeNotFound, fmt.Sprintf("no route %s %s: GET %s lists them", r.Method, r.URL.Path, adminPrefix))
		s.writeAdmin(w, &p)
	})
	return mux
}

func (s *Server) askAdmin(w http.ResponseWriter, r *http.Request, route adminRoute) reply {
	if problem := foreign(r); problem != "" {
		return refused(http.StatusForbidden, codeForbidden, problem)
	}
	if r.Method != route.Method && (r.Method != http.MethodHead || route.Method != http.MethodGet) {
		p := refused(http.StatusMethodNotAllowed, codeMethod, fmt.Sprintf("%s is not allowed on %s: use %s", r.Method, r.URL.Path, route.Method))
		p.header = http.Header{"Allow": {route.Method}}
		return p
	}
	c := &call{Request: r}
	if route.Method == http.MethodPost {
		body, refusal := readBody(w, r, &s.config.assume)
		if refusal != nil {
			return *refusal
		}
		c.body = body
	}
	return route.answer(s, c)
}

func (s *Server) writeAdmin(w http.ResponseWriter, p *reply) {
	w.Header().Set("Cache-Control", "no-store")
	if err := p.write(w); err != nil {
		s.config.logger.Debug("the answer was not taken", "error", err)
	}
}

// foreign says why a request may not use the admin routes: it was sent to another name than this
// machine's, as a rebound DNS name would be, or by a page of another site.
func foreign(r *http.Request) string {
	if !isInMemory(r) {
		host := (&url.URL{Host: r.Host}).Hostname()
		if !delivery.IsLoopback(host) {
			return fmt.Sprintf("%s answers on this machine's own names only, not %q: use 127.0.0.1 or localhost", adminPrefix, host)
		}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return adminPrefix + " answers no page of another site: open it by its address"
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || !strings.EqualFold(u.Host, r.Host) {
			return adminPrefix + " answers no page of another origin: use the page that this server serves"
		}
	}
	return ""
}

func (s *Server) adminIndex(*call) reply {
	routes := adminRoutes()
	for i := range routes {
		routes[i].Path = adminPrefix + routes[i].Path
	}
	return succeedWith(nil, "Routes of the reference server itself", routes)
}

func (s *Server) adminHealth(*call) reply {
	return succeedWith(nil, "OK", struct {
		Now   timestamp `json:"now"`
		Clock string    `json:"clock"`
	}{timestamp(s.Now()), s.clockKind()})
}

func (s *Server) clockKind() string {
	if s.home.clock.IsVirtual() {
		return "virtual"
	}
	return "real"
}

func (s *Server) adminAssumptions(*call) reply {
	return succeedWith(nil, "What this server assumes where the specification leaves a point open", s.Assumptions())
}

func (s *Server) adminMagic(*call) reply {
	return succeedWith(nil, "Analyze one of these to make its effect happen", regulatory.Magics())
}

func (s *Server) adminCalls(*call) reply {
	return succeedWith(nil, "The latest requests", s.Journal())
}

func (s *Server) adminDeliveries(c *call) reply {
	log := s.Deliveries()
	return succeedWith(nil, fmt.Sprintf("%d deliveries in the log", len(log)), cut(s.config.assume.paging(c.query()), log))
}

// ledgerView is the data of GET /_mock/ledger.
type ledgerView struct {
	Wallets  []walletView   `json:"wallets"`
	Entries  []ledger.Entry `json:"entries"`
	Problems string         `json:"problems"` // empty when every invariant holds
}

type walletView struct {
	ledger.Wallet
	Balance shipping.Amount `json:"balance"`
}

func (s *Server) adminLedger(c *call) reply {
	w := s.home
	w.mu.Lock()
	view := ledgerView{Entries: w.ledger.Journal()}
	for _, wallet := range w.ledger.Wallets() {
		balance, _ := w.ledger.Balance(wallet.Reference)
		view.Wallets = append(view.Wallets, walletView{wallet, balance})
	}
	w.mu.Unlock()
	if err := s.Check(); err != nil {
		view.Problems = err.Error()
	}
	total := len(view.Entries)
	slices.Reverse(view.Entries)
	view.Entries = cut(s.config.assume.paging(c.query()), view.Entries)
	return succeedWith(nil, fmt.Sprintf("%d entries in the ledger", total), view)
}

// cut returns the page of a slice that is asked for.
func cut[T any](p paging, all []T) []T {
	if p.page > p.pageCount(len(all)) {
		return []T{}
	}
	first := (p.page - 1) * p.perPage
	return all[first : first+min(p.perPage, len(all)-first)]
}

func (s *Server) adminAdvance(c *call) reply {
	var ask struct {
		Duration string `json:"duration"`
	}
	if refusal := s.home.decode(c, &ask); refusal != nil {
		return *refusal
	}
	d, err := time.ParseDuration(ask.Duration)
	if err != nil || d < 0 {
		return refused(http.StatusBadRequest, codeInvalid, fmt.Sprintf(`duration %q is not one that a clock can move by: write {"duration":"1h30m"}`, ask.Duration))
	}
	fired, err := s.Advance(d)
	if err != nil {
		return refused(http.StatusConflict, codeInvalid, err.Error())
	}
	return succeedWith(nil, "The clock was advanced", struct {
		Now   timestamp `json:"now"`
		Fired []Fired   `json:"fired"`
	}{timestamp(s.Now()), fired})
}

func (s *Server) adminAddWebhook(c *call) reply {
	var h Webhook
	if refusal := s.home.decode(c, &h); refusal != nil {
		return *refusal
	}
	id, err := s.AddWebhook(h)
	if err != nil {
		return refused(http.StatusBadRequest, codeInvalid, err.Error())
	}
	return succeedWith(nil, "Webhook added", map[string]string{"webhook_id": id})
}

func (s *Server) adminEvidence(c *call) reply {
	w := s.home
	w.mu.Lock()
	defer w.mu.Unlock()
	record, err := w.desk.SubmitEvidence(c.PathValue("request_id"), c.PathValue("document_type"))
	return w.answerRecord(c, "Evidence submitted, document generation started", record, err)
}

// SubmitEvidence brings what a manual document of a request waits for, and starts its generation. It
// fails for a document that waits for nothing.
func (s *Server) SubmitEvidence(requestID string, documentType shipping.DocumentType) error {
	s.home.mu.Lock()
	defer s.home.mu.Unlock()
	if _, err := s.home.desk.SubmitEvidence(requestID, string(documentType)); err != nil {
		return fmt.Errorf("mockserver: %w", err)
	}
	return nil
}

// Check returns nil, or an error that names every invariant of the world that does not hold: entries
// that do not sum to zero, a wallet below zero, a request that is charged twice or not at all.
func (s *Server) Check() error {
	s.home.mu.Lock()
	defer s.home.mu.Unlock()
	return s.home.check()
}
