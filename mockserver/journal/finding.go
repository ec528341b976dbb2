package journal

import (
	"fmt"
)

// LintRule is a rule of the linter.
type LintRule string

// Rules of the linter. A finding does not make the server refuse the request.
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

// Finding is something that the client did against a rule of the linter.
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
	return fmt.Sprintf("%s, %d times, last as %s: %s", text, f.Times, f.RequestID, f.Advice)
}
