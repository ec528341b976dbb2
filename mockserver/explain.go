package mockserver

import (
	"github.com/shipping-go/shipping/mockserver/internal/explain"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Why explains a response that is a refusal, or that a fault struck. The header X-Mock-Why of such a response
// holds the address of its explanation.
type Why struct {
	RequestID string `json:"request_id"`
	Operation string `json:"operation"`
	Status    int    `json:"status"`
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
	// Findings are those of lint about this request, whether it was refused or not.
	Findings []journal.Finding `json:"findings,omitempty"`
}

// Summary returns the explanation as one sentence.
func (y *Why) Summary() string {
	e := explain.Explanation{RequestID: y.RequestID, Status: y.Status, ErrorCode: y.ErrorCode, Message: y.Message, Fault: y.Fault}
	return e.Summary()
}

// Suggestion is a request that this world would accept now.
type Suggestion struct {
	Operation string `json:"operation"`
	Method    string `json:"method"`
	Target    string `json:"target"` // path and query
	Body      string `json:"body,omitempty"`
	Curl      string `json:"curl"`
}

// Why explains the response with the given X-Request-Id. It returns an error if the journal no longer has the
// call.
func (w *World) Why(requestID string) (Why, error) {
	y, err := explain.Response(w.server.worlds, w.core, requestID, w.server.config.operations)
	return Why{
		RequestID: y.RequestID, Operation: y.Operation, Status: y.Status, ErrorCode: y.ErrorCode, Message: y.Message, Fault: y.Fault,
		Rule: y.Rule, Specification: y.Specification, Nearest: (*Suggestion)(y.Nearest), Notes: y.Notes, Findings: y.Findings,
	}, err
}
