package admin

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
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

// listJournal serves GET /_mock/journal: the entries of the journal that the query selects. With wait it responds when
// there are count of them, or with 408.
func (s *Admin) listJournal(c *control) wire.Reply {
	query := c.Query()
	choice, err := parseJournalChoice(c.world, query)
	if err != nil {
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, err.Error())
	}
	timeout, refusal := waitFor(query)
	if refusal != nil {
		return *refusal
	}
	count := 1
	if query.Has("count") {
		count = api.Positive(query.Get("count"), 0)
	}
	if count == 0 || query.Has("count") && timeout == 0 {
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, fmt.Sprintf("count is %q: write a whole number from 1, beside wait, such as wait=5s&count=2", query.Get("count")))
	}
	if timeout > 0 {
		if choice.Last == 0 {
			choice.First = count
		}
		if _, err = c.world.AwaitChoice(c.Context(), choice, count, timeout); err != nil {
			return timedOut(err)
		}
	}
	calls := c.world.Log.Choose(choice)
	message := spelling.Counted(len(calls), "request in the journal", "requests in the journal")
	if c.world.Log.IsShort() {
		message += ": older ones were dropped because the journals of all worlds are full; close or reset worlds, or raise -max-journal (in Go: WithMaxJournal)"
	}
	return wire.SucceedWith(nil, message, list.Map(calls, func(call journal.Entry) journalEntryView { return journalEntryView{call, jsontext.Timestamp(call.At)} }))
}

// waitFor returns the duration of the parameter wait, or 0 if the query does not have it.
func waitFor(query url.Values) (time.Duration, *wire.Reply) {
	if !query.Has("wait") {
		return 0, nil
	}
	const longest = time.Hour
	timeout, err := time.ParseDuration(query.Get("wait"))
	if err != nil || timeout <= 0 || timeout > longest {
		p := wire.Refused(http.StatusBadRequest, wire.CodeInvalid, fmt.Sprintf("wait is %q: write a duration up to %v, such as 5s", query.Get("wait"), longest))
		return 0, &p
	}
	return timeout, nil
}

// timedOut returns the refusal of a wait that failed with err.
func timedOut(err error) wire.Reply {
	message := strings.TrimSuffix(refusedFor(err).Refusal.Message, ": "+context.DeadlineExceeded.Error())
	return wire.Refused(http.StatusRequestTimeout, wire.CodeTimeout, message)
}

// parseJournalChoice parses the query of GET /_mock/journal.
func parseJournalChoice(w *world.World, query url.Values) (watch.Choice, error) {
	q := journal.Query{
		Operation: query.Get("operation"), RequestID: query.Get("request_id"), Key: query.Get("key"), Contains: query.Get("contains"),
		After: query.Get("after"),
	}
	if q.Operation != "" && !api.IsOperation(q.Operation) {
		return watch.Choice{}, fmt.Errorf("unknown operation %q%s", q.Operation, spelling.Suggestion(q.Operation, api.OperationNames()))
	}
	var err error
	if text := query.Get("status"); text != "" {
		if q.Status, err = strconv.Atoi(text); err != nil {
			return watch.Choice{}, fmt.Errorf("status is %q: write a number, such as 200", text)
		}
	}
	if text := query.Get("faulted"); text != "" {
		if q.Faulted, err = strconv.ParseBool(text); err != nil {
			return watch.Choice{}, fmt.Errorf("invalid faulted %q: write true or leave it out", text)
		}
	}
	choice, err := w.Log.Choice(q)
	if err != nil {
		return choice, err
	}
	choice.Bodies = query.Get("bodies") != "false"
	if text := query.Get("last"); text != "" {
		if choice.Last, err = strconv.Atoi(text); err != nil || choice.Last < 1 {
			return choice, fmt.Errorf("last is %q: write the maximum number of requests", text)
		}
	}
	return choice, nil
}

// getJournalEntry serves GET /_mock/journal/{request_id}: an entry, or code that sends its request again.
func (s *Admin) getJournalEntry(c *control) wire.Reply {
	found, _, known := c.world.Log.Remembered(c.PathValue("request_id"))
	if !known {
		return entryNotFound(c)
	}
	switch as := c.Query().Get("as"); as {
	case "":
		return wire.SucceedWith(nil, "The journal entry", journalEntryView{found, jsontext.Timestamp(found.At)})
	case "curl":
		return wire.Reply{Status: http.StatusOK, ContentType: "text/plain; charset=utf-8", Body: []byte(found.Curl(c.world.URL))}
	case "go":
		return wire.Reply{Status: http.StatusOK, ContentType: "text/plain; charset=utf-8", Body: []byte(found.GoTest(c.world.URL))}
	default:
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, fmt.Sprintf("as is %q: choose curl or go", as))
	}
}

func (s *Admin) explainRefusal(c *control) wire.Reply {
	why, err := explain.Response(s.Worlds, c.world, c.PathValue("request_id"), s.Operations)
	if err != nil {
		return entryNotFound(c)
	}
	return wire.SucceedWith(nil, why.Summary(), why)
}

func entryNotFound(c *control) wire.Reply {
	return wire.Refused(http.StatusNotFound, wire.CodeNotFound,
		fmt.Sprintf("the journal of world %s has no request %q: use the X-Request-Id of one of its latest responses, or select another world with ?world=NAME; %s has the requests whose key opens no world", c.world.Name(), c.PathValue("request_id"), world.UnauthenticatedName))
}
