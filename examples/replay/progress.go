package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/shipping-go/shipping/batch"
)

// progress names what could not be sent, and shows how far the run is: on a terminal in a line that is
// rewritten, elsewhere in a line for every tenth of the way.
type progress struct {
	out      io.Writer
	terminal bool
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

func (p *progress) update(outcome batch.ReplayOutcome, ended, total int) {
	if outcome.Err != nil {
		p.clear()
		fmt.Fprintf(p.out, "%s %s: %s\n", outcome.Key, outcome.State, strings.TrimPrefix(outcome.Err.Error(), "shipping: "))
	}
	tenths := 10 * ended / total
	switch {
	case p.terminal:
		p.clear()
		fmt.Fprintf(p.out, "%d of %d", ended, total)
	case tenths > p.tenths:
		fmt.Fprintf(p.out, "%d of %d\n", ended, total)
	}
	p.tenths = tenths
}

func (p *progress) clear() {
	if p.terminal {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// close ends the line.
func (p *progress) close() {
	if p.terminal {
		fmt.Fprintln(p.out)
	}
	fmt.Fprintln(p.out)
}
