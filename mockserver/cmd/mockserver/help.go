package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
)

// wordArgument is an argument that is a word of the table itself.
const wordArgument = "[WORD]"

func helpCommand() command {
	return command{
		word: "help", summary: "show what a word does, its flags and examples", argument: wordArgument,
		examples: []string{"help serve"},
		define:   func(*flags) action { return help },
	}
}

// help shows the help of a word, or the overview.
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

// overview lists the words.
func overview(out io.Writer) {
	fmt.Fprint(out, "The reference server of the shipping service, and what goes with it.\n\nUsage: mockserver WORD [flags]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(out, "  %-11s %s\n", c.word, c.summary)
	}
	fmt.Fprint(out, `
mockserver serve is all you need to begin. mockserver help WORD shows a word's flags and examples.
Every flag can also be set by an environment variable and in the JSON file that -config names.
`)
}

// help shows all about a word.
func (c command) help(out io.Writer) {
	f, _ := c.declare()
	usage := f.Name()
	if c.argument != "" {
		usage += " " + c.argument
	}
	if f.some() && !c.many {
		usage += " [flags]"
	}
	fmt.Fprintf(out, "%s: %s.\n\nUsage: %s\n", f.Name(), c.summary, usage)
	if c.about != "" {
		fmt.Fprintf(out, "\n%s\n", strings.TrimSpace(c.about))
	}
	if f.some() {
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

// describe shows a flag: what it takes and means, then its default and its environment variables.
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
