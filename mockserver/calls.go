package mockserver

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// Call is a request that the server has answered.
type Call struct {
	// RequestID is the X-Request-Id header of the answer.
	RequestID string `json:"request_id"`
	// At is when the answer was ready, by the world's clock.
	At time.Time `json:"at"`
	// Operation is the name in the operation table; empty where the request named none.
	Operation string `json:"operation"`
	// Method is the HTTP method.
	Method string `json:"method"`
	// Path is the path without the query.
	Path string `json:"path"`
	// Query is the query as it was sent, without the question mark.
	Query string `json:"query,omitempty"`
	// Key tells keys apart and shows none: "sk_test_…" and eight digits of a hash. Empty where none was
	// sent.
	Key string `json:"key,omitempty"`
	// ContentType is what the request said of its body.
	ContentType string `json:"content_type,omitempty"`
	// Status is the HTTP status of the answer; 0 where the connection was dropped by a fault.
	Status int `json:"status"`
	// ErrorCode and Message are why the request was refused; empty where it was not.
	ErrorCode string `json:"error_code,omitempty"`
	Message   string `json:"message,omitempty"`
	// Fault is the injected fault that struck, such as "rule 2: drop at after-charge".
	Fault string `json:"fault,omitempty"`
	// RequestBody and ResponseBody are the bodies, up to the length that [WithJournal] sets. RequestBytes
	// and ResponseBytes are the lengths of the whole ones.
	RequestBody   string `json:"request_body,omitempty"`
	RequestBytes  int    `json:"request_bytes"`
	ResponseBody  string `json:"response_body,omitempty"`
	ResponseBytes int    `json:"response_bytes"`
}

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
func (w *World) Journal() []Call { return w.Find(CallQuery{}) }

// call is what a reader sees of an entry.
func (e *entry) call() Call {
	c := Call{
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

// CallQuery chooses calls of the journal. A field that is empty chooses all.
type CallQuery struct {
	// Operation is a name such as [shipping.OpPurchase].
	Operation string
	// Status is the HTTP status of the answer.
	Status int
	// RequestID is the X-Request-Id header of the answer, such as "req-7".
	RequestID string
	// Key is a fingerprint as [Call] has it.
	Key string
	// Contains is a text in the path, the query or one of the bodies, as far as they are remembered: a
	// request_id for one.
	Contains string
	// Faulted chooses the calls that an injected fault struck.
	Faulted bool
	// After is the X-Request-Id of a call: only those behind it are chosen. [LatestCall] stands for the latest,
	// so that [World.Await] waits for the next.
	After string
}

// LatestCall is a [CallQuery.After] that chooses only the calls to come.
const LatestCall = "latest"

// String names the conditions.
func (q CallQuery) String() string {
	var parts []string
	for _, part := range []struct {
		set  bool
		text string
	}{
		{q.Operation != "", "operation " + q.Operation},
		{q.Status != 0, fmt.Sprintf("status %d", q.Status)},
		{q.RequestID != "", "request id " + q.RequestID},
		{q.Key != "", "key " + q.Key},
		{q.Contains != "", fmt.Sprintf("holding %q", q.Contains)},
		{q.Faulted, "struck by a fault"},
		{q.After != "", "behind " + q.After},
	} {
		if part.set {
			parts = append(parts, part.text)
		}
	}
	if len(parts) == 0 {
		return "any call"
	}
	return "a call with " + strings.Join(parts, ", ")
}

func (q *CallQuery) matches(e *entry) bool {
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
func (w *World) Find(q CallQuery) []Call {
	choice, err := w.choice(q)
	if err != nil {
		return []Call{}
	}
	choice.bodies = true
	return w.choose(choice)
}

// Await returns the oldest remembered call that a query chooses, as soon as there is one: a test's way
// to wait for what other goroutines or processes do, without sleeping. With [LatestCall] it waits for the next. It
// fails when the context ends or the timeout has passed, and says what was called instead. The timeout runs with the
// process's time (inside a testing/synctest bubble, the bubble's), because a virtual clock may never move; 0 is none.
func (w *World) Await(ctx context.Context, q CallQuery, timeout time.Duration) (Call, error) {
	choice, err := w.choice(q)
	if err != nil {
		return Call{}, fmt.Errorf("mockserver: %w", err)
	}
	return w.await(ctx, choice, timeout)
}

func (w *World) await(ctx context.Context, choice callChoice, timeout time.Duration) (Call, error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	for {
		var found *Call
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
			return Call{}, fmt.Errorf("mockserver: waited for %s, and had %s: %w", &choice.CallQuery, w.latest(), errClosed)
		case <-ctx.Done():
			return Call{}, fmt.Errorf("mockserver: waited for %s, and had %s: %w", &choice.CallQuery, w.latest(), context.Cause(ctx))
		}
	}
}

// latest says in a line what was called last.
func (w *World) latest() string {
	const most = 3
	calls := w.Find(CallQuery{})
	if len(calls) == 0 {
		return "no call at all"
	}
	var lines []string
	for _, c := range calls[max(0, len(calls)-most):] {
		lines = append(lines, fmt.Sprintf("%s %s %d", c.Method, c.Path, c.Status))
	}
	return fmt.Sprintf("%s, the latest: %s", counted(len(calls), "other", "others"), strings.Join(lines, ", "))
}
