package conformance

import (
	"net/http"
	"strings"
)

// checkErrors reports how the service refused. The specification defines when a request fails, and leaves open how: "Error
// body format, error codes and HTTP status codes: not shown."
func (s *session) checkErrors() {
	unknown := s.send(&operation{method: http.MethodGet, path: "/v1/no-such-operation"}, request{})
	unrefused := s.refused(unknown)
	envelope := *s.service.record("Refusal")
	envelope.Assumption = "" // it is checked here
	var bodies, statuses, successes []string
	for _, a := range s.refusals {
		successes = append(successes, problem(a.envelope["status"] == true, `%s: HTTP status %d, and "status":true`, a.to, a.status)...)
		statuses = append(statuses, problem(a.rule && a.status != http.StatusBadRequest, "%s: HTTP status %d", a.to, a.status)...)
		differs := []string{"the body is not a JSON object: " + a.excerpt()}
		if a.envelope != nil {
			differs = envelope.problems("", a.envelope)
		}
		bodies = append(bodies, problem(len(differs) > 0, "%s: %s", a.to, strings.Join(differs, ", "))...)
	}
	s.judge([]check{
		{headingErrors, "an unknown path does not succeed", unknown.missing, unrefused, stated},
		{headingErrors, "an unknown path gets HTTP status 404", unknown.missing, problem(unknown.status != http.StatusNotFound, "HTTP status %d", unknown.status), open},
		{headingErrors, "status is not true in a refusal", missing{}, successes, stated},
		{headingErrors, `a refusal is {"status":false,"message":"…"}, perhaps with data`, missing{}, bodies, open},
		{headingErrors, "a request that breaks a rule gets HTTP status 400", missing{}, statuses, open},
	})
}
