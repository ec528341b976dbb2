package batch

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/cost"
	"github.com/shipping-go/shipping/internal/spelling"
)

// Record is one step of one item. The last record of an item is its state.
type Record struct {
	Key  string        `json:"key"`
	Step shipping.Step `json:"step"`
	// ShipmentID is the shipment of the item; empty if the item is an invoice, or if it is not known.
	ShipmentID string `json:"shipment_id,omitempty"`
	// FileHash is the hash of the address of an invoice, without its query; empty if the item is a shipment, or if it is
	// not known.
	FileHash  string                  `json:"file_hash,omitempty"`
	RequestID string                  `json:"request_id,omitempty"`
	Documents []shipping.DocumentType `json:"documents,omitempty"`
	// NotSelected are the documents that the draft offers and that were not selected.
	NotSelected []shipping.DocumentType `json:"not_selected,omitempty"`
	// Amount is the amount that counts against a budget, in Currency: the most that the draft can cost, or
	// Charged if that is more.
	Amount   shipping.Amount `json:"amount,omitzero"`
	Currency string          `json:"currency,omitempty"`
	// Period is the period of the budget in which Amount counts.
	Period string `json:"period,omitempty"`
	// Charged is the charge that the service reports, in ChargedCurrency; not given if it reports none.
	Charged         shipping.Amount `json:"charged,omitzero"`
	ChargedCurrency string          `json:"charged_currency,omitempty"`
	// Cost is the most that the draft can cost, set only if Charged is more.
	Cost shipping.Amount `json:"cost,omitzero"`
	// Overcharge is why the charge is, or may be, above the most that the draft can cost; else it is empty. See
	// [Record.Overcharged].
	Overcharge string `json:"overcharge,omitempty"`
	// Earlier is the outcome of the item's purchases before this record: [EarlierRefused], or the reason why only a
	// person can have the item analyzed again if its draft expires. It is empty if an earlier version of the package
	// wrote the record, or nothing was purchased.
	Earlier string `json:"earlier,omitempty"`
	// Purchase is the purchase as [shipping.RegulatoryService.SettlePurchase] needs it, until its outcome is known.
	Purchase *shipping.PurchaseRequest `json:"purchase,omitempty"`
	// Note is the reason given to [Resolve].
	Note string    `json:"note,omitempty"`
	At   time.Time `json:"at"`
}

// Values of [Record.Earlier].
const (
	// EarlierRefused: each purchase of the item was refused or never sent, or there was none.
	EarlierRefused = "refused"
	// EarlierLost: the response of a purchase was lost. Even if it was settled as not charged, it may take effect
	// later.
	EarlierLost = "lost"
	// EarlierElsewhere: the request showed a purchase that the batch has not made.
	EarlierElsewhere = "elsewhere"
	// EarlierListed: the request was a draft that listed documents, perhaps only as offers.
	EarlierListed = "listed"
)

// Source identifies what the item is purchased for: the shipment, or the hash of the invoice's address. It is empty if
// neither is known.
func (r Record) Source() string { return cmp.Or(r.ShipmentID, r.FileHash) }

// Overcharged reports whether the charge is, or may be, above the most that the draft can cost, and no person has
// closed it with a note ([Resolve]). Until then, no [Run] with a budget and the same journal purchases anything.
func (r Record) Overcharged() bool { return r.Overcharge != "" && r.Note == "" }

// fileHash returns the [Record.FileHash] of an address. A query or a fragment can be a signature, which is new each
// time.
func fileHash(address string) string {
	if address == "" {
		return ""
	}
	address, _, _ = strings.Cut(address, "#")
	address, _, _ = strings.Cut(address, "?")
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(address)))
}

// UnmarshalJSON refuses a record with unknown fields: without them, information of a newer version could be lost.
func (r *Record) UnmarshalJSON(text []byte) error {
	type plain Record
	var read plain // the previous fields of r are dropped
	if err := decodeExactly(text, &read); err != nil {
		return err
	}
	*r = Record(read)
	return r.lost(text)
}

// lost returns an error if the purchase of a record has members that its own UnmarshalJSON dropped.
func (r *Record) lost(text []byte) error {
	if r.Purchase == nil {
		return nil
	}
	var sent, kept struct {
		Purchase map[string]json.RawMessage `json:"purchase"`
	}
	again, err := json.Marshal(map[string]any{"purchase": r.Purchase})
	if err := errors.Join(err, json.Unmarshal(text, &sent), json.Unmarshal(again, &kept)); err != nil {
		return err
	}
	for name := range sent.Purchase {
		if _, found := kept.Purchase[name]; !found {
			return &unknownFieldError{fmt.Errorf("unknown field %q of the purchase", name)}
		}
	}
	return nil
}

// The longest texts of a record, in bytes. A key fits into an index of PostgreSQL.
const (
	maxKey        = 2000
	maxRecordText = 4000
)

// check returns an error for a record that this version cannot continue from.
func (r *Record) check() error {
	switch r.Step {
	case StepAnalyzed, StepPurchasing, StepPurchased, StepCompleted, StepFailed, StepClosed:
	default:
		return fmt.Errorf("shipping: the record of batch item %q has the unknown step %q; use the version of the package "+
			"that wrote it", r.Key, r.Step)
	}
	if unreadable(r.Amount) || unreadable(r.Charged) || unreadable(r.Cost) {
		return fmt.Errorf("shipping: the record of batch item %q: %w", r.Key, shipping.ErrAmountUnreadable)
	}
	return nil
}

// unreadable reports whether an amount was given and could not be read.
func unreadable(a shipping.Amount) bool {
	_, err := a.Add(shipping.Amount{})
	return errors.Is(err, shipping.ErrAmountUnreadable)
}

// Latest returns the last record of each item. Its argument holds all records of a journal, as [File.Records] returns
// them.
func Latest(records []Record) (latest []Record) {
	last := map[string]int{}
	for n, r := range records {
		last[r.Key] = n
	}
	for n, r := range records {
		if last[r.Key] == n {
			latest = append(latest, r)
		}
	}
	return latest
}

// Unfinished returns the items whose purchase has begun but is not completed: the outcome is not known, or the
// documents are not generated. It omits the keys of given items. Append the result to the items of the next run,
// because [Run] works only on the items that it is given. The records are all records of the journal, or the last
// one of each item, as [File.Records] and Records of package pgstore return them.
//
// Each item has the [Item.Documents] of its purchase: if this settles as not charged, Run purchases the same ones.
//
// The records do not show [Item.Again]: an item with Again whose purchase was not charged then gets an error, as
// without Again.
func Unfinished(records []Record, items []Item) (others []Item) {
	given := map[string]bool{}
	for _, item := range items {
		given[item.key()] = true
	}
	for _, r := range Latest(records) {
		begun := r.Step == StepPurchasing || r.Step == StepPurchased || r.Step == StepFailed && len(r.Documents) > 0
		if begun && !given[r.Key] {
			others = append(others, Item{Key: r.Key, Analyze: shipping.AnalyzeRequest{ShipmentID: r.ShipmentID},
				Documents: r.Documents})
		}
	}
	return others
}

// validate returns an error for a record that a journal cannot store without changes.
func (r *Record) validate() error {
	if err := r.check(); err != nil {
		return err
	}
	if problem := textProblem(r.Key, maxKey); problem != "" || r.Key == "" {
		return r.invalid("key", r.Key, cmp.Or(problem, "is empty"))
	}
	texts := map[string]string{"shipment id": r.ShipmentID, "file hash": r.FileHash, "request id": r.RequestID,
		"currency": r.Currency, "charged currency": r.ChargedCurrency, "period": r.Period, "earlier": r.Earlier,
		"overcharge": r.Overcharge, "note": r.Note}
	for name, text := range texts {
		if problem := textProblem(text, maxRecordText); problem != "" {
			return r.invalid(name, text, problem)
		}
	}
	for _, document := range slices.Concat(r.Documents, r.NotSelected) {
		if problem := textProblem(string(document), maxRecordText); problem != "" {
			return r.invalid("document", string(document), problem)
		}
	}
	return nil
}

func (r *Record) invalid(field, text, problem string) error {
	return invalid("Record", fmt.Sprintf("of item %s has the %s %s, which %s; no journal can keep it",
		spelling.Quote(r.Key), field, spelling.Quote(text), problem))
}

// textProblem returns why a text cannot be kept in a journal; empty if it can.
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

// unkeepable reports whether no journal can keep a text of a record.
func unkeepable[T ~string](text T) bool { return textProblem(string(text), maxRecordText) != "" }

// The steps of an item in a journal.
const (
	// StepAnalyzed: the item has a draft, perhaps after a purchase that was certainly not charged. Without a RequestID,
	// [Resolve] has opened the item, and the next run analyzes it.
	StepAnalyzed shipping.Step = "analyzed"
	// StepPurchasing is written before the purchase is sent. If it is the last record, the outcome
	// must be settled.
	StepPurchasing shipping.Step = "purchasing"
	// StepPurchased: the wallet was charged, and the next run waits for the documents. [Adopt] adds such a record.
	StepPurchased shipping.Step = "purchased"
	// StepFailed: the analysis failed or, if the record has documents, their generation.
	StepFailed shipping.Step = "failed"
	// StepCompleted ends an item, and so does StepClosed, which no run writes: see [Resolve].
	StepCompleted shipping.Step = "completed"
	StepClosed    shipping.Step = "closed"
)

// final reports whether the record ends its item.
func (r Record) final() bool { return r.Step == StepCompleted || r.Step == StepClosed }

// Committed reports whether the amount of the record was or may have been spent. It is true for a failed analysis, too,
// whose amount is 0.
func (r Record) Committed() bool { return r.Step != "" && r.Step != StepAnalyzed }

// bought reports whether something was or may have been purchased for the item of a failed record. If not, its analysis
// failed.
func (r Record) bought() bool {
	return len(r.Documents) > 0 || r.Purchase != nil || r.Amount.Known() || r.Charged.Known()
}

// unsold reports whether the journal shows that nothing can have been purchased for an analyzed item, because each
// purchase was refused or never sent.
func (r Record) unsold() bool {
	return r.Earlier == EarlierRefused || r.Earlier == "" && len(r.Documents) == 0
}

// Begun reports whether the item has ended, or something was or may have been purchased for it.
func (r Record) Begun() bool { return r.final() || r.Committed() && r.bought() }

// commitment returns the amount that the record counts against a budget.
func (r Record) commitment() shipping.Amount {
	if !r.Committed() {
		return shipping.Amount{}
	}
	return r.Amount
}

// uncountable returns why the record's commitment cannot be compared with a budget; empty if it can.
func (r Record) uncountable(budget shipping.Budget) string {
	switch {
	case !r.Committed():
		return ""
	case r.Currency != "" && !cost.SameCurrency(r.Currency, budget.Currency):
		return fmt.Sprintf("the journal holds a purchase of %s in %s: set a budget in that currency", r.Key, r.Currency)
	case len(r.Documents) > 0 && !r.Amount.Known():
		return fmt.Sprintf("the journal holds a purchase of %s whose price is not known", r.Key)
	case r.Amount.Sign() < 0:
		return fmt.Sprintf("the journal holds a purchase of %s for %s", r.Key, r.Amount)
	}
	return ""
}
