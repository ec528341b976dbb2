package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net/url"
	"strings"
	"time"
)

// The format of the file of a [FileStore], version 1. It is a text file of lines:
//
//	{"format":"shipping-webhook-store","version":1}
//	{"crc":"5f0c2a11","id":"WD-1","at":"2026-01-05T09:30:00Z"}
//
// The first line names the format and its version. Each other line is an accepted notification: its id, in which
// characters other than those of a URL's path segment are escaped, and the time when it was claimed. crc is the CRC-32C
// of the line after the crc member, in hexadecimal.
//
// A line is on the disk before the next one is written. A power loss can therefore leave only the last line cut off, or
// with zeros in it. It was not acknowledged, and is discarded. Other damage is an error.
const (
	storeFormat  = "shipping-webhook-store"
	storeVersion = 1
)

// storeHeader is the first line.
var storeHeader = fmt.Sprintf(`{"format":%q,"version":%d}`+"\n", storeFormat, storeVersion)

// crcBegins is the beginning of the other lines.
const crcBegins = `{"crc":"`

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// storeEntry is an accepted notification.
type storeEntry struct {
	id string
	at time.Time
}

func appendStoreLine(text []byte, e storeEntry) []byte {
	rest := fmt.Appendf(nil, `"id":"%s","at":"%s"}`, url.PathEscape(e.id), e.at.UTC().Format(time.RFC3339Nano))
	return fmt.Appendf(text, crcBegins+`%08x",%s`+"\n", crc32.Checksum(rest, castagnoli), rest)
}

// parseStore reads a file. An empty one is a new store.
func parseStore(text []byte) ([]storeEntry, error) {
	if len(text) == 0 {
		return nil, nil
	}
	header, rest, _ := bytes.Cut(text, []byte("\n"))
	if err := checkStoreHeader(header); err != nil {
		return nil, err
	}
	var entries []storeEntry
	for number := 2; len(rest) > 0; number++ {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		e, err := parseStoreLine(line)
		torn := len(after) == 0 && (!ended || bytes.IndexByte(line, 0) >= 0)
		switch {
		case torn:
			return entries, nil
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		entries, rest = append(entries, e), after
	}
	return entries, nil
}

func checkStoreHeader(line []byte) error {
	var header struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	switch err := json.Unmarshal(line, &header); {
	case err != nil, header.Format != storeFormat:
		return errors.New("the file is not a store of notifications: choose another path, or remove the file")
	case header.Version != storeVersion:
		return fmt.Errorf("the file has format version %d, and this version of the package reads version %d: use the "+
			"version that wrote it",
			header.Version, storeVersion)
	}
	return nil
}

var errStoreDamaged = errors.New("damaged: restore the file from a copy, or move it away: without it, notifications " +
	"that were accepted before can be handled again")

func parseStoreLine(line []byte) (storeEntry, error) {
	checksum, rest, found := strings.Cut(strings.TrimPrefix(string(line), crcBegins), `",`)
	if !found || checksum != fmt.Sprintf("%08x", crc32.Checksum([]byte(rest), castagnoli)) {
		return storeEntry{}, errStoreDamaged
	}
	var fields struct {
		ID string    `json:"id"`
		At time.Time `json:"at"`
	}
	if err := json.Unmarshal([]byte("{"+rest), &fields); err != nil {
		return storeEntry{}, errStoreDamaged
	}
	id, err := url.PathUnescape(fields.ID)
	if err != nil {
		return storeEntry{}, errStoreDamaged
	}
	return storeEntry{id, fields.At}, nil
}
