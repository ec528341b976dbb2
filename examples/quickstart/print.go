package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// printer writes the story: with colour and a moving progress bar on a terminal, as plain lines
// otherwise.
type printer struct {
	w        io.Writer
	terminal bool
	chapters *int
	last     *string // the progress line shown last
}

func newPrinter(w io.Writer) printer {
	p := printer{w: w, chapters: new(int), last: new(string)}
	if file, ok := w.(*os.File); ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
		info, err := file.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

func (p printer) style(code, text string) string {
	if !p.terminal {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p printer) title(text, under string) {
	fmt.Fprintf(p.w, "\n%s\n%s\n", p.style("1", text), p.style("2", under))
}

func (p printer) chapter(heading string) {
	*p.chapters++
	fmt.Fprintf(p.w, "\n%s\n", p.style("1;36", fmt.Sprintf("%d  %s", *p.chapters, heading)))
}

func (p printer) line(format string, args ...any) {
	p.settle()
	fmt.Fprintf(p.w, "   "+format+"\n", args...)
}

func (p printer) row(format string, args ...any) { p.line("  "+format, args...) }

func (p printer) ask(format string, args ...any) {
	p.settle()
	fmt.Fprintf(p.w, "   "+format, args...)
}

func (p printer) end(text string) { fmt.Fprintf(p.w, "\n%s\n\n", p.style("1;32", text)) }

// progress shows how far something is. On a terminal the line is rewritten; elsewhere it is written
// again only when it changed.
func (p printer) progress(done, of int, format string, args ...any) {
	const width = 24
	filled := 0
	if of > 0 {
		filled = width * done / of
	}
	bar := strings.Repeat("█", filled) + strings.Repeat("░", width-filled)
	text := fmt.Sprintf("%s %d of %d documents", bar, done, of)
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K     %s  %s", p.style("36", text), fmt.Sprintf(format, args...))
		*p.last = text
		return
	}
	if text != *p.last {
		fmt.Fprintf(p.w, "     %s  %s\n", text, fmt.Sprintf(format, args...))
		*p.last = text
	}
}

// settle ends a progress line.
func (p printer) settle() {
	if p.terminal && *p.last != "" {
		fmt.Fprintln(p.w)
	}
	*p.last = ""
}
