package formpdf

import (
	"strconv"
	"strings"
)

// column is one of the goods table's. Numbers stand to the right.
type column struct {
	title string
	width float64
	right bool
}

// columns returns the goods table's columns; their widths add up to the page's.
func columns() []column {
	return []column{
		{title: "No.", width: 9},
		{title: "Description of goods", width: 66},
		{title: "HS code", width: 22},
		{title: "Origin", width: 13},
		{title: "Quantity", width: 16, right: true},
		{title: "Currency", width: 15},
		{title: "Unit value", width: 21, right: true},
		{title: "Total value", width: 24, right: true},
	}
}

// goods is the part with the items; its headline is printed again on every page that it reaches.
func (s *sheet) goods() []block {
	titles := make([][]string, len(columns()))
	for i, c := range columns() {
		titles[i] = []string{c.title}
	}
	head := s.line(headFace, titles, true)
	head.attached = true
	blocks := []block{s.section("C   GOODS"), head}
	if len(s.doc.Items) == 0 {
		blocks = append(blocks, s.prose("No goods are listed."))
	}
	for i, item := range s.doc.Items {
		row := s.line(cellFace, s.cells(i+1, item), false)
		row.heading = &head
		blocks = append(blocks, row)
	}
	for _, sum := range totals(s.doc.Items) {
		blocks = append(blocks, s.total(sum))
	}
	return append(blocks, gap())
}

// cells returns the lines of each cell of an item's row.
func (s *sheet) cells(number int, item Item) [][]string {
	total := "-"
	if value, ok := item.value(); ok {
		total = money(value)
	}
	price := "-"
	if item.UnitPrice.Known() {
		price = money(item.UnitPrice)
	}
	texts := []string{
		strconv.Itoa(number), item.Description, item.HSCode, item.OriginCountry, strconv.Itoa(item.Quantity),
		strings.ToUpper(item.Currency), price, total,
	}
	cells := make([][]string, len(texts))
	for i, c := range columns() {
		cells[i] = s.wrap(cellFace, texts[i], c.width-2*inset, 6)
	}
	return cells
}

// line is a row of the table.
func (s *sheet) line(f face, cells [][]string, shaded bool) block {
	most := 1
	for _, cell := range cells {
		most = max(most, len(cell))
	}
	height := float64(most)*f.leading() + 2
	return block{height: height, draw: func(top float64) {
		s.pdf.SetLineWidth(lineWeight)
		x := left
		for i, c := range columns() {
			style := "D"
			if shaded {
				s.paint(frost)
				style = "FD"
			}
			s.pdf.Rect(x, top, c.width, height, style)
			for n, text := range cells[i] {
				at := x + inset
				if c.right {
					at = x + c.width - inset - s.width(f, text)
				}
				s.write(f, at, top+1+f.ascent()+float64(n)*f.leading(), text)
			}
			x += c.width
		}
	}}
}

// total is a line under the table.
func (s *sheet) total(sum total) block {
	const height = 6.5
	return block{height: height, draw: func(top float64) {
		s.pdf.SetLineWidth(lineWeight)
		s.pdf.Rect(left, top, across, height, "D")
		s.write(headFace, left+inset, top+4.4, "TOTAL VALUE OF THE GOODS")
		f, amount := s.fit(strongFace, joined(" ", money(sum.amount), sum.currency), across/2)
		s.write(f, right-inset-s.width(f, amount), top+4.5, amount)
	}}
}
