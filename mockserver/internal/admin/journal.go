package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/explain"
	"github.com/shipping-go/shipping/mockserver/internal/watch"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
	"github.com/shipping-go/shipping/mockserver/journal"
)

func journalRoutes() []Route {
	return []Route{
		route("GET", "journal", "listJournal", "List the latest requests to the service, oldest first; as=findings lists "+
			"the findings of the linter", "", (*Admin).listJournal).
			with(plainText),
		route("GET", "journal/{request_id}", "getJournalEntry",
			"Get an entry of the journal, and why the request was refused: the section of the specification, and the nearest "+
				"valid request", "", (*Admin).getJournalEntry).
			with(plainText),
	}
}

type journalQuery struct {
	journal.Query
	Status string `query:"status" doc:"Only responses with this status, or of this class." example:"4xx"`
	Last   int    `query:"last" doc:"Only the latest of them, at most this many." example:"50"`
	Bodies *bool  `query:"bodies" doc:"false omits bodies." example:"false"`
	waiting
	As string `query:"as" enum:"jsonl curl findings" doc:"Export them as JSON lines or as curl commands, or list all findings of the linter." example:"curl"`
}

// journalRow is a journal entry, or with as=findings a finding of the linter.
type journalRow any

func rows[T any](all []T) []journalRow {
	rows := make([]journalRow, len(all))
	for i, one := range all {
		rows[i] = one
	}
	return rows
}

// listJournal responds with the entries that the query selects. With wait it responds once their number is count, or
// with 408.
func (s *Admin) listJournal(c *control, query journalQuery, _ none) (string, []journalRow, error) {
	choice, err := query.choice(c.world)
	if err := errors.Join(err, query.waiting.check()); err != nil {
		return "", nil, err
	}
	var entries []journal.Entry
	if query.Wait > 0 {
		choice.First = query.Count
		if entries, err = c.world.AwaitChoice(c.Context(), choice, query.Count, query.Wait); err != nil {
			return "", nil, timedOut(err)
		}
	} else {
		entries = c.world.Log.Choose(choice)
	}
	switch query.As {
	case "jsonl":
		var out bytes.Buffer
		encoder := json.NewEncoder(&out) // it ends each value with a line break
		for _, entry := range entries {
			_ = encoder.Encode(entry) // texts, numbers and times
		}
		c.raw = download("journal.jsonl", out.Bytes())
	case "curl":
		var commands strings.Builder
		for _, entry := range entries {
			commands.WriteString(entry.Curl(c.address()))
		}
		c.raw = download("journal.sh", []byte(commands.String()))
	case "findings":
		findings := c.world.Findings()
		return spelling.Counted(len(findings), "finding", "findings"), rows(findings), nil
	}
	message := spelling.Counted(len(entries), "request in the journal", "requests in the journal")
	return message, rows(entries), nil
}

const plainText = "text/plain; charset=utf-8"

// download returns a reply that a browser saves under a name.
func download(name string, body []byte) *wire.Reply {
	return &wire.Reply{
		Status: http.StatusOK, ContentType: plainText, Body: body,
		Header: http.Header{"Content-Disposition": {fmt.Sprintf("attachment; filename=%q", name)}},
	}
}

// timedOut returns the refusal (408) for a wait that ended with err.
func timedOut(err error) error {
	return &refusal{http.StatusRequestTimeout, wire.CodeTimeout,
		strings.TrimSuffix(err.Error(), ": "+context.DeadlineExceeded.Error())}
}

func (query *journalQuery) choice(w *world.World) (watch.Choice, error) {
	q := query.Query
	q.Method = strings.ToUpper(q.Method)
	if known := w.Operations(); q.Operation != "" && !slices.Contains(known, q.Operation) {
		return watch.Choice{}, fmt.Errorf("unknown operation %q%s", q.Operation, spelling.Suggestion(q.Operation, known))
	}
	var kinds []string
	for _, kind := range fault.Kinds() {
		kinds = append(kinds, kind.Kind)
	}
	if q.Fault != "" && !slices.Contains(kinds, q.Fault) {
		return watch.Choice{}, fmt.Errorf("unknown fault %q%s", q.Fault, spelling.Suggestion(q.Fault, kinds))
	}
	if query.Status != "" {
		number, isClass := strings.CutSuffix(query.Status, "xx")
		into := &q.Status
		if isClass {
			into = &q.StatusClass
		}
		var err error
		if *into, err = strconv.Atoi(number); err != nil {
			return watch.Choice{}, fmt.Errorf("status is %q: write a number, such as 200, or a class, such as 4xx", query.Status)
		}
	}
	choice, err := w.Log.Choice(q)
	choice.Bodies, choice.Last = query.Bodies == nil || *query.Bodies, query.Last
	return choice, err
}

type entryParameters struct {
	ID string `path:"request_id" doc:"The X-Request-Id header of the response." example:"req-7"`
	As string `query:"as" enum:"curl" doc:"Return a command that sends the request again." example:"curl"`
}

type explainedEntry struct {
	journal.Entry
	// Why is absent if the request was neither refused nor struck by a fault, and the linter found nothing.
	Why *journal.Why `json:"why,omitempty"`
}

// getJournalEntry responds with an entry and its explanation, or with a command that sends its request again.
func (s *Admin) getJournalEntry(c *control, entry entryParameters, _ none) (string, explainedEntry, error) {
	found, _, err := c.world.Log.Remembered(entry.ID)
	if err == nil && entry.As != "" {
		c.raw = &wire.Reply{Status: http.StatusOK, ContentType: plainText, Body: []byte(found.Curl(c.address()))}
		return "", explainedEntry{}, nil
	}
	why, err := explain.Response(s.Worlds, c.world, entry.ID, c.address(), s.Operations)
	if err != nil {
		message := strings.TrimPrefix(err.Error(), packagePrefix)
		if !errors.Is(err, watch.ErrDropped) {
			message += fmt.Sprintf("; or it is in the journal of another world than %s: add ?world=NAME; %s has the requests "+
				"without a valid key", c.world.Name(), world.UnauthenticatedName)
		}
		return "", explainedEntry{}, notFound("%s", message)
	}
	explained := explainedEntry{Entry: found}
	if why.ErrorCode != "" || why.Fault != "" || len(why.Findings) > 0 {
		explained.Why = &why
	}
	return why.Summary(), explained, nil
}
