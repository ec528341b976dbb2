package formpdf_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/internal/formpdf"
)

var (
	printed = regexp.MustCompile(`(?s)BT -?[\d.]+ -?[\d.]+ Td \(((?:\\.|[^\\)])*)\)Tj`)
	escaped = regexp.MustCompile(`(?s)\\(.)`)
)

// read renders a document. It returns the number of pages, and the printed lines between "|". It reads only the output
// of the library that the package uses.
func read(t *testing.T, doc formpdf.Document) (pages int, lines string) {
	t.Helper()
	var file bytes.Buffer
	shippingtest.NoError(t, formpdf.Render(&file, doc))
	for _, match := range printed.FindAllSubmatch(file.Bytes(), -1) {
		raw := escaped.ReplaceAll(bytes.ReplaceAll(match[1], []byte(`\r`), []byte("\r")), []byte("$1"))
		units := make([]uint16, len(raw)/2)
		for i := range units {
			units[i] = binary.BigEndian.Uint16(raw[2*i:])
		}
		lines += "|" + string(utf16.Decode(units))
	}
	return bytes.Count(file.Bytes(), []byte("/Type /Page\n")), lines + "|"
}

// watch is a form as a draft gives it.
func watch() formpdf.Document {
	return formpdf.Document{
		RequestID: "RD-7Q2M4K9XW1Z8B3TA", DocumentType: "WATCH", Title: "Watch worksheet", Subtitle: "The parts of a watch.",
		Reference: "SH-4QX9TB7M2K8W1ZRA", Date: time.Date(2026, time.January, 5, 23, 30, 0, 0, time.FixedZone("", -3600)),
		Exporter: []string{"Łódź & Élan (Trading) Ltd", "Ọláṣubọ̀mí Adébáyọ̀", "NG"}, Importer: []string{"Jane Doe", "US"},
		Fields: []formpdf.Field{{Label: "Case (required)", Value: "Steel"}, {Label: "Price", Value: `₦1,250 \ €3`},
			{Label: "Jewels"}},
		Items: []formpdf.Item{{
			Description: "Quartz wristwatch", HSCode: "9102.11", OriginCountry: "CH", Quantity: "3", UnitValue: "19.99",
			TotalValue: "59.97", Currency: "USD",
		}},
		Totals: []string{"59.97 USD"},
	}
}

func TestRender_PrintsEveryField(t *testing.T) {
	t.Parallel()
	blank := "|" + strings.Repeat("_", 50) + "|"
	want := "|Watch worksheet|The parts of a watch.|Form|Form|WATCH|Request number|RD-7Q2M4K9XW1Z8B3TA|Reference|" +
		"SH-4QX9TB7M2K8W1ZRA|Date|2026-01-06|Parties|Exporter|Łódź & Élan (Trading) Ltd|Ọláṣubọ̀mí Adébáyọ̀|NG|" +
		"Importer|Jane Doe|US|Particulars|Case (required)|Steel|Price|₦1,250 \\ €3|Jewels|Goods|1|Quartz wristwatch|" +
		"HS code 9102.11, origin CH|3 × 19.99 USD = 59.97 USD|Total value of the goods|59.97 USD|Certification|" +
		"I declare that the particulars given on this form are true, complete and correct to the best of my knowledge, " +
		"and that I am|authorised to sign on behalf of the exporter.|Name and title" + blank + "Signature" + blank +
		"Date of signature" + blank + "SPECIMEN made by a test server from test data. It is not a legal document; do not " +
		"present it to any authority.|WATCH, RD-7Q2M4K9XW1Z8B3TA, page 1|"
	pages, got := read(t, watch())
	if diff := cmp.Diff(want, got); diff != "" || pages != 1 {
		t.Errorf("%d pages, want 1 (-want +got):\n%s", pages, diff)
	}
}

// Goods that do not fit on a page continue on the next, each once and in order, and every page is marked as a specimen.
// The same document gives the same bytes.
func TestRender_ContinuesOnFurtherPages(t *testing.T) {
	t.Parallel()
	doc := watch()
	want := ""
	for n := range 60 {
		doc.Items = append(doc.Items, formpdf.Item{Description: fmt.Sprint("Article ", n)})
		want += fmt.Sprint("|Article ", n)
	}
	pages, lines := read(t, doc)
	for n := range pages {
		if !strings.Contains(lines, fmt.Sprintf("|WATCH, RD-7Q2M4K9XW1Z8B3TA, page %d|", n+1)) ||
			strings.Count(lines, "|SPECIMEN") != pages {
			t.Errorf("page %d is not marked", n+1)
		}
	}
	if got := strings.Join(regexp.MustCompile(`\|Article \d+`).FindAllString(lines, -1), ""); got != want || pages < 2 {
		t.Errorf("%d pages, the articles are %s", pages, got)
	}
	var one, other bytes.Buffer
	err := errors.Join(formpdf.Render(&one, doc), formpdf.Render(&other, doc))
	if err != nil || !bytes.Equal(one.Bytes(), other.Bytes()) {
		t.Errorf("two renderings differ: %v", err)
	}
}

// Long texts wrap and lose nothing up to a thousand characters. Longer ones are cut, so that a document is not many
// times as large as the request for it.
func TestRender_WrapsLongTexts(t *testing.T) {
	t.Parallel()
	squeezed := strings.NewReplacer(" ", "", "\n", "", "|", "").Replace
	for _, value := range []string{strings.Repeat("Acquired from the estate. ", 35), strings.Repeat("É", 900),
		strings.Repeat("a\n", 400)} {
		for times, end := range map[int]string{1: "", 100: "…"} {
			doc := watch()
			doc.Fields = []formpdf.Field{{Label: "Provenance", Value: strings.Repeat(value, times)}}
			pages, lines := read(t, doc)
			if lines = squeezed(lines); pages > 2 || !strings.Contains(lines, squeezed(value)) || !strings.Contains(lines, end) {
				t.Errorf("%.9q… %d times: the %d pages lack a part of the value, or its end", value, times, pages)
			}
		}
	}
}

func TestRender_ReturnsTheWritersError(t *testing.T) {
	t.Parallel()
	reader, writer := io.Pipe()
	broken := errors.New("disk full")
	reader.CloseWithError(broken)
	shippingtest.WantError(t, "error", formpdf.Render(writer, watch()), broken)
}

func TestRender_PrintsHostileTexts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"😀": "□", "\U00010000": "□", "漢字漢字 漢": "□□□□ □", "שלום": "□□□□", "e\u0301\u0323": "e\u0301\u0323", "\xff\xfe": "",
		"(\\)": "(\\)", ")": ")", "\\": "\\", "a\x00b": "a b", "\r": "", " \n\n ": "", "\uffff\ufffe": "", "…": "…",
		"%s%d": "%s%d", "{nb}": "{nb}", "BT (": "BT (", "endstream": "endstream",
	} {
		pages, lines := read(t, formpdf.Document{
			RequestID: text, DocumentType: text, Title: text, Subtitle: text, Reference: text, Exporter: []string{text, text},
			Fields: []formpdf.Field{{Label: text, Value: text}}, Totals: []string{text},
			Items: []formpdf.Item{{Description: text, HSCode: text, OriginCountry: text, Currency: text, Quantity: text,
				UnitValue: text, TotalValue: text}},
		})
		if pages != 1 || !strings.Contains(lines, "|Signature|") || want != "" && !strings.Contains(lines, "|"+want+"|") {
			t.Errorf("%q: %d pages, %q", text, pages, lines)
		}
	}
}
