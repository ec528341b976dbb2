// Package logfile keeps lines of JSON in a file that only grows. A line that was appended survives the end of the
// process, a power loss and a full disk, and changes by other programs are detected.
//
//	{"format":"shipping-batch-journal","version":1}
//	{"crc":"5f0c2a11","synced":48,"record":{"key":"SH-1","step":"analyzed",…}}
//
// The first line, the header, names the format and its version. Each other line is an object with a checksum: crc is
// the CRC-32C of the line after the crc member, in hexadecimal. synced is the length of the file on the disk before the
// line was written. It is the offset of the line, or less if an earlier version wrote several lines at once.
//
// A new file gets its name after its header is on the disk, and each line is on the disk before the next one is
// written. A power loss can leave the last line cut off, or with sectors that read as zeros. It was not acknowledged,
// so it is discarded. Any other damage, such as an empty file, affects acknowledged lines: the file is refused.
package logfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"
)

// Format is a kind of file.
type Format struct {
	// Name and Version are in the header, and Noun in errors, such as "batch journal".
	Name    string
	Version int
	Noun    string
	// Foreign is returned for a file of another kind, and Empty for an empty file; if nil, such a file counts as new.
	// Damaged is wrapped by the errors of a file whose lines cannot be read, Changed by those of a file that another
	// program changed while it was open, and Moved by those of one that is not at its path any more.
	Foreign, Empty, Damaged, Changed, Moved error
}

// Content is the part of a file that can be read.
type Content struct {
	// Size is the length of the intact part. The rest was never acknowledged.
	Size int64
	last []byte // the last line of that part
}

// The beginnings of the lines. Each is written only by this package.
const (
	headerBegins = `{"format":"`
	lineBegins   = `{"crc":"`
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Header returns the first line.
func (f Format) Header() []byte {
	return fmt.Appendf(nil, headerBegins+`%s","version":%d}`+"\n", f.Name, f.Version)
}

// AppendLine appends to text the line of a non-empty object, which begins at an offset of its file.
func AppendLine(text []byte, object []byte, at int64) []byte {
	rest := fmt.Appendf(nil, `"synced":%d,%s`, at, object[1:])
	return fmt.Appendf(text, lineBegins+`%08x",%s`+"\n", crc32.Checksum(rest, castagnoli), rest)
}

// Parse reads a file, and calls line with the object of each line. The error, if the file must not be used, has the
// number of the line.
func (f Format) Parse(data []byte, line func(object []byte) error) (content Content, err error) {
	if len(data) == 0 {
		return content, f.Empty
	}
	if err := f.checkHeader(data); err != nil {
		return content, fmt.Errorf("line 1: %w", err)
	}
	content.last = f.Header()
	content.Size = int64(len(content.last))
	for number := 2; content.Size < int64(len(data)); number++ {
		rest := data[content.Size:]
		text, _, ended := bytes.Cut(rest, []byte("\n"))
		object, err := f.object(text, content.Size, ended)
		if err != nil && len(text)+1 >= len(rest) && mayBeTorn(text, ended) {
			break
		}
		if err == nil {
			err = line(object)
		}
		if err != nil {
			return content, fmt.Errorf("line %d: %w", number, err)
		}
		content.Size, content.last = content.Size+int64(len(text))+1, rest[:len(text)+1]
	}
	content.last = bytes.Clone(content.last) // without the whole file
	return content, nil
}

// object returns the object of a line, which begins at an offset of the file.
func (f Format) object(line []byte, at int64, ended bool) ([]byte, error) {
	head := len(lineBegins) + 8
	if !ended || len(line) < head+2 || !bytes.HasPrefix(line, []byte(lineBegins)) || string(line[head:head+2]) != `",` {
		return nil, f.Damaged
	}
	rest := line[head+2:]
	if fmt.Sprintf("%08x", crc32.Checksum(rest, castagnoli)) != string(line[len(lineBegins):head]) {
		return nil, f.Damaged
	}
	number, members, found := bytes.Cut(bytes.TrimPrefix(rest, []byte(`"synced":`)), []byte(","))
	synced, err := strconv.ParseInt(string(number), 10, 64)
	switch {
	case !found || err != nil:
		return nil, f.Damaged
	case synced > at:
		return nil, fmt.Errorf("%w: %d bytes before it are missing", f.Damaged, synced-at)
	}
	return append([]byte("{"), members...), nil
}

// mayBeTorn reports whether an unreadable last line can be the result of a power loss.
func mayBeTorn(line []byte, ended bool) bool {
	return bytes.IndexByte(line, 0) >= 0 || !ended && beginsLike(line, lineBegins)
}

// beginsLike reports whether a line begins with one of the texts, or is the beginning of one.
func beginsLike(line []byte, begins ...string) bool {
	line = bytes.TrimRight(line, "\x00")
	for _, begin := range begins {
		if n := min(len(line), len(begin)); string(line[:n]) == begin[:n] {
			return true
		}
	}
	return false
}

// checkHeader returns an error unless a file begins with the header of this version.
func (f Format) checkHeader(data []byte) error {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	var header struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	err := json.Unmarshal(line, &header)
	switch {
	case bytes.HasPrefix(data, f.Header()):
		return nil
	case err == nil && header.Format == f.Name && header.Version > f.Version:
		return fmt.Errorf("the file has format version %d, and this version of the package reads version %d; "+
			"use the version that wrote it", header.Version, f.Version)
	case !bytes.HasPrefix(line, []byte{0}) && !beginsLike(line, headerBegins, lineBegins),
		err == nil && header.Format != "" && header.Format != f.Name:
		return f.Foreign
	}
	return f.Damaged
}
