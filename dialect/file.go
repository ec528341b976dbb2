package dialect

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/spelling"
)

// maxFile is the size of the largest file that Read reads.
const maxFile = 64 << 10

// Read reads a dialect from a file. The error lists every unknown member and wrong value.
func Read(path string) (*Dialect, error) {
	file, err := os.Open(path)
	if err != nil && strings.Contains(path, "=") {
		return nil, fmt.Errorf("%w: write the line to a file, and use the path of this file", err)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	d, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return d, nil
}

// Parse reads a dialect from JSON, or from lines as errors print them (see [Line]), with comments that begin with
// #. The error lists every unknown member and wrong value, but stops at the first unreadable line.
func Parse(text []byte) (*Dialect, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("the dialect has more than %d bytes", maxFile)
	}
	if start := bytes.TrimSpace(text); len(start) == 0 || start[0] == '"' || start[0] != '{' && !json.Valid(start) {
		return parseLines(string(text))
	}
	var any json.RawMessage
	if err := json.Unmarshal(text, &any); err != nil {
		line, fix := 1, ""
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			const space, brackets = " \t\r\n", "}]"
			line += bytes.Count(text[:syntax.Offset], []byte("\n"))
			before := bytes.TrimRight(text[:syntax.Offset], space+brackets)
			wrong := bytes.TrimLeft(text[len(before):], space)
			if bytes.HasSuffix(before, []byte(",")) && len(wrong) > 0 && strings.Contains(brackets, string(wrong[:1])) {
				fix = fmt.Sprintf(": remove the comma before %c", wrong[0])
			}
		}
		return nil, fmt.Errorf("the dialect is not valid JSON, in line %d: %w%s", line, err, fix)
	}
	d := new(Dialect)
	var problems []error
	read(jsonread.Parse(string(text)), reflect.ValueOf(d).Elem(), "", &problems)
	if err := errors.Join(append(problems, d.Check())...); err != nil {
		return nil, err
	}
	return d, nil
}

// parseLines reads lines, which can be in quotes. A field or a pair can be decided once.
func parseLines(text string) (*Dialect, error) {
	d, decided, number := new(Dialect), map[string]int{}, 0
	lines := map[int]string{}
	for line := range strings.Lines(text) {
		number++
		if line = strings.Trim(strings.TrimSpace(line), `"`); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := d.Apply(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		lines[number] = line
		for _, setting := range settingsOf(line) {
			if name, value, isField := strings.Cut(setting, "="); isField && strings.TrimSpace(value) == "" {
				return nil, fmt.Errorf("line %d: %s has no value: write one, or remove the line", number,
					strings.TrimRight(name, " +"))
			}
			for _, name := range decisionsOf(setting) {
				if earlier := decided[name]; earlier > 0 && !strings.HasSuffix(name, "+") {
					return nil, fmt.Errorf("%s is in line %d and in line %d: remove one of them", name, earlier, number)
				}
				decided[strings.TrimSuffix(name, "+")] = number
			}
		}
	}
	var problems []error
	if joined, wrong := d.Check().(interface{ Unwrap() []error }); wrong {
		for _, problem := range joined.Unwrap() {
			problems = append(problems, located(problem, lines))
		}
	}
	return d, errors.Join(problems...)
}

// located adds a line number to a problem: that of the first line with the field and the value that the problem quotes.
// If no line has both, it is that of the last line with the field.
func located(problem error, lines map[int]string) error {
	name, rest, _ := strings.Cut(problem.Error(), " ")
	_, value, _ := strings.Cut(rest, `"`)
	value, _, _ = strings.Cut(value, `"`)
	first := 0
	for _, number := range slices.Backward(slices.Sorted(maps.Keys(lines))) {
		line := lines[number]
		if strings.Contains(line, name) && (first == 0 || strings.Contains(line, value)) {
			first = number
		}
	}
	if first == 0 { // the value is that of a preset, or a default
		return problem
	}
	return fmt.Errorf("line %d: %w", first, problem)
}

// decisionsOf returns the decisions of a part of a line: its field, such as "offer.beside+" if it adds to it, and the
// field with the name of each pair, such as "record.states queued".
func decisionsOf(setting string) []string {
	name, value, isField := strings.Cut(setting, "=")
	if !isField {
		return nil
	}
	names := []string{strings.ReplaceAll(name, " ", "")}
	for pair := range strings.SplitSeq(value, ",") {
		if key, _, isPair := strings.Cut(strings.TrimSpace(pair), "="); isPair {
			names = append(names, strings.TrimRight(names[0], "+")+" "+key)
		}
	}
	return names
}

// read reads an object into a struct, member by member.
func read(object jsonread.Value, into reflect.Value, at string, problems *[]error) {
	fail := func(format string, details ...any) { *problems = append(*problems, fmt.Errorf(format, details...)) }
	here := cmp.Or(strings.TrimSuffix(at, "."), "the dialect")
	if object.Kind != '{' {
		fail("%s is not a JSON object", here)
		return
	}
	if name, twice := object.Repeated(); twice {
		fail("%s has the member %q twice", here, name)
	}
	fields := map[string]reflect.Value{}
	for f, value := range into.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[name] = value
	}
	for _, m := range object.Members {
		value, known := fields[m.Name]
		switch {
		case !known && strings.Contains(m.Name, "."):
			group, member, _ := strings.Cut(m.Name, ".")
			fail("unknown member %q: write {%q: {%q: …}}", at+m.Name, group, member)
		case !known:
			fail("unknown member %q%s", at+m.Name, spelling.Suggestion(m.Name, slices.Sorted(maps.Keys(fields))))
		case value.Kind() == reflect.Struct:
			read(m.Value, value, at+m.Name+".", problems)
		default:
			if form := (field{value: value}).read(m.Value); form != "" {
				fail("%s cannot be %s: write %s", at+m.Name, shown(m.Value), form)
			}
		}
	}
}

// shown returns the form in which an error shows a value.
func shown(v jsonread.Value) string {
	if v.Kind == '"' {
		return strconv.Quote(v.Text)
	}
	return cmp.Or(map[byte]string{'{': "an object", '[': "a list", 0: "null"}[v.Kind], v.Text)
}

// read reads a value of JSON. If the value has another form, it returns the form of the field.
func (f field) read(v jsonread.Value) (form string) {
	quoted := v.Kind == '"'
	switch target := f.value.Addr().Interface().(type) {
	case *[]string:
		for _, element := range v.Elements {
			*target = append(*target, element.Text)
		}
		if v.Kind != '[' || slices.ContainsFunc(v.Elements, func(e jsonread.Value) bool { return e.Kind != '"' }) {
			return "a list of texts"
		}
		return ""
	case *map[string]string:
		*target = map[string]string{}
		for _, m := range v.Members {
			(*target)[m.Name] = m.Value.Text
		}
		if v.Kind != '{' || len(*target) < len(v.Members) ||
			slices.ContainsFunc(v.Members, func(m jsonread.Member) bool { return m.Value.Kind != '"' }) {
			return "an object of texts, each under its own name"
		}
		return ""
	case *bool:
		quoted = quoted || v.Text != "true" && v.Text != "false"
	case *string, encoding.TextUnmarshaler:
		quoted = !quoted
	}
	form, err := f.setText(v.Text)
	if err == nil && !quoted && (v.Kind == '"' || v.Kind == 'v') {
		return ""
	}
	return form
}
