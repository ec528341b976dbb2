package watch

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Choice is a [journal.Query] with limits on the result: a client that follows the journal requests only new entries,
// and bodies only if they are displayed.
type Choice struct {
	journal.Query
	after  uint64 // the number of the entry that precedes the first
	Last   int    // only that many of the latest; 0 for all
	First  int    // only that many of the first; 0 for all
	Bodies bool
}

// Choice resolves the request id in After of a query.
func (j *Log) Choice(q journal.Query) (Choice, error) {
	choice := Choice{Query: q}
	switch q.After {
	case "":
	case journal.Latest:
		choice.after = j.Last()
	default:
		number, err := strconv.ParseUint(strings.TrimPrefix(q.After, "req-"), 10, 64)
		if err != nil {
			return choice, fmt.Errorf("after is %q: write the request_id of an entry, such as req-7, or %s", q.After, journal.Latest)
		}
		choice.after = number
	}
	return choice, nil
}

func (c *Choice) matches(e *entry) bool { return e.number > c.after && matches(&c.Query, e) }

// Choose returns the recorded entries of a choice, oldest first.
func (j *Log) Choose(choice Choice) []journal.Entry {
	skip := 0
	if choice.Last > 0 {
		j.each(func(e *entry) bool {
			if choice.matches(e) {
				skip++
			}
			return true
		})
		skip = max(0, skip-choice.Last)
	}
	calls := []journal.Entry{}
	j.each(func(e *entry) bool {
		switch {
		case !choice.matches(e):
		case skip > 0:
			skip--
		default:
			shown := *e
			if !choice.Bodies {
				shown.request, shown.response = nil, nil
			}
			calls = append(calls, shown.call())
		}
		return (choice.First == 0 || len(calls) < choice.First) && (choice.Last == 0 || len(calls) < choice.Last)
	})
	return calls
}

// Await returns the oldest recorded entry of a choice, as soon as there are count of them. It returns an error if the
// context ends or the timeout passes; 0 means no timeout.
func (j *Log) Await(ctx context.Context, choice Choice, count int, timeout time.Duration) (journal.Entry, error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	for {
		var first journal.Entry
		found := 0
		changed := j.each(func(e *entry) bool {
			if choice.matches(e) {
				if found++; found == 1 {
					first = e.call()
				}
			}
			return found < count
		})
		if found >= count {
			return first, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return journal.Entry{}, fmt.Errorf("mockserver: waited for %s and found %d of %d; %s: %w", &choice.Query, found, count, j.latest(), context.Cause(ctx))
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
	return fmt.Sprintf("the journal has %s, the latest: %s", spelling.Counted(len(calls), "request", "requests"), strings.Join(lines, ", "))
}
