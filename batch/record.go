package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/evidence"
)

// Record is one step of one item. The last record of an item is its state.
type Record struct {
	Key       string                  `json:"key"`
	Step      Step                    `json:"step"`
	RequestID string                  `json:"request_id,omitempty"`
	Documents []shipping.DocumentType `json:"documents,omitempty"`
	// Amount is the amount that counts against a budget, in Currency: the price on the draft, or
	// Charged if that is more.
	Amount   shipping.Amount `json:"amount,omitzero"`
	Currency string          `json:"currency,omitempty"`
	// Charged is the charge that the service reports, in ChargedCurrency; not given if it reports none.
	Charged         shipping.Amount `json:"charged,omitzero"`
	ChargedCurrency string          `json:"charged_currency,omitempty"`
	// Purchase is the purchase as [shipping.RegulatoryService.SettlePurchase] needs it, until its outcome is known.
	Purchase *shipping.PurchaseRequest `json:"purchase,omitempty"`
	// Note is the reason given to [Resolve].
	Note string    `json:"note,omitempty"`
	At   time.Time `json:"at"`
}

// UnmarshalJSON refuses a record with fields that this version does not know: a journal that dropped
// them could lose information of a newer version.
func (r *Record) UnmarshalJSON(text []byte) error {
	type plain Record
	var read struct {
		plain
		// Before Purchase existed, records had only this, which does not prove whether a later reading shows a purchase.
		WasDraft bool `json:"was_draft"`
	}
	if err := decodeExactly(text, &read); err != nil {
		return err
	}
	*r = Record(read.plain)
	return r.lost(text)
}

// lost returns an error if the purchase of a record, which reads itself, has members that it left out.
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
	case StepAnalyzed, StepPurchasing, StepPurchased, StepCompleted, StepFailed:
	default:
		return fmt.Errorf("shipping: the record of batch item %q has the unknown step %q; use the version of the package that wrote it", r.Key, r.Step)
	}
	if unreadable(r.Amount) || unreadable(r.Charged) {
		return fmt.Errorf("shipping: the record of batch item %q: %w", r.Key, shipping.ErrAmountUnreadable)
	}
	return nil
}

// unreadable reports whether an amount was given and could not be read.
func unreadable(a shipping.Amount) bool {
	_, err := a.Add(shipping.Amount{})
	return errors.Is(err, shipping.ErrAmountUnreadable)
}

// validate reports a record that a journal could not return as it is.
func (r *Record) validate() error {
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

func (r *Record) invalid(field, text, problem string) error {
	if problem == "" {
		problem = "is empty"
	}
	return invalid("Record", fmt.Sprintf("of item %s has the %s %s, which %s; no journal can keep it",
		quoteShort(r.Key), field, quoteShort(text), problem))
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

// Step is a step of an item.
type Step string

// The steps of an item.
const (
	// StepAnalyzed: the item has a draft, also after a purchase that was certainly not charged.
	StepAnalyzed Step = "analyzed"
	// StepPurchasing is written before the purchase is sent. If it is the last record, the outcome
	// must be settled.
	StepPurchasing Step = "purchasing"
	// StepPurchased: the wallet was charged.
	StepPurchased Step = "purchased"
	// StepCompleted and StepFailed end an item.
	StepCompleted Step = "completed"
	StepFailed    Step = "failed"
)

// Final reports whether the step ends its item.
func (s Step) Final() bool { return s == StepCompleted || s == StepFailed }

// Committed reports whether the amount of the record was or may have been spent.
func (s Step) Committed() bool { return s != "" && s != StepAnalyzed }

// commitment returns the amount that the record counts against a budget.
func (r Record) commitment() shipping.Amount {
	if !r.Step.Committed() {
		return shipping.Amount{}
	}
	return r.Amount
}

// uncountable returns why the record's commitment cannot be compared with a budget; empty if it can.
func (r Record) uncountable(budget shipping.Budget) string {
	switch {
	case !r.Step.Committed():
		return ""
	case r.Currency != "" && !evidence.SameCurrency(r.Currency, budget.Currency):
		return fmt.Sprintf("the journal holds a purchase of %s in %s: set a budget in that currency", r.Key, r.Currency)
	case len(r.Documents) > 0 && !r.Amount.Known():
		return fmt.Sprintf("the journal holds a purchase of %s whose price is not known", r.Key)
	case r.Amount.Sign() < 0:
		return fmt.Sprintf("the journal holds a purchase of %s for %s", r.Key, r.Amount)
	}
	return ""
}

// notCharged returns the record of the item after a purchase that charged nothing.
func (r Record) notCharged() Record {
	r.Step, r.Purchase = StepAnalyzed, nil
	r.Amount, r.Currency, r.Charged, r.ChargedCurrency = shipping.Amount{}, "", shipping.Amount{}, ""
	return r
}

// after returns the record with the fields that it lacks taken from an earlier record of the same item.
func (r Record) after(earlier Record) Record {
	if r.RequestID == "" {
		r.RequestID = earlier.RequestID
	}
	if r.Documents == nil {
		r.Documents = earlier.Documents
	}
	if r.Purchase == nil && r.Step == StepPurchasing {
		r.Purchase = earlier.Purchase
	}
	return r
}

// The format of a batch journal, version 1. A journal is a text file of lines:
//
//	{"format":"shipping-batch-journal","version":1}
//	{"crc":"5f0c2a11","synced":48,"record":{"key":"SH-1","step":"analyzed",…}}
//
// The first line, the header, names the format and its version. Each other line is a record. crc is the CRC-32C of the
// line after the crc member, in hexadecimal. synced is the length of the part of the file that was on the
// disk before the line was written.
//
// The header is on the disk before the first record is written. Everything after the synced part is a single
// write, because a write begins only after the one before it is on the disk. A power loss can leave that write cut
// off, or with sectors that read as zeros. None of its records was acknowledged, so they are discarded from the
// first incomplete line on. Damage of any other kind, or before the synced part of a later line, is damage to
// acknowledged records: the file is refused.
//
// A later version may upgrade a journal by appending its own header. So a header is recognized in any line.
const (
	journalFormat  = "shipping-batch-journal"
	journalVersion = 1
)

// journalHeader is the first line of version 1.
var journalHeader = fmt.Sprintf(`{"format":%q,"version":%d}`+"\n", journalFormat, journalVersion)

// The beginnings of the lines. Each is written only by this package.
const (
	headerBegins = `{"format":"`
	recordBegins = `{"crc":"`
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendLine appends the line of a record to a write that begins when synced bytes are on the disk.
func appendLine(lines, record []byte, synced int64) []byte {
	rest := fmt.Appendf(nil, `"synced":%d,"record":%s}`, synced, record)
	return fmt.Appendf(lines, recordBegins+`%08x",%s`+"\n", crc32.Checksum(rest, castagnoli), rest)
}

// journalContent is the content of a journal file.
type journalContent struct {
	records []Record
	// size is the length of the intact part. What follows was never acknowledged. 0 is a new journal.
	size int64
	last []byte // the last bytes of that part
}

var (
	errDamagedLine = errors.New("damaged")
	errOtherFile   = errors.New("the file is not a batch journal, and was not changed; choose another path")
)

// parseJournal reads a journal. The error, if the file must not be used, has the number of the line.
func parseJournal(data []byte) (journalContent, error) {
	var content journalContent
	if tornHeader(data) {
		return content, nil
	}
	torn := 0 // the number of the first incomplete line
	for number, rest := 1, data; len(rest) > 0; number++ {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		at := int64(len(data) - len(rest))
		rest = after
		if number == 1 || bytes.HasPrefix(line, []byte(headerBegins)) {
			if err := checkHeader(line, number == 1); err != nil {
				return content, fmt.Errorf("line %d: %w", number, err)
			}
			content.size = int64(len(journalHeader))
			continue
		}
		record, synced, err := parseLine(line, at, ended)
		switch {
		case err == nil && torn == 0:
			content.records = append(content.records, record)
			content.size = int64(len(data) - len(rest))
		case err == nil && synced > content.size:
			return content, fmt.Errorf("line %d: %w", torn, errDamagedLine) // the line was complete once
		case err == nil:
			// Another line of the write that is incomplete.
		case !mayBeTorn(line, ended, torn > 0):
			return content, fmt.Errorf("line %d: %w", number, err)
		case torn == 0:
			torn = number
		}
	}
	return content, nil
}

// mayBeTorn reports whether a line that cannot be read can be the rest of a record's line after a power loss.
func mayBeTorn(line []byte, ended, afterTorn bool) bool {
	zeros := bytes.IndexByte(line, 0) >= 0
	return zeros || !ended && (afterTorn || beginsLike(line, recordBegins))
}

// tornHeader reports whether the power was lost while the header of a new journal was written: the file is empty, or
// has a part of the header, cut off or with zeros in it, and nothing else.
func tornHeader(data []byte) bool {
	if len(data) > len(journalHeader) || string(data) == journalHeader {
		return false
	}
	for i, b := range data {
		if b != 0 && b != journalHeader[i] {
			return false
		}
	}
	return true
}

// beginsLike reports whether a line, or the part of it that is there, begins in one of the ways.
func beginsLike(line []byte, begins ...string) bool {
	line = bytes.TrimRight(line, "\x00")
	for _, begin := range begins {
		if n := min(len(line), len(begin)); string(line[:n]) == begin[:n] {
			return true
		}
	}
	return false
}

// checkHeader returns an error unless a line is the header of this version, and the first line.
func checkHeader(line []byte, first bool) error {
	var header struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	err := json.Unmarshal(line, &header)
	switch {
	case first && string(line)+"\n" == journalHeader:
		return nil
	case err == nil && header.Format == journalFormat && header.Version > journalVersion:
		return laterVersionError(fmt.Sprintf("format version %d", header.Version))
	case !first && err != nil:
		return laterVersionError("a later format version")
	case first && !bytes.HasPrefix(line, []byte{0}) && !beginsLike(line, headerBegins, recordBegins),
		err == nil && header.Format != "" && header.Format != journalFormat:
		return errOtherFile
	}
	return errDamagedLine
}

// laterVersionError returns the error of a journal of a version that this one does not read.
func laterVersionError(version string) error {
	return fmt.Errorf("the journal has %s, and this version of the package reads version %d; use the version that wrote it",
		version, journalVersion)
}

// parseLine reads a record's line, which begins at an offset of the file.
func parseLine(line []byte, at int64, ended bool) (record Record, synced int64, err error) {
	head := len(recordBegins) + 8
	if !ended || len(line) < head+2 || string(line[:len(recordBegins)]) != recordBegins || string(line[head:head+2]) != `",` {
		return record, 0, errDamagedLine
	}
	rest := line[head+2:]
	if fmt.Sprintf("%08x", crc32.Checksum(rest, castagnoli)) != string(line[len(recordBegins):head]) {
		return record, 0, errDamagedLine
	}
	var wire struct {
		Synced int64           `json:"synced"`
		Record json.RawMessage `json:"record"`
	}
	if err := decodeExactly(append([]byte("{"), rest...), &wire); err != nil {
		return record, 0, lineProblem(err)
	}
	if wire.Synced > at {
		return record, 0, fmt.Errorf("%w: %d bytes before it are missing", errDamagedLine, wire.Synced-at)
	}
	record, err = parseRecord(wire.Record)
	return record, wire.Synced, err
}

// parseRecord reads a record. One that this version does not understand as a whole is refused.
func parseRecord(text []byte) (record Record, err error) {
	if !utf8.Valid(text) {
		return record, errDamagedLine
	}
	if err := json.Unmarshal(text, &record); err != nil {
		return record, lineProblem(err)
	}
	if record.Key == "" || record.Step == "" {
		return record, errDamagedLine
	}
	return record, record.check()
}

// lineProblem is the error of a line that could not be decoded.
func lineProblem(err error) error {
	if unknown, ok := errors.AsType[*unknownFieldError](err); ok {
		return unknown
	}
	return errDamagedLine
}

// unknownFieldError is returned for a field that this version does not know. Without the field, its meaning
// could be lost.
type unknownFieldError struct{ err error }

func (e *unknownFieldError) Error() string {
	return fmt.Sprintf("a batch record of another version (%v); use the version of the package that wrote it", e.err)
}

func (e *unknownFieldError) Unwrap() error { return e.err }

// decodeExactly decodes a JSON object all of whose members are known.
func decodeExactly(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err != nil && json.Unmarshal(text, into) == nil {
		return &unknownFieldError{err}
	}
	return err
}
