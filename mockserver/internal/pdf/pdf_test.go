package pdf_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/internal/pdf"
)

var shown = regexp.MustCompile(`(?m)^\((.*)\) Tj T\*$`)

func TestPage_ShowsItsLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"Wristwatch, 89.90 USD": "Wristwatch, 89.90 USD", "Café §5": "Caf\xe9 \xa75", "₦1 Łódź": "?1 ?\xf3d?",
		`(a) \ b`: `\(a\) \\ b`, "a\nb\x00\x7f": "a b  ", "\xff": "?", "": "",
		strings.Repeat("é", 91): strings.Repeat("\xe9", 90) + "...",
	} {
		found := shown.FindSubmatch(pdf.Page([]string{line}))
		if found == nil || string(found[1]) != want {
			t.Errorf("%q is shown as %q, want %q", line, found, want)
		}
	}
}

func TestPage_EndsWithTheNumberOfTheOtherLines(t *testing.T) {
	t.Parallel()
	for count, want := range map[int]string{50: "(49) Tj", 51: "(and 2 more lines) Tj", 900: "(and 851 more lines) Tj"} {
		lines := make([]string, count)
		for i := range lines {
			lines[i] = strconv.Itoa(i)
		}
		page := pdf.Page(lines)
		shippingtest.Diff(t, fmt.Sprintf("lines of %d", count), 50, len(shown.FindAll(page, -1)))
		if !bytes.Contains(page, []byte(want)) || lines[49] != "49" {
			t.Errorf("%d lines: no %q in\n%s", count, want, page)
		}
	}
}

// Readers find objects and the text by these numbers.
func TestPage_CountsItsBytes(t *testing.T) {
	t.Parallel()
	page := string(pdf.Page([]string{"Watch worksheet", "é"}))
	_, tail, _ := strings.Cut(page, "startxref\n")
	at, _, _ := strings.Cut(tail, "\n")
	table, found := strings.CutPrefix(page[shippingtest.Must(strconv.Atoi(at))(t):], "xref\n0 6\n0000000000 65535 f \n")
	if !found {
		t.Fatalf("no table at %s of\n%s", at, page)
	}
	for number := range 5 {
		entry := table[20*number:][:20]
		object := page[shippingtest.Must(strconv.Atoi(entry[:10]))(t):]
		if entry[10:] != " 00000 n \n" || !strings.HasPrefix(object, fmt.Sprintf("%d 0 obj\n", number+1)) {
			t.Errorf("object %d: the table has %q", number+1, entry)
		}
	}
	stream := regexp.MustCompile(`(?s)/Length (\d+) >>\nstream\n(.*)\nendstream`).FindStringSubmatch(page)
	shippingtest.Diff(t, "length of the text", strconv.Itoa(len(stream[2])), stream[1])
}
