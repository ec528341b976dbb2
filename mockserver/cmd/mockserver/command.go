package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/shipping-go/shipping/mockserver/internal/spelling"
)

// command is one word that follows mockserver.
type command struct {
	word, summary string
	// about is what help says below the summary; may be empty.
	about string
	// argument names what follows the word besides flags, such as "URL", in brackets where it may be
	// left out; empty where nothing follows.
	argument string
	// many is true if any number of arguments may follow.
	many bool
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

// fail reports why a command failed. The server's own errors begin with the program's name already.
func (p program) fail(format string, args ...any) int {
	const name = "mockserver: "
	fmt.Fprintln(p.stderr, name+strings.TrimPrefix(printableLines(fmt.Sprintf(format, args...)), name))
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
	case err == nil && len(rest) > 1 && !c.many:
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

// didYouMean is a question to put behind an unknown name, or nothing if no known one is near.
func didYouMean(name string, known []string) string {
	if nearest := spelling.Nearest(name, known); nearest != "" {
		return fmt.Sprintf(": did you mean %s?", nearest)
	}
	return ""
}
