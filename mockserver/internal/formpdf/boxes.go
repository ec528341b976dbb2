package formpdf

import (
	"cmp"
	"fmt"
)

const (
	inset      = 1.6  // from a box's line to its text
	labelRoom  = 3.9  // for the label above a box's text
	shortest   = 10.0 // height of a box
	mostLines  = 30   // of one box; longer texts are cut
	penRoom    = 17.0 // height of a box to sign in
	tickSize   = 2.5
	tickPad    = 1.4 // from the square to its text
	tickGap    = 4.0 // between one choice and the next
	lineWeight = 0.2
)

// box is a labelled cell of the form.
type box struct {
	number   int // 0 for none
	label    string
	required bool
	width    float64
	face     face
	lines    []string
	ticks    [][]tick
	pen      bool // leaves room to sign
}

// cross is what ticks a choice.
const cross = "X"

// tick is a choice with its little square.
type tick struct {
	text   string
	chosen bool
}

func (b box) height() float64 {
	if b.pen {
		return penRoom
	}
	return max(shortest, labelRoom+float64(b.rows())*cmp.Or(b.face, valueFace).leading()+inset)
}

func (b box) rows() int { return max(len(b.lines), len(b.ticks)) }

// row puts boxes side by side, all as high as the highest.
func (s *sheet) row(boxes []box) block {
	height := 0.0
	for _, b := range boxes {
		height = max(height, b.height())
	}
	return block{height: height, draw: func(top float64) {
		x := left
		for _, b := range boxes {
			s.box(b, x, top, height)
			x += b.width
		}
	}}
}

func (s *sheet) box(b box, x, top, height float64) {
	s.pdf.SetLineWidth(lineWeight)
	s.pdf.Rect(x, top, b.width, height, "D")
	label := b.label
	if b.number > 0 {
		label = fmt.Sprintf("%d. %s", b.number, label)
	}
	star := ""
	if b.required {
		star = " *"
	}
	s.ink(slate)
	s.write(labelFace, x+inset, top+2.9, s.cut(labelFace, printable(label), b.width-2*inset-s.width(labelFace, star))+star)
	s.ink(black)
	for i, line := range b.lines {
		s.write(b.face, x+inset, top+labelRoom+b.face.ascent()+float64(i)*b.face.leading(), line)
	}
	for i, ticks := range b.ticks {
		at := x + inset
		baseline := top + labelRoom + valueFace.ascent() + float64(i)*valueFace.leading()
		for _, t := range ticks {
			s.tick(t, at, baseline)
			at += s.tickWidth(t)
		}
	}
}

func (s *sheet) tick(t tick, x, baseline float64) {
	top := baseline - tickSize
	s.pdf.Rect(x, top, tickSize, tickSize, "D")
	if t.chosen { // a letter, so that the choice is in the text too
		s.write(crossFace, x+(tickSize-s.width(crossFace, cross))/2, baseline-0.35, cross)
	}
	s.write(valueFace, x+tickSize+tickPad, baseline, t.text)
}

func (s *sheet) tickWidth(t tick) float64 {
	return tickSize + tickPad + s.width(valueFace, t.text) + tickGap
}
