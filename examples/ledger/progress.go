package main

import (
	"fmt"
	"io"
	"os"

	"github.com/shipping-go/shipping"
)

// progress shows how far the reading is: on a terminal a line that is rewritten, elsewhere a line for
// every tenth of the way.
type progress struct {
	out      io.Writer
	terminal bool
	items    int
	tenths   int
}

func newProgress(out io.Writer) *progress {
	p := &progress{out: out}
	if file, ok := out.(*os.File); ok && os.Getenv("TERM") != "dumb" {
		info, err := file.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

func (p *progress) update(l shipping.ListProgress) {
	p.items = l.Items
	tenths := 10 * l.Items / max(l.Total, l.Items, 1)
	text := fmt.Sprintf("%d of %d rows read", l.Items, max(l.Total, l.Items))
	if l.Repeated > 0 {
		text += fmt.Sprintf(", %d met twice because rows arrived", l.Repeated)
	}
	switch {
	case p.terminal:
		fmt.Fprintf(p.out, "\r\x1b[K%s", text)
	case tenths > p.tenths:
		fmt.Fprintln(p.out, text)
	}
	p.tenths = tenths
}

// close ends the line.
func (p *progress) close() {
	if p.items > 0 && p.terminal {
		fmt.Fprintln(p.out)
	}
	if p.items > 0 {
		fmt.Fprintln(p.out)
	}
}
