package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/shipping-go/shipping/internal/spelling"
)

// Exit codes.
const (
	exitOK         = 0
	exitFailure    = 1 // an error occurred, or a check failed
	exitUsage      = 2 // the command line is invalid
	exitIncomplete = 3 // nothing failed, but a check could not be made
)

// exit is the end of an action that did not succeed. Any other error is about the command line.
type exit struct {
	code  int
	error // nil if there is nothing to print
}

// checked returns an action that first checks the number of arguments. Any other error is a failure.
func checked(action cli.ActionFunc) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) error {
		switch many := strings.Contains(cmd.ArgsUsage, "…"); {
		case cmd.Args().Len() > 0 && cmd.ArgsUsage == "":
			text, given := "", cmd.Args().First()
			if strings.Contains(given, "://") && slices.Contains(flagNames(cmd), "-url") {
				text = ": write it after -url"
			}
			return fmt.Errorf("%s takes no argument %q%s", cmd.Name, given, text)
		case cmd.Args().Len() > 1 && !many:
			return fmt.Errorf("%s takes one %s: remove %q", cmd.Name, strings.Trim(cmd.ArgsUsage, "[]"), cmd.Args().Get(1))
		}
		err := action(ctx, cmd)
		if _, ok := errors.AsType[exit](err); err == nil || ok {
			return err
		}
		return exit{exitFailure, err}
	}
}

// returned makes the library return an error of the command line, instead of printing it with the help.
func returned(_ context.Context, _ *cli.Command, err error, _ bool) error { return err }

// explain adds the correct form to an error of the library.
func explain(c *cli.Command, message string) string {
	for _, f := range []struct{ mistake, form string }{
		{"strconv.ParseUint: ", "write a whole number that is not negative, such as 7"},
		{"time: ", "write a time with a unit, such as 2s, 500ms or 1m30s; a day is 24h"},
		{"parse error", "write true or false"},
	} {
		if before, _, found := strings.Cut(message, f.mistake); found {
			return regexp.MustCompile(` as \S+ value from `).ReplaceAllString(before, " from ") + f.form
		}
	}
	if name, found := strings.CutPrefix(message, "No help topic for '"); found {
		return unknown(c, strings.TrimSuffix(name, "'"))
	}
	name, found := strings.CutPrefix(message, "flag provided but not defined: ")
	if !found {
		return message
	}
	text := didYouMean(name, flagNames(c))
	switch {
	case name == "-url" && strings.Contains(c.ArgsUsage, "URL"):
		text = ": write the URL as the last argument"
	case name == "-port" && slices.Contains(flagNames(c), "-addr"):
		text = ": write the port in -addr, such as -addr " + defaultAddr
	}
	return fmt.Sprintf("%s has no flag %s%s", c.Name, name, text)
}

// flagNames returns the names of a command's flags, such as "-addr".
func flagNames(c *cli.Command) (names []string) {
	for _, f := range c.Flags {
		names = append(names, "-"+f.Names()[0])
	}
	return names
}

// unknown returns the message for an unknown subcommand of a command.
func unknown(c *cli.Command, name string) string {
	var names []string
	for _, known := range c.VisibleCommands() {
		names = append(names, known.Name)
	}
	return fmt.Sprintf("unknown command %q%s", name, didYouMean(name, names))
}

// didYouMean returns a question to append to an unknown name, or "" if no known name is similar.
func didYouMean(name string, known []string) string {
	if nearest := spelling.Nearest(name, known); nearest != "" {
		return fmt.Sprintf(": did you mean %s?", nearest)
	}
	return ""
}

const helpTemplate = `{{.FullName}}: {{.Usage}}.

Usage: {{.FullName}}{{if .VisibleFlags}} [flags]{{end}}{{with .ArgsUsage}} {{.}}{{end}}
{{with .Description}}
{{.}}
{{end}}{{if .VisibleFlags}}
Flags:
{{range .VisibleFlags}}  -{{index .Names 0}}{{if .TakesValue}} {{.TypeName}}{{end}}{{"\t"}}{{.GetUsage}}
{{if .TakesValue}}{{if .GetValue}}{{"  \t"}}default {{.GetValue}}
{{end}}{{end}}{{end}}{{end}}{{with .Metadata.examples}}
Examples:
{{range .}}  mockserver {{.}}
{{end}}{{end}}`

// environment is the environment variables of the process.
type environment struct {
	get func(name string) string
	all []string // as NAME=VALUE
}

const variablePrefix = "MOCKSERVER_"

// idle returns a warning for each variable that looks like a flag's but that no command reads. It skips those that
// Kubernetes sets for a service named mockserver.
func (e environment) idle(commands []*cli.Command) (warnings []string) {
	var known []string
	for _, c := range commands {
		for _, f := range c.Flags {
			known = append(known, variableOf(f.Names()[0]))
		}
	}
	for _, variable := range e.all {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, variablePrefix) && !slices.Contains(known, name) &&
			!strings.HasPrefix(name, variablePrefix+"PORT") && !strings.HasPrefix(name, variablePrefix+"SERVICE_") {
			warnings = append(warnings, name+" does nothing"+didYouMean(name, known))
		}
	}
	return warnings
}

func variableOf(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// sources returns the environment variables of a flag: MOCKSERVER_TLS_CA for tls-ca, and further ones.
func (e environment) sources(name string, more []string) cli.ValueSourceChain {
	var chain cli.ValueSourceChain
	for _, name := range append([]string{variableOf(name)}, more...) {
		chain.Chain = append(chain.Chain, variable{e, name})
	}
	return chain
}

// text declares a flag with a text. A leading hyphen is refused: it begins the next flag.
func (e environment) text(name, value, usage string, more ...string) *cli.StringFlag {
	validate := func(given string) error {
		if strings.HasPrefix(given, "-") {
			return fmt.Errorf("-%s has no value", name)
		}
		return nil
	}
	return &cli.StringFlag{Name: name, Value: value, Usage: usage, Sources: e.sources(name, more), Validator: validate}
}

// toggle declares a flag without a value.
func (e environment) toggle(name, usage string) *cli.BoolFlag {
	return &cli.BoolFlag{Name: name, Usage: usage, Sources: e.sources(name, nil)}
}

// number declares a flag with a number.
func (e environment) number(name string, value uint64, usage string) *cli.Uint64Flag {
	return &cli.Uint64Flag{Name: name, Value: value, Usage: usage, Sources: e.sources(name, nil)}
}

// time declares a flag with a duration.
func (e environment) time(name string, value time.Duration, usage string) *cli.DurationFlag {
	return &cli.DurationFlag{Name: name, Value: value, Usage: usage, Sources: e.sources(name, nil)}
}

// variable is an environment variable of a flag. Unlike one of [cli.EnvVar], it counts as not set if empty.
type variable struct {
	env  environment
	name string
}

// Lookup implements [cli.ValueSource].
func (v variable) Lookup() (string, bool) { value := v.env.get(v.name); return value, value != "" }

// String implements [fmt.Stringer]: errors name the variable.
func (v variable) String() string { return v.name }

// GoString implements [fmt.GoStringer].
func (v variable) GoString() string { return v.name }

// printReport prints a report, as JSON or as the text that write writes, and returns the exit code for it.
func printReport(cmd *cli.Command, well bool, report any, write func(io.Writer) error) error {
	var text strings.Builder
	if err := write(&text); err != nil {
		return err
	}
	if err := printValue(cmd, report, printableLines(text.String())); err != nil {
		return err
	}
	if !well {
		return exit{exitFailure, nil}
	}
	return nil
}

// printValue prints a text or, with the flag -json, its value as JSON.
func printValue(cmd *cli.Command, value any, text string) error {
	if cmd.Bool("json") {
		var out strings.Builder
		encoder := json.NewEncoder(&out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(value); err != nil {
			return err
		}
		text = out.String()
	}
	if _, err := io.WriteString(cmd.Root().Writer, text); err != nil {
		return fmt.Errorf("cannot write to standard output: %w", err)
	}
	return nil
}

// examples returns the metadata with the command lines that help shows.
func examples(lines ...string) map[string]any { return map[string]any{"examples": lines} }
