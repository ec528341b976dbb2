package shipping

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
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
	// Amount is what the purchase counts for against a budget, in Currency: the price on the draft, or
	// Charged if that is more.
	Amount   Amount `json:"amount,omitzero"`
	Currency string `json:"currency,omitempty"`
	// Charged is what the service reports as charged, in ChargedCurrency, if it does.
	Charged         Amount `json:"charged,omitzero"`
	ChargedCurrency string `json:"charged_currency,omitempty"`
	// WasDraft states that the request was read as a draft before the purchase; see [SettleOptions].
	WasDraft bool `json:"was_draft,omitempty"`
	// Note is the reason given to [ResolveBatchItem].
	Note string    `json:"note,omitempty"`
	At   time.Time `json:"at"`
}

// UnmarshalJSON refuses a record with fields that this version does not know: a journal that dropped
// them could lose what a newer version meant by them.
func (r *BatchRecord) UnmarshalJSON(text []byte) error {
	type plain BatchRecord
	var read plain
	if err := decodeExactly(text, &read); err != nil {
		return err
	}
	*r = BatchRecord(read)
	return nil
}

// The longest texts of a record, in bytes. A key fits into an index of PostgreSQL.
const (
	maxKey        = 2000
	maxRecordText = 4000
)

// check reports a record that this version cannot go on from.
func (r *BatchRecord) check() error {
	switch r.Step {
	case BatchAnalyzed, BatchPurchasing, BatchPurchased, BatchStepCompleted, BatchStepFailed:
	default:
		return fmt.Errorf("shipping: the record of batch item %q has the unknown step %q; use the version of the package that wrote it", r.Key, r.Step)
	}
	if r.Amount.state == amountUnreadable || r.Charged.state == amountUnreadable {
		return fmt.Errorf("shipping: the record of batch item %q: %w", r.Key, ErrAmountUnreadable)
	}
	return nil
}

// validate reports a record that a journal could not return as it is.
func (r *BatchRecord) validate() error {
	if err := r.check(); err != nil {
		return err
	}
	if problem := textProblem(r.Key, maxKey); problem != "" || r.Key == "" {
		return r.invalid("key", r.Key, problem)
	}
	texts := map[string]string{"request id": r.RequestID, "currency": r.Currency, "charged currency": r.ChargedCurrency, "note": r.Note}
	for name, text := range texts {
		if problem := textProblem(text, maxRecordText); problem != "" {
			return r.invalid(name, text, problem)
		}
	}
	for _, document := range r.Documents {
		if problem := textProblem(string(document), maxRecordText); problem != "" {
			return r.invalid("document", string(document), problem)
		}
	}
	return nil
}

func (r *BatchRecord) invalid(field, text, problem string) error {
	if problem == "" {
		problem = "is empty"
	}
	return invalidRequest("", "BatchRecord", fmt.Sprintf("of item %s has the %s %s, which %s; no journal can keep it",
		quoteShort(r.Key), field, quoteShort(text), problem))
}

// textProblem says why a text cannot be kept in a journal; empty if it can.
func textProblem(text string, limit int) string {
	switch {
	case len(text) > limit:
		return fmt.Sprintf("has %d bytes, more than %d", len(text), limit)
	case !utf8.ValidString(text):
		return "is not UTF-8"
	case strings.Contains(text, "\x00"):
		return "contains a NUL character"
	}
	return ""
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

// uncountable says why the record's commitment cannot be held against a budget; empty if it can.
func (r BatchRecord) uncountable(budget Budget) string {
	switch {
	case !r.Step.Committed():
		return ""
	case r.Currency != "" && r.Currency != budget.Currency:
		return fmt.Sprintf("the journal holds a purchase of %s in %s", r.Key, r.Currency)
	case len(r.Documents) > 0 && !r.Amount.Known():
		return fmt.Sprintf("the journal holds a purchase of %s whose price is not known", r.Key)
	case r.Amount.Sign() < 0:
		return fmt.Sprintf("the journal holds a purchase of %s for %s", r.Key, r.Amount)
	}
	return ""
}

// notCharged returns the record of the item after a purchase that charged nothing.
func (r BatchRecord) notCharged() BatchRecord {
	r.Step, r.WasDraft = BatchAnalyzed, false
	r.Amount, r.Currency, r.Charged, r.ChargedCurrency = Amount{}, "", Amount{}, ""
	return r
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

// BatchJournalError ends a batch whose journal failed: nothing more is purchased, because what is not
// written could be bought twice.
type BatchJournalError struct {
	// Key is the item whose step could not be kept.
	Key string
	Err error
}

// Error says which item's step could not be kept.
func (e *BatchJournalError) Error() string {
	return fmt.Sprintf("shipping: the batch journal failed at item %s: %v; nothing more was purchased; "+
		"remove the cause, then run the batch again", quoteShort(e.Key), e.Err)
}

// Unwrap returns the cause.
func (e *BatchJournalError) Unwrap() error { return e.Err }
