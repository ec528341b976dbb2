package regulatory

import (
	"fmt"
	"slices"
)

// Trigger causes a change of a request's state.
type Trigger string

// Triggers. Those of the user come first; the desk fires the others.
const (
	TriggerEdit             Trigger = "edit"
	TriggerPurchase         Trigger = "purchase"
	TriggerEvidence         Trigger = "evidence"
	TriggerRetry            Trigger = "retry"
	TriggerAnalyzed         Trigger = "analysis succeeds"
	TriggerAnalysisFailed   Trigger = "analysis fails"
	TriggerGenerationStarts Trigger = "generation starts"
	TriggerAllGenerated     Trigger = "all documents generated"
	TriggerGenerationFailed Trigger = "generation failed"
)

// Transition is one row of the state machine: the effect of a trigger in one state.
type Transition struct {
	// From is the state before, empty for a request that does not exist yet.
	From    State   `json:"from"`
	Trigger Trigger `json:"trigger"`
	// To is the state after, empty if the trigger is refused.
	To State `json:"to,omitempty"`
	// Code and Reason explain why the trigger is refused, and what to do instead.
	Code   Code   `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Rule is the source of the row.
	Rule string `json:"rule"`
}

const (
	specTable     = "States and transitions: the table"
	specEditable  = "States and transitions: draft is analyzed, not yet purchased, editable"
	specPurchase  = "States and transitions: purchase leads from draft"
	specRetry     = "States and transitions: failed automated documents can be retried"
	assumeRetry   = "assumption: a retry leads from failed back to processing and costs nothing"
	assumeManual  = "assumption: manual documents wait for evidence while the request is processing"
	editInstead   = "only a draft can be edited; analyze again to start a new one"
	chargedOnce   = "it is already purchased, and nothing was charged again; read the request to follow its documents, and analyze again to purchase further ones"
	noEvidenceYet = "evidence is only accepted while a request is processing"
)

// Transitions returns the whole state machine: each allowed row of the specification's table
// ("States and transitions"), the assumed rows, and every refused trigger of a user with its
// reason. A transition without a row is a defect of the server. The caller may change the slice.
//
// Assumption: the rows for edit, evidence and retry ("Effect of a retry on the request status: not
// shown"). To switch, change this table.
func Transitions() []Transition { return slices.Clone(transitions) }

// transitions is the table. All desks share it.
var transitions = []Transition{
	{From: "", Trigger: TriggerAnalyzed, To: StateDraft, Rule: specTable},
	{From: "", Trigger: TriggerAnalysisFailed, To: StateFailed, Rule: specTable},
	{From: StateDraft, Trigger: TriggerPurchase, To: StatePurchasing, Rule: specTable},
	{From: StatePurchasing, Trigger: TriggerGenerationStarts, To: StateProcessing, Rule: specTable},
	{From: StateProcessing, Trigger: TriggerAllGenerated, To: StateCompleted, Rule: specTable},
	{From: StateProcessing, Trigger: TriggerGenerationFailed, To: StateFailed, Rule: specTable},

	{From: StateDraft, Trigger: TriggerEdit, To: StateDraft, Rule: specEditable},
	{From: StateProcessing, Trigger: TriggerEvidence, To: StateProcessing, Rule: assumeManual},
	{From: StateFailed, Trigger: TriggerRetry, To: StateProcessing, Rule: assumeRetry},

	{From: StatePurchasing, Trigger: TriggerEdit, Code: CodeNotEditable, Reason: editInstead, Rule: specEditable},
	{From: StateProcessing, Trigger: TriggerEdit, Code: CodeNotEditable, Reason: editInstead, Rule: specEditable},
	{From: StateCompleted, Trigger: TriggerEdit, Code: CodeNotEditable, Reason: editInstead, Rule: specEditable},
	{From: StateFailed, Trigger: TriggerEdit, Code: CodeNotEditable, Reason: editInstead, Rule: specEditable},

	{From: StatePurchasing, Trigger: TriggerPurchase, Code: CodeAlreadyPurchased, Reason: chargedOnce, Rule: specPurchase},
	{From: StateProcessing, Trigger: TriggerPurchase, Code: CodeAlreadyPurchased, Reason: chargedOnce, Rule: specPurchase},
	{From: StateCompleted, Trigger: TriggerPurchase, Code: CodeAlreadyPurchased, Reason: chargedOnce, Rule: specPurchase},
	{From: StateFailed, Trigger: TriggerPurchase, Code: CodeNotPurchasable, Rule: specPurchase,
		Reason: "only a draft can be purchased, and nothing was charged; retry its documents, or analyze again"},

	{From: StateDraft, Trigger: TriggerRetry, Code: CodeNotRetryable, Rule: specRetry,
		Reason: "nothing was purchased yet; purchase its documents first"},
	{From: StatePurchasing, Trigger: TriggerRetry, Code: CodeNotRetryable, Rule: specRetry,
		Reason: "its documents are not generated yet; wait until it is completed or failed"},
	{From: StateProcessing, Trigger: TriggerRetry, Code: CodeNotRetryable, Rule: specRetry,
		Reason: "its documents are still being generated; wait until it is completed or failed"},
	{From: StateCompleted, Trigger: TriggerRetry, Code: CodeNotRetryable, Rule: specRetry,
		Reason: "every document was generated, so there is nothing to retry"},

	{From: StateDraft, Trigger: TriggerEvidence, Code: CodeNoEvidenceAwaited, Reason: noEvidenceYet, Rule: assumeManual},
	{From: StatePurchasing, Trigger: TriggerEvidence, Code: CodeNoEvidenceAwaited, Reason: noEvidenceYet, Rule: assumeManual},
	{From: StateCompleted, Trigger: TriggerEvidence, Code: CodeNoEvidenceAwaited, Reason: noEvidenceYet, Rule: assumeManual},
	{From: StateFailed, Trigger: TriggerEvidence, Code: CodeNoEvidenceAwaited, Reason: noEvidenceYet, Rule: assumeManual},
}

// allow returns the state after a trigger, or the refusal in the table.
func allow(r *Record, trigger Trigger) (State, *Refusal) {
	for _, t := range transitions {
		if t.From != r.Status || t.Trigger != trigger {
			continue
		}
		if t.To != "" {
			return t.To, nil
		}
		return "", &Refusal{
			Code: t.Code, Rule: t.Rule, Data: map[string]any{"request_id": r.RequestID, "status": r.Status},
			Message: fmt.Sprintf("request %s is %s: %s", r.RequestID, r.Status, t.Reason),
		}
	}
	return "", &Refusal{
		Code: CodeImpossible, Rule: specTable,
		Message: fmt.Sprintf("request %s is %s and %q has no row in the table of transitions", r.RequestID, r.Status, trigger),
	}
}
