package conformance

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/shipping-go/shipping"
)

// guarded is an operation that lists Authorization as required, with a request to it that changes nothing.
type guarded struct {
	method, path string
	body         any
}

// guarded returns a request to each documented operation that requires Authorization: all but countries and webhooks,
// for which the specification does not state it.
func (s *session) guarded() (requests []guarded) {
	for _, op := range shipping.Operations() {
		if op.Provisional || op.Open || op.Name == shipping.OpListCountries || op.Name == shipping.OpListWebhooks {
			continue
		}
		g := guarded{method: op.Method, path: strings.ReplaceAll(op.Route, "{request_id}", "RD-0")}
		if op.Name == shipping.OpListTransactions {
			g.path += "?" + url.Values{"wallet": {s.target.Wallet}}.Encode()
		}
		if op.Method != http.MethodGet {
			g.body = map[string]any{}
		}
		requests = append(requests, g)
	}
	return requests
}

// checkAccess: "Every regulatory documents endpoint requires Authorization"; "GET /v1/rates,
// GET /v1/transactions and POST /v1/webhooks/replay list Authorization as required."
func (s *session) checkAccess() {
	unauthorized := true
	var otherwise string
	for _, g := range s.guarded() {
		to := g.method + " " + pathOf(g.path)
		a := s.send(g.method, g.path, g.body, key)
		problems := s.refused(to+" without Authorization", a, false)
		if len(problems) == 0 && a.status != http.StatusUnauthorized {
			unauthorized = false
			otherwise = fmt.Sprintf("%s without Authorization: HTTP status %d", to, a.status)
			// It was refused, but perhaps for another reason.
			with := s.send(g.method, g.path, g.body, nothing)
			if with.lost == nil && with.status == a.status && with.message() == a.message() {
				problems = []string{fmt.Sprintf("%s gets the same response with and without Authorization (HTTP status %d): nothing shows that the header is checked", to, a.status)}
			}
		}
		s.judge(headingAccess, to+" requires Authorization", problems)
	}
	wrong := s.sendAs("not-"+s.key.Reveal(), http.MethodGet, "/v1/rates", nil, nothing)
	s.judge(headingAccess, "a key that is not the account's is refused", s.refused("GET /v1/rates with a wrong key", wrong, false))

	s.assume(headingAccess, "a request without Authorization gets HTTP status 401", unauthorized, otherwise)
	for _, path := range []string{"/v1/countries", "/v1/webhooks"} {
		a := s.send(http.MethodGet, path, nil, key)
		s.assume(headingAccess, "GET "+path+" requires Authorization too", a.lost == nil && !a.succeeded(), "it succeeds without")
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
