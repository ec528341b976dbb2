package formpdf

import (
	"strings"
	"testing"
	"unicode/utf8"

	"codeberg.org/go-pdf/fpdf"
	"github.com/go-fonts/liberation/liberationsansbold"
	"github.com/go-fonts/liberation/liberationsansregular"
	"pgregory.net/rapid"

	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
)

func ruler() *sheet {
	pdf := fpdf.New("P", "mm", "A4", "")
	pdf.SetCellMargin(0)
	pdf.AddUTF8FontFromBytes(family, regular, liberationsansregular.TTF)
	pdf.AddUTF8FontFromBytes(family, bold, liberationsansbold.TTF)
	return &sheet{Fpdf: pdf}
}

// anyText draws texts with spaces, long words and characters that are hard to set.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`([a-zA-Z]{1,12} ){0,80}`),
		rapid.StringMatching(`[WÉŁ₦]{0,200}( x)?`),
		rapid.SampledFrom([]string{"", " ", "\n", "a\r\nb", "😀 \U00010000", "\uffff", "\xff", "漢字 שלום", "\x00\t\v"}),
	)
}

func TestWrap_KeepsEveryCharacterAndTheWidth(t *testing.T) {
	t.Parallel()
	s := ruler()
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		width := rapid.Float64Range(5, 180).Draw(t, "width")
		lines := s.wrap(valueFace, text, width, 10_000)
		for _, line := range lines {
			if s.GetStringWidth(line) > width+0.001 && utf8.RuneCountInString(line) > 1 {
				t.Fatalf("%q is %v mm wide, want %v", line, s.GetStringWidth(line), width)
			}
		}
		whole := strings.Join(strings.Fields(printable(text)), "")
		if got := strings.Join(strings.Fields(strings.Join(lines, " ")), ""); got != whole {
			t.Fatalf("lines %q, want all of %q", lines, whole)
		}
	})
}

func TestWrap_CutsWhatGoesBeyondTheLastLine(t *testing.T) {
	t.Parallel()
	s := ruler()
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		most := rapid.IntRange(1, 5).Draw(t, "most")
		all, lines := s.wrap(valueFace, text, 40, 10_000), s.wrap(valueFace, text, 40, most)
		if len(lines) != min(len(all), most) {
			t.Fatalf("%d lines, want %d of %d", len(lines), most, len(all))
		}
		last := lines[len(lines)-1]
		if len(all) > most && !strings.HasSuffix(last, ellipsis) {
			t.Fatalf("the last line %q shows no sign of a cut", last)
		}
		if s.GetStringWidth(last) > 40.001 {
			t.Fatalf("the last line %q is %v mm wide, want 40", last, s.GetStringWidth(last))
		}
	})
}

func TestFit_MakesATextSmallerBeforeItCuts(t *testing.T) {
	t.Parallel()
	s := ruler()
	tests := []struct {
		name, text string
		size       float64
		want       string
	}{
		{"as it is", "Watch", 12, "Watch"},
		{"smaller", "Fumigation certificate", 9.5, "Fumigation certificate"},
		{"smallest, and cut", "Fumigation and heat treatment certificate", 7, "Fumigation and heat…"},
	}
	for _, test := range tests {
		f, got := s.fit(face{regular, 12}, test.text, 32)
		if f.size != test.size || got != test.want {
			t.Errorf("%s: %q at %v points, want %q at %v", test.name, got, f.size, test.want, test.size)
		}
	}
}

func TestColumns_FillThePage(t *testing.T) {
	t.Parallel()
	sum := 0.0
	for _, c := range columns() {
		sum += c.width
	}
	if sum != across {
		t.Errorf("the columns are %v mm wide, the page has %v", sum, across)
	}
}
