// The mockserver command runs the reference server of the shipping service.
//
//	go run ./mockserver/cmd/mockserver serve
//	go run ./mockserver/cmd/mockserver serve -json -addr 127.0.0.1:0
//
// Every flag is an environment variable too: -deliver-anywhere is MOCKSERVER_DELIVER_ANYWHERE. A flag
// on the command line wins.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// The exit codes.
const (
	exitOK      = 0
	exitFailure = 1 // something went wrong
	exitUsage   = 2 // the command line is wrong
)

// command is one word that follows mockserver.
type command struct {
	word, summary string
	run           func(ctx context.Context, p program) int
}

// program is a command's surroundings, so that tests can be them.
type program struct {
	args           []string
	getenv         func(string) string
	stdout, stderr io.Writer
}

func commands() []command {
	return []command{
		{"serve", "run the server until it is interrupted", serve},
		{"version", "print the version and exit", version},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, program{args: os.Args[1:], getenv: os.Getenv, stdout: os.Stdout, stderr: os.Stderr})
	stop()
	os.Exit(code)
}

// run runs the word that the arguments begin with.
func run(ctx context.Context, p program) int {
	word := ""
	if len(p.args) > 0 {
		word = p.args[0]
	}
	for _, c := range commands() {
		if c.word == word {
			p.args = p.args[1:]
			return c.run(ctx, p)
		}
	}
	out, code := p.stderr, exitUsage
	switch word {
	case "help", "-h", "-help", "--help":
		out, code = p.stdout, exitOK
	case "":
	default:
		fmt.Fprintf(out, "mockserver: unknown word %q\n\n", word)
	}
	fmt.Fprint(out, "The reference server of the shipping service.\n\nUsage: mockserver WORD [flags]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(out, "  %-9s %s\n", c.word, c.summary)
	}
	fmt.Fprint(out, "\nmockserver WORD -h lists the flags of a word.\n")
	return code
}
