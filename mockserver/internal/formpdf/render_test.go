package formpdf_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
	"github.com/shipping-go/shipping/mockserver/internal/formpdf"
)

// watch is a form as a draft gives it.
func watch() formpdf.Document {
	return formpdf.Document{
		RequestID:    "RD-7Q2M4K9XW1Z8B3TA",
		DocumentType: "WATCH",
		Title:        "Watch worksheet",
		Subtitle:     "Breaks a watch down into case, strap, movement and battery.",
		Reference:    "SH-4QX9TB7M2K8W1ZRA",
		Date:         time.Date(2026, time.January, 5, 23, 30, 0, 0, time.FixedZone("", -3600)),
		Exporter: formpdf.Address{
			Name: "Ọláṣubọ̀mí Adébáyọ̀", Company: "Łódź & Élan (Trading) Ltd", Line1: "14 Adeola Odeku Street", Line2: "Victoria Island",
			City: "Lagos", State: "LA", PostalCode: "101241", Country: "NG", Phone: "+234 803 000 0000", Email: "exports@example.com",
		},
		Importer: formpdf.Address{Name: "Jane Doe", City: "New York", PostalCode: "10118", Country: "US"},
		Fields: []formpdf.Field{
			{Label: "Case material", Value: "Stainless steel", Required: true},
			{Label: "Movement", Value: "quartz", Required: true, Choices: []string{"quartz", "mechanical", "automatic"}},
			{Label: "Retail price", Value: `₦1,250 \ €3`},
		},
		Items: []formpdf.Item{{
			Description: "Quartz wristwatch", HSCode: "9102.11", OriginCountry: "CH", Quantity: "3", UnitValue: "19.99", TotalValue: "59.97", Currency: "USD",
		}},
		Totals: []string{"59.97 USD"},
	}
}

func TestRender_PrintsAPageWithEverythingOnIt(t *testing.T) {
	t.Parallel()
	pages := read(t, render(t, watch()))
	if len(pages) != 1 {
		t.Fatalf("%d pages, want 1", len(pages))
	}
	for _, text := range []string{
		"FORM", "WATCH", "Watch worksheet", "Breaks a watch down into case, strap, movement and battery.",
		"1. Request number", "RD-7Q2M4K9XW1Z8B3TA", "2. Reference", "SH-4QX9TB7M2K8W1ZRA", "3. Date", "2026-01-06", "4. Page", "1 of 1",
		"5. Exporter (name and address)", "Łódź & Élan (Trading) Ltd", "Ọláṣubọ̀mí Adébáyọ̀", "14 Adeola Odeku Street", "Victoria Island",
		"Lagos, LA 101241", "NG", "Tel. +234 803 000 0000", "exports@example.com",
		"6. Importer (name and address)", "Jane Doe", "New York 10118", "US",
		"7. Case material *", "Stainless steel", "8. Movement *", "■ quartz    □ mechanical    □ automatic", "9. Retail price", `₦1,250 \ €3`,
		"Quartz wristwatch", "9102.11", "CH", "3", "USD", "19.99", "59.97", "59.97 USD",
		"10. Name and title", "11. Signature", "12. Date (year, month, day)",
		"SPECIMEN made by a test server from test data. It is not a legal document; do not present it to any authority.",
		"WATCH  ·  RD-7Q2M4K9XW1Z8B3TA  ·  page 1 of 1",
	} {
		if !pages[0].has(text) {
			t.Errorf("the page lacks %q", text)
		}
	}
}

func TestRender_WritesAWellFormedFile(t *testing.T) {
	t.Parallel()
	file := render(t, manyItems(100))
	if !bytes.HasPrefix(file, []byte("%PDF-1.")) || !bytes.HasSuffix(file, []byte("%%EOF\n")) {
		t.Errorf("the file begins %q and ends %q", file[:8], file[len(file)-8:])
	}
	if n := len(regexp.MustCompile(`/Type /Page\b`).FindAll(file, -1)); n != 4 {
		t.Errorf("%d page objects, want 4", n)
	}
	for _, want := range []string{"/Count 4", "/CreationDate (D:20260106003000)", "/ModDate (D:20260106003000)", "/MediaBox [0 0 595.28 841.89]"} {
		if !bytes.Contains(file, []byte(want)) {
			t.Errorf("the file lacks %s", want)
		}
	}
	start := regexp.MustCompile(`startxref\n(\d+)\n`).FindSubmatch(file)
	if start == nil {
		t.Fatal("the file lacks startxref")
	}
	if offset, _ := strconv.Atoi(string(start[1])); !bytes.HasPrefix(file[offset:], []byte("xref\n")) {
		t.Errorf("startxref points at %q", file[offset:offset+8])
	}
}

func TestRender_TheSameDocumentGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	undated := watch()
	undated.Date = time.Time{}
	undated.Subtitle = "A no-break\u00a0space shares its glyph with the space, as - does with \u2010 and Ω with \u2126."
	for _, doc := range []formpdf.Document{watch(), manyItems(100), undated, {}} {
		want := render(t, doc)
		files := make([][]byte, 4)
		var group sync.WaitGroup
		for i := range files {
			group.Go(func() { files[i] = render(t, doc) })
		}
		group.Wait()
		for i, file := range files {
			if !bytes.Equal(file, want) {
				t.Errorf("%q: rendering %d differs", doc.Title, i)
			}
		}
	}
}

func TestRender_TicksTheChoiceMade(t *testing.T) {
	t.Parallel()
	tests := []struct{ value, want string }{
		{"Yes", "■ Yes    □ No"},
		{"No", "□ Yes    ■ No"},
		{"", "□ Yes    □ No"},
		{"not known", "□ Yes    □ No    ■ not known"},
	}
	for _, test := range tests {
		doc := watch()
		doc.Fields = []formpdf.Field{{Label: "Original work", Value: test.value, Choices: []string{"Yes", "No"}}}
		if page := read(t, render(t, doc))[0]; !page.has(test.want) {
			t.Errorf("%q: the page lacks %q", test.value, test.want)
		}
	}
}

// manyItems is the form with more goods than a page has room for.
func manyItems(n int) formpdf.Document {
	doc := watch()
	doc.Items = nil
	for i := range n {
		doc.Items = append(doc.Items, formpdf.Item{Description: fmt.Sprintf("Article %d", i+1), HSCode: "620520", Quantity: "1"})
	}
	return doc
}

func TestRender_GoesOnOverPagesUnderTheSameHeadline(t *testing.T) {
	t.Parallel()
	pages := read(t, render(t, manyItems(40)))
	if len(pages) != 2 {
		t.Fatalf("%d pages, want 2", len(pages))
	}
	for i, want := range []string{"1 of 2", "2 of 2"} {
		for _, text := range []string{want, "RD-7Q2M4K9XW1Z8B3TA", "Watch worksheet", "Description of goods", "WATCH  ·  RD-7Q2M4K9XW1Z8B3TA  ·  page " + want} {
			if !pages[i].has(text) {
				t.Errorf("page %d lacks %q", i+1, text)
			}
		}
	}
	for i := range 40 {
		if n := pages[0].count(fmt.Sprintf("Article %d", i+1)) + pages[1].count(fmt.Sprintf("Article %d", i+1)); n != 1 {
			t.Errorf("article %d is printed %d times", i+1, n)
		}
	}
	if !pages[1].has("59.97 USD") || !pages[1].has("11. Signature") || pages[0].has("11. Signature") {
		t.Error("total and signature belong at the end, and nowhere else")
	}
}

func TestRender_LongTextsWrapAndLoseNothing(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, value string }{
		{"words", strings.Repeat("Acquired from the estate of the artist. ", 12)},
		{"a word without end", strings.Repeat("É", 480)},
		{"paragraphs", "first\nsecond\r\nthird\n\nlast"},
	}
	for _, test := range tests {
		doc := watch()
		doc.Fields = []formpdf.Field{{Label: "Provenance", Value: test.value}}
		got := squeezed(read(t, render(t, doc))[0].text(""))
		if !strings.Contains(got, squeezed(test.value)) {
			t.Errorf("%s: the page lacks a part of the value", test.name)
		}
	}
}

func squeezed(text string) string { return strings.Join(strings.Fields(text), "") }

func TestRender_EndlessTextsAreCutAndNothingLeavesThePage(t *testing.T) {
	t.Parallel()
	for _, endless := range []string{strings.Repeat("W", 5_000), strings.Repeat("word ", 5_000), strings.Repeat("a\n", 5_000)} {
		doc := formpdf.Document{
			RequestID: endless, DocumentType: endless, Title: endless, Subtitle: endless, Reference: endless,
			Exporter: formpdf.Address{Name: endless, Company: endless, Line1: endless, Line2: endless, City: endless, State: endless,
				PostalCode: endless, Country: endless, Phone: endless, Email: endless},
			Fields: []formpdf.Field{{Label: endless, Value: endless}, {Label: endless, Required: true, Value: endless, Choices: []string{endless, "No"}}},
			Items: []formpdf.Item{{Description: endless, HSCode: endless, OriginCountry: endless, Quantity: endless, Currency: endless,
				UnitValue: endless, TotalValue: endless}},
			Totals: []string{endless},
		}
		pages := read(t, render(t, doc))
		if len(pages) > 4 {
			t.Errorf("%.9q…: %d pages", endless, len(pages))
		}
		for n, p := range pages {
			if !strings.Contains(p.text(""), "…") {
				t.Errorf("%.9q…: page %d shows no sign of a cut", endless, n+1)
			}
			for _, l := range p.lines {
				if l.text != "SPECIMEN" && (l.x < 34 || l.x > 562 || l.y < 20 || l.y > 808) {
					t.Errorf("%.9q…: page %d: %.20q stands at %v, %v", endless, n+1, l.text, l.x, l.y)
				}
			}
		}
	}
}

func TestRender_AnEmptyDocumentIsStillAForm(t *testing.T) {
	t.Parallel()
	pages := read(t, render(t, formpdf.Document{}))
	if len(pages) != 1 {
		t.Fatalf("%d pages, want 1", len(pages))
	}
	if n := pages[0].count("Not stated"); n != 2 {
		t.Errorf("%d parties are not stated, want 2", n)
	}
	for _, text := range []string{"This form asks for nothing beyond the parties and the goods.", "No goods are listed.", "8. Signature"} {
		if !pages[0].has(text) {
			t.Errorf("the page lacks %q", text)
		}
	}
	for _, text := range []string{"* must be filled in", "TOTAL VALUE OF THE GOODS", "0001-01-01"} {
		if pages[0].has(text) {
			t.Errorf("the page has %q", text)
		}
	}
}

func TestRender_ReturnsTheWritersError(t *testing.T) {
	t.Parallel()
	reader, writer := io.Pipe()
	broken := errors.New("disk full")
	reader.CloseWithError(broken)
	if err := formpdf.Render(writer, watch()); !errors.Is(err, broken) {
		t.Errorf("error = %v, want %v", err, broken)
	}
}

func TestRender_HostileTextsArePrinted(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"😀", "\U00010000", "\uffff\ufffe", "漢字", "שלום", "e\u0301\u0323", "\xff\xfe", "(\\)", ")", "\\", "\x00", "\r", " \n\n ", "\u00a0", "…",
		"%s%d", "{nb}", "{pages}", "\x1b{pages}", "BT (", "endstream",
	} {
		doc := formpdf.Document{
			RequestID: text, DocumentType: text, Title: text, Subtitle: text, Reference: text,
			Exporter: formpdf.Address{Company: text, City: text, State: text, Phone: text},
			Fields:   []formpdf.Field{{Label: text, Value: text}, {Label: text, Value: text, Choices: []string{"", text}}},
			Items:    []formpdf.Item{{Description: text, HSCode: text, OriginCountry: text, Currency: text, Quantity: text, UnitValue: text, TotalValue: text}},
			Totals:   []string{text},
		}
		pages := read(t, render(t, doc))
		if len(pages) != 1 || !pages[0].has("10. Signature") {
			t.Errorf("%q: %d pages, want a whole one", text, len(pages))
		}
	}
}

// A user's text is not taken for the number of pages.
func TestRender_CountsPagesOnlyInItsOwnTexts(t *testing.T) {
	t.Parallel()
	doc := watch()
	doc.Reference = "a\x1b{pages}b{nb}"
	if page := read(t, render(t, doc))[0]; !page.has("a {pages}b{nb}") || !page.has("1 of 1") {
		t.Errorf("the page has %q", page.text(" | "))
	}
}

func TestRender_KeepsRowsWholeAndHeadlinesWithWhatFollows(t *testing.T) {
	t.Parallel()
	headlines := []string{"A   PARTIES", "B   PARTICULARS", "C   GOODS", "Description of goods", "D   CERTIFICATION"}
	rapid.Check(t, func(r *rapid.T) {
		doc := watch()
		for i := range rapid.IntRange(0, 30).Draw(r, "fields") {
			value := strings.Repeat("A long value. ", rapid.IntRange(0, 120).Draw(r, "length"))
			doc.Fields = append(doc.Fields, formpdf.Field{Label: fmt.Sprintf("Field %d", i), Value: value})
		}
		doc.Items = nil
		for i := range rapid.IntRange(0, 80).Draw(r, "items") {
			words := strings.Repeat(" word", rapid.IntRange(0, 40).Draw(r, "words"))
			doc.Items = append(doc.Items, formpdf.Item{Description: fmt.Sprintf("Article%d%s", i, words), HSCode: fmt.Sprintf("code%d", i)})
		}
		next := 0 // item
		for n, page := range read(t, render(t, doc)) {
			lowest, last := 1000.0, ""
			for _, l := range page.lines {
				if body := l.y > 51; body && l.y < lowest { // the footer is below
					lowest, last = l.y, l.text
				}
				if l.text == fmt.Sprintf("code%d", next) {
					next++
				}
			}
			if lowest < 51 || slices.Contains(headlines, last) {
				r.Fatalf("page %d ends in %q at %v", n+1, last, lowest)
			}
			for i := range doc.Items {
				name, code := fmt.Sprintf("Article%d", i), fmt.Sprintf("code%d", i)
				if begins := strings.Contains(" "+page.text(" ")+" ", " "+name+" "); begins != page.has(code) {
					r.Fatalf("page %d has a part of item %d", n+1, i)
				}
				if page.has(code) && !page.has("Description of goods") {
					r.Fatalf("page %d continues a table without its headline", n+1)
				}
			}
		}
		if next != len(doc.Items) {
			r.Fatalf("%d items were printed in order, want %d", next, len(doc.Items))
		}
	})
}
