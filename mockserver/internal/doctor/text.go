package doctor

import (
	"fmt"
	"io"
	"strings"
)

// WriteText writes the scorecard as text.
func (s Scorecard) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Receiver %s\n\n", s.URL)
	for _, f := range s.Findings {
		mark := map[Verdict]string{Good: "good", Bad: "BAD", Skipped: "-"}[f.Verdict]
		fmt.Fprintf(&b, "  %-5s %-22s %s\n", mark, f.Delivery, f.Saw)
		if f.Verdict == Bad {
			fmt.Fprintf(&b, "  %28s wanted %s\n", "", f.Wanted)
		}
		if f.Advice != "" {
			fmt.Fprintf(&b, "  %28s %s\n", "", wrapped(f.Advice, 80, strings.Repeat(" ", 31)))
		}
	}
	fmt.Fprintf(&b, "\n%d good, %d bad, %d skipped\n", s.Good, s.Bad, s.Skipped)
	_, err := io.WriteString(w, b.String())
	return err
}

// wrapped breaks a text into lines of a width and indents all except the first.
func wrapped(text string, width int, indent string) string {
	var b strings.Builder
	line := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case line+1+len(word) > width:
			b.WriteString("\n" + indent)
			line = 0
		default:
			b.WriteByte(' ')
			line++
		}
		b.WriteString(word)
		line += len(word)
	}
	return b.String()
}
