package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// envPrefix is the prefix of the environment variables of flags.
const envPrefix = "MOCKSERVER_"

// flags is the flag set of a subcommand, with string flags of type [text].
type flags struct{ *flag.FlagSet }

func newFlags(name string) *flags {
	f := &flags{flag.NewFlagSet(name, flag.ContinueOnError)}
	f.SetOutput(io.Discard) // errors are returned, and printed once
	return f
}

// text is the value of a string flag.
type text struct {
	value   string
	choices []string // the allowed values; nil allows all
	file    bool     // the value is the path of a file
	also    string   // another environment variable with the value
}

// text declares a string flag.
func (f *flags) text(name string, value text, usage string) *string {
	f.Var(&value, name, usage)
	return &value.value
}

// String implements [flag.Value].
func (t *text) String() string { return t.value }

// Set implements [flag.Value].
func (t *text) Set(value string) error {
	if t.choices != nil && !slices.Contains(t.choices, value) {
		return fmt.Errorf("choose one of %s%s", strings.Join(t.choices, ", "), didYouMean(value, t.choices))
	}
	t.value = value
	return nil
}

// environment returns the environment variables of a flag, in order of precedence.
func environment(f *flag.Flag) []string {
	names := []string{envPrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))}
	if t, ok := f.Value.(*text); ok && t.also != "" {
		names = append(names, t.also)
	}
	return names
}

// takesValue reports whether a flag needs a value; boolean flags such as -json do not.
func takesValue(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return !ok || !b.IsBoolFlag()
}

// read sets the flags from the arguments, and the others from the environment, and returns the arguments that are not
// flags.
func (f *flags) read(args []string, getenv func(string) string) (rest []string, err error) {
	if rest, err = f.arguments(args); err != nil {
		return nil, err
	}
	return rest, f.fromEnvironment(getenv)
}

// arguments reads flags before, between and after the other arguments, up to "--".
func (f *flags) arguments(args []string) (rest []string, err error) {
	for len(args) > 0 {
		if err := f.Parse(args); err != nil {
			return nil, f.withSuggestion(f.withForm(err))
		}
		left := f.Args()
		if read := len(args) - len(left); len(left) == 0 || (read > 0 && args[read-1] == "--") {
			return append(rest, left...), nil
		}
		rest, args = append(rest, left[0]), left[1:]
	}
	return rest, nil
}

// withSuggestion adds the most similar flag to the error of an unknown flag.
func (f *flags) withSuggestion(err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return err
	}
	return fmt.Errorf("%s has no flag -%s%s", f.Name(), name, didYouMean("-"+name, f.names("-")))
}

// withForm replaces the "parse error" of package flag by the form that the value of the flag has.
func (f *flags) withForm(err error) error {
	text, unreadable := strings.CutSuffix(err.Error(), ": parse error")
	if !unreadable {
		return err
	}
	return fmt.Errorf("%s: %s", text, f.form(text[strings.LastIndex(text, " -")+2:]))
}

// form describes the values of a flag.
func (f *flags) form(name string) string {
	entry := f.Lookup(name)
	if entry == nil {
		return "unknown flag"
	}
	getter, _ := entry.Value.(flag.Getter)
	if getter == nil {
		return "write a text"
	}
	switch getter.Get().(type) {
	case time.Duration:
		return "write a time with a unit, such as 2s, 500ms or 1m30s"
	case bool:
		return "write true or false"
	case uint, uint64:
		return "write a whole number that is not negative, such as 7"
	default:
		return "write a whole number, such as 7"
	}
}

// set sets a flag. The error states the form of its values.
func (f *flags) set(name, value string) error {
	if err := f.Set(name, value); err != nil && err.Error() == "parse error" {
		return errors.New(f.form(name))
	} else if err != nil {
		return err
	}
	return nil
}

// hasFlags reports whether any flags are declared.
func (f *flags) hasFlags() bool { return len(f.names("")) > 0 }

// names lists the flags, each with a prefix.
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

// fromEnvironment sets flags that the command line did not set. Empty variables are ignored.
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
			if err := f.set(entry.Name, value); err != nil {
				problems = append(problems, fmt.Errorf("invalid value %[2]q of %[1]s for -%[3]s: %[4]w", variable, value, entry.Name, err))
			}
			return
		}
	})
	return errors.Join(problems...)
}
