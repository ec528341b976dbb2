package regulatory

import (
	"fmt"
	"maps"
	"strings"

	"github.com/shipping-go/shipping/mockserver/internal/compliance"
)

// Code is the error_code of a refusal, for programs.
//
// Assumption: every code. The specification shows none ("Error body format, error codes and HTTP
// status codes: not shown"); clients use the status of the envelope.
type Code string

// Codes of refusals.
const (
	CodeInvalidRequest       Code = "invalid_request"         // a field is missing or wrong
	CodeNotFound             Code = "not_found"               // an unknown id
	CodeAnalysisFailed       Code = "analysis_failed"         // a failed record was stored
	CodeNotPriced            Code = "not_priced"              // a price does not fit the wallet's currency
	CodeNotEditable          Code = "not_editable"            // edit of a request that is not a draft
	CodeShipmentFlow         Code = "shipment_flow"           // shipping edited outside the invoice flow
	CodeInvalidProfile       Code = "invalid_profile"         // a profile that its form does not accept
	CodeUnknownDocumentType  Code = "unknown_document_type"   // a slug without a form
	CodeRepeatedDocumentType Code = "repeated_document_type"  // one slug twice in a purchase
	CodeNotOffered           Code = "document_not_offered"    // a form that the draft does not offer
	CodeAlreadyPurchased     Code = "already_purchased"       // a second purchase of a request
	CodeNotPurchasable       Code = "not_purchasable"         // purchase of a failed request
	CodeExpired              Code = "request_expired"         // the draft is older than its life
	CodeInsufficientFunds    Code = "insufficient_funds"      // the wallet holds less than the sum
	CodeChargeRefused        Code = "charge_refused"          // the ledger refuses for another reason
	CodeNotRetryable         Code = "not_retryable"           // the request has nothing to retry
	CodeNoEvidenceAwaited    Code = "no_evidence_awaited"     // evidence that no document requires
	CodeNotGenerated         Code = "document_not_generated"  // the PDF of an unfinished document
	CodeImpossible           Code = "impossible_state_change" // a defect of this server
)

// Refusal is the reason why an operation was refused. A refused operation has changed and charged
// nothing, with one exception: [CodeAnalysisFailed] has stored a failed record.
type Refusal struct {
	Code Code
	// Message describes the problem and what to do next.
	Message string
	// Rule is the sentence of the specification for the refusal, or begins with
	// "assumption:".
	Rule string
	// Data holds values for programs, such as the balance.
	Data map[string]any
}

func (r *Refusal) Error() string { return r.Message }

// Payload returns the "data" of an error envelope: error_code, and the members of Data.
func (r *Refusal) Payload() map[string]any {
	payload := map[string]any{"error_code": r.Code}
	maps.Copy(payload, r.Data)
	return payload
}

// of adds the request and its status to the data. Together they show that nothing was purchased.
func (r *Refusal) of(record *Record) *Refusal {
	if r.Data == nil {
		r.Data = map[string]any{}
	}
	r.Data["request_id"], r.Data["status"] = record.RequestID, record.Status
	return r
}

type Problem = compliance.Problem

func refuse(code Code, rule, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Rule: rule, Message: fmt.Sprintf(format, args...)}
}

// refuseProblems returns a refusal that lists all problems of a request.
func refuseProblems(code Code, rule string, problems []Problem) *Refusal {
	sentences := make([]string, len(problems))
	for i, p := range problems {
		sentences[i] = p.Field + " " + p.Reason
	}
	return &Refusal{Code: code, Rule: rule, Message: strings.Join(sentences, "; "),
		Data: map[string]any{"problems": problems}}
}

func notFound(kind, id, next string) *Refusal {
	return refuse(CodeNotFound, "assumption: an unknown id is not found", "no %s %q: %s", kind, shorten(id), next)
}

func shorten(text string) string {
	const most = 80
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
