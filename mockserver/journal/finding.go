package journal

import (
	"fmt"
)

// LintRule names something that a careful client does not do.
type LintRule string

// The rules. None of them makes the server refuse a request.
const (
	LintRepeatedRefusal   LintRule = "repeated-refusal"
	LintIgnoredRetryAfter LintRule = "ignored-retry-after"
	LintPolledTooFast     LintRule = "polled-too-fast"
	LintUnknownParameter  LintRule = "unknown-parameter"
	LintUnknownField      LintRule = "unknown-field"
	LintNoContentType     LintRule = "no-content-type"
	LintRepeatedPurchase  LintRule = "repeated-purchase"
	LintIdempotencyKey    LintRule = "idempotency-key"
	LintFollowedRedirect  LintRule = "followed-redirect"
	LintSecretInQuery     LintRule = "secret-in-query"
)

// Finding is something that the client did and a careful one would not.
type Finding struct {
	Rule      LintRule `json:"rule"`
	Operation string   `json:"operation"`
	Detail    string   `json:"detail,omitempty"`
	Times     int      `json:"times"`
	RequestID string   `json:"request_id"` // X-Request-Id of the latest answer to it
	Advice    string   `json:"advice"`
}

// String says it in a line.
func (f Finding) String() string {
	text := fmt.Sprintf("%s by %s", f.Rule, f.Operation)
	if f.Detail != "" {
		text += " (" + f.Detail + ")"
	}
	return fmt.Sprintf("%s, %d times, last as %s: %s", text, f.Times, f.RequestID, f.Advice)
}
