package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// fromFile sets flags that neither the command line nor the environment set, from a JSON object of flag names and
// values. One file can serve every subcommand: flags of other subcommands are ignored. A name that is not a flag
// of any subcommand is an error.
func (f *flags) fromFile(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("-%s: %w", configFlag, err)
	}
	values, err := parseConfig(content)
	if err != nil {
		return fmt.Errorf("-%s %s: %w", configFlag, path, err)
	}
	known, given := flagNames(), f.given()
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch {
		case !slices.Contains(known, name):
			problems = append(problems, fmt.Errorf("-%s %s: unknown flag %q%s", configFlag, path, name, didYouMean(name, known)))
		case f.Lookup(name) == nil || given[name]:
		default:
			if err := f.set(name, values[name]); err != nil {
				problems = append(problems, fmt.Errorf("-%s %s: invalid value %q for %q: %w", configFlag, path, values[name], name, err))
			}
		}
	}
	return errors.Join(problems...)
}

// parseConfig reads an object of strings, numbers and booleans.
func parseConfig(content []byte) (map[string]string, error) {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return nil, fmt.Errorf("not a JSON object of flags: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("unexpected text after the JSON object: remove it")
	}
	values := map[string]string{}
	for name, value := range object {
		switch value.(type) {
		case string, json.Number, bool:
			values[name] = fmt.Sprint(value)
		default:
			return nil, fmt.Errorf("the value of %q is not a string, number or boolean", name)
		}
	}
	return values, nil
}

// flagNames lists the flags of all subcommands that a file can set.
func flagNames() []string {
	var names []string
	for _, c := range commands() {
		f, _ := c.declare()
		names = append(names, f.names("")...)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == configFlag })
}
