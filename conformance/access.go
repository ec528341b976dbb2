package conformance

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// requiresKey is the check that an operation requires Authorization.
func requiresKey(a response, problems []string) check {
	return check{headingAccess, a.op.method + " " + a.op.path + " requires Authorization", a.missing, problems, stated}
}

// checkAccess: "Every regulatory documents endpoint requires Authorization"; "GET /v1/rates, GET /v1/transactions and
// POST /v1/webhooks/replay list Authorization as required." Whether the others do is an open point. Its requests change nothing:
// they are incomplete. It returns those that were refused in the same way with and without Authorization: the service may check
// the rest of a request before the key.
func (s *session) checkAccess() (unproven []response) {
	var checks []check
	var otherwise []string
	for _, op := range s.service.operations {
		r, need := request{id: "RD-0"}, missing{}
		if op.Name == "transactions.list" {
			r.query, need = url.Values{"wallet": {s.target.Wallet}}, unless(s.target.Wallet != "", needsWallet)
		}
		a := s.send(op, r.without("Authorization"), need)
		if op.Assumption != "" {
			checks = append(checks, check{headingAccess, op.method + " " + op.path + " requires Authorization too", a.missing,
				problem(a.lost != nil || a.succeeded(), "it succeeds without"), open})
			continue
		}
		problems := s.refused(a)
		if a.missing == (missing{}) && len(problems) == 0 && a.status != http.StatusUnauthorized {
			otherwise = append(otherwise, fmt.Sprintf("%s: HTTP status %d", a.to, a.status))
			with := s.send(op, r)
			same := with.lost == nil && with.status == a.status && with.envelope["message"] == a.envelope["message"]
			if a.missing = with.missing; same && (op.method != http.MethodGet || strings.Contains(op.path, "{")) {
				unproven = append(unproven, a)
				continue
			}
			problems = problem(same, "%s gets the same response as with it (HTTP status %d): nothing shows that the header is checked", a.to, a.status)
		}
		checks = append(checks, requiresKey(a, problems))
	}
	wrong := s.call("rates.list", request{key: "not-" + s.key.Reveal(), lacks: "the right key"})
	s.judge(append(checks,
		check{headingAccess, "a key that is not the account's is refused", wrong.missing, s.refused(wrong), stated},
		check{headingAccess, "a request without Authorization gets HTTP status 401", missing{}, otherwise, open},
	))
	return unproven
}

// checkUnproven sends complete requests without Authorization, where incomplete ones show nothing.
func (s *session) checkUnproven(unproven []response, shipment, invoice draft) {
	for _, a := range unproven {
		r, need := request{id: shipment.id, body: body{"shipment_id": s.target.Shipment}}, cmp.Or(option(s.writes, needsWrites), shipment.missing)
		switch a.op.Name {
		case "regulatory.get":
			r.body = nil
		case "webhooks.replay":
			r, need = s.replay, s.noReplay
		case "regulatory.purchase":
			need = cmp.Or(option(s.writes, needsWrites), option(s.refusedPurchases, needsRefusedPurchases), invoice.missing)
		}
		if need != (missing{}) {
			need.reason = "an incomplete request is refused in the same way with and without Authorization, and a complete one is not sent: " + need.reason
		}
		if r.lacks = "Authorization"; a.op.Name == "regulatory.purchase" {
			slugs := invoice.slugs()
			a = s.purchase(Purchase{RequestID: invoice.id, DocumentType: strings.Join(slugs, ","), MustFail: true}, slugs, r, need)
		} else {
			a = s.send(a.op, r, need)
		}
		s.judge([]check{requiresKey(a, s.refused(a))})
	}
}
