package conformance

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// guarded is an operation that lists Authorization as required, with a request to it that changes nothing.
type guarded struct {
	method, path string
	body         any
	missing      string // why the request cannot be made
}

// guarded returns a request to each operation that requires Authorization. Whether countries and webhooks do is an open
// point of the specification.
func (s *session) guarded() (requests []guarded) {
	for _, route := range slices.Sorted(maps.Keys(s.service.Paths)) {
		for method, op := range s.service.Paths[route] {
			if op.Provisional || op.Assumption != "" {
				continue
			}
			g := guarded{method: strings.ToUpper(method), path: strings.ReplaceAll(route, "{request_id}", "RD-0")}
			if route == "/v1/transactions" {
				g.path += "?" + url.Values{"wallet": {s.target.Wallet}}.Encode()
				if s.target.Wallet == "" {
					g.missing = needsWallet
				}
			}
			if g.method != http.MethodGet {
				g.body = map[string]any{}
			}
			requests = append(requests, g)
		}
	}
	return requests
}

// checkAccess: "Every regulatory documents endpoint requires Authorization"; "GET /v1/rates,
// GET /v1/transactions and POST /v1/webhooks/replay list Authorization as required."
func (s *session) checkAccess() {
	unauthorized := true
	var otherwise string
	for _, g := range s.guarded() {
		if status := s.checkGuarded(g); status != 0 && status != http.StatusUnauthorized && status != http.StatusTooManyRequests {
			unauthorized = false
			otherwise = fmt.Sprintf("%s %s without Authorization: HTTP status %d", g.method, pathOf(g.path), status)
		}
	}
	wrong := s.sendAs("not-"+s.key.Reveal(), http.MethodGet, "/v1/rates", nil, nothing)
	s.judge(headingAccess, "a key that is not the account's is refused", s.refused("GET /v1/rates with a wrong key", wrong, false))

	s.assume(headingAccess, "a request without Authorization gets HTTP status 401", unauthorized, otherwise)
	for _, path := range []string{"/v1/countries", "/v1/webhooks"} {
		a := s.send(http.MethodGet, path, nil, key)
		s.assume(headingAccess, "GET "+path+" requires Authorization too", a.lost == nil && !a.succeeded(), "it succeeds without")
	}
}

// checkGuarded checks one operation, and returns the status of the refusal; 0 if there was none.
func (s *session) checkGuarded(g guarded) (status int) {
	if g.missing != "" {
		defer s.suspend(NotRun, g.missing)()
	}
	to := g.method + " " + pathOf(g.path)
	check := to + " requires Authorization"
	a := s.send(g.method, g.path, g.body, key)
	problems := s.refused(to+" without Authorization", a, false)
	if len(problems) > 0 || a.status == http.StatusUnauthorized {
		s.judge(headingAccess, check, problems)
		return a.status
	}
	// It was refused, but perhaps for another reason.
	with := s.send(g.method, g.path, g.body, nothing)
	same := with.lost == nil && with.status == a.status && with.message() == a.message()
	switch {
	case same && g.body == nil && g.path != requestPath("RD-0"):
		problems = []string{fmt.Sprintf("%s gets the same response with and without Authorization (HTTP status %d): nothing shows that the header is checked", to, a.status)}
	case same:
		// The service may check the rest of the request before the key. A complete one shows whether it checks the key.
		s.unproven = append(s.unproven, unproven{check, g})
		return a.status
	}
	s.judge(headingAccess, check, problems)
	return a.status
}

// unproven is an operation that refused an incomplete request in the same way with and without Authorization.
type unproven struct {
	check string
	guarded
}

// checkUnproven sends complete requests without Authorization. shipment and invoice are drafts; nil if there is none.
func (s *session) checkUnproven(shipment, invoice map[string]any) {
	for _, u := range s.unproven {
		lacks, option := "", ""
		switch {
		case !s.writes:
			option = needsWrites
		case u.path == replayPath && s.event == "":
			lacks = "it needs a shipment, and a webhook that is subscribed to its events"
		case u.path == replayPath:
			u.body = s.pair(s.event, s.target.Webhook)
		case u.path == purchasePath && !s.refusedPurchases:
			option = needsRefusedPurchases
		case u.path == purchasePath && invoice == nil:
			lacks = "it needs the draft of an invoice"
		case u.path == purchasePath:
			u.body = map[string]any{"request_id": idOf(invoice), "document_types": slugs(invoice)}
			s.sent(Purchase{RequestID: idOf(invoice), DocumentType: strings.Join(slugs(invoice), ","), MustFail: true})
		case s.target.Shipment == "" || shipment == nil:
			lacks = "it needs the draft of a shipment"
		case u.body == nil:
			u.path = requestPath(idOf(shipment))
		default:
			u.body = map[string]any{"shipment_id": s.target.Shipment}
		}
		const same = "an incomplete request is refused in the same way with and without Authorization, and a complete one is not sent: "
		switch {
		case option != "":
			s.add(headingAccess, u.check, Skipped, same+option)
		case lacks != "":
			s.add(headingAccess, u.check, NotRun, same+lacks)
		default:
			to := u.method + " " + u.path + " without Authorization"
			s.judge(headingAccess, u.check, s.refused(to, s.send(u.method, u.path, u.body, key), false))
		}
	}
}

// pathOf returns a path without its query.
func pathOf(path string) string {
	u, err := url.Parse(path)
	if err != nil {
		return path
	}
	return u.Path
}
