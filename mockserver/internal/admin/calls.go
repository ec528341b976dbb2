package admin

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/api"
	"github.com/shipping-go/shipping/mockserver/internal/explain"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/watch"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// adminCalls answers GET /_mock/calls: the journal, or the part that the query chooses. With await it
// answers as soon as a call is chosen, or 408.
func (s *Admin) adminCalls(c *control) wire.Reply {
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
		if choice.Last == 0 {
			choice.First = true
		}
		if _, err = c.world.AwaitChoice(c.Context(), choice, timeout); err != nil {
			p := refusedFor(err)
			return wire.Refused(http.StatusRequestTimeout, wire.CodeTimeout, p.Refusal.Message)
		}
	}
	calls := c.world.Log.Choose(choice)
	message := spelling.Counted(len(calls), "call", "calls")
	if c.world.Log.IsShort() {
		message += ": fewer are remembered than should be, since the journals of all worlds are full; close or reset some, or raise -max-journal or WithMaxJournal"
	}
	return wire.SucceedWith(nil, message, list.Map(calls, func(call journal.Call) callView { return callView{call, jsontext.Timestamp(call.At)} }))
}

// parseCallChoice reads a query of GET /_mock/calls.
func parseCallChoice(w *world.World, query url.Values) (watch.Choice, error) {
	q := journal.Query{
		Operation: query.Get("operation"), RequestID: query.Get("request_id"), Key: query.Get("key"), Contains: query.Get("contains"),
		After: query.Get("after"),
	}
	if q.Operation != "" && !api.IsOperation(q.Operation) {
		return watch.Choice{}, fmt.Errorf("no operation is called %q%s", q.Operation, spelling.Suggestion(q.Operation, api.OperationNames()))
	}
	var err error
	if text := query.Get("status"); text != "" {
		if q.Status, err = strconv.Atoi(text); err != nil {
			return watch.Choice{}, fmt.Errorf("status %q is no number", text)
		}
	}
	if text := query.Get("faulted"); text != "" {
		if q.Faulted, err = strconv.ParseBool(text); err != nil {
			return watch.Choice{}, fmt.Errorf("faulted is %q: write true or leave it out", text)
		}
	}
	choice, err := w.Log.Choice(q)
	if err != nil {
		return choice, err
	}
	choice.Bodies = query.Get("bodies") != "false"
	if text := query.Get("last"); text != "" {
		if choice.Last, err = strconv.Atoi(text); err != nil || choice.Last < 1 {
			return choice, fmt.Errorf("last is %q: write how many calls to show at most", text)
		}
	}
	return choice, nil
}

// adminCall answers GET /_mock/calls/{request_id} with a call, or with what makes it again.
func (s *Admin) adminCall(c *control) wire.Reply {
	found, _, known := c.world.Log.Remembered(c.PathValue("request_id"))
	if !known {
		return callNotFound(c)
	}
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

func (s *Admin) adminWhy(c *control) wire.Reply {
	why, err := explain.Response(s.Worlds, c.world, c.PathValue("request_id"), s.Operations)
	if err != nil {
		return callNotFound(c)
	}
	return wire.SucceedWith(nil, why.Summary(), why)
}

func callNotFound(c *control) wire.Reply {
	return wire.Refused(http.StatusNotFound, wire.CodeNotFound,
		fmt.Sprintf("the journal of world %s does not hold %q: take the X-Request-Id of one of its latest answers, or name another world with ?world=NAME; %s has the requests whose key opens no world", c.world.Name(), c.PathValue("request_id"), world.UnauthenticatedName))
}
