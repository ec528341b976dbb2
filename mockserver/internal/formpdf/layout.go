package formpdf

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The page is A4, 210 by 297 millimetres, and so are all other measures but the sizes of type.
const (
	left         = 12.0
	across       = 186.0
	pageTop      = 12.0
	bottomMargin = 18.0 // below the body; the footer is printed there
	gap          = 3.0  // between parts
	inset        = 1.6  // from a cell's line to its text
	labelRoom    = 3.9  // for the label above a cell's text
	shortest     = 10.0 // height of a cell with a label
	mostLines    = 30   // of one cell; longer texts are cut, and every cell fits on a page
)

// The name of the embedded fonts in the file, and their styles.
const (
	family  = "liberation"
	regular = ""
	bold    = "B"
)

const (
	ellipsis = "…"      // ends a text that was cut
	noBreak  = "\u00a0" // a space that does not end a line
)

// face is a style and size of type.
type face struct {
	style string
	size  float64 // points
}

// The faces of a form.
var (
	labelFace   = face{regular, 6.2}
	valueFace   = face{regular, 9}
	cellFace    = face{regular, 8.5}
	headFace    = face{bold, 7}
	strongFace  = face{bold, 9}
	sectionFace = face{bold, 8}
	smallFace   = face{regular, 6.5}
	proseFace   = face{regular, 7.5}
)

// leading is the distance between lines: 1.25 of the size.
func (f face) leading() float64 { return f.size * 1.25 * 25.4 / 72 }

// cell is a framed text, of a table or with a label above it.
type cell struct {
	label, star   string  // the star survives if the label is cut
	width, height float64 // the height is a minimum
	face          face
	lines         []string
	align         string // "L" or "R"
	border        string // as fpdf names it; all sides if empty
	fill          bool
}

// box is a cell with a label and a text of so many lines at most.
func (s *sheet) box(label string, width float64, f face, most int, text string) cell {
	return cell{label: label, width: width, face: f, lines: s.wrap(f, text, width-2*inset, most)}
}

// padding returns the space above and below the text of a cell.
func (c cell) padding() (above, below float64) {
	if c.label != "" {
		return labelRoom, inset
	}
	return 1.2, 1.2
}

// rowHeight is the height of the highest cell.
func rowHeight(row []cell) float64 {
	height := 0.0
	for _, c := range row {
		above, below := c.padding()
		height = max(height, c.height, above+float64(len(c.lines))*c.face.leading()+below)
		if c.label != "" {
			height = max(height, shortest)
		}
	}
	return height
}

// together prints rows on one page.
func (s *sheet) together(rows [][]cell) {
	height := 0.0
	for _, row := range rows {
		height += rowHeight(row)
	}
	_, pageHeight := s.GetPageSize()
	if s.GetY()+height > pageHeight-bottomMargin {
		s.AddPage()
	}
	for _, row := range rows {
		s.row(row)
	}
}

// row prints cells side by side, all as high as the highest. If it does not fit on the page, the frame
// of the first cell makes fpdf begin the next.
func (s *sheet) row(cells []cell) {
	height, x := rowHeight(cells), left
	if cells[0].fill {
		s.SetFillColor(225, 231, 240)
		defer s.black()
	}
	for _, c := range cells {
		s.SetX(x)
		s.CellFormat(c.width, height, "", cmp.Or(c.border, "1"), 0, "", c.fill, 0, "")
		top, room := s.GetY(), c.width-2*inset
		if c.label != "" {
			s.grey()
			label := s.cut(labelFace, c.label, room-s.GetStringWidth(c.star))
			s.text(labelFace, x+inset, top+1, room, "L", label+c.star)
			s.black()
		}
		above, _ := c.padding()
		s.text(c.face, x+inset, top+above, room, c.align, c.lines...)
		x += c.width
		s.SetY(top)
	}
	s.SetXY(left, s.GetY()+height)
}

// text prints lines below each other, the first from a top.
func (s *sheet) text(f face, x, top, width float64, align string, lines ...string) {
	for i, line := range lines {
		if line != "" {
			s.use(f)
			s.SetXY(x, top+float64(i)*f.leading())
			s.CellFormat(width, f.leading(), line, "", 0, align, false, 0, "")
		}
	}
}

func (s *sheet) grey() { s.SetTextColor(90, 98, 112) }

// black is the colour of text; fpdf repeats it at each text that is not printed in the fill colour.
func (s *sheet) black() {
	s.SetTextColor(0, 0, 0)
	s.SetFillColor(0, 0, 0)
}

// use selects a face. SetFont writes to the page even if nothing changes, and measuring would fill
// pages with it.
func (s *sheet) use(f face) {
	if size, _ := s.GetFontSize(); s.GetFontFamily() != family || s.GetFontStyle() != f.style || size != f.size {
		s.SetFont(family, f.style, f.size)
	}
}

// wrap breaks a text into lines that fit a width. A word that is wider is broken within; lines beyond
// the number are cut, and the last ends in an ellipsis.
//
// SplitText and MultiCell of fpdf v0.12.0 do the same, but not for all names: SplitText breaks before
// each combining accent (ọ̀) and never breaks Chinese, and MultiCell drops the Chinese character at
// the end of a line and fails for an emoji.
func (s *sheet) wrap(f face, text string, width float64, most int) []string {
	s.use(f)
	var lines []string
	paragraphs := strings.TrimSpace(printable(text))
	for more := true; more; {
		var rest, line string
		rest, paragraphs, more = strings.Cut(paragraphs, "\n")
		rest = strings.Trim(rest, " ")
		for first := true; first || rest != ""; first = false {
			if len(lines) == most {
				lines[most-1] = s.elide(lines[most-1], width)
				return lines
			}
			line, rest = s.split(rest, width)
			lines = append(lines, line)
		}
	}
	return lines
}

// elide ends a line in an ellipsis.
func (s *sheet) elide(line string, width float64) string {
	for line != "" && s.GetStringWidth(line+ellipsis) > width {
		_, size := utf8.DecodeLastRuneInString(line)
		line = line[:len(line)-size]
	}
	return strings.TrimRight(line, " ") + ellipsis
}

// split returns the part of a text that fits one line, one character at least, and what follows.
func (s *sheet) split(text string, width float64) (line, rest string) {
	used, space := 0.0, 0
	for i, r := range text {
		if r == ' ' {
			space = i
			used += s.GetStringWidth(" ")
			continue
		}
		used += s.GetStringWidth(text[i : i+utf8.RuneLen(r)])
		if i > 0 && used > width {
			if space > 0 {
				return strings.TrimRight(text[:space], " "), strings.TrimLeft(text[space:], " ")
			}
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// cut shortens a text to one line of a width.
func (s *sheet) cut(f face, text string, width float64) string {
	return s.wrap(f, strings.ReplaceAll(text, "\n", " "), width, 1)[0]
}

// fit sets a text on one line: smaller if necessary, but not below 7 points, and cut from there.
func (s *sheet) fit(f face, text string, width float64) (face, string) {
	line := s.cut(f, text, width)
	for f.size > 7 && strings.HasSuffix(line, ellipsis) {
		f.size -= 0.5
		line = s.cut(f, text, width)
	}
	return f, line
}

// printable makes a text safe to set: control characters become spaces, and characters outside the
// basic plane, for which fpdf has no room, become boxes.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case unicode.IsControl(r):
			return ' '
		case r > 0xFFFF:
			return '□'
		default:
			return r
		}
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}
