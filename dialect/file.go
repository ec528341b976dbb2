package dialect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/internal/filelock"
	"github.com/shipping-go/shipping/internal/spelling"
)

// maxFile is the size of the largest file that Read reads.
const maxFile = 64 << 10

// Read reads a dialect from a file. The error lists every unknown member and wrong value.
func Read(path string) (*Dialect, error) {
	file, err := os.Open(path)
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

// Parse reads a dialect from JSON. The error lists every unknown member and wrong value.
func Parse(text []byte) (*Dialect, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("the dialect has more than %d bytes", maxFile)
	}
	d := new(Dialect)
	var problems []error
	read(text, reflect.ValueOf(d).Elem(), "", &problems)
	if err := errors.Join(append(problems, d.Check())...); err != nil {
		return nil, err
	}
	return d, nil
}

// membersOf returns the members of a JSON object.
func membersOf(text []byte) (map[string]json.RawMessage, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("is not a JSON object")
	}
	members := map[string]json.RawMessage{}
	for decoder.More() {
		name, err := decoder.Token()
		var value json.RawMessage
		if err = errors.Join(err, decoder.Decode(&value)); err != nil {
			return nil, fmt.Errorf("is not valid JSON: %w", err)
		}
		key, _ := name.(string)
		if _, twice := members[key]; twice {
			return nil, fmt.Errorf("has the member %q twice", key)
		}
		members[key] = value
	}
	if !json.Valid(text) {
		return nil, errors.New("is not valid JSON")
	}
	return members, nil
}

// read reads an object into a struct, member by member.
func read(text []byte, into reflect.Value, at string, problems *[]error) {
	members, err := membersOf(text)
	if err != nil {
		*problems = append(*problems, fmt.Errorf("%s %w", cmp.Or(strings.TrimSuffix(at, "."), "the dialect"), err))
		return
	}
	names := map[string]reflect.Value{}
	for f, value := range into.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names[name] = value
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value, known := names[name]
		switch {
		case !known:
			*problems = append(*problems, fmt.Errorf("unknown member %q%s", at+name, spelling.Suggestion(name, slices.Sorted(maps.Keys(names)))))
		case value.Kind() == reflect.Struct:
			read(members[name], value, at+name+".", problems)
		default:
			if err := json.Unmarshal(members[name], value.Addr().Interface()); err != nil {
				*problems = append(*problems, fmt.Errorf("%s cannot be %s: write %s", at+name, bytes.TrimSpace(members[name]), formOf(value)))
			}
		}
	}
}

// formOf describes the JSON of a value.
func formOf(value reflect.Value) string {
	switch value.Interface().(type) {
	case string:
		return "a text"
	case bool:
		return "true or false"
	case []string:
		return "a list of texts"
	case map[string]string:
		return "an object of texts"
	case Duration:
		return `a duration such as "90s"`
	case float64:
		return "a number"
	}
	return "a whole number"
}

// Write writes the dialect to a file, through a temporary one beside it.
func (d *Dialect) Write(path string) error {
	if err := d.Check(); err != nil {
		return err
	}
	written := *d
	written.Version = Version
	return filelock.Replace(path, func(to io.Writer) error {
		encoder := json.NewEncoder(to)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(written)
	})
}
