package shipping

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/shipping-go/shipping/internal/wait"
)

// RegulatoryError is returned for a regulatory request: if its analysis or generation failed, if its purchase was not
// confirmed, or if a workflow or a wait did not reach its end.
//
// To continue, in this process or another, pass RequestID to [RegulatoryService.Wait] after the step "polled", and to
// [RegulatoryService.Resume] after an earlier one. If Outcome is [OutcomeUnknown], settle the purchase first: Resume
// purchases a request that reads as a draft.
type RegulatoryError struct {
	RequestID string
	// Step is the step that failed: "analyzed", "edited", "selected", "purchased" or "polled".
	Step Step
	// Outcome reports whether this call charged the wallet. It is empty for a wait without a purchase before it.
	Outcome PurchaseOutcome
	// Request is the record as last read; nil if it was not read. After an analysis it may contain only the id.
	Request *RegulatoryRequest
	// Purchase describes the purchase for [RegulatoryService.SettlePurchase], and can be stored as JSON; nil if the step
	// is not "purchased".
	Purchase *PurchaseRequest
	Err      error
}

// Error returns the request, what happened, what was charged, and what to do next.
func (e *RegulatoryError) Error() string {
	id, text := oneLine(e.RequestID, maxErrorID), ""
	switch {
	case e.generationFailed() || e.Step == wait.StepAnalyzed && errors.Is(e.Err, ErrRequestFailed):
		text = e.failureText(id)
	case e.Step == wait.StepPurchased:
		text = fmt.Sprintf("purchase of request %s: outcome %s", id, cmp.Or(e.Outcome, OutcomeUnknown))
	default:
		text = "request " + id
		if e.Request != nil && e.Request.Status != "" {
			text += " (last seen " + oneLine(string(e.Request.Status), maxErrorID) + ")"
		}
		verbs := map[Step]string{wait.StepAnalyzed: "analysis", wait.StepEdited: "edit", wait.StepSelected: "select",
			wait.StepPolled: "wait"}
		text += ": " + cmp.Or(verbs[e.Step], string(e.Step), "unknown step")
	}
	return "shipping: " + text + e.causeText(id) + e.advice() + e.explanation()
}

// explanation returns where the reference server explains the failed call; "" for any other service.
func (e *RegulatoryError) explanation() string {
	if failed, ok := errors.AsType[*Error](e.Err); ok {
		return failed.explanation()
	}
	return ""
}

// generationFailed reports whether a wait has ended with a failed request.
func (e *RegulatoryError) generationFailed() bool {
	return e.Step == wait.StepPolled && errors.Is(e.Err, ErrRequestFailed)
}

// failureText returns the reason why a request failed.
func (e *RegulatoryError) failureText(id string) string {
	record := cmp.Or(e.Request, &RegulatoryRequest{})
	text := "request " + id + " failed"
	switch { // a failed request was purchased only if its record shows it
	case e.Step == wait.StepAnalyzed:
		text = "analysis failed for request " + id
	case e.charged(), record.shown().ShowsPurchase(""):
		text = "generation failed for request " + id
	}
	if record.FailureReason != "" {
		text += ": " + record.FailureReason
	}
	for _, document := range record.Documents {
		if document.Status == "failed" {
			text += fmt.Sprintf("; %s: %s", document.DocumentType, document.Failure)
		}
	}
	return oneLine(text, maxErrorMessage)
}

func (e *RegulatoryError) charged() bool { return e.Outcome == OutcomeCharged }

// causeText returns ": " and the text of the cause, without what the text before it states already.
func (e *RegulatoryError) causeText(id string) string {
	if e.Err == nil || e.Err == ErrRequestFailed && (e.generationFailed() || e.Step == wait.StepAnalyzed) {
		return ""
	}
	text := strings.TrimPrefix(e.Err.Error(), ErrRequestFailed.Error()+"; ")
	text = strings.NewReplacer("; shipping: ", "; ", ": shipping: ", ": ").Replace(strings.TrimPrefix(text, "shipping: "))
	for _, failed := range callsIn(e.Err) {
		hint := failed.callHint()
		if e.Outcome == OutcomeUnknown && errors.Is(failed, ErrRateLimited) { // "retry" would be read as another purchase
			hint = failed.hint()
		}
		if hint != "" && e.advice() != "" {
			text = strings.Replace(text, "; "+hint, "", 1)
		}
		if strings.Contains(e.advice(), failed.lines) {
			text = strings.Replace(text, failed.lines, "", 1)
		}
	}
	if explanation := e.explanation(); explanation != "" { // Error appends it at the end
		text = strings.Replace(text, explanation, "", 1)
	}
	if id != "" {
		text = strings.ReplaceAll(text, " (request "+id+")", "")
	}
	return ": " + text
}

// callsIn returns the errors of calls that an error wraps.
func callsIn(err error) (failed []*Error) {
	switch wrapper := err.(type) {
	case *Error:
		return []*Error{wrapper}
	case interface{ Unwrap() error }:
		return callsIn(wrapper.Unwrap())
	case interface{ Unwrap() []error }:
		for _, cause := range wrapper.Unwrap() {
			failed = append(failed, callsIn(cause)...)
		}
	}
	return failed
}

// Unwrap returns the reason.
func (e *RegulatoryError) Unwrap() error { return e.Err }
