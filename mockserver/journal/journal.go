// Package journal holds the records of a world of the reference server: the requests that it served, queries that
// select some of them, and the findings of the linter. An [Entry] can be exported as a curl command that
// repeats its request.
package journal

import (
	"fmt"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver/fault"
)

// Entry is a request that the server has received, and its response.
type Entry struct {
	// ID is the X-Request-Id header of the response.
	ID string `json:"request_id" doc:"The X-Request-Id header of the response."`
	// At is when the response was ready, by the world's clock.
	At time.Time `json:"at" doc:"When the response was ready, in the time of the world."`
	// Duration is the time from the request to its response, by the world's clock.
	Duration fault.Duration `json:"duration" doc:"From the request to its response, in the time of the world."`
	// Operation is the name in the operation table; empty if the request named none.
	Operation string `json:"operation" doc:"The operation, such as rates.list; empty if the request named none."`
	// Method is the HTTP method.
	Method string `json:"method" doc:"The HTTP method."`
	// Path is the path without the query.
	Path string `json:"path" doc:"The path without the query."`
	// Query is the query as it was sent, without the question mark.
	Query string `json:"query,omitempty" doc:"The query without the question mark."`
	// Key identifies the secret key without revealing it: "sk_test_…" and eight digits of a hash. Empty if none was
	// sent.
	Key string `json:"key,omitempty" doc:"Which key it had: the eight digits are of a hash. Absent without a key."`
	// Console is true for a request that the console sent. Lint has no findings about it.
	Console bool `json:"console,omitempty" doc:"The console sent it. Lint has no findings about it."`
	// ContentType is the request's Content-Type.
	ContentType string `json:"content_type,omitempty" doc:"The Content-Type of the request."`
	// Status is the HTTP status of the response; 0, and absent in JSON, if a fault dropped the connection.
	Status int `json:"status,omitempty" doc:"The HTTP status. Absent if a fault closed the connection."`
	// ErrorCode and Message are the reason of a refusal; empty if the request was not refused.
	ErrorCode string `json:"error_code,omitempty" doc:"Of a refusal."`
	Message   string `json:"message,omitempty" doc:"Of a refusal."`
	// Fault is the injected fault that struck, such as "rule 2: drop at after-charge".
	Fault string `json:"fault,omitempty" doc:"The fault that struck, such as rule 2: drop at after-charge."`
	// ShipmentID and RegulatoryRequestID are the shipment and the regulatory request that the request is about, from its
	// response or else from its body; empty if neither names one.
	ShipmentID          string `json:"shipment_id,omitempty" doc:"The shipment that the request is about."`
	RegulatoryRequestID string `json:"regulatory_request_id,omitempty" doc:"The regulatory request that it is about."`
	// Charged is the amount that a purchase has charged, with its currency; empty if it charged nothing.
	Charged string `json:"charged,omitempty" doc:"The amount that a purchase has charged, with its currency."`
	// RequestBody and ResponseBody are the bodies, up to the length that mockserver.WithJournal sets. RequestBytes
	// and ResponseBytes are the lengths of the whole ones.
	RequestBody   string `json:"request_body,omitempty" doc:"The start of the body."`
	RequestBytes  int    `json:"request_bytes" doc:"The length of the whole body."`
	ResponseBody  string `json:"response_body,omitempty" doc:"The start of the body."`
	ResponseBytes int    `json:"response_bytes" doc:"The length of the whole body."`
}

// Query selects entries of the journal. An empty field selects all.
type Query struct {
	// Operation is the name of an operation, such as [github.com/shipping-go/shipping.OpPurchase].
	Operation string `query:"operation" doc:"Only requests of this operation." example:"rates.list"`
	// Method is the HTTP method.
	Method string `query:"method" doc:"Only requests with this method." example:"POST"`
	// Status is the HTTP status of the response.
	Status int
	// StatusClass is the first digit of the HTTP status: 4 selects 400 to 499.
	StatusClass int
	// ID is the X-Request-Id header of the response, such as "req-7".
	ID string `query:"request_id" doc:"Only the request with this X-Request-Id." example:"req-7"`
	// Key is a fingerprint, as in [Entry].
	Key string `query:"key" doc:"Only requests with this key, as the journal shows it." example:"sk_test_…1a2b3c4d"`
	// Contains is a text in the operation, the path, the query, the whole status, the error code, the reason of a refusal
	// or one of the recorded bodies, such as a request_id.
	Contains string `query:"contains" doc:"Only requests with this text in the path, the query, the status, the reason of a refusal or a body." example:"SH-"`
	// Refused selects the requests that were refused.
	Refused bool `query:"refused" doc:"Only refused requests." example:"true"`
	// Faulted selects the requests that an injected fault struck. Fault is a kind of fault, such as "drop", and
	// selects the requests that a fault of this kind struck.
	Faulted bool   `query:"faulted" doc:"Only requests that a fault struck." example:"true"`
	Fault   string `query:"fault" doc:"Only requests that this kind of fault struck." example:"drop"`
	// After is the X-Request-Id of an entry, and selects later entries. With [Latest], mockserver.World.Await waits
	// for the next request.
	After string `query:"after" doc:"Only requests after this one; latest selects future requests." example:"req-7"`
	// Before is the X-Request-Id of an entry, and selects earlier entries.
	Before string `query:"before" doc:"Only requests before this one." example:"req-7"`
}

// Latest is a [Query.After] that selects only future entries.
const Latest = "latest"

// String lists the conditions.
func (q Query) String() string {
	var parts []string
	for _, part := range []struct {
		set  bool
		text string
	}{
		{q.Operation != "", "operation " + q.Operation},
		{q.Method != "", "method " + q.Method},
		{q.Status != 0, fmt.Sprintf("status %d", q.Status)},
		{q.StatusClass != 0, fmt.Sprintf("status %dxx", q.StatusClass)},
		{q.ID != "", "request id " + q.ID},
		{q.Key != "", "key " + q.Key},
		{q.Contains != "", fmt.Sprintf("text %q", q.Contains)},
		{q.Refused, "a refusal"},
		{q.Faulted, "a fault"},
		{q.Fault != "", "a fault of kind " + q.Fault},
		{q.After != "" && q.After != Latest, "an id after " + q.After},
		{q.Before != "", "an id before " + q.Before},
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

// Why explains a response that is a refusal, or that a fault struck. The header X-Mock-Why of such a response
// holds the address of its explanation.
type Why struct {
	// EntryID is the X-Request-Id header of the response.
	EntryID   string `json:"request_id"`
	Operation string `json:"operation"`
	Status    int    `json:"status,omitempty"`
	ErrorCode string `json:"error_code,omitempty"`
	Message   string `json:"message,omitempty"`
	// Specification is the heading of the specification's section that has the rule. Rule is the rule, if it is
	// one sentence. A text that begins with "assumption:" is not in the specification.
	Specification string `json:"specification,omitempty"`
	Rule          string `json:"rule,omitempty"`
	// Fault is the injected fault that struck the request.
	Fault string `json:"fault,omitempty"`
	// Nearest is a valid request that differs as little as possible from the one that was sent; nil if none
	// was found, or if the request was valid.
	Nearest *Suggestion `json:"nearest_valid,omitempty"`
	// Findings are the findings of lint about this request, refused or not.
	Findings []Finding `json:"findings,omitempty"`
}

// Summary returns the explanation as one sentence.
func (y *Why) Summary() string {
	switch {
	case y.Fault != "":
		return fmt.Sprintf("%s met an injected fault: %s", y.EntryID, y.Fault)
	case y.ErrorCode == "":
		return fmt.Sprintf("%s was not refused: its status is %d", y.EntryID, y.Status)
	default:
		return fmt.Sprintf("%s was refused: %s", y.EntryID, y.Message)
	}
}

// Suggestion is a request that the world would accept now.
type Suggestion struct {
	Operation string `json:"operation"`
	Method    string `json:"method"`
	Target    string `json:"target"` // path and query
	Body      string `json:"body,omitempty"`
	Curl      string `json:"curl"`
}

// Fired is an event that fell due while the clock of a world was advanced.
type Fired struct {
	Due   time.Time `json:"due"`
	Label string    `json:"label"`
}

// LintRule is a rule of the linter.
type LintRule string

// Rules of the linter. A finding does not make the server refuse the request.
const (
	// LintRepeatedRefusal: a refused request was sent again, and nothing had changed in the meantime.
	LintRepeatedRefusal LintRule = "repeated-refusal"
	// LintIgnoredRetryAfter: a request was sent again before the time in Retry-After had passed.
	LintIgnoredRetryAfter LintRule = "ignored-retry-after"
	// LintPolledTooFast: a regulatory request was read repeatedly, less than 100 ms apart.
	LintPolledTooFast LintRule = "polled-too-fast"
	// LintUnknownParameter: the specification does not list the query parameter.
	LintUnknownParameter LintRule = "unknown-parameter"
	// LintUnknownField: the specification does not list the member of the body.
	LintUnknownField LintRule = "unknown-field"
	// LintNoContentType: a body was sent without a Content-Type.
	LintNoContentType LintRule = "no-content-type"
	// LintRepeatedPurchase: a purchase was sent again before its request was read.
	LintRepeatedPurchase LintRule = "repeated-purchase"
	// LintIdempotencyKey: the header makes net/http send a POST again, and the service ignores it.
	LintIdempotencyKey LintRule = "idempotency-key"
	// LintFollowedRedirect: a redirect was followed, which may send the key to another host.
	LintFollowedRedirect LintRule = "followed-redirect"
	// LintSecretInQuery: the URL contains a secret key.
	LintSecretInQuery LintRule = "secret-in-query"
	// LintBoughtTwice: the same document of one shipment or invoice was charged in two regulatory requests. It is read
	// from the requests of the world since its last reset.
	LintBoughtTwice LintRule = "bought-twice"
)

// LintRules returns every rule.
func LintRules() []LintRule {
	return []LintRule{
		LintRepeatedRefusal, LintIgnoredRetryAfter, LintPolledTooFast, LintUnknownParameter, LintUnknownField,
		LintNoContentType, LintRepeatedPurchase, LintIdempotencyKey, LintFollowedRedirect, LintSecretInQuery,
		LintBoughtTwice,
	}
}

// Finding is a violation of a rule of the linter by the client.
type Finding struct {
	Rule      LintRule `json:"rule"`
	Operation string   `json:"operation"`
	Detail    string   `json:"detail,omitempty"`
	Times     int      `json:"times"`
	// X-Request-Id of the latest such request; empty if the journal no longer has it
	EntryID string `json:"request_id"`
	Advice  string `json:"advice"`
}

// String formats the finding as one line.
func (f Finding) String() string {
	text := fmt.Sprintf("%s by %s", f.Rule, f.Operation)
	if f.Detail != "" {
		text += " (" + f.Detail + ")"
	}
	switch {
	case f.EntryID == "": // the journal no longer has the request
		return fmt.Sprintf("%s: %s", text, f.Advice)
	case f.Times == 1:
		return fmt.Sprintf("%s, once, as %s: %s", text, f.EntryID, f.Advice)
	}
	return fmt.Sprintf("%s, %d times, last as %s: %s", text, f.Times, f.EntryID, f.Advice)
}
