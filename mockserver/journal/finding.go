package journal

import (
	"fmt"
)

// LintRule is a rule of the linter.
type LintRule string

// Rules of the linter. A finding does not make the server refuse the request.
const (
	// LintRepeatedRefusal: a refused request was sent again, and nothing had changed in the meantime.
	LintRepeatedRefusal LintRule = "repeated-refusal"
	// LintIgnoredRetryAfter: a request was sent again before the time in Retry-After had passed.
	LintIgnoredRetryAfter LintRule = "ignored-retry-after"
	// LintPolledTooFast: a regulatory request was read several times in a row within 100 ms each.
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
)

// Finding is a violation of a rule of the linter by the client.
type Finding struct {
	Rule      LintRule `json:"rule"`
	Operation string   `json:"operation"`
	Detail    string   `json:"detail,omitempty"`
	Times     int      `json:"times"`
	RequestID string   `json:"request_id"` // X-Request-Id of the latest such request
	Advice    string   `json:"advice"`
}

// String formats the finding as one line.
func (f Finding) String() string {
	text := fmt.Sprintf("%s by %s", f.Rule, f.Operation)
	if f.Detail != "" {
		text += " (" + f.Detail + ")"
	}
	if f.Times == 1 {
		return fmt.Sprintf("%s, once, as %s: %s", text, f.RequestID, f.Advice)
	}
	return fmt.Sprintf("%s, %d times, last as %s: %s", text, f.Times, f.RequestID, f.Advice)
}
