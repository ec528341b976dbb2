package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/shipping-go/shipping"
)

// sound are responses, by file, that are as documented, with the first entry of every list.
func sound(t *testing.T, document *openapi3.T) map[string]response {
	t.Helper()
	all := map[string]response{}
	for _, g := range goldens() {
		if strings.HasSuffix(g.operation, ".list") || g.odd == nil { // only the later records of a list are odd
			all[filepath.Base(g.file)] = response{successOf(t, document, g.operation), firsts(t, g.path())}
		}
	}
	for _, record := range []string{"processing.json", "invoice_failed_generation.json"} {
		data := firsts(t, filepath.Join("..", "..", "mockserver", "internal", "regulatory", "testdata", record))
		all[record] = response{successOf(t, document, shipping.OpGetRequest), map[string]any{"status": true, "message": "OK", "data": data}}
	}
	return all
}

type response struct {
	schema *openapi3.Schema
	value  any
}

// firsts reads a golden file and keeps the first entry of every list.
func firsts(t *testing.T, file string) (value any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return trimmed(value)
}

// trimmed keeps the first entry of every list.
func trimmed(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, inner := range value {
			out[name] = trimmed(inner)
		}
		return out
	case []any:
		out := []any{}
		for _, inner := range value[:min(1, len(value))] {
			out = append(out, trimmed(inner))
		}
		return out
	default:
		return value
	}
}

// replaceEach calls emit with a value in which each place in turn holds an empty object.
func replaceEach(place string, value any, emit func(place string, changed any)) {
	emit(place, map[string]any{})
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			replaceEach(place+"/"+name, inner, func(place string, changed any) {
				outer := maps.Clone(value)
				outer[name] = changed
				emit(place, outer)
			})
		}
	case []any:
		for i, inner := range value {
			replaceEach(fmt.Sprintf("%s/%d", place, i), inner, func(place string, changed any) {
				outer := slices.Clone(value)
				outer[i] = changed
				emit(place, outer)
			})
		}
	}
}

// The document gives every field a type: a wrong one is found.
func TestDocument_FindsAWrongTypeInEveryField(t *testing.T) {
	t.Parallel()
	anyObject := regexp.MustCompile("/(metadata|profiles|breakdown/0)(/|$)") // {} is as good as anything there
	for file, test := range sound(t, rules(t)) {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			check := func(value any) error {
				text, err := json.Marshal(value)
				if err != nil {
					t.Fatal(err)
				}
				return validate(test.schema, text)
			}
			if err := check(test.value); err != nil {
				t.Fatalf("as it is: %v", err)
			}
			fields := 0
			replaceEach("", test.value, func(place string, changed any) {
				if anyObject.MatchString(place) {
					return
				}
				fields++
				if check(changed) == nil {
					t.Errorf("{} in place of %s is not found", place)
				}
			})
			if fields < 3 {
				t.Errorf("%d fields were changed", fields)
			}
		})
	}
}
