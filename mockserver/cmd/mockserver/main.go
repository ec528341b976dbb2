// The mockserver command runs the reference server of the shipping service, tests receivers of webhooks, and checks
// other servers against the specification.
//
//	go run ./mockserver/cmd/mockserver serve
//	go run ./mockserver/cmd/mockserver help
//
// A flag is read from the command line, or from the environment, such as MOCKSERVER_TLS_CA for -tls-ca, or has its
// default.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/shipping-go/shipping/mockserver/internal/admin"
	"github.com/shipping-go/shipping/mockserver/internal/shell"
)

func main() {
	os.Exit(run(untilSignal(), os.Args[1:], environment{os.Getenv, os.Environ()}, os.Stdin, os.Stdout, os.Stderr))
}

// untilSignal returns a context that ends at the first signal. A signal that arrives at least a second later ends the
// program at once: GNU timeout sends two signals, to the program and to its group.
func untilSignal() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, stop) })
	return ctx
}

// run runs a command line and returns the exit code.
func run(ctx context.Context, args []string, env environment, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newCommand(env)
	root.Reader, root.Writer, root.ErrWriter = stdin, stdout, stderr
	err := root.Run(ctx, append([]string{root.Name}, args...))
	if err == nil {
		return exitOK
	}
	ended, ok := errors.AsType[exit](err)
	if !ok {
		ended = exit{exitUsage, err}
	}
	if ended.error == nil {
		return ended.code
	}
	// Errors of packages mockserver and sweep have a prefix already.
	message := strings.TrimPrefix(strings.TrimPrefix(printableLines(ended.Error()), "sweep: "), "mockserver: ")
	if ended.code == exitUsage {
		c := root.Command(args[0])
		if c == nil || c.Name == "help" {
			c = root
		}
		message = explain(c, message) + "\nsee " + strings.Replace(c.FullName(), "mockserver", "mockserver help", 1)
	}
	fmt.Fprintf(stderr, "mockserver: %s\n", message)
	return ended.code
}

func newCommand(env environment) *cli.Command {
	root := &cli.Command{
		Name: "mockserver", Usage: "the reference server of the shipping service, and tools for testing",
		UsageText: "mockserver COMMAND [flags]\n\nTo begin, run mockserver serve. mockserver help COMMAND shows the flags " +
			"of a command.\nEvery flag can also be set with an environment variable: -addr with MOCKSERVER_ADDR.",
		Version: version(),
		Commands: []*cli.Command{
			serveCommand(env), envCommand(env), readyCommand(env), doctorCommand(env), conformCommand(env), sweepCommand(env),
			openAPICommand(env),
			{Name: "version", Usage: "print the version", Action: func(_ context.Context, cmd *cli.Command) error {
				cli.ShowVersion(cmd.Root())
				return nil
			}},
		},
		Action:                unknownCommand,
		ExitErrHandler:        func(context.Context, *cli.Command, error) {}, // run returns the exit code
		OnUsageError:          returned,
		EnableShellCompletion: true,
		ConfigureShellCompletionCommand: func(c *cli.Command) {
			c.Hidden, c.Usage = false, "print a completion script for bash, zsh, fish or pwsh"
		},
	}
	for _, c := range root.Commands {
		c.CustomHelpTemplate, c.HideHelpCommand, c.OnUsageError = helpTemplate, true, returned
		c.Action = checked(c.Action)
	}
	return root
}

// unknownCommand is the action of a command line without the name of a subcommand.
func unknownCommand(_ context.Context, root *cli.Command) error {
	name := root.Args().First()
	if name == "" {
		root.Writer = root.ErrWriter
		cli.ShowRootCommandHelp(root)
		return exit{exitUsage, nil}
	}
	return errors.New(unknown(root, name))
}

func version() string {
	return fmt.Sprintf("%s %s %s/%s", admin.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// printableLines replaces characters that move the cursor, such as escape sequences in a request.
func printableLines(text string) string {
	return strings.Map(func(r rune) rune {
		if !shell.IsVisible(r) {
			return '\ufffd'
		}
		return r
	}, text)
}
