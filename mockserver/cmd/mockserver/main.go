// The mockserver command runs the reference server of the shipping service, tests receivers of webhooks, and checks
// other servers against the specification.
//
//	go run ./mockserver/cmd/mockserver serve
//	go run ./mockserver/cmd/mockserver help
//
// A flag is read from the command line; else from the environment, where the variable of -deliver-anywhere is
// MOCKSERVER_DELIVER_ANYWHERE; else it has its default.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1 // an error occurred, or a check failed
	exitUsage   = 2 // the command line is invalid

	exitIncomplete = 3 // nothing failed, but a check could not be made
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}

// commands returns the table of subcommands, from which help and completion are derived.
func commands() []command {
	return []command{
		serveCommand(),
		envCommand(),
		readyCommand(),
		doctorCommand(),
		conformCommand(),
		sweepCommand(),
		completionCommand(),
		openAPICommand(),
		versionCommand(),
		helpCommand(),
	}
}

// run runs the subcommand that the arguments name and returns the exit code.
func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := program{args: args, getenv: getenv, stdin: stdin, stdout: stdout, stderr: stderr}
	if len(args) == 0 {
		overview(p.stderr)
		return exitUsage
	}
	p.args = args[1:]
	switch args[0] {
	case "-h", "-help", "--help":
		overview(p.stdout)
		return exitOK
	}
	if args[0] == "-version" || args[0] == "--version" {
		args = append([]string{"version"}, args[1:]...)
	}
	c, ok := lookUp(args[0], p)
	if !ok {
		return exitUsage
	}
	return c.run(ctx, p)
}
