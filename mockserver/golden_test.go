package mockserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
)

// A golden file is a record as the specification's table has it: its fields in their order, each
// with its type. A string describes its format, such as "RT-<digits>"; a key with a question mark
// may be absent; the one element of an array stands for each, and an empty array for any.

// A list's records are compared with the first record of the client's golden response instead, if that has only members
// of the specification: one file has the names, their order and the form of each value for both sides.

// kinds are the formats in angle brackets.
var kinds = map[string]string{
	"<digits>":        `[0-9]+`,
	"<letters>":       `[A-Z]{2}`,
	"<alphanumerics>": `[A-Za-z0-9]+`,
	"<storage id>":    `[0-9a-f]{24}`,
	"<timestamp>":     `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`,
	"<currency>":      `[A-Z]{3}`,
	"<url>":           `https?://\S+`,
	"<degrees>":       `-?\d{1,3}(\.\d+)?`,
	"<utc offset>":    `UTC[+-]\d\d:\d\d`,
	"<dialling code>": `[0-9][0-9-]*`,
	"<text>":          `(?s).+`,
	"<any>":           `(?s).*`,
}

var word = regexp.MustCompile(`<[a-z ]+>`)

// checkGolden reports every difference between a record and a golden file.
func checkGolden(t *testing.T, file string, record []byte) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	checkForm(t, file, parse(t, want), record)
}

// checkForm reports every difference between records and the form that a golden file gives them, once.
func checkForm(t *testing.T, file string, form any, records ...json.RawMessage) {
	t.Helper()
	reported := map[string]bool{}
	for _, record := range records {
		for _, problem := range compare("$", form, parse(t, record)) {
			if !reported[problem] {
				t.Errorf("%s: %s", file, problem)
			}
			reported[problem] = true
		}
	}
}

// goldenData returns the members of data in a golden response of the client.
func goldenData(t *testing.T, file string) map[string]json.RawMessage {
	t.Helper()
	var response struct{ Data map[string]json.RawMessage }
	if err := json.Unmarshal([]byte(shippingtest.Golden(t, file)), &response); err != nil {
		t.Fatal(err)
	}
	return response.Data
}

// forms are those that a text of a golden response can stand for; any other stands for a text.
var forms = []struct{ pattern, form string }{
	{`([A-Z]+)-[0-9]+`, "$1-<digits>"},
	{kinds["<storage id>"], "<storage id>"},
	{kinds["<timestamp>"], "<timestamp>"},
	{kinds["<url>"], "<url>"},
	{kinds["<currency>"], "<currency>"},
	{kinds["<text>"], "<text>"},
}

// formOf returns the golden record that an example stands for, of a member with that name. Members named as optional may be
// absent.
func formOf(name string, example any, optional []string) any {
	switch example := example.(type) {
	case string:
		for _, f := range forms {
			if f.form == "<currency>" && !strings.Contains(name, "currency") {
				continue // a word such as DHL
			}
			if whole := regexp.MustCompile("^" + f.pattern + "$"); whole.MatchString(example) {
				return whole.ReplaceAllString(example, f.form)
			}
		}
	case object:
		out := object{}
		for _, f := range example {
			key := f.name
			if slices.Contains(optional, key) {
				key += "?"
			}
			out = append(out, field{key, formOf(f.name, f.value, optional)})
		}
		return out
	case []any:
		out := []any{}
		for _, element := range example[:min(1, len(example))] {
			out = append(out, formOf(name, element, optional))
		}
		return out
	}
	return example
}

// object keeps the order of its keys, which a map would lose.
type object []field

type field struct {
	name  string
	value any
}

func parse(t *testing.T, text []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	value, err := parseValue(decoder)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return value
}

func parseValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		out := object{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			out = append(out, field{fmt.Sprint(name), value})
		}
		_, err = d.Token()
		return out, err
	case json.Delim('['):
		out := []any{}
		for d.More() {
			value, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			out = append(out, value)
		}
		_, err = d.Token()
		return out, err
	}
	return token, nil
}

func compare(path string, want, got any) []string {
	if pattern, ok := want.(string); ok {
		return compareText(path, pattern, got)
	}
	if fmt.Sprintf("%T", want) != fmt.Sprintf("%T", got) {
		return []string{fmt.Sprintf("%s is %v, a %T; want a %T", path, got, got, want)}
	}
	var problems []string
	switch want := want.(type) {
	case object:
		return compareFields(path, want, got.(object))
	case []any:
		for i, element := range got.([]any) {
			if len(want) > 0 {
				problems = append(problems, compare(fmt.Sprintf("%s[%d]", path, i), want[0], element)...)
			}
		}
	}
	return problems
}

func compareFields(path string, want, got object) []string {
	var problems []string
	next := 0
	for _, f := range want {
		name, optional := strings.CutSuffix(f.name, "?")
		switch {
		case next < len(got) && got[next].name == name:
			problems = append(problems, compare(path+"."+name, f.value, got[next].value)...)
			next++
		case optional:
		case next < len(got):
			return append(problems, fmt.Sprintf("%s has %q where %q belongs", path, got[next].name, name))
		default:
			return append(problems, fmt.Sprintf("%s ends before %q", path, name))
		}
	}
	for _, f := range got[next:] {
		problems = append(problems, fmt.Sprintf("%s has %q, which is not in the table", path, f.name))
	}
	return problems
}

func compareText(path, pattern string, got any) []string {
	if kind, ok := strings.CutSuffix(pattern, " or null>"); ok {
		if got == nil {
			return nil
		}
		pattern = kind + ">"
	}
	text, ok := got.(string)
	if !ok {
		return []string{fmt.Sprintf("%s is %v, a %T; want the text %s", path, got, got, pattern)}
	}
	expression := "^" + word.ReplaceAllStringFunc(pattern, func(w string) string { return kinds[w] }) + "$"
	if !regexp.MustCompile(expression).MatchString(text) {
		return []string{fmt.Sprintf("%s is %q; want %s", path, text, pattern)}
	}
	return nil
}

func TestGolden_ComparisonFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, want, got string }{
		{"missing", `{"a":0,"b":0}`, `{"a":1}`},
		{"more", `{"a":0}`, `{"a":1,"b":2}`},
		{"order", `{"a":0,"b":0}`, `{"b":1,"a":2}`},
		{"type", `{"a":0}`, `{"a":"1"}`},
		{"null", `{"a":0}`, `{"a":null}`},
		{"format", `{"a":"RT-<digits>"}`, `{"a":"RT-12x"}`},
		{"element", `[0]`, `[1,"2"]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if compare("$", parse(t, []byte(test.want)), parse(t, []byte(test.got))) == nil {
				t.Errorf("%s passes for %s", test.got, test.want)
			}
		})
	}
}
