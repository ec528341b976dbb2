package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// envPrefix begins the environment variable of every flag.
const envPrefix = "MOCKSERVER_"

// flags is a word's table of flags. Besides the kinds of the flag package it has [flags.text].
type flags struct{ *flag.FlagSet }

func newFlags(name string) *flags {
	f := &flags{flag.NewFlagSet(name, flag.ContinueOnError)}
	f.SetOutput(io.Discard) // what is wrong is returned, and told once
	return f
}

// text is the value of a flag of letters.
type text struct {
	value   string
	choices []string // what it may be; nil: anything
	file    bool     // it is a path of a file
	also    string   // a further environment variable that it is read from
}

// text declares a flag of letters.
func (f *flags) text(name string, value text, usage string) *string {
	f.Var(&value, name, usage)
	return &value.value
}

// String implements [flag.Value].
func (t *text) String() string { return t.value }

// Set implements [flag.Value].
func (t *text) Set(value string) error {
	if t.choices != nil && !slices.Contains(t.choices, value) {
		return fmt.Errorf("it is one of %s%s", strings.Join(t.choices, ", "), didYouMean(value, t.choices))
	}
	t.value = value
	return nil
}

// environment returns the variables that a flag is read from, the first that is set first.
func environment(f *flag.Flag) []string {
	names := []string{envPrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))}
	if t, ok := f.Value.(*text); ok && t.also != "" {
		names = append(names, t.also)
	}
	return names
}

// takesValue is false for a flag that is given without one, such as -json.
func takesValue(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return !ok || !b.IsBoolFlag()
}

// configFlag names the configuration file. Every word with flags has it.
const configFlag = "config"

// read sets the flags from the arguments, the environment and the configuration file, in this order of
// precedence, and returns the arguments that are no flags.
func (f *flags) read(args []string, getenv func(string) string) (rest []string, err error) {
	if rest, err = f.arguments(args); err != nil {
		return nil, err
	}
	if err = f.fromEnvironment(getenv); err != nil {
		return nil, err
	}
	if config := f.Lookup(configFlag); config != nil && config.Value.String() != "" {
		return rest, f.fromFile(config.Value.String())
	}
	return rest, nil
}

// arguments reads flags that stand before, between and behind the other arguments, up to "--".
func (f *flags) arguments(args []string) (rest []string, err error) {
	for len(args) > 0 {
		if err := f.Parse(args); err != nil {
			return nil, f.explain(err)
		}
		left := f.Args()
		if read := len(args) - len(left); len(left) == 0 || (read > 0 && args[read-1] == "--") {
			return append(rest, left...), nil
		}
		rest, args = append(rest, left[0]), left[1:]
	}
	return rest, nil
}

// explain adds to an unknown flag the one that was perhaps meant.
func (f *flags) explain(err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return err
	}
	return fmt.Errorf("%s has no flag -%s%s", f.Name(), name, didYouMean("-"+name, f.names("-")))
}

// some reports whether there are flags at all.
func (f *flags) some() bool { return len(f.names("")) > 0 }

// names lists the flags, each behind a prefix.
func (f *flags) names(prefix string) []string {
	var names []string
	f.VisitAll(func(f *flag.Flag) { names = append(names, prefix+f.Name) })
	return names
}

// given returns the flags that have been set so far.
func (f *flags) given() map[string]bool {
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	return given
}

// fromEnvironment sets what the command line left out. An empty variable counts as none.
func (f *flags) fromEnvironment(getenv func(string) string) error {
	var problems []error
	given := f.given()
	f.VisitAll(func(entry *flag.Flag) {
		if given[entry.Name] {
			return
		}
		for _, variable := range environment(entry) {
			value := getenv(variable)
			if value == "" {
				continue
			}
			if err := f.Set(entry.Name, value); err != nil {
				problems = append(problems, fmt.Errorf("%s=%q is no value for -%s: %w", variable, value, entry.Name, err))
			}
			return
		}
	})
	return errors.Join(problems...)
}
