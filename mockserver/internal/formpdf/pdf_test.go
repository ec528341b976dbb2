package formpdf_test

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/shipping-go/shipping/mockserver/internal/formpdf"
)

// page is the visible text of a page: its lines, in the order of printing.
type page struct{ lines []line }

// line is a text and the position of its beginning, in points from the lower left corner.
type line struct {
	x, y float64
	text string
}

// has reports whether a line of the page is the text.
func (p page) has(text string) bool {
	return slices.ContainsFunc(p.lines, func(l line) bool { return l.text == text })
}

// text joins the lines with a separator.
func (p page) text(separator string) string {
	texts := make([]string, len(p.lines))
	for i, l := range p.lines {
		texts[i] = l.text
	}
	return strings.Join(texts, separator)
}

func render(t testing.TB, doc formpdf.Document) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := formpdf.Render(&file, doc); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

var (
	contents = regexp.MustCompile(`(?s)<</Length (\d+)>>\nstream\n`)
	position = regexp.MustCompile(`BT (-?[\d.]+) (-?[\d.]+) Td \($`)
)

// read parses a PDF. It is not a general reader: it reads only the output of this package's library.
func read(t testing.TB, file []byte) []page {
	t.Helper()
	var pages []page
	for _, at := range contents.FindAllSubmatchIndex(file, -1) {
		length, err := strconv.Atoi(string(file[at[2]:at[3]]))
		if err != nil || at[1]+length > len(file) {
			t.Fatalf("stream of length %s at %d", file[at[2]:at[3]], at[0])
		}
		if stream := file[at[1] : at[1]+length]; bytes.Contains(stream, []byte(" Td (")) {
			pages = append(pages, page{readLines(t, stream)})
		}
	}
	return pages
}

func readLines(t testing.TB, stream []byte) []line {
	t.Helper()
	var lines []line
	for len(stream) > 0 {
		i := bytes.IndexByte(stream, '(')
		if i < 0 {
			break
		}
		where := position.FindSubmatch(stream[:i+1])
		stream = stream[i+1:]
		if where == nil {
			t.Fatal("a text without a place")
		}
		var raw []byte
		for stream[0] != ')' {
			if stream[0] == '\\' {
				stream = stream[1:]
				if stream[0] == 'r' {
					stream[0] = '\r'
				}
			}
			raw, stream = append(raw, stream[0]), stream[1:]
		}
		units := make([]uint16, len(raw)/2)
		for i := range units {
			units[i] = uint16(raw[2*i])<<8 | uint16(raw[2*i+1])
		}
		x, _ := strconv.ParseFloat(string(where[1]), 64)
		y, _ := strconv.ParseFloat(string(where[2]), 64)
		lines = append(lines, line{x, y, string(utf16.Decode(units))})
	}
	return lines
}
