package mockserver

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// WithJournal sets how many calls a world remembers, and how many bytes of their bodies. The default
// is 1,024 calls with 2 KiB of each body; 0 calls remembers none.
func WithJournal(calls, bodyBytes int) Option {
	return func(c *config) { c.journal, c.journalBody = max(0, calls), max(0, bodyBytes) }
}

// Calls returns how many requests named an operation, such as [shipping.OpPurchase], since the start.
// The empty name counts those that named none.
func (w *World) Calls(operation string) int { return w.calls.count(operation) }

// Journal returns the latest calls, oldest first: up to 1,024, or what [WithJournal] says. No secret
// key is in it.
func (w *World) Journal() []journal.Call { return w.Find(journal.Query{}) }

// call is what a reader sees of an entry.
func (e *entry) call() journal.Call {
	c := journal.Call{
		RequestID: requestID(e.number), At: e.at, Operation: e.operation, Method: e.method, Path: wire.Redact(e.path),
		Query: wire.Redact(e.query), Key: e.key, ContentType: e.contentType, Status: e.status,
		ErrorCode: e.refusal.Code, Message: wire.Redact(e.refusal.Message),
		RequestBody: wire.Redact(string(e.request)), RequestBytes: e.requestBytes,
		ResponseBody: wire.Redact(string(e.response)), ResponseBytes: e.responseBytes,
	}
	c.Fault = wire.Strikes(e.struck)
	return c
}

// String says which rule it is and what it does.
func (r *armedRule) String() string {
	text := fmt.Sprintf("rule %d: %s", r.number, r.Fault.form().Kind)
	switch {
	case r.Point != "":
		text += " at " + string(r.Point)
	case r.Committed:
		text += " after the change"
	}
	return text
}

// fingerprint returns that of a request's key. The world's own is known beforehand.
func (w *World) fingerprint(r *http.Request) string {
	_, key := bearer(r)
	if key == w.SecretKey {
		return w.keyPrint
	}
	return wire.Fingerprint(key)
}

// matches reports whether a query chooses an entry.
func matches(q *journal.Query, e *entry) bool {
	return (q.Operation == "" || q.Operation == e.operation) &&
		(q.Status == 0 || q.Status == e.status) &&
		(q.RequestID == "" || q.RequestID == requestID(e.number)) &&
		(q.Key == "" || q.Key == e.key) &&
		(!q.Faulted || len(e.struck) > 0) &&
		(q.Contains == "" || strings.Contains(e.path, q.Contains) || strings.Contains(e.query, q.Contains) ||
			bytes.Contains(e.request, []byte(q.Contains)) || bytes.Contains(e.response, []byte(q.Contains)))
}

// Find returns the remembered calls that a query chooses, oldest first. A query whose After is no request id
// chooses none.
func (w *World) Find(q journal.Query) []journal.Call {
	choice, err := w.choice(q)
	if err != nil {
		return []journal.Call{}
	}
	choice.bodies = true
	return w.choose(choice)
}

// Await returns the oldest remembered call that a query chooses, as soon as there is one: a test's way
// to wait for what other goroutines or processes do, without sleeping. With [journal.Latest] it waits for the next. It
// fails when the context ends or the timeout has passed, and says what was called instead. The timeout runs with the
// process's time (inside a testing/synctest bubble, the bubble's), because a virtual clock may never move; 0 is none.
func (w *World) Await(ctx context.Context, q journal.Query, timeout time.Duration) (journal.Call, error) {
	choice, err := w.choice(q)
	if err != nil {
		return journal.Call{}, fmt.Errorf("mockserver: %w", err)
	}
	return w.await(ctx, choice, timeout)
}

func (w *World) await(ctx context.Context, choice callChoice, timeout time.Duration) (journal.Call, error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	for {
		var found *journal.Call
		changed := w.calls.each(func(e *entry) bool {
			if choice.matches(e) {
				c := e.call()
				found = &c
			}
			return found == nil
		})
		if found != nil {
			return *found, nil
		}
		select {
		case <-changed:
		case <-w.closed.Done():
			return journal.Call{}, fmt.Errorf("mockserver: waited for %s, and had %s: %w", &choice.Query, w.latest(), errClosed)
		case <-ctx.Done():
			return journal.Call{}, fmt.Errorf("mockserver: waited for %s, and had %s: %w", &choice.Query, w.latest(), context.Cause(ctx))
		}
	}
}

// latest says in a line what was called last.
func (w *World) latest() string {
	const most = 3
	calls := w.Find(journal.Query{})
	if len(calls) == 0 {
		return "no call at all"
	}
	var lines []string
	for _, c := range calls[max(0, len(calls)-most):] {
		lines = append(lines, fmt.Sprintf("%s %s %d", c.Method, c.Path, c.Status))
	}
	return fmt.Sprintf("%s, the latest: %s", counted(len(calls), "other", "others"), strings.Join(lines, ", "))
}
