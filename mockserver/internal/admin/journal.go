package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/api"
	"github.com/shipping-go/shipping/mockserver/internal/explain"
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
	write, known := journalFormats()[query.Get("as")]
	if !known {
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, fmt.Sprintf("as is %q: choose jsonl, har or curl", query.Get("as")))
	}
	timeout, count, refusal := waitForCount(query)
	if refusal != nil {
		return *refusal
	}
	if timeout > 0 {
		if choice.Last == 0 {
			choice.First = count
		}
		if _, err = c.world.AwaitChoice(c.Context(), choice, count, timeout); err != nil {
			return timedOut(err)
		}
	}
	return write(c.world, c.world.Log.Choose(choice))
}

// journalFormats returns the functions that write entries, by the parameter as.
func journalFormats() map[string]func(*world.World, []journal.Entry) wire.Reply {
	return map[string]func(*world.World, []journal.Entry) wire.Reply{
		"": func(w *world.World, entries []journal.Entry) wire.Reply {
			message := spelling.Counted(len(entries), "request in the journal", "requests in the journal")
			if w.Log.IsShort() {
				message += ": older ones were dropped because the journals of all worlds are full; close or reset worlds, or raise -max-journal (in Go: WithMaxJournal)"
			}
			return wire.Succeed(message, list.Map(entries, viewJournalEntry))
		},
		"jsonl": func(_ *world.World, entries []journal.Entry) wire.Reply {
			var out bytes.Buffer
			encoder := json.NewEncoder(&out) // which ends each value with a line break
			for _, entry := range entries {
				if err := encoder.Encode(viewJournalEntry(entry)); err != nil {
					return wire.Refused(http.StatusInternalServerError, wire.CodeInternal, err.Error())
				}
			}
			return download("journal.jsonl", plainText, out.Bytes())
		},
		"har": func(w *world.World, entries []journal.Entry) wire.Reply {
			archive, err := journal.HAR(w.URL, entries)
			if err != nil {
				return wire.Refused(http.StatusInternalServerError, wire.CodeInternal, err.Error())
			}
			return download("journal.har", "application/har+json", archive) // another type than that of entries, for typed clients
		},
		"curl": func(w *world.World, entries []journal.Entry) wire.Reply {
			commands := list.Map(entries, func(entry journal.Entry) string { return entry.Curl(w.URL) })
			return download("journal.sh", plainText, []byte(strings.Join(commands, "")))
		},
	}
}

const plainText = "text/plain; charset=utf-8"

// download returns a reply that a browser saves under a name.
func download(name, contentType string, body []byte) wire.Reply {
	return wire.Reply{
		Status: http.StatusOK, ContentType: contentType, Body: body,
		Header: http.Header{"Content-Disposition": {fmt.Sprintf("attachment; filename=%q", name)}},
	}
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

// waitForCount returns the parameters wait and count; count is 1 if the query does not have it.
func waitForCount(query url.Values) (timeout time.Duration, count int, refusal *wire.Reply) {
	if timeout, refusal = waitFor(query); refusal != nil || !query.Has("count") {
		return timeout, 1, refusal
	}
	if count = api.Positive(query.Get("count"), 0); count == 0 || timeout == 0 {
		p := wire.Refused(http.StatusBadRequest, wire.CodeInvalid, fmt.Sprintf("count is %q: write a whole number from 1, beside wait, such as wait=5s&count=2", query.Get("count")))
		return 0, 0, &p
	}
	return timeout, count, nil
}

// timedOut returns the refusal of a wait that failed with err.
func timedOut(err error) wire.Reply {
	message := strings.TrimSuffix(refusedFor(err).Refusal.Message, ": "+context.DeadlineExceeded.Error())
	return wire.Refused(http.StatusRequestTimeout, wire.CodeTimeout, message)
}

// parseJournalChoice parses the query of GET /_mock/journal.
func parseJournalChoice(w *world.World, query url.Values) (watch.Choice, error) {
	q := journal.Query{
		Operation: query.Get("operation"), Method: strings.ToUpper(query.Get("method")), RequestID: query.Get("request_id"), Key: query.Get("key"),
		Contains: query.Get("contains"), Fault: query.Get("fault"), After: query.Get("after"), Before: query.Get("before"),
	}
	if q.Operation != "" && !api.IsOperation(q.Operation) {
		return watch.Choice{}, fmt.Errorf("unknown operation %q%s", q.Operation, spelling.Suggestion(q.Operation, api.OperationNames()))
	}
	kinds := list.Map(fault.Kinds(), func(kind fault.Kind) string { return kind.Kind })
	if q.Fault != "" && !slices.Contains(kinds, q.Fault) {
		return watch.Choice{}, fmt.Errorf("unknown fault %q%s", q.Fault, spelling.Suggestion(q.Fault, kinds))
	}
	var err error
	if text := query.Get("status"); text != "" {
		number, isClass := strings.CutSuffix(text, "xx")
		into := &q.Status
		if isClass {
			into = &q.StatusClass
		}
		if *into, err = strconv.Atoi(number); err != nil {
			return watch.Choice{}, fmt.Errorf("status is %q: write a number, such as 200, or a class, such as 4xx", text)
		}
	}
	for name, into := range map[string]*bool{"faulted": &q.Faulted, "refused": &q.Refused} {
		if text := query.Get(name); text != "" {
			if *into, err = strconv.ParseBool(text); err != nil {
				return watch.Choice{}, fmt.Errorf("invalid %s %q: write true or leave it out", name, text)
			}
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
	found, _, err := c.world.Log.Remembered(c.PathValue("request_id"))
	if err != nil {
		return entryNotFound(c, err)
	}
	switch as := c.Query().Get("as"); as {
	case "":
		return wire.Succeed("The journal entry", viewJournalEntry(found))
	case "curl":
		return wire.Reply{Status: http.StatusOK, ContentType: plainText, Body: []byte(found.Curl(c.world.URL))}
	case "go":
		return wire.Reply{Status: http.StatusOK, ContentType: plainText, Body: []byte(found.GoTest(c.world.URL))}
	default:
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, fmt.Sprintf("as is %q: choose curl or go", as))
	}
}

func (s *Admin) explainRefusal(c *control) wire.Reply {
	why, err := explain.Response(s.Worlds, c.world, c.PathValue("request_id"), s.Operations)
	if err != nil {
		return entryNotFound(c, err)
	}
	return wire.Succeed(why.Summary(), why)
}

func entryNotFound(c *control, err error) wire.Reply {
	message := strings.TrimPrefix(err.Error(), "mockserver: ")
	if !errors.Is(err, watch.ErrDropped) {
		message += fmt.Sprintf(", or select a world other than %s with ?world=NAME; %s has the requests whose key opens no world", c.world.Name(), world.UnauthenticatedName)
	}
	return wire.Refused(http.StatusNotFound, wire.CodeNotFound, message)
}
