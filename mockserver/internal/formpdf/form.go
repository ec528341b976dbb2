package formpdf

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"github.com/go-fonts/liberation/liberationsansbold"
	"github.com/go-fonts/liberation/liberationsansregular"
)

// specimen stands at the foot of every page.
const specimen = "SPECIMEN made by a test server from test data. It is not a legal document; do not present it to any authority."

// declaration is what one signs.
const declaration = "I declare that the particulars given on this form, and on any continuation page, are true, complete and " +
	"correct to the best of my knowledge, and that I am authorised to sign on behalf of the party named in box 5."

// pageCount is replaced by the number of pages when the file is written. The control character keeps
// it out of every text of a document, see [printable].
const pageCount = "\x1b{pages}"

// Render writes a document as a PDF. It returns the error of w.
func Render(w io.Writer, doc Document) error {
	pdf := fpdf.New("P", "mm", "A4", "")
	pdf.SetCompression(false) // a page is some kilobytes of text; only the fonts are worth it, and always are
	pdf.SetCatalogSort(true)
	created := time.Unix(0, 0).UTC() // fpdf replaces the zero time by the current one
	if !doc.Date.IsZero() {
		created = doc.Date.UTC()
	}
	pdf.SetCreationDate(created)
	pdf.SetModificationDate(created)
	pdf.SetTitle(printable(join(" ", doc.Title, doc.RequestID)), true)
	pdf.SetSubject("Specimen, not a legal document", true)
	pdf.SetCreator("shipping mock server", true)
	pdf.SetLang("en")
	pdf.SetMargins(left, pageTop, left)
	pdf.SetAutoPageBreak(true, bottomMargin)
	pdf.SetCellMargin(0)
	pdf.AddUTF8FontFromBytes(family, regular, liberationsansregular.TTF)
	pdf.AddUTF8FontFromBytes(family, bold, liberationsansbold.TTF)
	pdf.AliasNbPages(pageCount) // after the fonts: fpdf would leave the digits out of them

	s := &sheet{Fpdf: pdf, doc: doc, boxes: 4} // the header has boxes 1 to 4
	pdf.SetHeaderFunc(s.header)
	pdf.SetFooterFunc(s.footer)
	pdf.AddPage()
	s.parties()
	s.particulars()
	s.goods()
	s.certification()
	if err := pdf.Output(w); err != nil {
		return fmt.Errorf("formpdf: writing the PDF: %w", err)
	}
	return nil
}

// sheet is a document while it is printed.
type sheet struct {
	*fpdf.Fpdf
	doc   Document
	boxes int    // numbered so far
	table []cell // headline that a page begins with while the goods table is printed
}

// header prints the beginning of every page: the watermark under everything else, the title, the boxes
// that identify the form, and the headline of a table that continues.
func (s *sheet) header() {
	const bandHeight, formWidth, middleX, middleY = 20.0, 48.0, 105.0, 160.0
	s.SetTextColor(240, 240, 243)
	s.TransformBegin()
	s.TransformRotate(52, middleX, middleY)
	s.text(face{bold, 96}, left, middleY-21, across, "C", "SPECIMEN")
	s.TransformEnd()

	s.SetFillColor(31, 47, 74)
	s.Rect(left, pageTop, across, bandHeight, "F")
	s.SetFillColor(255, 255, 255)
	formLeft, titleWidth := left+across-formWidth, across-formWidth-8
	s.Rect(formLeft, pageTop+0.6, formWidth-0.6, bandHeight-1.2, "F")
	s.SetTextColor(255, 255, 255)
	f, title := s.fit(face{bold, 15}, s.doc.Title, titleWidth)
	s.text(f, left+4, pageTop+2.8, titleWidth, "L", title)
	s.text(proseFace, left+4, pageTop+10.5, titleWidth, "L", s.wrap(proseFace, s.doc.Subtitle, titleWidth, 2)...)
	s.grey()
	s.text(labelFace, formLeft+3, pageTop+3, formWidth, "L", "FORM")
	s.text(labelFace, formLeft+3, pageTop+14.5, formWidth, "L", "Specimen, not for presentation")
	s.black()
	f, slug := s.fit(face{bold, 14}, s.doc.DocumentType, formWidth-6)
	s.text(f, formLeft+3, pageTop+6.9, formWidth, "L", slug)

	var date string
	if !s.doc.Date.IsZero() {
		date = s.doc.Date.UTC().Format(time.DateOnly)
	}
	s.SetXY(left, pageTop+bandHeight)
	s.row([]cell{
		s.box("1. Request number", 56, strongFace, 2, s.doc.RequestID),
		s.box("2. Reference", 76, valueFace, 2, s.doc.Reference),
		s.box("3. Date", 30, valueFace, 1, date),
		{label: "4. Page", width: 24, face: valueFace, lines: []string{fmt.Sprintf("%d of %s", s.PageNo(), pageCount)}},
	})
	s.Ln(gap)
	if s.table != nil {
		s.row(s.table)
	}
}

// footer prints the end of every page.
func (s *sheet) footer() {
	const top = 282.0
	s.Line(left, top, left+across, top)
	s.grey()
	s.text(smallFace, left, top+1.4, across, "L", specimen)
	name := s.cut(smallFace, s.doc.DocumentType+"  ·  "+s.doc.RequestID, across-30)
	s.text(smallFace, left, top+4.7, across, "L", fmt.Sprintf("%s  ·  page %d of %s", name, s.PageNo(), pageCount))
	s.black()
}

// numbered puts the number of the next box before its label.
func (s *sheet) numbered(label string) string {
	s.boxes++
	return strconv.Itoa(s.boxes) + ". " + label
}

// section prints the headline of a part of the form and its first rows, all on one page.
func (s *sheet) section(title string, rows ...[]cell) {
	headline := []cell{{lines: []string{title}, face: sectionFace, width: across, fill: true}}
	s.together(append([][]cell{headline}, rows...))
}

// parties is the first part: who sends and who receives.
func (s *sheet) parties() {
	party := func(label string, a Address) cell {
		if a.Phone != "" {
			a.Phone = "Tel. " + a.Phone
		}
		place := join(" ", join(", ", a.City, a.State), a.PostalCode)
		c := cell{label: s.numbered(label), face: valueFace, width: across / 2}
		for _, line := range []string{a.Company, a.Name, a.Line1, a.Line2, place, a.Country, a.Phone, a.Email} {
			if line != "" {
				c.lines = append(c.lines, s.wrap(c.face, line, c.width-2*inset, 3)...)
			}
		}
		if c.lines == nil {
			c.lines = []string{"Not stated"}
		}
		return c
	}
	s.section("A   PARTIES", []cell{
		party("Exporter (name and address)", s.doc.Exporter),
		party("Importer (name and address)", s.doc.Importer),
	})
	s.Ln(gap)
}

// particulars is the part with the form's own fields, two side by side if both are short.
func (s *sheet) particulars() {
	var rows [][]cell
	half := false // the last row has room for one more
	for _, field := range s.doc.Fields {
		label := s.numbered(field.Label)
		c := s.field(label, field, across/2)
		switch short := len(c.lines) <= 2; {
		case short && half:
			last := len(rows) - 1
			rows[last][0].width = across / 2
			rows[last], half = append(rows[last], c), false
		case short:
			c.width = across // until the next comes beside it
			rows, half = append(rows, []cell{c}), true
		default:
			rows, half = append(rows, []cell{s.field(label, field, across)}), false
		}
	}
	if rows == nil {
		rows = [][]cell{s.prose("This form asks for nothing beyond the parties and the goods.")}
	}
	s.section("B   PARTICULARS", rows[0])
	for _, row := range rows[1:] {
		s.row(row)
	}
	if slices.ContainsFunc(s.doc.Fields, func(f Field) bool { return f.Required }) {
		s.grey()
		s.use(labelFace)
		s.CellFormat(across, 3.5, "* must be filled in", "", 1, "L", false, 0, "")
		s.black()
	}
	s.Ln(gap)
}

// field is the box of one of the form's own fields. Each choice stays on one line if it fits there.
func (s *sheet) field(label string, field Field, width float64) cell {
	value, choices := field.Value, field.Choices
	if len(choices) > 0 {
		if value != "" && !slices.Contains(choices, value) {
			choices = append(slices.Clip(choices), value)
		}
		marked := make([]string, len(choices))
		for i, choice := range choices {
			mark := "□ "
			if choice == value {
				mark = "■ "
			}
			marked[i] = strings.ReplaceAll(mark+printable(choice), " ", noBreak)
		}
		value = strings.Join(marked, noBreak+noBreak+noBreak+" ")
	}
	c := s.box(label, width, valueFace, mostLines, value)
	if field.Required {
		c.star = " *"
	}
	for i, line := range c.lines {
		c.lines[i] = strings.TrimSpace(strings.ReplaceAll(line, noBreak, " "))
	}
	return c
}

// columns returns the headline of the goods table. The widths add up to the page's.
func columns() []cell {
	return []cell{
		{lines: []string{"No."}, width: 9},
		{lines: []string{"Description of goods"}, width: 66},
		{lines: []string{"HS code"}, width: 22},
		{lines: []string{"Origin"}, width: 13},
		{lines: []string{"Quantity"}, width: 16, align: "R"},
		{lines: []string{"Currency"}, width: 15},
		{lines: []string{"Unit value"}, width: 21, align: "R"},
		{lines: []string{"Total value"}, width: 24, align: "R"},
	}
}

// goods is the part with the items; its headline is printed again on every page that it reaches.
func (s *sheet) goods() {
	columns := columns()
	rows := make([][]cell, 0, len(s.doc.Items))
	for i, item := range s.doc.Items {
		row := slices.Clone(columns)
		for j, text := range []string{
			strconv.Itoa(i + 1), item.Description, item.HSCode, item.OriginCountry, item.Quantity, item.Currency, item.UnitValue, item.TotalValue,
		} {
			row[j].face, row[j].lines = cellFace, s.wrap(cellFace, text, row[j].width-2*inset, 6)
		}
		rows = append(rows, row)
	}
	for i := range columns {
		columns[i].face, columns[i].fill = headFace, true
	}
	if len(rows) == 0 {
		rows = [][]cell{s.prose("No goods are listed.")}
	}
	s.section("C   GOODS", columns, rows[0])
	s.table = columns
	for _, row := range rows[1:] {
		s.row(row)
	}
	s.table = nil
	for _, total := range s.doc.Totals {
		f, total := s.fit(strongFace, total, across/2)
		s.row([]cell{
			{lines: []string{"TOTAL VALUE OF THE GOODS"}, face: f, width: across / 2, border: "LTB"},
			{lines: []string{total}, face: f, width: across / 2, border: "RTB", align: "R"},
		})
	}
	s.Ln(gap)
}

// certification prints the last part: the declaration, and room to sign it.
func (s *sheet) certification() {
	const penRoom = 17.0
	s.section("D   CERTIFICATION", s.prose(declaration), []cell{
		{label: s.numbered("Name and title"), width: 66, height: penRoom},
		{label: s.numbered("Signature"), width: 80, height: penRoom},
		{label: s.numbered("Date (year, month, day)"), width: across - 146, height: penRoom},
	})
}

// prose is a paragraph across the page.
func (s *sheet) prose(text string) []cell {
	return []cell{s.box("", across, proseFace, mostLines, text)}
}

// join joins the texts that are not empty.
func join(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), separator)
}
