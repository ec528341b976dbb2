package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"unicode/utf8"
)

// The format of a batch journal, version 1. A journal is a text file of lines:
//
//	{"format":"shipping-batch-journal","version":1}
//	{"crc":"5f0c2a11","synced":48,"record":{"key":"SH-1","step":"analyzed",…}}
//
// The first line, the header, names the format and its version. Each other line is a record. crc is the CRC-32C of the
// line after the crc member, in hexadecimal. synced is the length of the file that was on the disk before the line
// was written: its offset, or less in a file of an earlier version, which wrote several lines at once.
//
// Each line is on the disk before the next one is written. A power loss can leave the last line cut off, or with
// sectors that read as zeros. It was not acknowledged, so it is discarded. Damage of any other kind is damage to
// acknowledged records: the file is refused.
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

// recordLine returns the line of a record at an offset of the file.
func recordLine(record []byte, at int64) []byte {
	rest := fmt.Appendf(nil, `"synced":%d,"record":%s}`, at, record)
	return fmt.Appendf(nil, recordBegins+`%08x",%s`+"\n", crc32.Checksum(rest, castagnoli), rest)
}

// journalContent is the content of a journal file.
type journalContent struct {
	records []Record
	// size is the length of the intact part. What follows was never acknowledged. 0 is a new journal.
	size int64
	last []byte // the last line of that part
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
	header, _, _ := bytes.Cut(data, []byte("\n"))
	if err := checkHeader(header); err != nil {
		return content, fmt.Errorf("line 1: %w", err)
	}
	content.size, content.last = int64(len(journalHeader)), []byte(journalHeader)
	for number := 2; content.size < int64(len(data)); number++ {
		rest := data[content.size:]
		line, _, ended := bytes.Cut(rest, []byte("\n"))
		record, err := parseLine(line, content.size, ended)
		if err != nil {
			if len(line)+1 >= len(rest) && mayBeTorn(line, ended) {
				break
			}
			return content, fmt.Errorf("line %d: %w", number, err)
		}
		content.records = append(content.records, record)
		content.size, content.last = content.size+int64(len(line))+1, rest[:len(line)+1]
	}
	content.last = bytes.Clone(content.last) // without the whole file
	return content, nil
}

// mayBeTorn reports whether a last line that cannot be read can be the rest of a record's line after a power loss.
func mayBeTorn(line []byte, ended bool) bool {
	return bytes.IndexByte(line, 0) >= 0 || !ended && beginsLike(line, recordBegins)
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

// checkHeader returns an error unless the first line is the header of this version.
func checkHeader(line []byte) error {
	var header struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	err := json.Unmarshal(line, &header)
	switch {
	case string(line)+"\n" == journalHeader:
		return nil
	case err == nil && header.Format == journalFormat && header.Version > journalVersion:
		return fmt.Errorf("the journal has format version %d, and this version of the package reads version %d; "+
			"use the version that wrote it", header.Version, journalVersion)
	case !bytes.HasPrefix(line, []byte{0}) && !beginsLike(line, headerBegins, recordBegins),
		err == nil && header.Format != "" && header.Format != journalFormat:
		return errOtherFile
	}
	return errDamagedLine
}

// parseLine reads a record's line, which begins at an offset of the file.
func parseLine(line []byte, at int64, ended bool) (record Record, err error) {
	head := len(recordBegins) + 8
	if !ended || len(line) < head+2 || !bytes.HasPrefix(line, []byte(recordBegins)) || string(line[head:head+2]) != `",` {
		return record, errDamagedLine
	}
	rest := line[head+2:]
	if fmt.Sprintf("%08x", crc32.Checksum(rest, castagnoli)) != string(line[len(recordBegins):head]) {
		return record, errDamagedLine
	}
	var wire struct {
		Synced int64           `json:"synced"`
		Record json.RawMessage `json:"record"`
	}
	if err := decodeExactly(append([]byte("{"), rest...), &wire); err != nil {
		return record, lineProblem(err)
	}
	if wire.Synced > at {
		return record, fmt.Errorf("%w: %d bytes before it are missing", errDamagedLine, wire.Synced-at)
	}
	return parseRecord(wire.Record)
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
