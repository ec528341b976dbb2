// Package formpdf prints regulatory documents as PDF: the parties, the particulars, the goods and a line to sign on,
// one below the other. They are forms that a program can store, show, print and attach in a test, and are marked as
// specimens on every page. The package computes nothing: amounts and totals are printed as they are given.
//
// The same document always gives the same bytes.
//
// Specification: "Regulatory documents" names an operation that generates a PDF and shows nothing of
// it; the layout is an *Assumption*, and without a switch since nobody should read a PDF by position.
//
// Text is set in Liberation Sans, which is embedded: Latin with all its accents (É, Ł, ṣ), Greek, Cyrillic and most
// currency signs (₦, €). An empty box stands for each character of another script.
package formpdf

import (
	"crypto/fips140"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"codeberg.org/go-pdf/fpdf"
	"github.com/go-fonts/liberation/liberationsansbold"
	"github.com/go-fonts/liberation/liberationsansregular"
)

// Document is one form, filled in. Every text may be empty. A text of more than a thousand characters is cut.
type Document struct {
	RequestID          string    // "RD-…"
	DocumentType       string    // the slug, such as "FISH-WILDLIFE"
	Title, Subtitle    string    // name the form and describe its purpose
	Reference          string    // the shipment ("SH-…") or the address of the invoice
	Date               time.Time // of the generation: printed as a day, in UTC, and the creation date of the file
	Exporter, Importer []string  // name and address, one line each
	Fields             []Field   // what this form asks beyond parties and goods
	Items              []Item    // the goods
	Totals             []string  // the values of all goods, such as "59.97 USD": one a currency
}

type Field struct{ Label, Value string }

// Item is a line of the goods. UnitValue is the price of one, TotalValue that of all; "-" for a value that is not
// known.
type Item struct {
	Description, HSCode, OriginCountry, Quantity, Currency, UnitValue, TotalValue string
}

const specimen = "SPECIMEN made by a test server from test data. It is not a legal document; do not present it to " +
	"any authority."

const declaration = "I declare that the particulars given on this form are true, complete and correct to the best " +
	"of my knowledge, and that I am authorised to sign on behalf of the exporter."

// millimetres; longest: characters
const font, margin, labelWidth, lineHeight, longest = "liberation", 16.0, 76.0, 5.0, 1000

// Render writes a document as a PDF. It returns the error of w.
func Render(w io.Writer, doc Document) (err error) {
	fips140.WithoutEnforcement(func() { err = render(w, doc) }) // fpdf names fonts by their SHA-1
	return err
}

func render(w io.Writer, doc Document) error {
	date, created := "", time.Unix(0, 0).UTC() // fpdf replaces the zero time by the current one
	if !doc.Date.IsZero() {
		created = doc.Date.UTC()
		date = created.Format(time.DateOnly)
	}
	pdf := form{fpdf.New("P", "mm", "A4", "")}
	pdf.SetCompression(false) // a page is some kilobytes of text; only the fonts are worth it, and always are
	pdf.SetCatalogSort(true)
	pdf.SetCreationDate(created)
	pdf.SetModificationDate(created)
	pdf.SetTitle(printable(doc.Title+" "+doc.RequestID), true)
	pdf.SetMargins(margin, margin, margin)
	pdf.SetAutoPageBreak(true, 1.5*margin)
	pdf.AddUTF8FontFromBytes(font, "", liberationsansregular.TTF)
	pdf.AddUTF8FontFromBytes(font, "B", liberationsansbold.TTF)
	pdf.SetFooterFunc(func() {
		pdf.SetY(-margin)
		pdf.text("", 7, fmt.Sprintf("%s\n%s, %s, page %d", specimen, printable(doc.DocumentType), printable(doc.RequestID),
			pdf.PageNo()))
	})
	pdf.AddPage()
	pdf.text("B", 16, printable(doc.Title))
	pdf.text("", 9, printable(doc.Subtitle))
	pdf.section("Form")
	pdf.row("Form", doc.DocumentType)
	pdf.row("Request number", doc.RequestID)
	pdf.row("Reference", doc.Reference)
	pdf.row("Date", date)
	pdf.section("Parties")
	pdf.row("Exporter", doc.Exporter...)
	pdf.row("Importer", doc.Importer...)
	pdf.section("Particulars")
	for _, field := range doc.Fields {
		pdf.row(field.Label, field.Value)
	}
	pdf.section("Goods")
	for i, item := range doc.Items {
		pdf.row(fmt.Sprint(i+1), item.Description, fmt.Sprintf("HS code %s, origin %s", item.HSCode, item.OriginCountry),
			fmt.Sprintf("%s × %s %s = %s %s", item.Quantity, item.UnitValue, item.Currency, item.TotalValue, item.Currency))
	}
	for _, total := range doc.Totals {
		pdf.row("Total value of the goods", total)
	}
	pdf.section("Certification")
	pdf.text("", 9, declaration)
	for _, blank := range []string{"Name and title", "Signature", "Date of signature"} {
		pdf.Ln(lineHeight)
		pdf.row(blank, strings.Repeat("_", 50))
	}
	if err := pdf.Output(w); err != nil {
		return fmt.Errorf("formpdf: writing the PDF: %w", err)
	}
	return nil
}

type form struct{ *fpdf.Fpdf }

// text prints a paragraph across the page.
func (f form) text(style string, size float64, text string) {
	f.SetFont(font, style, size)
	f.MultiCell(0, size/2, text, "", "L", false)
}

func (f form) section(title string) {
	f.Ln(lineHeight / 2)
	f.text("B", 11, title)
	f.Line(margin, f.GetY(), 210-margin, f.GetY())
	f.Ln(1)
}

// row prints a label, and lines beside it.
func (f form) row(label string, lines ...string) {
	f.SetFont(font, "", 9)
	f.CellFormat(labelWidth, lineHeight, printable(label), "", 0, "L", false, 0, "")
	printed := make([]string, len(lines))
	for i, line := range lines {
		printed[i] = printable(line)
	}
	f.MultiCell(0, lineHeight, strings.Join(printed, "\n"), "", "L", false)
}

// printable returns a text that fpdf can set, on one line and of bounded length.
func printable(text string) string {
	runes := []rune(text)
	if len(runes) > longest {
		runes = append(runes[:longest], '…')
	}
	for i, r := range runes {
		switch {
		case unicode.IsControl(r):
			runes[i] = ' '
		case r > 0xFFFF || !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Common, unicode.Inherited):
			runes[i] = '□'
		}
	}
	return strings.TrimSpace(string(runes))
}
