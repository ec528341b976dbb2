package mockserver

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// adminCalls answers GET /_mock/calls: the journal, or the part that the query chooses. With await it
// answers as soon as a call is chosen, or 408.
func (s *Server) adminCalls(c *call) reply {
	query := c.query()
	q, err := parseCallQuery(query)
	if err != nil {
		return refused(http.StatusBadRequest, codeInvalid, err.Error())
	}
	if !query.Has("await") {
		calls := c.world.Find(q)
		return succeedWith(nil, fmt.Sprintf("%d calls", len(calls)), calls)
	}
	const longest = time.Hour
	timeout, err := time.ParseDuration(query.Get("await"))
	if err != nil || timeout <= 0 || timeout > longest {
		return refused(http.StatusBadRequest, codeInvalid, fmt.Sprintf("await %q is no time to wait: write one up to %v, such as 5s", query.Get("await"), longest))
	}
	found, err := c.world.Await(c.Context(), q, timeout)
	if err != nil {
		return refused(http.StatusRequestTimeout, codeTimeout, err.Error())
	}
	return succeedWith(nil, "Called", []Call{found})
}

// parseCallQuery reads a [CallQuery]. What it does not know is a mistake: a filter that is misspelt
// would choose everything.
func parseCallQuery(query url.Values) (CallQuery, error) {
	q := CallQuery{
		Operation: query.Get("operation"), RequestID: query.Get("request_id"), Key: query.Get("key"), Contains: query.Get("contains"),
	}
	known := []string{"operation", "status", "request_id", "key", "contains", "faulted", "await", "world"}
	for name := range query {
		if !slices.Contains(known, name) {
			return q, fmt.Errorf("calls cannot be chosen by %q, only by %s", name, strings.Join(known, ", "))
		}
	}
	if q.Operation != "" && !isOperation(q.Operation) {
		return q, fmt.Errorf("no operation is called %q: GET %sfaults lists the names", q.Operation, adminPrefix)
	}
	var err error
	if text := query.Get("status"); text != "" {
		if q.Status, err = strconv.Atoi(text); err != nil {
			return q, fmt.Errorf("status %q is no number", text)
		}
	}
	if text := query.Get("faulted"); text != "" {
		if q.Faulted, err = strconv.ParseBool(text); err != nil {
			return q, fmt.Errorf("faulted is %q: write true or leave it out", text)
		}
	}
	return q, nil
}

// adminCall answers GET /_mock/calls/{request_id} with a call, or with what makes it again.
func (s *Server) adminCall(c *call) reply {
	e, known := c.world.calls.remembered(c.PathValue("request_id"))
	if !known {
		return callNotFound(c)
	}
	found := e.call()
	switch as := c.query().Get("as"); as {
	case "":
		return succeedWith(nil, "The call", found)
	case "curl":
		return reply{status: http.StatusOK, contentType: "text/plain; charset=utf-8", body: []byte(found.Curl(c.world.URL))}
	case "go":
		return reply{status: http.StatusOK, contentType: "text/plain; charset=utf-8", body: []byte(found.GoTest(c.world.URL))}
	default:
		return refused(http.StatusBadRequest, codeInvalid, fmt.Sprintf("a call cannot be shown as %q: choose curl or go", as))
	}
}

func (s *Server) adminWhy(c *call) reply {
	why, err := c.world.Why(c.PathValue("request_id"))
	if err != nil {
		return callNotFound(c)
	}
	return succeedWith(nil, why.Summary(), why)
}

func callNotFound(c *call) reply {
	return refused(http.StatusNotFound, codeNotFound,
		fmt.Sprintf("the journal does not hold %q: take the X-Request-Id of one of the latest answers", c.PathValue("request_id")))
}
