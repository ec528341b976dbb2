// Package pdf writes a page of text as a PDF: A4, in Helvetica, which every reader has. The same lines always give the
// same bytes.
package pdf

import (
	"fmt"
	"strings"
)

const (
	maxLines  = 50
	maxLength = 90 // characters of a line
)

// Page returns a PDF of one page with these lines. It cuts off what does not fit on the page. A character that is not
// in ISO 8859-1 is printed as "?".
func Page(lines []string) []byte {
	if len(lines) > maxLines {
		lines = append(lines[:maxLines-1:maxLines-1], fmt.Sprintf("and %d more lines", len(lines)-maxLines+1))
	}
	text := "BT /F1 10 Tf 14 TL 56 785 Td\n"
	for _, line := range lines {
		text += "(" + encoded(line) + ") Tj T*\n"
	}
	text += "ET"
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R /Resources << /Font << /F1 4 0 R >> >> >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(text), text),
	}
	file := []byte("%PDF-1.4\n")
	offsets := "0000000000 65535 f \n" // a line of the table has 20 bytes
	for i, object := range objects {
		offsets += fmt.Sprintf("%010d 00000 n \n", len(file))
		file = fmt.Appendf(file, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	return fmt.Appendf(file, "xref\n0 %d\n%strailer\n<< /Size %[1]d /Root 1 0 R >>\nstartxref\n%[3]d\n%%%%EOF\n",
		len(objects)+1, offsets, len(file))
}

// encoded returns the bytes of a PDF string, without its parentheses.
func encoded(line string) string {
	var out strings.Builder
	for i, r := range []rune(line) {
		switch {
		case i == maxLength:
			out.WriteString("...")
			return out.String()
		case strings.ContainsRune(`()\`, r):
			out.WriteString(`\` + string(r))
		case r < ' ', r == 0x7F:
			out.WriteByte(' ')
		case r < 0x7F, 0xA0 <= r && r <= 0xFF:
			out.WriteByte(byte(r))
		default:
			out.WriteByte('?')
		}
	}
	return out.String()
}
