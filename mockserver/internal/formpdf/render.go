package formpdf

import (
	"errors"
	"fmt"
	"io"
	"time"

	"codeberg.org/go-pdf/fpdf"
)

// ErrNoDocument is returned by [Render] when there is nothing to print.
var ErrNoDocument = errors.New("formpdf: no document to print: give at least one")

// Render writes a PDF with a page for each document, more where its fields or goods need them; the
// pages of each document are numbered by themselves. It returns [ErrNoDocument], or what w returns.
func Render(w io.Writer, docs ...Document) error {
	if len(docs) == 0 {
		return ErrNoDocument
	}
	pdf := fpdf.New("P", "mm", "A4", "")
	pdf.SetCompression(false) // a page is some kilobytes of text; only the fonts are worth it, and always are
	pdf.SetCatalogSort(true)
	pdf.SetCreationDate(fileDate(docs[0].Date))
	pdf.SetModificationDate(fileDate(docs[0].Date))
	pdf.SetTitle(printable(joined(" ", docs[0].Title, docs[0].RequestID)), true)
	pdf.SetSubject("Specimen, not a legal document", true)
	pdf.SetCreator("shipping mock server", true)
	pdf.SetLang("en")
	pdf.SetAutoPageBreak(false, 0)
	pdf.SetCellMargin(0)
	addFonts(pdf)
	for _, doc := range docs {
		s := &sheet{pdf: pdf, doc: doc}
		s.print()
	}
	if err := pdf.Output(w); err != nil {
		return fmt.Errorf("formpdf: writing the PDF: %w", err)
	}
	return nil
}

// fileDate is the date that the file carries: for the zero time the library would put in the clock's.
func fileDate(date time.Time) time.Time {
	if date.IsZero() {
		return time.Unix(0, 0).UTC()
	}
	return date.UTC()
}

// sheet lays out and prints one document.
type sheet struct {
	pdf     *fpdf.Fpdf
	doc     Document
	face    face // selected now
	numbers int  // boxes numbered so far
}

// print lays the document out before it draws, since each page says how many there are.
func (s *sheet) print() {
	var body []block
	body = append(body, s.parties()...)
	body = append(body, s.particulars()...)
	body = append(body, s.goods()...)
	body = append(body, s.certification()...)
	pages := paginate(body, bodyBottom-s.bodyTop())
	for i, blocks := range pages {
		s.pdf.AddPage()
		s.watermark()
		s.heading(i+1, len(pages))
		y := s.bodyTop()
		for _, b := range blocks {
			b.draw(y)
			y += b.height
		}
		s.footer(i+1, len(pages))
	}
}

// block is a strip across the page that is never parted.
type block struct {
	height float64
	draw   func(top float64)
	// attached keeps the block on one page with the next, as a headline needs.
	attached bool
	// heading is printed again above the block where it begins a page; nil for none.
	heading *block
}

// paginate lays blocks on pages with so much room each.
func paginate(blocks []block, room float64) [][]block {
	var pages [][]block
	var page []block
	used := 0.0
	for i, b := range blocks {
		need := b.height
		for j := i; blocks[j].attached && j+1 < len(blocks); j++ {
			need += blocks[j+1].height
		}
		if used+need > room && len(page) > 0 {
			pages, page, used = append(pages, page), nil, 0
			if b.heading != nil {
				page, used = append(page, *b.heading), b.heading.height
			}
		}
		page, used = append(page, b), used+b.height
	}
	return append(pages, page)
}
