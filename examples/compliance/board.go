package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

// board shows the state of every item: on a terminal a line each, rewritten in place, as many as fit; elsewhere a plain
// line for each change.
type board struct {
	out      io.Writer
	terminal bool
	rows     int
	order    []string
	stands   map[string]string
	drawn    int
	tail     string
}

func newBoard(out io.Writer, items []batch.Item) *board {
	b := &board{out: out, rows: 20, stands: map[string]string{}}
	if file, ok := out.(*os.File); ok && os.Getenv("TERM") != "dumb" {
		info, err := file.Stat()
		b.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	for _, item := range items {
		b.order = append(b.order, name(item))
	}
	return b
}

// update is called for one event at a time.
func (b *board) update(event batch.Event) {
	item := event.Item
	text := string(event.Step)
	switch event.Step {
	case shipping.StepPurchased:
		text = fmt.Sprintf("purchased %s for %s %s", slugs(item.Documents, ", "), item.Amount.StringFixed(2), item.Currency)
	case shipping.StepPolled:
		done := 0
		for _, document := range event.Request.Documents {
			if document.Status == "generated" {
				done++
			}
		}
		text = fmt.Sprintf("%s, %d of %d documents", event.Request.Status, done, len(event.Request.Documents))
	case shipping.StepPollFailed:
		text = fmt.Sprintf("no response, retrying in %s", event.Next)
	case shipping.StepEnded:
		text = string(item.State)
		if item.Err != nil {
			text += ": " + strings.TrimPrefix(item.Err.Error(), "shipping: ")
		}
	}
	changed := b.stands[item.Key] != text
	b.stands[item.Key] = text
	b.tail = fmt.Sprintf("%s %d of %d ended, %d wait for documents, %s committed",
		bar(event.Ended, event.Total), event.Ended, event.Total, event.Waiting, event.Committed.StringFixed(2))
	switch {
	case b.terminal:
		b.draw()
	case changed:
		fmt.Fprintf(b.out, "%-42s %s\n", item.Key, text)
	}
}

func (b *board) draw() {
	if b.drawn > 0 {
		fmt.Fprintf(b.out, "\x1b[%dA", b.drawn)
	}
	b.drawn = 0
	for _, key := range b.order {
		if text, started := b.stands[key]; started && b.drawn < b.rows {
			fmt.Fprintf(b.out, "\x1b[K%s\n", cut(fmt.Sprintf("%-42s %s", key, text), 110))
			b.drawn++
		}
	}
	fmt.Fprintf(b.out, "\x1b[K\x1b[36m%s\x1b[0m\n", b.tail)
	b.drawn++
}

// close leaves the last state on the screen.
func (b *board) close() {
	if !b.terminal && b.tail != "" {
		fmt.Fprintln(b.out, b.tail)
	}
}

func bar(done, of int) string {
	const width = 20
	filled := 0
	if of > 0 {
		filled = width * done / of
	}
	return strings.Repeat("█", filled) + strings.Repeat("░", width-filled)
}

func cut(text string, width int) string {
	if letters := []rune(text); len(letters) > width {
		return string(letters[:width-1]) + "…"
	}
	return text
}
