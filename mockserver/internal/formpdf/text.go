package formpdf

import (
	"strings"
	"unicode"

	"codeberg.org/go-pdf/fpdf"
	"github.com/go-fonts/liberation/liberationsansbold"
	"github.com/go-fonts/liberation/liberationsansregular"
)

// family is the name of the embedded font in the file.
const family = "liberation"

func addFonts(pdf *fpdf.Fpdf) {
	pdf.AddUTF8FontFromBytes(family, regular, liberationsansregular.TTF)
	pdf.AddUTF8FontFromBytes(family, bold, liberationsansbold.TTF)
}

const (
	regular = ""
	bold    = "B"
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
	crossFace   = face{bold, 8}
	smallFace   = face{regular, 6.5}
	proseFace   = face{regular, 7.5}
)

// leading is the distance between lines, in millimetres: 1.25 of the size.
func (f face) leading() float64 { return f.size * 1.25 * millimetresPerPoint }

// ascent is how far the baseline is below the top of a line, in millimetres.
func (f face) ascent() float64 { return f.size * 0.95 * millimetresPerPoint }

const millimetresPerPoint = 25.4 / 72

// ellipsis ends a text that was cut.
const ellipsis = "…"

// printable makes a text safe to set: control characters become spaces, and characters outside the
// basic plane, which the font machinery has no room for, become boxes.
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

// width returns the width of a printable text in millimetres.
func (s *sheet) width(f face, text string) float64 {
	s.use(f)
	return s.pdf.GetStringWidth(text)
}

// wrap breaks a text into lines that fit a width. A word that is wider is broken within; what goes
// beyond the number of lines is cut and ends in an ellipsis.
func (s *sheet) wrap(f face, text string, width float64, most int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(strings.TrimSpace(printable(text)), "\n") {
		line := ""
		for _, word := range strings.Fields(paragraph) {
			if longer := joined(" ", line, word); s.width(f, longer) <= width {
				line = longer
				continue
			}
			if line != "" {
				lines = append(lines, line)
			}
			for line = word; len(lines) <= most && s.width(f, line) > width; {
				head := s.head(f, line, width)
				lines, line = append(lines, head), line[len(head):]
			}
			if len(lines) > most {
				break
			}
		}
		lines = append(lines, line)
		if len(lines) > most {
			return append(lines[:most-1], s.elide(f, lines[most-1], width))
		}
	}
	return lines
}

// head returns as much of the beginning of a text as fits, one character at least.
func (s *sheet) head(f face, text string, width float64) string {
	used := 0.0
	for i, r := range text {
		used += s.width(f, string(r))
		if i > 0 && used > width {
			return text[:i]
		}
	}
	return text
}

// cut shortens a text to one line of a width, where it has to.
func (s *sheet) cut(f face, text string, width float64) string {
	if s.width(f, text) <= width {
		return text
	}
	return s.elide(f, text, width)
}

// elide ends a text in an ellipsis, in one line of a width.
func (s *sheet) elide(f face, text string, width float64) string {
	return strings.TrimSpace(s.head(f, text, width-s.width(f, ellipsis))) + ellipsis
}

// fit sets a text on one line: smaller where it must, but not below 7 points, and cut from there.
func (s *sheet) fit(f face, text string, width float64) (face, string) {
	text = strings.Join(strings.Fields(printable(text)), " ")
	for f.size > 7 && s.width(f, text) > width {
		f.size -= 0.5
	}
	return f, s.cut(f, text, width)
}

// write sets a printable line with its left end and baseline at a place.
func (s *sheet) write(f face, x, baseline float64, line string) {
	s.use(f)
	s.pdf.Text(x, baseline, line)
}

// use selects a face. SetFont writes to the page whether or not anything changed, and measuring
// would fill pages with it.
func (s *sheet) use(f face) {
	if s.face != f {
		s.pdf.SetFont(family, f.style, f.size)
		s.face = f
	}
}
