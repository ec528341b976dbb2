package formpdf

import (
	"fmt"
	"time"
)

// The page is A4, 210 by 297 millimetres. Everything stands between these lines.
const (
	left       = 12.0
	right      = 198.0
	across     = right - left
	pageTop    = 12.0
	bandHeight = 20.0
	bodyBottom = 279.0
	footerTop  = 282.0
)

// specimen stands at the foot of every page.
const specimen = "SPECIMEN made by a test server from test data. It is not a legal document; do not present it to any authority."

// tone is a colour, red, green and blue.
type tone struct{ r, g, b int }

// The colours of a form.
var (
	black = tone{0, 0, 0}
	white = tone{255, 255, 255}
	navy  = tone{31, 47, 74}
	frost = tone{225, 231, 240}
	slate = tone{90, 98, 112}
	ghost = tone{240, 240, 243}
)

func (s *sheet) ink(t tone)   { s.pdf.SetTextColor(t.r, t.g, t.b) }
func (s *sheet) paint(t tone) { s.pdf.SetFillColor(t.r, t.g, t.b) }

// heading prints what every page begins with: the title and the boxes that identify the form.
func (s *sheet) heading(page, pages int) {
	const formWidth = 48.0
	titleWidth := across - formWidth - 8

	s.paint(navy)
	s.pdf.Rect(left, pageTop, across, bandHeight, "F")
	s.paint(white)
	s.pdf.Rect(right-formWidth, pageTop+0.6, formWidth-0.6, bandHeight-1.2, "F")

	s.ink(white)
	titleFace, title := s.fit(face{bold, 15}, s.doc.Title, titleWidth)
	s.write(titleFace, left+4, pageTop+8, title)
	for i, line := range s.wrap(proseFace, s.doc.Subtitle, titleWidth, 2) {
		s.write(proseFace, left+4, pageTop+13+float64(i)*proseFace.leading(), line)
	}

	s.ink(slate)
	s.write(labelFace, right-formWidth+3, pageTop+5, "FORM")
	s.ink(black)
	slugFace, slug := s.fit(face{bold, 14}, s.doc.DocumentType, formWidth-6)
	s.write(slugFace, right-formWidth+3, pageTop+12, slug)
	s.ink(slate)
	s.write(labelFace, right-formWidth+3, pageTop+16.5, "Specimen, not for presentation")
	s.ink(black)

	s.identity(page, pages).draw(pageTop + bandHeight)
}

// identity is the row of boxes under the title.
func (s *sheet) identity(page, pages int) block {
	var date string
	if !s.doc.Date.IsZero() {
		date = s.doc.Date.UTC().Format(time.DateOnly)
	}
	return s.row([]box{
		{number: 1, label: "Request number", width: 56, lines: s.wrap(strongFace, s.doc.RequestID, 56-2*inset, 2), face: strongFace},
		{number: 2, label: "Reference", width: 76, lines: s.wrap(valueFace, s.doc.Reference, 76-2*inset, 2), face: valueFace},
		{number: 3, label: "Date", width: 30, lines: []string{date}, face: valueFace},
		{number: 4, label: "Page", width: 24, lines: []string{fmt.Sprintf("%d of %d", page, pages)}, face: valueFace},
	})
}

// bodyTop is where the blocks of a page begin.
func (s *sheet) bodyTop() float64 { return pageTop + bandHeight + s.identity(1, 1).height + 3 }

// footer prints what every page ends with.
func (s *sheet) footer(page, pages int) {
	s.pdf.SetLineWidth(0.2)
	s.pdf.Line(left, footerTop, right, footerTop)
	s.ink(slate)
	s.write(smallFace, left, footerTop+3.5, specimen)
	name := printable(fmt.Sprintf("%s  ·  %s  ·  page %d of %d", s.doc.DocumentType, s.doc.RequestID, page, pages))
	s.write(smallFace, left, footerTop+6.8, s.cut(smallFace, name, across))
	s.ink(black)
}

// watermark prints a pale word across the page, under everything else.
func (s *sheet) watermark() {
	const word = "SPECIMEN"
	const middleX, middleY = 105.0, 160.0
	large := face{bold, 96}
	s.ink(ghost)
	s.pdf.TransformBegin()
	s.pdf.TransformRotate(52, middleX, middleY)
	s.write(large, middleX-s.width(large, word)/2, middleY+12, word)
	s.pdf.TransformEnd()
	s.ink(black)
}
