package conformance

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// checkAccess: "Every regulatory documents endpoint requires Authorization"; "GET /v1/rates, GET /v1/transactions and
// POST /v1/webhooks/replay list Authorization as required." Whether the others do is an open point. Its requests are
// incomplete, and change nothing. It returns the operations that refuse them in the same way with and without
// Authorization: the service may check the rest of a request before the key.
func (s *session) checkAccess() (unproven []*operation) {
	var checks []check
	var otherwise []string
	for _, op := range s.service.operations {
		if op.Assumption != "" { // whether it requires the key is an open point
			continue
		}
		r, need := request{id: "RD-0", lacks: "Authorization"}, missing{}
		if op.Name == "transactions.list" {
			r.query, need = url.Values{"wallet": {s.target.Wallet}}, unless(s.target.Wallet != "", NotRun, needsWallet)
		}
		a := s.send(op, r, need)
		row := check{headingAccess, op.method + " " + op.path + " requires Authorization", a.missing, s.refused(a),
			stated}
		if row.problems == nil && a.missing == (missing{}) && a.status != http.StatusUnauthorized {
			otherwise = append(otherwise, fmt.Sprintf("%s: HTTP status %d", a.to, a.status))
			r.lacks = ""
			with := s.send(op, r)
			same := with.lost == nil && with.status == a.status && with.envelope["message"] == a.envelope["message"]
			if same && (op.method != http.MethodGet || strings.Contains(op.path, "{")) {
				unproven = append(unproven, op)
				continue
			}
			row.missing = with.missing
			row.problems = problem(same,
				"%s gets the same response as with the header (HTTP status %d): nothing shows that it is checked", a.to, a.status)
		}
		checks = append(checks, row)
	}
	wrong := s.call("rates.list", request{key: "not-" + s.key.Reveal(), lacks: "the right key"})
	s.keyStatus = wrong.status
	s.judge(append(checks,
		check{headingAccess, "a key that is not the account's is refused", wrong.missing, s.refused(wrong), stated},
		check{headingAccess, "a request without Authorization gets HTTP status 401", missing{}, otherwise, open},
	))
	return unproven
}

// checkKey checks that an operation that requires the key succeeded. Otherwise the refusals show only how the service
// checks keys, and the observations are discarded.
func (s *session) checkKey(first response) {
	if !s.accepted {
		clear(s.observed)
	}
	s.judge([]check{{headingAccess, "a request with the key succeeds",
		unless(s.accepted, first.missing.verdict, first.missing.reason),
		problem(!s.accepted, "%s gets HTTP status %d: check the key", first.to, first.status), stated}})
}

// checkUnproven sends complete requests without Authorization to operations for which incomplete requests show nothing.
func (s *session) checkUnproven(unproven []*operation, shipment, invoice draft) {
	for _, op := range unproven {
		r, need := request{id: shipment.id, body: map[string]any{"shipment_id": s.target.Shipment}}, shipment.missing
		switch op.Name {
		case "webhooks.replay":
			r, need = s.replay, s.noReplay
		case "regulatory.purchase":
			need = cmp.Or(unless(s.writes, Skipped, needsWrites), unless(s.refusedPurchases, Skipped, needsRefusedPurchases),
				invoice.missing)
		}
		if need != (missing{}) {
			need.reason = "an incomplete request is refused in the same way with and without Authorization, and a complete " +
				"one is not sent: " + need.reason
		}
		var a response
		if r.lacks = "Authorization"; op.Name == "regulatory.purchase" {
			a = s.purchase(Purchase{RequestID: invoice.id, DocumentType: strings.Join(invoice.slugs, ","), MustFail: true},
				invoice.slugs, r.lacks, need)
		} else {
			a = s.send(op, r, need)
		}
		s.judge([]check{{headingAccess, op.method + " " + op.path + " requires Authorization", a.missing, s.refused(a),
			stated}})
	}
}

// checkErrors reports how the service refused. The specification defines when a request fails, and leaves open how:
// "Error body format, error codes and HTTP status codes: not shown."
func (s *session) checkErrors() {
	unknown := s.send(&operation{method: http.MethodGet, path: "/v1/no-such-operation"}, request{})
	unrefused := s.refused(unknown)
	var successes []string
	for _, a := range s.refusals {
		successes = append(successes,
			problem(a.envelope["status"] == true, `%s: HTTP status %d, and "status":true`, a.to, a.status)...)
	}
	s.judge([]check{
		{headingErrors, "an unknown path does not succeed", unknown.missing, unrefused, stated},
		{headingErrors, "an unknown path gets HTTP status 404", unknown.missing,
			problem(unknown.status != http.StatusNotFound, "HTTP status %d", unknown.status), open},
		{headingErrors, "status is not true in a refusal", missing{}, successes, stated},
	})
}
