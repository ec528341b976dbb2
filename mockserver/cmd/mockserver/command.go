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

// command is a subcommand of mockserver.
type command struct {
	word, summary string
	// about is the text that help prints below the summary; it may be empty.
	about string
	// argument is the placeholder of the argument, such as "URL", in brackets if it is optional; empty
	// without one.
	argument string
	// many reports whether any number of arguments may follow.
	many bool
	// choices are the completions of the argument.
	choices []string
	// examples are command lines without the program's name.
	examples []string
	// define declares the flags and returns the function that runs after they are read.
	define func(f *flags) action
}

// action runs a subcommand. The program's args are the arguments that are not flags.
type action func(ctx context.Context, p program) int

// program is the environment of a command, which tests replace.
type program struct {
	args           []string
	getenv         func(string) string
	stdin          io.Reader
	stdout, stderr io.Writer
}

// fail prints why a command failed, and returns the exit code. Errors of package mockserver have the prefix already.
func (p program) fail(format string, args ...any) int {
	const name = "mockserver: "
	fmt.Fprintln(p.stderr, name+strings.TrimPrefix(printableLines(fmt.Sprintf(format, args...)), name))
	return exitFailure
}

// deliver prints a report, as text or JSON, and returns the exit code for it.
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

// writeJSON writes a value as indented JSON.
func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// lookUp finds a subcommand in the table. If it is unknown, lookUp prints the most similar name.
func lookUp(word string, p program) (command, bool) {
	table := commands()
	words := make([]string, len(table))
	for i, c := range table {
		if c.word == word {
			return c, true
		}
		words[i] = c.word
	}
	fmt.Fprintf(p.stderr, "mockserver: unknown command %q%s\nmockserver help lists all commands\n", word, didYouMean(word, words))
	return command{}, false
}

// declare returns the flags, not yet read, and the action.
func (c command) declare() (*flags, action) {
	f := newFlags("mockserver " + c.word)
	return f, c.define(f)
}

// run reads the flags, which may stand anywhere among the arguments, and runs the action.
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
		err = fmt.Errorf("%s takes one %s: remove %q", f.Name(), strings.Trim(c.argument, "[]"), rest[1])
	}
	if err != nil {
		return c.usageError(p, err)
	}
	p.args = rest
	return do(ctx, p)
}

// usageError prints an error of the command line and the help command to run.
func (c command) usageError(p program, err error) int {
	fmt.Fprintf(p.stderr, "mockserver: %v\nsee mockserver help %s\n", err, c.word)
	return exitUsage
}

// didYouMean returns a question to append to an unknown name, or "" if no known name is similar.
func didYouMean(name string, known []string) string {
	if nearest := spelling.Nearest(name, known); nearest != "" {
		return fmt.Sprintf(": did you mean %s?", nearest)
	}
	return ""
}
