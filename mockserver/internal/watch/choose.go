package watch

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Choice is a [journal.Query] with limits on the result: a client that follows the journal requests only new entries,
// and bodies only if they are displayed.
type Choice struct {
	journal.Query
	after  uint64 // the number of the entry that precedes the first
	before uint64 // the number of the entry that follows the last; 0 for no limit
	Last   int    // only that many of the latest; 0 for all
	First  int    // only that many of the first; 0 for all
	Bodies bool
}

// Choice resolves the request ids in After and Before of a query.
func (j *Log) Choice(q journal.Query) (Choice, error) {
	choice := Choice{Query: q}
	var err error
	switch {
	case q.After == journal.Latest:
		choice.after = j.Last()
	case q.After != "":
		if choice.after, err = numberOf(q.After); err != nil {
			return choice, fmt.Errorf("after is %q: write the request_id of an entry, such as req-7, or %s", q.After,
				journal.Latest)
		}
	}
	if q.Before != "" {
		if choice.before, err = numberOf(q.Before); err != nil || choice.before == 0 {
			return choice, fmt.Errorf("before is %q: write the request_id of an entry, such as req-7", q.Before)
		}
	}
	return choice, nil
}

func numberOf(id string) (uint64, error) {
	return strconv.ParseUint(strings.TrimPrefix(id, "req-"), 10, 64)
}

func (c *Choice) matches(e *entry) bool {
	return e.number > c.after && (c.before == 0 || e.number < c.before) && matches(&c.Query, e)
}

// Choose returns the recorded entries of a choice, oldest first.
func (j *Log) Choose(choice Choice) []journal.Entry {
	entries, _, _ := j.choose(choice)
	return entries
}

// choose also returns how many entries there are without the limits of the choice, and a channel that closes at the
// next change.
func (j *Log) choose(choice Choice) (entries []journal.Entry, total int, changed <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var all []*entry
	for _, e := range j.calls {
		if choice.matches(e) {
			all = append(all, e)
		}
	}
	total = len(all)
	if choice.Last > 0 {
		all = all[max(0, total-choice.Last):]
	} else if choice.First > 0 {
		all = all[:min(total, choice.First)]
	}
	entries = []journal.Entry{}
	for _, e := range all {
		shown := e.Entry
		if !choice.Bodies {
			shown.RequestBody, shown.ResponseBody = "", ""
		}
		entries = append(entries, shown)
	}
	return entries, total, j.changed
}

// Await returns the recorded entries of a choice as soon as there are count of them. It returns an error if the context
// ends.
func (j *Log) Await(ctx context.Context, choice Choice, count int) ([]journal.Entry, error) {
	for {
		entries, found, changed := j.choose(choice)
		if found >= count {
			return entries, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("mockserver: waited for %s and found %d of %d; %s: %w", &choice.Query, found, count,
				j.latest(), context.Cause(ctx))
		}
	}
}

// latest describes the latest requests in one line.
func (j *Log) latest() string {
	const most = 3
	calls := j.Choose(Choice{Bodies: false})
	if len(calls) == 0 {
		return "the journal is empty"
	}
	var lines []string
	for _, c := range calls[max(0, len(calls)-most):] {
		status := "without a response"
		if c.Status > 0 {
			status = strconv.Itoa(c.Status)
		}
		lines = append(lines, fmt.Sprintf("%s %s %s", c.Method, c.Path, status))
	}
	return fmt.Sprintf("the journal has %s, the latest: %s", spelling.Counted(len(calls), "request", "requests"),
		strings.Join(lines, ", "))
}
