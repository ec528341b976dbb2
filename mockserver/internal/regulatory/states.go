package regulatory

import "slices"

// State is the status of a request. The values and their meanings are the specification's
// ("Regulatory document request states").
type State string

// States of a request. A new state needs a row in package status, and rows in the table of transitions.
const (
	// StateDraft means analyzed, not yet purchased, editable.
	StateDraft State = "draft"
	// StatePurchasing means that a purchase is in progress; transient.
	StatePurchasing State = "purchasing"
	// StateProcessing means purchased; generation in progress.
	StateProcessing State = "processing"
	// StateCompleted means that all purchased documents are generated.
	StateCompleted State = "completed"
	// StateFailed means that analysis or generation failed.
	StateFailed State = "failed"

	noState State = "" // of a request that does not exist yet
)

// Working reports whether the service changes a request in this state without the user.
func (s State) Working() bool {
	return slices.ContainsFunc(transitions, func(t transition) bool {
		return !t.trigger.ofUser() && s != noState && slices.Contains(t.from, s)
	})
}

type Trigger string

// Triggers of the user.
const (
	TriggerEdit     Trigger = "edit"
	TriggerPurchase Trigger = "purchase"
	TriggerEvidence Trigger = "evidence"
	TriggerRetry    Trigger = "retry"
)

// Triggers of the service.
const (
	triggerAnalyzed         Trigger = "analysis succeeds"
	triggerAnalysisFailed   Trigger = "analysis fails"
	triggerGenerationStarts Trigger = "generation starts"
	triggerAllGenerated     Trigger = "all documents generated"
	triggerGenerationFailed Trigger = "generation failed"
)

func (t Trigger) ofUser() bool {
	return slices.Contains([]Trigger{TriggerEdit, TriggerPurchase, TriggerEvidence, TriggerRetry}, t)
}

const (
	specTable    = "States and transitions: the table"
	specEditable = "States and transitions: draft is analyzed, not yet purchased, editable"
	specPurchase = "States and transitions: purchase leads from draft"
	specRetry    = "States and transitions: failed automated documents can be retried"
	assumeRetry  = "assumption: a retry leads from failed back to processing and costs nothing"
	assumeManual = "assumption: manual documents wait for evidence while the request is processing"
)

// transition is a row of the state machine: the effect of a trigger in some states.
type transition struct {
	from    []State
	trigger Trigger
	to      State  // the state after; noState if the trigger is refused
	rule    string // the source of the row
	code    Code   // with reason: why the trigger is refused, and what to do instead
	reason  string
}

// transitions is the state machine: each allowed row of the specification's table ("States and transitions"), the
// assumed rows, and every refused trigger of a user with its reason. A transition without a row is a defect of the
// server.
//
// Assumption: the rows for edit, evidence and retry ("Effect of a retry on the request status: not
// shown").
var transitions = []transition{
	{from: []State{noState}, trigger: triggerAnalyzed, to: StateDraft, rule: specTable},
	{from: []State{noState}, trigger: triggerAnalysisFailed, to: StateFailed, rule: specTable},
	{from: []State{StateDraft}, trigger: TriggerPurchase, to: StatePurchasing, rule: specTable},
	{from: []State{StatePurchasing}, trigger: triggerGenerationStarts, to: StateProcessing, rule: specTable},
	{from: []State{StateProcessing}, trigger: triggerAllGenerated, to: StateCompleted, rule: specTable},
	{from: []State{StateProcessing}, trigger: triggerGenerationFailed, to: StateFailed, rule: specTable},
	{from: []State{StateDraft}, trigger: TriggerEdit, to: StateDraft, rule: specEditable},
	{from: []State{StateProcessing}, trigger: TriggerEvidence, to: StateProcessing, rule: assumeManual},
	{from: []State{StateFailed}, trigger: TriggerRetry, to: StateProcessing, rule: assumeRetry},

	{from: []State{StatePurchasing, StateProcessing, StateCompleted, StateFailed}, trigger: TriggerEdit,
		rule: specEditable,
		code: CodeNotEditable, reason: "only a draft can be edited; analyze again to start a new one"},
	{from: []State{StatePurchasing, StateProcessing, StateCompleted}, trigger: TriggerPurchase, rule: specPurchase,
		code: CodeAlreadyPurchased,
		reason: "it is already purchased, and nothing was charged again; read the request to follow its documents, and " +
			"analyze again to purchase further ones"},
	{from: []State{StateFailed}, trigger: TriggerPurchase, rule: specPurchase,
		code: CodeNotPurchasable, reason: "only a draft can be purchased, and nothing was charged; retry its documents, " +
			"or analyze again"},
	{from: []State{StateDraft}, trigger: TriggerRetry, rule: specRetry,
		code: CodeNotRetryable, reason: "nothing was purchased yet; purchase its documents first"},
	{from: []State{StatePurchasing}, trigger: TriggerRetry, rule: specRetry,
		code: CodeNotRetryable, reason: "its documents are not generated yet; wait until it is completed or failed"},
	{from: []State{StateProcessing}, trigger: TriggerRetry, rule: specRetry,
		code: CodeNotRetryable, reason: "its documents are still being generated; wait until it is completed or failed"},
	{from: []State{StateCompleted}, trigger: TriggerRetry, rule: specRetry,
		code: CodeNotRetryable, reason: "every document was generated, so there is nothing to retry"},
	{from: []State{StateDraft, StatePurchasing, StateCompleted, StateFailed}, trigger: TriggerEvidence, rule: assumeManual,
		code: CodeNoEvidenceAwaited, reason: "evidence is only accepted while a request is processing"},
}

// allow returns the state after a trigger, or the refusal in the table.
func allow(r *Record, trigger Trigger) (State, error) {
	for _, t := range transitions {
		switch {
		case t.trigger != trigger || !slices.Contains(t.from, r.Status):
		case t.to != noState:
			return t.to, nil
		default:
			return noState, refuse(t.code, t.rule, "request %s is %s: %s", r.RequestID, r.Status, t.reason).of(r)
		}
	}
	return noState, refuse(CodeImpossible, specTable, "request %s is %s and %q has no row in the table of transitions",
		r.RequestID, r.Status, trigger)
}
