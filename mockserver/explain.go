package mockserver

import "github.com/shipping-go/shipping/mockserver/internal/explain"

// Why explains the answer to a call that was refused, or that a fault struck. Every such answer carries
// the address of its explanation in the header X-Mock-Why.
type Why struct {
	RequestID string `json:"request_id"`
	Operation string `json:"operation"`
	Status    int    `json:"status"`
	ErrorCode string `json:"error_code,omitempty"`
	Message   string `json:"message,omitempty"`
	// Specification is the heading under which the specification has the rule, and Rule the rule itself
	// where it is one sentence. What begins with "assumption:" is not in the specification.
	Specification string `json:"specification,omitempty"`
	Rule          string `json:"rule,omitempty"`
	// Fault is the injected fault that struck.
	Fault string `json:"fault,omitempty"`
	// Nearest is the valid request in this world that is nearest to the one that was made; nil where
	// there is none, or where nothing was wrong with it.
	Nearest *Suggestion `json:"nearest_valid,omitempty"`
}

// Summary says it in a sentence.
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

// Why explains the answer whose X-Request-Id is given. It fails where the journal does not hold the
// call any more.
func (w *World) Why(requestID string) (Why, error) {
	y, err := explain.Response(w.server.worlds, w.core, requestID, w.server.config.operations)
	return Why{
		RequestID: y.RequestID, Operation: y.Operation, Status: y.Status, ErrorCode: y.ErrorCode, Message: y.Message, Fault: y.Fault,
		Rule: y.Rule, Specification: y.Specification, Nearest: (*Suggestion)(y.Nearest),
	}, err
}
