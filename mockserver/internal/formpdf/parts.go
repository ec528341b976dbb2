package formpdf

import (
	"cmp"
	"slices"
)

// section is the headline of a part of the form.
func (s *sheet) section(title string) block {
	const height = 6.0
	return block{height: height, attached: true, draw: func(top float64) {
		s.paint(frost)
		s.pdf.SetLineWidth(lineWeight)
		s.pdf.Rect(left, top, across, height, "FD")
		s.write(sectionFace, left+inset, top+4.1, title)
	}}
}

// gap is white space between parts.
func gap() block { return block{height: 3, draw: func(float64) {}} }

// prose is a paragraph in a frame.
func (s *sheet) prose(text string) block {
	lines := s.wrap(proseFace, text, across-2*inset, mostLines)
	height := float64(len(lines))*proseFace.leading() + 2*inset
	return block{height: height, draw: func(top float64) {
		s.pdf.SetLineWidth(lineWeight)
		s.pdf.Rect(left, top, across, height, "D")
		for i, line := range lines {
			s.write(proseFace, left+inset, top+inset+proseFace.ascent()+float64(i)*proseFace.leading(), line)
		}
	}}
}

// next returns the number of the next box. The boxes of the heading are 1 to 4.
func (s *sheet) next() int {
	s.numbers++
	return 4 + s.numbers
}

// parties is the first part: who sends and who receives.
func (s *sheet) parties() []block {
	party := func(label string, address Address) box {
		var lines []string
		for _, line := range address.lines() {
			lines = append(lines, s.wrap(valueFace, line, across/2-2*inset, 3)...)
		}
		if lines == nil {
			lines = []string{"Not stated"}
		}
		return box{number: s.next(), label: label, width: across / 2, face: valueFace, lines: lines}
	}
	return []block{
		s.section("A   PARTIES"),
		s.row([]box{
			party("Exporter (name and address)", s.doc.Exporter),
			party("Importer (name and address)", s.doc.Importer),
		}),
		gap(),
	}
}

// particulars is the part with the form's own fields, two side by side where both are short.
func (s *sheet) particulars() []block {
	blocks := []block{s.section("B   PARTICULARS")}
	if len(s.doc.Fields) == 0 {
		return append(blocks, s.prose("This form asks for nothing beyond the parties and the goods."), gap())
	}
	var short []box // at most two, of which one may still wait for its neighbour
	flush := func() {
		if len(short) == 1 {
			short[0].width = across
		}
		if len(short) > 0 {
			blocks, short = append(blocks, s.row(short)), nil
		}
	}
	for _, field := range s.doc.Fields {
		number := s.next()
		half := s.field(number, field, across/2)
		if half.rows() > 2 {
			flush()
			blocks = append(blocks, s.row([]box{s.field(number, field, across)}))
			continue
		}
		if short = append(short, half); len(short) == 2 {
			flush()
		}
	}
	flush()
	return append(blocks, s.star(), gap())
}

// field is the box of one of the form's own fields.
func (s *sheet) field(number int, field Field, width float64) box {
	b := box{number: number, label: field.Label, required: field.Required, width: width, face: valueFace}
	room := width - 2*inset
	if len(field.Choices) == 0 {
		b.lines = s.wrap(valueFace, field.Value, room, mostLines)
		return b
	}
	choices := field.Choices
	if field.Value != "" && !slices.Contains(choices, field.Value) {
		choices = append(slices.Clip(choices), field.Value)
	}
	used := 0.0
	for i, choice := range choices {
		t := tick{text: s.cut(valueFace, printable(choice), room-tickSize-tickPad), chosen: choice == field.Value}
		if used += s.tickWidth(t); i == 0 || used-tickGap > room {
			b.ticks, used = append(b.ticks, nil), s.tickWidth(t)
		}
		last := len(b.ticks) - 1
		b.ticks[last] = append(b.ticks[last], t)
	}
	return b
}

// star explains the stars behind labels, if there are any.
func (s *sheet) star() block {
	if !slices.ContainsFunc(s.doc.Fields, func(f Field) bool { return f.Required }) {
		return block{draw: func(float64) {}}
	}
	return block{height: 3.5, draw: func(top float64) {
		s.ink(slate)
		s.write(labelFace, left, top+2.8, "* must be filled in")
		s.ink(black)
	}}
}

// declaration is what one signs, unless the document says something else.
const declaration = "I declare that the particulars given on this form, and on any continuation page, are true, complete and " +
	"correct to the best of my knowledge, and that I am authorised to sign on behalf of the party named in box 5."

// certification is the last part: what is declared, and room to sign it.
func (s *sheet) certification() []block {
	statement := s.prose(cmp.Or(s.doc.Notice, declaration))
	statement.attached = true
	return []block{
		s.section("D   CERTIFICATION"),
		statement,
		s.row([]box{
			{number: s.next(), label: "Name and title", width: 66, pen: true},
			{number: s.next(), label: "Signature", width: 80, pen: true},
			{number: s.next(), label: "Date (year, month, day)", width: across - 146, pen: true},
		}),
	}
}
