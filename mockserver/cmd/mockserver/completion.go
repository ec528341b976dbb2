package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/mockserver/internal/shell"
)

// shells is the table of the supported shells.
func shells() []completionShell {
	return []completionShell{
		{"bash", `source <(mockserver completion bash)`, bashCompletion},
		{"zsh", `mockserver completion zsh >"${fpath[1]}/_mockserver"`, zshCompletion},
		{"fish", `mockserver completion fish >~/.config/fish/completions/mockserver.fish`, fishCompletion},
	}
}

type completionShell struct {
	name, install string
	write         func(w io.Writer, table []completed)
}

func completionCommand() command {
	c := command{
		word: "completion", summary: "print a shell's completion script", argument: "SHELL",
		about: "Install it with:\n",
	}
	for _, s := range shells() {
		c.choices = append(c.choices, s.name)
		c.about += fmt.Sprintf("\n  %-5s %s", s.name, s.install)
	}
	c.define = func(*flags) action { return c.completion }
	return c
}

// completion writes the script for a shell.
func (c command) completion(_ context.Context, p program) int {
	if len(p.args) == 0 {
		return c.usageError(p, fmt.Errorf("no shell given: choose one of %s", strings.Join(c.choices, ", ")))
	}
	i := slices.Index(c.choices, p.args[0])
	if i < 0 {
		return c.usageError(p, fmt.Errorf("unknown shell %q%s; choose one of %s", p.args[0], didYouMean(p.args[0], c.choices), strings.Join(c.choices, ", ")))
	}
	var script strings.Builder
	shells()[i].write(&script, completions(commands()))
	if _, err := io.WriteString(p.stdout, script.String()); err != nil {
		return p.fail("cannot write to standard output: %v", err)
	}
	return exitOK
}

// completed holds the completions of one subcommand.
type completed struct {
	word, summary string
	arguments     []string
	flags         []completedFlag
}

type completedFlag struct {
	name, usage string
	value       string // the kind of value; empty for a flag without one
	choices     []string
	file        bool
}

// completions builds the completions of all subcommands and their flags.
func completions(table []command) []completed {
	var words []string
	for _, c := range table {
		words = append(words, c.word)
	}
	var out []completed
	for _, c := range table {
		one := completed{word: c.word, summary: c.summary, arguments: c.choices}
		if c.argument == commandArgument {
			one.arguments = words
		}
		f, _ := c.declare()
		f.VisitAll(func(f *flag.Flag) {
			value, usage := flag.UnquoteUsage(f)
			entry := completedFlag{name: "-" + f.Name, usage: usage}
			if takesValue(f) {
				entry.value = value
			}
			if t, ok := f.Value.(*text); ok {
				entry.choices, entry.file = t.choices, t.file
			}
			one.flags = append(one.flags, entry)
		})
		out = append(out, one)
	}
	return out
}

// offered returns the completions after the subcommand: its arguments and flags.
func (c completed) offered() []string {
	out := slices.Clone(c.arguments)
	for _, f := range c.flags {
		out = append(out, f.name)
	}
	return out
}

func bashCompletion(w io.Writer, table []completed) {
	var words []string
	for _, c := range table {
		words = append(words, c.word)
	}
	fmt.Fprintf(w, `# bash completion of mockserver
_mockserver() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		COMPREPLY=($(compgen -W %q -- "$cur"))
		return
	fi
	case "${COMP_WORDS[1]} $prev" in
`, strings.Join(words, " "))
	for _, c := range table {
		for _, f := range c.flags {
			if f.value == "" {
				continue
			}
			reply := "" // nothing to offer
			switch {
			case f.file:
				reply = ` compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur"));`
			case f.choices != nil:
				reply = fmt.Sprintf(` COMPREPLY=($(compgen -W %q -- "$cur"));`, strings.Join(f.choices, " "))
			}
			fmt.Fprintf(w, "\t\"%s %s\")%s return ;;\n", c.word, f.name, reply)
		}
	}
	fmt.Fprint(w, "\tesac\n\tcase \"${COMP_WORDS[1]}\" in\n")
	for _, c := range table {
		if offered := c.offered(); len(offered) > 0 {
			fmt.Fprintf(w, "\t%s) COMPREPLY=($(compgen -W %q -- \"$cur\")) ;;\n", c.word, strings.Join(offered, " "))
		}
	}
	fmt.Fprint(w, "\tesac\n}\ncomplete -F _mockserver mockserver\n")
}

func zshCompletion(w io.Writer, table []completed) {
	fmt.Fprint(w, `#compdef mockserver
_mockserver() {
	if (( CURRENT == 2 )); then
		local -a choices=(
`)
	for _, c := range table {
		fmt.Fprintf(w, "\t\t\t%s\n", shell.Quote(c.word+":"+c.summary))
	}
	fmt.Fprint(w, `		)
		_describe word choices
		return
	fi
	local word=$words[2]
	shift words
	(( CURRENT-- ))
	case $word in
`)
	for _, c := range table {
		fmt.Fprintf(w, "\t%s) _arguments", c.word)
		for _, f := range c.flags {
			fmt.Fprintf(w, " \\\n\t\t%s", shell.Quote(f.zsh()))
		}
		if len(c.arguments) > 0 {
			fmt.Fprintf(w, " \\\n\t\t%s", shell.Quote(":argument:("+strings.Join(c.arguments, " ")+")"))
		}
		fmt.Fprint(w, " ;;\n")
	}
	// If the script is autoloaded it runs the function; if it is sourced it registers it.
	fmt.Fprint(w, "\tesac\n}\nif [ \"$funcstack[1]\" = _mockserver ]; then _mockserver \"$@\"; else compdef _mockserver mockserver; fi\n")
}

// zsh formats the flag for _arguments, which gives brackets and colons a meaning.
func (f completedFlag) zsh() string {
	plain := strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`)
	spec := f.name + "[" + plain.Replace(f.usage) + "]"
	switch {
	case f.value == "":
		return spec
	case f.file:
		return spec + ":" + f.value + ":_files"
	case f.choices != nil:
		return spec + ":" + f.value + ":(" + strings.Join(f.choices, " ") + ")"
	}
	return spec + ":" + f.value + ":"
}

func fishCompletion(w io.Writer, table []completed) {
	fmt.Fprint(w, "# fish completion of mockserver\ncomplete -c mockserver -f\n")
	for _, c := range table {
		fmt.Fprintf(w, "complete -c mockserver -n __fish_use_subcommand -a %s -d %s\n", c.word, fishQuoted(c.summary))
	}
	for _, c := range table {
		condition := fmt.Sprintf("-n '__fish_seen_subcommand_from %s'", c.word)
		if len(c.arguments) > 0 {
			fmt.Fprintf(w, "complete -c mockserver %s -a %s\n", condition, fishQuoted(strings.Join(c.arguments, " ")))
		}
		for _, f := range c.flags {
			takes := ""
			switch {
			case f.file:
				takes = " -r -F"
			case f.choices != nil:
				takes = " -x -a " + fishQuoted(strings.Join(f.choices, " "))
			case f.value != "":
				takes = " -x"
			}
			fmt.Fprintf(w, "complete -c mockserver %s -o %s%s -d %s\n", condition, strings.TrimPrefix(f.name, "-"), takes, fishQuoted(f.usage))
		}
	}
}

// fishQuoted quotes a text for fish, whose single quotes have two escapes.
func fishQuoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
