package linearizability

import (
	"bytes"
	"fmt"
	"html"
	"math"

	"github.com/anishathalye/porcupine"
)

// The measures of a drawing, in pixels.
const (
	rowHeight   = 17
	columnWidth = 220
	top         = 34
)

// drawing returns an SVG of a history. Time runs downwards, and each client is a column. A bar lasts from the call of an
// operation to its return; the number on it is its place in the order that porcupine found. A dashed bar is open.
func drawing(history []porcupine.Operation, info porcupine.LinearizationInfo) []byte {
	order := info.PartialLinearizations()[0][0]
	rows := int64(0)
	for _, op := range history {
		rows = max(rows, op.Call+1)
		if op.Return != math.MaxInt64 {
			rows = max(rows, op.Return+1)
		}
	}
	width, height := clients*columnWidth+10, top+int(rows+1)*rowHeight
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="system-ui, sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, "<title>A history of %d clients that is linearizable</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", clients)
	for n := range clients {
		fmt.Fprintf(&b, `<text x="%d" y="20" font-weight="bold" fill="#222">client %d</text>`+"\n", n*columnWidth+10, n+1)
	}
	moment := int64(-1)
	for place, n := range order {
		op := history[n]
		moment = max(moment, 2*op.Call)
		draw(&b, op, place+1, moment, rows)
		moment++
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// draw draws an operation. moment is when it happens, in half rows.
func draw(b *bytes.Buffer, op porcupine.Operation, place int, moment, rows int64) {
	x, until, style := op.ClientId*columnWidth+10, op.Return, `fill="#dbe7fb" stroke="#4a78c8"`
	if until == math.MaxInt64 {
		x, until, style = x+185, rows, `fill="#fff" stroke="#c05a2a" stroke-dasharray="4 3"`
	}
	y := func(row int64) int { return top + int(row)*rowHeight }
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="20" height="%d" rx="4" %s/>`, x, y(op.Call), y(until)-y(op.Call), style)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle" font-size="11" fill="#222">%d</text>`, x+10, top+int(moment)*rowHeight/2+13, place)
	fmt.Fprintf(b, `<text x="%d" y="%d" fill="#222">%s</text>`+"\n", op.ClientId*columnWidth+36, y(op.Call)+13, html.EscapeString(describe(op.Input.(operation), op.Output.(result))))
}
