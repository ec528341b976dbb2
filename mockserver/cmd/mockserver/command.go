package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// command is one word that follows mockserver.
type command struct {
	word, summary string
	// about is what help says below the summary; may be empty.
	about string
	// argument names what follows the word besides flags, such as "URL", in brackets where it may be
	// left out; empty where nothing follows.
	argument string
	// choices are what completion offers for the argument.
	choices []string
	// examples are command lines for help, without the program's name.
	examples []string
	// define declares the word's flags and returns what runs once they are read.
	define func(f *flags) action
}

// action does a word's work. The program's args are then what followed besides flags.
type action func(ctx context.Context, p program) int

// program is a command's surroundings, so that tests can be them.
type program struct {
	args           []string
	getenv         func(string) string
	stdout, stderr io.Writer
}

// fail tells the user why a word could not do its work.
func (p program) fail(format string, args ...any) int {
	fmt.Fprintln(p.stderr, "mockserver: "+printableLines(fmt.Sprintf(format, args...)))
	return exitFailure
}

// deliver prints a report, as text or JSON, and returns the exit code that it deserves.
func (p program) deliver(well, asJSON bool, report any, writeText func(w io.Writer) error) int {
	var err error
	if asJSON {
		err = writeJSON(p.stdout, report)
	} else {
		var text strings.Builder
		err = errors.Join(writeText(&text), write(p.stdout, printableLines(text.String())))
	}
	switch {
	case err != nil:
		return p.fail("cannot write to standard output: %v", err)
	case !well:
		return exitFailure
	}
	return exitOK
}

func write(out io.Writer, text string) error {
	_, err := io.WriteString(out, text)
	return err
}

// writeJSON writes a value as JSON that a person can read too.
func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// lookUp finds a word in the table, or tells the user which one was perhaps meant.
func lookUp(word string, p program) (command, bool) {
	table := commands()
	words := make([]string, len(table))
	for i, c := range table {
		if c.word == word {
			return c, true
		}
		words[i] = c.word
	}
	fmt.Fprintf(p.stderr, "mockserver: unknown word %q%s\nmockserver help lists all words\n", word, didYouMean(word, words))
	return command{}, false
}

// declare returns the word's flags, not yet read, and its action.
func (c command) declare() (*flags, action) {
	f := newFlags("mockserver " + c.word)
	do := c.define(f)
	if f.some() {
		f.text(configFlag, text{file: true}, "read flags from this JSON `FILE`, such as {\"addr\":\"127.0.0.1:0\"}")
	}
	return f, do
}

// run reads the flags, wherever they stand among the arguments, and does the word's work.
func (c command) run(ctx context.Context, p program) int {
	f, do := c.declare()
	rest, err := f.read(p.args, p.getenv)
	switch {
	case errors.Is(err, flag.ErrHelp):
		c.help(p.stdout)
		return exitOK
	case err == nil && len(rest) > 0 && c.argument == "":
		err = fmt.Errorf("%s takes no argument %q", f.Name(), rest[0])
	case err == nil && len(rest) > 1:
		err = fmt.Errorf("%s takes one %s, and %q is one more", f.Name(), strings.Trim(c.argument, "[]"), rest[1])
	}
	if err != nil {
		return c.misused(p, err)
	}
	p.args = rest
	return do(ctx, p)
}

// misused tells the user what is wrong with the command line, and where to read on.
func (c command) misused(p program, err error) int {
	fmt.Fprintf(p.stderr, "mockserver: %v\nmockserver help %s shows how it is used\n", err, c.word)
	return exitUsage
}

// didYouMean is a question to put behind an unknown name, or nothing when no known one is near.
func didYouMean(name string, known []string) string {
	best, least := "", max(1, len(name)/3)+1
	for _, candidate := range known {
		if d := distance(name, candidate); d < least {
			best, least = candidate, d
		}
	}
	if best == "" && len(name) > 1 {
		if i := slices.IndexFunc(known, func(k string) bool { return strings.HasPrefix(k, name) }); i >= 0 {
			best = known[i]
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %s?", best)
}

// distance counts the letters to insert, delete, change or swap with their neighbour to get from a to
// b (optimal string alignment).
func distance(a, b string) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			change := row[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			next[j] = min(change, row[j]+1, next[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
