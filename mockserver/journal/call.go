// Package journal holds what a world of the reference server has recorded: the requests that it answered, queries that
// choose among them, and what a careful client would have done otherwise. Calls can be exported as commands and tests that make
// them again.
package journal

import (
	"fmt"
	"strings"
	"time"
)

// Entry is a request that the server has received, with its response.
type Entry struct {
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
	// Status is the HTTP status of the response; 0, and absent in JSON, if a fault dropped the connection.
	Status int `json:"status,omitempty"`
	// ErrorCode and Message are why the request was refused; empty where it was not.
	ErrorCode string `json:"error_code,omitempty"`
	Message   string `json:"message,omitempty"`
	// Fault is the injected fault that struck, such as "rule 2: drop at after-charge".
	Fault string `json:"fault,omitempty"`
	// RequestBody and ResponseBody are the bodies, up to the length that mockserver.WithJournal sets. RequestBytes
	// and ResponseBytes are the lengths of the whole ones.
	RequestBody   string `json:"request_body,omitempty"`
	RequestBytes  int    `json:"request_bytes"`
	ResponseBody  string `json:"response_body,omitempty"`
	ResponseBytes int    `json:"response_bytes"`
}

// Query chooses calls of the journal. A field that is empty chooses all.
type Query struct {
	// Operation is a name such as [shipping.OpPurchase].
	Operation string
	// Status is the HTTP status of the answer.
	Status int
	// RequestID is the X-Request-Id header of the answer, such as "req-7".
	RequestID string
	// Key is a fingerprint as [Entry] has it.
	Key string
	// Contains is a text in the path, the query or one of the bodies, as far as they are remembered: a
	// request_id for one.
	Contains string
	// Faulted chooses the calls that an injected fault struck.
	Faulted bool
	// After is the X-Request-Id of a call: only those behind it are chosen. [Latest] stands for the latest,
	// so that mockserver.World.Await waits for the next.
	After string
}

// Latest is a [Query.After] that chooses only the calls to come.
const Latest = "latest"

// String names the conditions.
func (q Query) String() string {
	var parts []string
	for _, part := range []struct {
		set  bool
		text string
	}{
		{q.Operation != "", "operation " + q.Operation},
		{q.Status != 0, fmt.Sprintf("status %d", q.Status)},
		{q.RequestID != "", "request id " + q.RequestID},
		{q.Key != "", "key " + q.Key},
		{q.Contains != "", fmt.Sprintf("text %q", q.Contains)},
		{q.Faulted, "a fault"},
		{q.After != "" && q.After != Latest, "an id after " + q.After},
		{q.After == Latest, "an arrival after this wait began"},
	} {
		if part.set {
			parts = append(parts, part.text)
		}
	}
	if len(parts) == 0 {
		return "a request"
	}
	return "a request with " + strings.Join(parts, ", ")
}
