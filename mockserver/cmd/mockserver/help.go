package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
)

// commandArgument is the argument that is the name of a subcommand.
const commandArgument = "[COMMAND]"

func helpCommand() command {
	return command{
		word: "help", summary: "show the usage, flags and examples of a command", argument: commandArgument,
		examples: []string{"help serve"},
		define:   func(*flags) action { return help },
	}
}

// help prints the help of a subcommand, or the overview.
func help(_ context.Context, p program) int {
	if len(p.args) == 0 {
		overview(p.stdout)
		return exitOK
	}
	c, ok := lookUp(p.args[0], p)
	if !ok {
		return exitUsage
	}
	c.help(p.stdout)
	return exitOK
}

// overview prints the list of subcommands.
func overview(out io.Writer) {
	fmt.Fprint(out, "The reference server of the shipping service, and tools for testing.\n\nUsage: mockserver COMMAND [flags]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(out, "  %-11s %s\n", c.word, c.summary)
	}
	fmt.Fprint(out, `
To begin, run mockserver serve. mockserver help COMMAND shows the flags and examples of a command.
Every flag can also be set with an environment variable.
`)
}

// help prints the help of the subcommand.
func (c command) help(out io.Writer) {
	f, _ := c.declare()
	usage := f.Name()
	if c.argument != "" {
		usage += " " + c.argument
	}
	if f.hasFlags() && !c.many {
		usage += " [flags]"
	}
	fmt.Fprintf(out, "%s: %s.\n\nUsage: %s\n", f.Name(), c.summary, usage)
	if c.about != "" {
		fmt.Fprintf(out, "\n%s\n", strings.TrimSpace(c.about))
	}
	if f.hasFlags() {
		fmt.Fprint(out, "\nFlags:\n")
		f.VisitAll(func(f *flag.Flag) { describe(out, f) })
	}
	if len(c.examples) > 0 {
		fmt.Fprint(out, "\nExamples:\n")
		for _, example := range c.examples {
			fmt.Fprintf(out, "  mockserver %s\n", example)
		}
	}
}

// describe prints a flag: its value and usage, then its default and its environment variables.
func describe(out io.Writer, f *flag.Flag) {
	kind, usage := flag.UnquoteUsage(f)
	var facts []string
	if f.DefValue != "" && f.DefValue != "false" {
		facts = append(facts, "default "+f.DefValue)
	}
	if t, ok := f.Value.(*text); ok && t.choices != nil {
		facts = append(facts, "one of "+strings.Join(t.choices, ", "))
	}
	facts = append(facts, strings.Join(environment(f), " or "))
	fmt.Fprintf(out, "  %-24s %s\n  %24s   %s\n", strings.TrimSpace("-"+f.Name+" "+kind), usage, "", strings.Join(facts, "; "))
}
