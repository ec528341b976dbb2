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
		choice, err := parseCallChoice(q, query)
		if err != nil {
			return refused(http.StatusBadRequest, codeInvalid, err.Error())
		}
		calls := c.world.choose(choice)
		message := fmt.Sprintf("%d calls", len(calls))
		if c.world.calls.isShort() {
			message += ": fewer are remembered than should be, since the journals of all worlds are full; close or reset some, or raise -max-journal or WithMaxJournal"
		}
		return succeedWith(nil, message, calls)
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
	known := []string{"operation", "status", "request_id", "key", "contains", "faulted", "after", "last", "bodies", "await", "world"}
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

// callChoice is a [CallQuery] with how much of what it finds is wanted: a page that follows the journal
// asks for what it has not seen, and for bodies only when somebody looks at them.
type callChoice struct {
	CallQuery
	after  uint64 // the number of the call before the first
	last   int    // how many of the latest; 0 for all
	bodies bool
}

func parseCallChoice(q CallQuery, query url.Values) (callChoice, error) {
	choice := callChoice{CallQuery: q, bodies: query.Get("bodies") != "false"}
	if text := query.Get("after"); text != "" {
		number, err := strconv.ParseUint(strings.TrimPrefix(text, "req-"), 10, 64)
		if err != nil {
			return choice, fmt.Errorf("after is %q: write the request_id of a call, such as req-7", text)
		}
		choice.after = number
	}
	if text := query.Get("last"); text != "" {
		number, err := strconv.Atoi(text)
		if err != nil || number < 1 {
			return choice, fmt.Errorf("last is %q: write how many calls to show at most", text)
		}
		choice.last = number
	}
	return choice, nil
}

// choose returns the remembered calls of a choice, oldest first.
func (w *World) choose(choice callChoice) []Call {
	chosen := func(e *entry) bool { return e.number > choice.after && choice.matches(e) }
	skip := 0
	if choice.last > 0 {
		w.calls.each(func(e *entry) bool {
			if chosen(e) {
				skip++
			}
			return true
		})
		skip = max(0, skip-choice.last)
	}
	calls := []Call{}
	w.calls.each(func(e *entry) bool {
		switch {
		case !chosen(e):
		case skip > 0:
			skip--
		default:
			shown := *e
			if !choice.bodies {
				shown.request, shown.response = nil, nil
			}
			calls = append(calls, shown.call())
		}
		return choice.last == 0 || len(calls) < choice.last
	})
	return calls
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
		fmt.Sprintf("the journal of world %s does not hold %q: take the X-Request-Id of one of its latest answers, or name another world with ?world=NAME; %s has the requests whose key opens no world", c.world.name, c.PathValue("request_id"), strangersName))
}
