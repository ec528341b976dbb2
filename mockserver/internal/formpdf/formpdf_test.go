package formpdf_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/shipping-go/shipping/mockserver/internal/formpdf"
)

// pages are the printed lines of a document, in the order of printing.
type pages struct {
	count int
	lines []string
}

func (p pages) has(text string) bool { return slices.Contains(p.lines, text) }

func (p pages) text() string { return strings.Join(p.lines, "") }

func render(t testing.TB, doc formpdf.Document) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := formpdf.Render(&file, doc); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

var (
	printed = regexp.MustCompile(`(?s)BT -?[\d.]+ -?[\d.]+ Td \(((?:\\.|[^\\)])*)\)Tj`)
	escaped = regexp.MustCompile(`(?s)\\(.)`)
)

// read renders a document and parses it. It reads only the output of the library that the package uses.
func read(t testing.TB, doc formpdf.Document) pages {
	t.Helper()
	file := render(t, doc)
	out := pages{count: bytes.Count(file, []byte("/Type /Page\n"))}
	for _, match := range printed.FindAllSubmatch(file, -1) {
		raw := escaped.ReplaceAll(bytes.ReplaceAll(match[1], []byte(`\r`), []byte("\r")), []byte("$1"))
		units := make([]uint16, len(raw)/2)
		for i := range units {
			units[i] = binary.BigEndian.Uint16(raw[2*i:])
		}
		out.lines = append(out.lines, string(utf16.Decode(units)))
	}
	return out
}

// watch is a form as a draft gives it.
func watch() formpdf.Document {
	return formpdf.Document{
		RequestID: "RD-7Q2M4K9XW1Z8B3TA", DocumentType: "WATCH",
		Title: "Watch worksheet", Subtitle: "Breaks a watch down into case, strap, movement and battery.",
		Reference: "SH-4QX9TB7M2K8W1ZRA", Date: time.Date(2026, time.January, 5, 23, 30, 0, 0, time.FixedZone("", -3600)),
		Exporter: []string{
			"Łódź & Élan (Trading) Ltd",
			"Ọláṣubọ̀mí Adébáyọ̀",
			"14 Adeola Odeku Street",
			"Lagos LA 101241",
			"NG",
		},
		Importer: []string{"Jane Doe", "New York 10118", "US"},
		Fields: []formpdf.Field{
			{Label: "Case material (required)", Value: "Stainless steel"},
			{Label: "Retail price", Value: `₦1,250 \ €3`},
			{Label: "Jewels"},
		},
		Items: []formpdf.Item{{
			Description: "Quartz wristwatch", HSCode: "9102.11", OriginCountry: "CH", Quantity: "3", UnitValue: "19.99",
			TotalValue: "59.97", Currency: "USD",
		}},
		Totals: []string{"59.97 USD"},
	}
}

func TestRender_PrintsEveryField(t *testing.T) {
	t.Parallel()
	page := read(t, watch())
	if page.count != 1 {
		t.Fatalf("%d pages, want 1", page.count)
	}
	for _, text := range []string{
		"WATCH", "Watch worksheet", "Breaks a watch down into case, strap, movement and battery.",
		"RD-7Q2M4K9XW1Z8B3TA", "SH-4QX9TB7M2K8W1ZRA", "2026-01-06",
		"Łódź & Élan (Trading) Ltd", "Ọláṣubọ̀mí Adébáyọ̀", "14 Adeola Odeku Street", "Lagos LA 101241", "NG", "Jane Doe",
		"New York 10118", "US",
		"Case material (required)", "Stainless steel", "Retail price", `₦1,250 \ €3`, "Jewels",
		"1", "Quartz wristwatch", "HS code 9102.11, origin CH", "3 × 19.99 USD = 59.97 USD", "59.97 USD", "Signature",
		"SPECIMEN made by a test server from test data. It is not a legal document; do not present it to any authority.",
		"WATCH, RD-7Q2M4K9XW1Z8B3TA, page 1",
	} {
		if !page.has(text) {
			t.Errorf("the page lacks %q", text)
		}
	}
}

// Goods that do not fit on a page continue on the next, each once and in order, and every page is marked as a specimen.
// The same document gives the same bytes.
func TestRender_ContinuesOnFurtherPages(t *testing.T) {
	t.Parallel()
	doc := watch()
	var want, got []string
	for n := range 60 {
		want = append(want, fmt.Sprintf("Article %d", n+1))
		doc.Items = append(doc.Items, formpdf.Item{Description: want[n], HSCode: "620520", Quantity: "1"})
	}
	pages := read(t, doc)
	for n := range pages.count {
		if !pages.has(fmt.Sprintf("WATCH, RD-7Q2M4K9XW1Z8B3TA, page %d", n+1)) ||
			strings.Count(pages.text(), "SPECIMEN") != pages.count {
			t.Errorf("page %d is not marked", n+1)
		}
	}
	for _, line := range pages.lines {
		if strings.HasPrefix(line, "Article ") {
			got = append(got, line)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the articles are %q", got)
	}
	if !bytes.Equal(render(t, doc), render(t, doc)) {
		t.Error("two renderings differ")
	}
}

// Long texts wrap and lose nothing up to a thousand characters. Longer ones are cut, so that a document is not many
// times as large as the request for it.
func TestRender_WrapsLongTexts(t *testing.T) {
	t.Parallel()
	for _, value := range []string{strings.Repeat("Acquired from the estate. ", 35), strings.Repeat("É", 900),
		strings.Repeat("a\n", 400)} {
		doc := watch()
		doc.Fields = []formpdf.Field{{Label: "Provenance", Value: value}}
		if got := squeezed(read(t, doc).text()); !strings.Contains(got, squeezed(value)) {
			t.Errorf("%.9q…: the page lacks a part of the value", value)
		}
		doc.Fields[0].Value = strings.Repeat(value, 100)
		if pages := read(t, doc); pages.count > 2 || !strings.Contains(pages.text(), "…") {
			t.Errorf("%.9q…: %d pages", value, pages.count)
		}
	}
}

func squeezed(text string) string { return strings.Join(strings.Fields(text), "") }

func TestRender_ReturnsTheWritersError(t *testing.T) {
	t.Parallel()
	reader, writer := io.Pipe()
	broken := errors.New("disk full")
	reader.CloseWithError(broken)
	if err := formpdf.Render(writer, watch()); !errors.Is(err, broken) {
		t.Errorf("error = %v, want %v", err, broken)
	}
}

func TestRender_PrintsHostileTexts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"😀": "□", "\U00010000": "□", "漢字漢字 漢": "□□□□ □", "שלום": "□□□□", "e\u0301\u0323": "e\u0301\u0323", "\xff\xfe": "",
		"(\\)": "(\\)", ")": ")", "\\": "\\",
		"a\x00b": "a b", "\r": "", " \n\n ": "", "\uffff\ufffe": "", "…": "…", "%s%d": "%s%d", "{nb}": "{nb}", "BT (": "BT (",
		"endstream": "endstream",
	} {
		doc := formpdf.Document{
			RequestID: text, DocumentType: text, Title: text, Subtitle: text, Reference: text, Exporter: []string{text, text},
			Fields: []formpdf.Field{{Label: text, Value: text}},
			Items: []formpdf.Item{{
				Description: text, HSCode: text, OriginCountry: text, Currency: text, Quantity: text, UnitValue: text,
				TotalValue: text,
			}},
			Totals: []string{text},
		}
		page := read(t, doc)
		if page.count != 1 || !page.has("Signature") || want != "" && !page.has(want) {
			t.Errorf("%q: %d pages, %q", text, page.count, page.text())
		}
	}
}
