package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/shipping-go/shipping/internal/logfile"
)

// journalFormat is the format of a batch journal: a [logfile] whose objects have the member record.
func journalFormat() logfile.Format {
	return logfile.Format{Name: "shipping-batch-journal", Version: 1, Noun: "batch journal",
		Foreign: errForeign, Empty: errEmpty, Damaged: errDamagedLine, Changed: ErrDamaged, Moved: ErrMoved}
}

var (
	errDamagedLine = errors.New("damaged")
	errForeign     = errors.New("the file is not a batch journal, and was not changed; choose another path")
	errEmpty       = errors.New("exists but is empty: its records may be lost")
)

// parseRecord reads the object of a line. A record that this version does not fully understand is refused.
func parseRecord(object []byte) (record Record, err error) {
	var line struct {
		Record json.RawMessage `json:"record"`
	}
	if !utf8.Valid(object) {
		return record, errDamagedLine
	}
	err = decodeExactly(object, &line)
	if err == nil {
		err = json.Unmarshal(line.Record, &record)
	}
	if unknown, ok := errors.AsType[*unknownFieldError](err); ok {
		return record, unknown
	}
	if err != nil || record.Key == "" || record.Step == "" {
		return record, errDamagedLine
	}
	return record, record.check()
}

// unknownFieldError is returned for a field that this version does not know. Ignoring the field could lose information.
type unknownFieldError struct{ err error }

func (e *unknownFieldError) Error() string {
	return fmt.Sprintf("a batch record of another version (%v); use the version of the package that wrote it", e.err)
}

func (e *unknownFieldError) Unwrap() error { return e.err }

// decodeExactly decodes a JSON object. An unknown member is an error.
func decodeExactly(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err != nil && json.Unmarshal(text, into) == nil {
		return &unknownFieldError{err}
	}
	return err
}
