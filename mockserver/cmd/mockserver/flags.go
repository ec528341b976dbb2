package main

import (
	"errors"
	"flag"
	"fmt"
	"strings"
)

// envPrefix begins the environment variable of every flag.
const envPrefix = "MOCKSERVER_"

func envName(flagName string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flagName, "-", "_"))
}

// parseFlags reads the command line, and the environment for what it leaves out. It tells the user
// what is wrong; done means that the word has nothing left to do, and exits with code.
func parseFlags(flags *flag.FlagSet, p program) (code int, done bool) {
	flags.SetOutput(p.stderr)
	flags.Usage = func() { usage(flags) }
	switch err := flags.Parse(p.args); {
	case errors.Is(err, flag.ErrHelp):
		return exitOK, true
	case err != nil:
		return exitUsage, true // the flag package has told
	case flags.NArg() > 0:
		fmt.Fprintf(p.stderr, "%s takes no argument %q\n", flags.Name(), flags.Arg(0))
		usage(flags)
		return exitUsage, true
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	flags.VisitAll(func(f *flag.Flag) {
		value := p.getenv(envName(f.Name))
		if value == "" || given[f.Name] {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			fmt.Fprintf(p.stderr, "%s=%q is no value for -%s: %v\n", envName(f.Name), value, f.Name, err)
			code, done = exitUsage, true
		}
	})
	if done {
		usage(flags)
	}
	return code, done
}

func usage(flags *flag.FlagSet) {
	out := flags.Output()
	fmt.Fprintf(out, "\nUsage: %s [flags]\n\n", flags.Name())
	flags.VisitAll(func(f *flag.Flag) {
		kind, text := flag.UnquoteUsage(f)
		fmt.Fprintf(out, "  %-26s %s (default %s; %s)\n", strings.TrimSpace("-"+f.Name+" "+kind), text, f.DefValue, envName(f.Name))
	})
}
