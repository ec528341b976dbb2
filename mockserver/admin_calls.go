package mockserver

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// adminCalls answers GET /_mock/calls: the journal, or the part that the query chooses. With await it
// answers as soon as a call is chosen, or 408.
func (s *Server) adminCalls(c *control) wire.Reply {
	query := c.Query()
	choice, err := parseCallChoice(c.world, query)
	if err != nil {
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, err.Error())
	}
	if query.Has("await") {
		const longest = time.Hour
		timeout, err := time.ParseDuration(query.Get("await"))
		if err != nil || timeout <= 0 || timeout > longest {
			return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, fmt.Sprintf("await %q is no time to wait: write one up to %v, such as 5s", query.Get("await"), longest))
		}
		if choice.last == 0 {
			choice.first = true
		}
		if _, err = c.world.await(c.Context(), choice, timeout); err != nil {
			p := refusedFor(err)
			return wire.Refused(http.StatusRequestTimeout, wire.CodeTimeout, p.Refusal.Message)
		}
	}
	calls := c.world.choose(choice)
	message := counted(len(calls), "call", "calls")
	if c.world.calls.isShort() {
		message += ": fewer are remembered than should be, since the journals of all worlds are full; close or reset some, or raise -max-journal or WithMaxJournal"
	}
	return wire.SucceedWith(nil, message, each(calls, func(call journal.Call) callView { return callView{call, jsontext.Timestamp(call.At)} }))
}

// callChoice is a [journal.Query] with how much of what it finds is wanted: a page that follows the journal
// asks for what it has not seen, and for bodies only if somebody looks at them.
type callChoice struct {
	journal.Query
	after  uint64 // the number of the call before the first
	last   int    // how many of the latest; 0 for all
	first  bool   // only the first
	bodies bool
}

// choice resolves the request id that a query begins behind.
func (w *World) choice(q journal.Query) (callChoice, error) {
	choice := callChoice{Query: q}
	switch q.After {
	case "":
	case journal.Latest:
		choice.after = w.calls.last()
	default:
		number, err := strconv.ParseUint(strings.TrimPrefix(q.After, "req-"), 10, 64)
		if err != nil {
			return choice, fmt.Errorf("after is %q: write the request_id of a call, such as req-7, or %s", q.After, journal.Latest)
		}
		choice.after = number
	}
	return choice, nil
}

func (c *callChoice) matches(e *entry) bool { return e.number > c.after && matches(&c.Query, e) }

// parseCallChoice reads a query of GET /_mock/calls.
func parseCallChoice(w *World, query url.Values) (callChoice, error) {
	q := journal.Query{
		Operation: query.Get("operation"), RequestID: query.Get("request_id"), Key: query.Get("key"), Contains: query.Get("contains"),
		After: query.Get("after"),
	}
	if q.Operation != "" && !isOperation(q.Operation) {
		return callChoice{}, fmt.Errorf("no operation is called %q%s", q.Operation, spelling.Suggestion(q.Operation, operationNames()))
	}
	var err error
	if text := query.Get("status"); text != "" {
		if q.Status, err = strconv.Atoi(text); err != nil {
			return callChoice{}, fmt.Errorf("status %q is no number", text)
		}
	}
	if text := query.Get("faulted"); text != "" {
		if q.Faulted, err = strconv.ParseBool(text); err != nil {
			return callChoice{}, fmt.Errorf("faulted is %q: write true or leave it out", text)
		}
	}
	choice, err := w.choice(q)
	if err != nil {
		return choice, err
	}
	choice.bodies = query.Get("bodies") != "false"
	if text := query.Get("last"); text != "" {
		if choice.last, err = strconv.Atoi(text); err != nil || choice.last < 1 {
			return choice, fmt.Errorf("last is %q: write how many calls to show at most", text)
		}
	}
	return choice, nil
}

// choose returns the remembered calls of a choice, oldest first.
func (w *World) choose(choice callChoice) []journal.Call {
	skip := 0
	if choice.last > 0 {
		w.calls.each(func(e *entry) bool {
			if choice.matches(e) {
				skip++
			}
			return true
		})
		skip = max(0, skip-choice.last)
	}
	calls := []journal.Call{}
	w.calls.each(func(e *entry) bool {
		switch {
		case !choice.matches(e):
		case skip > 0:
			skip--
		default:
			shown := *e
			if !choice.bodies {
				shown.request, shown.response = nil, nil
			}
			calls = append(calls, shown.call())
		}
		return !(choice.first && len(calls) > 0) && (choice.last == 0 || len(calls) < choice.last)
	})
	return calls
}

// adminCall answers GET /_mock/calls/{request_id} with a call, or with what makes it again.
func (s *Server) adminCall(c *control) wire.Reply {
	e, known := c.world.calls.remembered(c.PathValue("request_id"))
	if !known {
		return callNotFound(c)
	}
	found := e.call()
	switch as := c.Query().Get("as"); as {
	case "":
		return wire.SucceedWith(nil, "The call", callView{found, jsontext.Timestamp(found.At)})
	case "curl":
		return wire.Reply{Status: http.StatusOK, ContentType: "text/plain; charset=utf-8", Body: []byte(found.Curl(c.world.URL))}
	case "go":
		return wire.Reply{Status: http.StatusOK, ContentType: "text/plain; charset=utf-8", Body: []byte(found.GoTest(c.world.URL))}
	default:
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, fmt.Sprintf("a call cannot be shown as %q: choose curl or go", as))
	}
}

func (s *Server) adminWhy(c *control) wire.Reply {
	why, err := c.world.Why(c.PathValue("request_id"))
	if err != nil {
		return callNotFound(c)
	}
	return wire.SucceedWith(nil, why.Summary(), why)
}

func callNotFound(c *control) wire.Reply {
	return wire.Refused(http.StatusNotFound, wire.CodeNotFound,
		fmt.Sprintf("the journal of world %s does not hold %q: take the X-Request-Id of one of its latest answers, or name another world with ?world=NAME; %s has the requests whose key opens no world", c.world.name, c.PathValue("request_id"), strangersName))
}
