package journal

import (
	"fmt"
	"time"
)

// Why explains a response that is a refusal, or that a fault struck. The header X-Mock-Why of such a response
// holds the address of its explanation.
type Why struct {
	RequestID string `json:"request_id"`
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
	// Notes are sentences about probable mistakes: a misspelt field, or an identifier that the world does not
	// have.
	Notes []string `json:"notes,omitempty"`
	// Findings are the findings of lint about this request, even if it was not refused.
	Findings []Finding `json:"findings,omitempty"`
}

// Summary returns the explanation as one sentence.
func (y *Why) Summary() string {
	switch {
	case y.Fault != "":
		return fmt.Sprintf("%s met an injected fault: %s", y.RequestID, y.Fault)
	case y.ErrorCode == "":
		return fmt.Sprintf("%s was not refused: %d", y.RequestID, y.Status)
	default:
		return fmt.Sprintf("%s was refused: %s", y.RequestID, y.Message)
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
