package conformance

import (
	"fmt"
	"net/http"
	"strings"
)

// checkRefusals reports how the service refuses. The specification defines when a request fails, and leaves
// open how: "Error body format, error codes and HTTP status codes: not shown."
func (s *session) checkRefusals() {
	unknown := s.get("/v1/no-such-operation")
	s.judge(headingErrors, "an unknown path does not succeed", s.refused("GET /v1/no-such-operation", unknown, false))
	s.assume(headingErrors, "an unknown path gets HTTP status 404", unknown.status == http.StatusNotFound,
		fmt.Sprintf("HTTP status %d", unknown.status))

	var bodies, statuses, successes []string
	for _, r := range s.refusals {
		if r.response.envelope["status"] == true {
			successes = append(successes, r.to+": HTTP status "+fmt.Sprint(r.response.status)+`, and "status":true`)
		}
		if problems := errorBody(r.response); len(problems) > 0 {
			bodies = append(bodies, r.to+": "+strings.Join(problems, ", "))
		}
		if r.rule && r.response.status != http.StatusBadRequest {
			statuses = append(statuses, fmt.Sprintf("%s: HTTP status %d", r.to, r.response.status))
		}
	}
	s.judge(headingErrors, "status is not true in a refusal", successes)
	s.assume(headingErrors, `a refusal is {"status":false,"message":"…"}, perhaps with data`, len(bodies) == 0, summary(bodies))
	s.assume(headingErrors, "a request that breaks a rule gets HTTP status 400", len(statuses) == 0, summary(statuses))
}

// errorBody returns how a refusal differs from the assumption.
func errorBody(a response) []string {
	if a.envelope == nil {
		return []string{"the body is not a JSON object: " + a.excerpt()}
	}
	problems := object(map[string]*schema{"status": value("boolean"), "message": value("string")}).problems("", a.envelope)
	if a.envelope["status"] == true {
		problems = append(problems, "status is true")
	}
	return problems
}
