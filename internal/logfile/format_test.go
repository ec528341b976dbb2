package logfile

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
)

var (
	errEmpty   = errors.New("empty")
	errDamaged = errors.New("damaged")
	errChanged = errors.New("changed")
	errMoved   = errors.New("moved")
	errForeign = errors.New("the file is not a journal")
)

func format() Format {
	return Format{Name: "shipping-batch-journal", Version: 1, Noun: "journal", Foreign: errForeign, Empty: errEmpty,
		Damaged: errDamaged, Changed: errChanged, Moved: errMoved}
}

// line returns a line that was written when synced bytes were on the disk.
func line(key string, synced int) string {
	return string(AppendLine(nil, fmt.Appendf(nil, `{"record":{"key":%q,"step":"analyzed"}}`, key), int64(synced)))
}

// withSum returns a line with any text after its checksum.
func withSum(rest string) string {
	return fmt.Sprintf(lineBegins+`%08x",%s`+"\n", crc32.Checksum([]byte(rest), castagnoli), rest)
}

// The remains of a file after a power loss are read without an incomplete last line; the error of any other damage has
// its line.
func TestFormat_Parse(t *testing.T) {
	t.Parallel()
	const torn = "\x00\x00\x00\n" // a line of which a sector is missing
	header := string(format().Header())
	first := header + line("a", len(header))
	zeroed := func(text string, at int) string { return text[:at] + "\x00" + text[at+1:] }
	later := strings.Replace(header, ":1}", ":2}", 1)
	bit := strings.Replace(line("b", len(first)), "analyzed", "bnalyzed", 1)
	parse := func(content string) (keys []string, size int64, err error) {
		read, err := format().Parse(slices.Clip([]byte(content)), func(object []byte) error {
			key, _, _ := strings.Cut(strings.TrimPrefix(string(object), `{"record":{"key":"`), `"`)
			if keys = append(keys, key); key == "refused" {
				return errors.New("no")
			}
			return nil
		})
		return keys, read.Size, err
	}
	for name, test := range map[string]struct {
		content string
		keys    string // of the objects
		intact  string // the part that is kept; the beginning of content
	}{
		"a header":                          {header, "", header},
		"a record":                          {first, "a", first},
		"two lines of one write, as before": {first + line("b", len(header)), "a b", first + line("b", len(header))},
		"cut in the beginning":              {first + `{"cr`, "a", first},
		"cut after the beginning":           {first + `{"crc":"0123`, "a", first},
		"cut before its line break":         {first + strings.TrimSuffix(line("b", len(first)), "\n"), "a", first},
		"zeros to the end":                  {first + "\x00\x00\x00", "a", first},
		"zeros in a line":                   {first + zeroed(line("b", len(first)), 20), "a", first},
		"two records":                       {first + line("b", len(first)), "a b", first + line("b", len(first))},
	} {
		keys, size, err := parse(test.content)
		if err != nil || strings.Join(keys, " ") != test.keys || size != int64(len(test.intact)) {
			t.Errorf("%s: the objects %q, %d of %d bytes, %v", name, keys, size, len(test.content), err)
		}
	}
	for name, test := range map[string]struct{ content, err string }{
		"the header cut off":          {header[:20], "line 1: damaged"},
		"the header without its end":  {header[:len(header)-1], "line 1: damaged"},
		"the header with zeros":       {zeroed(header, 20), "line 1: damaged"},
		"as many zeros":               {strings.Repeat("\x00", len(header)), "line 1: damaged"},
		"nothing":                     {"", "empty"},
		"zeros, then a line":          {first + torn + line("b", len(first)), "line 3: damaged"},
		"another text":                {first + "rest", "line 3: damaged"},
		"another line":                {first + "rest\n", "line 3: damaged"},
		"an empty line":               {first + "\n", "line 3: damaged"},
		"a bit":                       {first + bit, "line 3: damaged"},
		"lines missing":               {header + line("b", len(header)+1), "line 2: damaged: 1 bytes before it are missing"},
		"only a checksum":             {header + `{"crc":"00000000",` + "\n", "line 2: damaged"},
		"half a checksum":             {header + `{"crc":"0000"` + "\n", "line 2: damaged"},
		"most of a checksum":          {header + `{"crc":"000000` + "\n", "line 2: damaged"},
		"a checksum of another form":  {header + strings.Replace(line("b", 0), `",`, `" `, 1), "line 2: damaged"},
		"another beginning":           {header + strings.Replace(line("b", 0), `"crc"`, `"CRC"`, 1), "line 2: damaged"},
		"a second header":             {header + header, "line 2: damaged"},
		"a line without a checksum":   {header + `{"key":"b","step":"analyzed"}` + "\n", "line 2: damaged"},
		"more zeros than a header":    {strings.Repeat("\x00", len(header)+1), "line 1: damaged"},
		"zeros, then a header":        {strings.Repeat("\x00", 512) + header, "line 1: damaged"},
		"a header with zeros, a line": {zeroed(header, 20) + line("a", len(header)), "line 1: damaged"},
		"records without a header":    {line("a", 0), "line 1: damaged"},
		"a short header, as a line":   {header[:20] + "\n", "line 1: damaged"},
		"another format":              {`{"format":"x","version":1}` + "\n", "line 1: the file is not a journal"},
		"another format, newer":       {`{"format":"x","version":2}` + "\n", "line 1: the file is not a journal"},
		"the header in other words":   {strings.Replace(header, ":1}", ": 1}", 1), "line 1: damaged"},
		"another file, no line":       {"hello", "line 1: the file is not a journal"},
		"a line break":                {"\n", "line 1: damaged"},
		"a newer version":             {later, "line 1: the file has format version 2"},
		"another file":                {"hello\n", "line 1: the file is not a journal"},
		"no offset":                   {header + withSum(`"record":{"key":"b"}}`), "line 2: damaged"},
		"an odd offset":               {header + withSum(`"synced":x,"record":{"key":"b"}}`), "line 2: damaged"},
		"nothing but offset":          {header + withSum(`"synced":0}`), "line 2: damaged"},
		"another line's fault":        {first + line("refused", len(first)), "line 3: no"},
	} {
		if _, _, err := parse(test.content); err == nil || !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, want %s", name, err, test.err)
		}
	}
}
