package formpdf_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/formpdf"
)

// watch is a form as a draft gives it.
func watch() formpdf.Document {
	return formpdf.Document{
		RequestID: "RD-7Q2M4K9XW1Z8B3TA", DocumentType: "WATCH",
		Title: "Watch worksheet", Subtitle: "Breaks a watch down into case, strap, movement and battery.",
		Reference: "SH-4QX9TB7M2K8W1ZRA", Date: time.Date(2026, time.January, 5, 23, 30, 0, 0, time.FixedZone("", -3600)),
		Exporter: []string{"Łódź & Élan (Trading) Ltd", "Ọláṣubọ̀mí Adébáyọ̀", "14 Adeola Odeku Street", "Lagos LA 101241", "NG"},
		Importer: []string{"Jane Doe", "New York 10118", "US"},
		Fields:   []formpdf.Field{{Label: "Case material (required)", Value: "Stainless steel"}, {Label: "Retail price", Value: `₦1,250 \ €3`}, {Label: "Jewels"}},
		Items: []formpdf.Item{{
			Description: "Quartz wristwatch", HSCode: "9102.11", OriginCountry: "CH", Quantity: "3", UnitValue: "19.99", TotalValue: "59.97", Currency: "USD",
		}},
		Totals: []string{"59.97 USD"},
	}
}

// manyItems is the form with more goods than a page has room for.
func manyItems(n int) formpdf.Document {
	doc := watch()
	for i := range n {
		doc.Items = append(doc.Items, formpdf.Item{Description: fmt.Sprintf("Article %d", i+1), HSCode: "620520", Quantity: "1"})
	}
	return doc
}

func TestRender_PrintsAPageWithEverythingOnIt(t *testing.T) {
	t.Parallel()
	pages := read(t, render(t, watch()))
	if len(pages) != 1 {
		t.Fatalf("%d pages, want 1", len(pages))
	}
	for _, text := range []string{
		"WATCH", "Watch worksheet", "Breaks a watch down into case, strap, movement and battery.",
		"RD-7Q2M4K9XW1Z8B3TA", "SH-4QX9TB7M2K8W1ZRA", "2026-01-06",
		"Łódź & Élan (Trading) Ltd", "Ọláṣubọ̀mí Adébáyọ̀", "14 Adeola Odeku Street", "Lagos LA 101241", "NG", "Jane Doe", "New York 10118", "US",
		"Case material (required)", "Stainless steel", "Retail price", `₦1,250 \ €3`, "Jewels",
		"1", "Quartz wristwatch", "HS code 9102.11, origin CH", "3 × 19.99 USD = 59.97 USD", "59.97 USD", "Signature",
		"SPECIMEN made by a test server from test data. It is not a legal document; do not present it to any authority.",
		"WATCH, RD-7Q2M4K9XW1Z8B3TA, page 1",
	} {
		if !pages[0].has(text) {
			t.Errorf("the page lacks %q", text)
		}
	}
}

func TestRender_TheSameDocumentGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	undated := watch()
	undated.Date = time.Time{}
	undated.Subtitle = "A no-break\u00a0space shares its glyph with the space, as - does with \u2010 and Ω with \u2126."
	for _, doc := range []formpdf.Document{watch(), manyItems(60), undated, {}} {
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

// Goods that do not fit on a page continue on the next, each once and in order, and every page is marked as a specimen.
func TestRender_ContinuesOnFurtherPages(t *testing.T) {
	t.Parallel()
	var all []string
	for i, page := range read(t, render(t, manyItems(60))) {
		if !page.has(fmt.Sprintf("WATCH, RD-7Q2M4K9XW1Z8B3TA, page %d", i+1)) || !strings.Contains(page.text(""), "SPECIMEN") {
			t.Errorf("page %d is not marked", i+1)
		}
		for _, l := range page.lines {
			if strings.HasPrefix(l.text, "Article ") {
				all = append(all, l.text)
			}
			if l.x < 34 || l.x > 562 || l.y < 20 || l.y > 808 {
				t.Errorf("page %d: %q stands at %v, %v", i+1, l.text, l.x, l.y)
			}
		}
	}
	if len(all) != 60 || all[0] != "Article 1" || all[59] != "Article 60" {
		t.Errorf("the articles are %q", all)
	}
}

// Long texts wrap and lose nothing up to a thousand characters. Longer ones are cut, so that a document is not many times
// as large as the request for it.
func TestRender_WrapsLongTexts(t *testing.T) {
	t.Parallel()
	for _, value := range []string{strings.Repeat("Acquired from the estate. ", 35), strings.Repeat("É", 900), strings.Repeat("a\n", 400)} {
		doc := watch()
		doc.Fields = []formpdf.Field{{Label: "Provenance", Value: value}}
		if got := squeezed(read(t, render(t, doc))[0].text("")); !strings.Contains(got, squeezed(value)) {
			t.Errorf("%.9q…: the page lacks a part of the value", value)
		}
		doc.Fields[0].Value = strings.Repeat(value, 100)
		if pages := read(t, render(t, doc)); len(pages) > 2 || !strings.Contains(pages[0].text(""), "…") {
			t.Errorf("%.9q…: %d pages", value, len(pages))
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

func TestRender_HostileTextsArePrinted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"😀": "□", "\U00010000": "□", "漢字漢字 漢": "□□□□ □", "שלום": "□□□□", "e\u0301\u0323": "e\u0301\u0323", "\xff\xfe": "", "(\\)": "(\\)", ")": ")", "\\": "\\",
		"a\x00b": "a b", "\r": "", " \n\n ": "", "\uffff\ufffe": "", "…": "…", "%s%d": "%s%d", "{nb}": "{nb}", "BT (": "BT (", "endstream": "endstream",
	} {
		doc := formpdf.Document{
			RequestID: text, DocumentType: text, Title: text, Subtitle: text, Reference: text, Exporter: []string{text, text},
			Fields: []formpdf.Field{{Label: text, Value: text}},
			Items:  []formpdf.Item{{Description: text, HSCode: text, OriginCountry: text, Currency: text, Quantity: text, UnitValue: text, TotalValue: text}},
			Totals: []string{text},
		}
		pages := read(t, render(t, doc))
		if len(pages) != 1 || !pages[0].has("Signature") || want != "" && !pages[0].has(want) {
			t.Errorf("%q: %d pages, %q", text, len(pages), pages[0].text("|"))
		}
	}
}
