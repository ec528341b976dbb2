package shipping

import (
	"context"
	"time"
)

// BatchJournal keeps what a batch decided and did, for one process at a time; see [SharedBatchJournal]
// for several. Implementations must be safe for concurrent use.
type BatchJournal interface {
	// Load returns all records in the order they were appended.
	Load(ctx context.Context) ([]BatchRecord, error)
	// Append keeps a record. It returns only when the record would survive a crash of the machine.
	Append(ctx context.Context, record BatchRecord) error
}

// BatchRecord is one step of one item. The last record of an item says where it stands.
type BatchRecord struct {
	Key       string         `json:"key"`
	Step      BatchStep      `json:"step"`
	RequestID string         `json:"request_id,omitempty"`
	Documents []DocumentType `json:"documents,omitempty"`
	// Amount is what the purchase costs, in Currency.
	Amount   Amount `json:"amount,omitzero"`
	Currency string `json:"currency,omitempty"`
	// WasDraft states that the request was read as a draft before the purchase; see [SettleOptions].
	WasDraft bool      `json:"was_draft,omitempty"`
	At       time.Time `json:"at"`
}

// BatchStep is what happened to an item.
type BatchStep string

// The steps of an item.
const (
	// BatchAnalyzed: there is a draft; also after a purchase that was certainly not charged.
	BatchAnalyzed BatchStep = "analyzed"
	// BatchPurchasing is written before the purchase is sent. Where it is the last record, the outcome
	// has to be settled.
	BatchPurchasing BatchStep = "purchasing"
	// BatchPurchased: the wallet was charged.
	BatchPurchased BatchStep = "purchased"
	// BatchStepCompleted and BatchStepFailed end an item.
	BatchStepCompleted BatchStep = "completed"
	BatchStepFailed    BatchStep = "failed"
)

// Final reports whether the step ends its item.
func (s BatchStep) Final() bool { return s == BatchStepCompleted || s == BatchStepFailed }

// Committed reports whether the record's amount was spent, or may have been.
func (s BatchStep) Committed() bool { return s != "" && s != BatchAnalyzed }

// commitment is what the record counts for against a budget.
func (r BatchRecord) commitment() Amount {
	if !r.Step.Committed() {
		return Amount{}
	}
	return r.Amount
}

// after returns the record with what earlier ones of the same item knew and it does not repeat.
func (r BatchRecord) after(earlier BatchRecord) BatchRecord {
	if r.RequestID == "" {
		r.RequestID = earlier.RequestID
	}
	if r.Documents == nil {
		r.Documents = earlier.Documents
	}
	return r
}

// BatchJournalError ends a batch whose journal cannot be written: nothing more is purchased, because
// what is not written could be bought twice.
type BatchJournalError struct {
	// Key is the item whose step could not be kept.
	Key string
	Err error
}

// Error says which item's step could not be kept.
func (e *BatchJournalError) Error() string {
	return "shipping: the batch journal cannot be written (" + e.Key + "): " + e.Err.Error() +
		"; nothing more was purchased; make room or mend the journal, then run the batch again"
}

// Unwrap returns the cause.
func (e *BatchJournalError) Unwrap() error { return e.Err }
