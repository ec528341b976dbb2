package randomtest

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

// AddInputs adds the inputs of a file to a fuzz test. A line is the name of an input and its values: a quoted text for
// each string or []byte among types, a number for each other type.
func AddInputs(f *testing.F, file string, types ...any) {
	f.Helper()
	inputs, err := os.Open(file)
	if err != nil {
		f.Fatal(err)
	}
	defer inputs.Close()
	lines := bufio.NewScanner(inputs)
	for lines.Scan() {
		var name string
		format, into := "%s", []any{&name}
		for _, value := range types {
			switch value.(type) {
			case string, []byte:
				format += " %q"
			default:
				format += " %d"
			}
			into = append(into, reflect.New(reflect.TypeOf(value)).Interface())
		}
		if _, err := fmt.Fscanf(strings.NewReader(lines.Text()), format, into...); err != nil {
			f.Fatalf("%s: %v: %s", file, err, lines.Text())
		}
		var input []any
		for _, value := range into[1:] {
			input = append(input, reflect.ValueOf(value).Elem().Interface())
		}
		f.Add(input...)
	}
	if err := lines.Err(); err != nil {
		f.Fatal(err)
	}
}
