package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
)

// sound are responses, by file, that are as documented.
func sound(t *testing.T) (all []response) {
	t.Helper()
	for _, g := range goldens(t) {
		if strings.HasSuffix(g.operation, ".list") || g.odd == nil { // only the later records of a list are odd
			all = append(all, response{filepath.Base(g.file), g.operation, firsts(t, g.path())})
		}
	}
	for _, record := range []string{"processing.json", "invoice_failed_generation.json"} {
		data := firsts(t, filepath.Join("..", "..", "mockserver", "internal", "regulatory", "testdata", record))
		all = append(all, response{record, shipping.OpGetRequest, map[string]any{"status": true, "message": "OK", "data": data}})
	}
	return all
}

type response struct {
	file, operation string
	value           any
}

// firsts reads a golden file and keeps the first entry of every list.
func firsts(t *testing.T, file string) any {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return trimmed(value)
}

// mutation is one change of a JSON value, and where.
type mutation struct {
	place string
	value any // the whole text's, changed
}

// mutations returns a value changed in one place at a time: each value replaced by one of every type and
// by texts that are nearly right, each field left out and doubled under another name.
func mutations(value any) []mutation {
	var out []mutation
	mutate("", value, func(place string, changed any) { out = append(out, mutation{place, changed}) })
	return out
}

func mutate(place string, value any, emit func(string, any)) {
	for _, other := range []any{
		nil, true, json.Number("-1"), json.Number("1.5"), json.Number("1.0"), "", "other", "RT-12x", "2026-01-05", "2026-01-05T09:30:00+01:00", []any{}, map[string]any{},
	} {
		emit(fmt.Sprintf("%s = %v", place, other), other)
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			without := maps.Clone(value)
			delete(without, name)
			emit(place+"/"+name+" left out", without)
			more := maps.Clone(value)
			more[name+"X"] = value[name]
			emit(place+"/"+name+" doubled", more)
			mutate(place+"/"+name, value[name], func(place string, changed any) {
				outer := maps.Clone(value)
				outer[name] = changed
				emit(place, outer)
			})
		}
	case []any:
		for i := range value {
			mutate(fmt.Sprintf("%s/%d", place, i), value[i], func(place string, changed any) {
				outer := slices.Clone(value)
				outer[i] = changed
				emit(place, outer)
			})
		}
	}
}

// The server's own checker gives the verdict of kin-openapi on every golden answer and on every change of
// one.
func TestVerdicts_OfTheServersCheckerAreThoseOfKinOpenAPI(t *testing.T) {
	t.Parallel()
	document, _ := rules(t)
	check, err := start(t).ResponseCheck()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range sound(t) {
		t.Run(test.file, func(t *testing.T) {
			t.Parallel()
			schema := successOf(t, document, test.operation)
			value := test.value
			accepted, refused := 0, 0
			for _, m := range append(mutations(value), mutation{"as it is", value}) {
				changed, err := json.Marshal(m.value)
				if err != nil {
					t.Fatal(err)
				}
				theirs, ours := validate(schema, changed), check(test.operation, 200, changed)
				if (theirs == nil) != (ours == nil) {
					t.Errorf("%s: kin-openapi: %v; the server's checker: %v", m.place, theirs, ours)
				}
				if ours == nil {
					accepted++
				} else {
					refused++
				}
				if m.place == "as it is" && ours != nil {
					t.Errorf("the golden answer is refused: %v", ours)
				}
			}
			t.Logf("%d changes: %d accepted, %d refused", accepted+refused, accepted, refused)
		})
	}
}

// A wrong type is found in every field, and reported with its place.
func TestVerdicts_AWrongTypeIsFoundInEveryField(t *testing.T) {
	t.Parallel()
	check, err := start(t).ResponseCheck()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range sound(t) {
		fields := 0
		mutate("", test.value, func(place string, changed any) {
			field, isObject := strings.CutSuffix(place, " = map[]")
			if !isObject || anyObject.MatchString(field) {
				return
			}
			fields++
			text, err := json.Marshal(changed)
			if err != nil {
				t.Fatal(err)
			}
			if err := check(test.operation, 200, text); err == nil || !strings.Contains(err.Error(), field) {
				t.Errorf("%s: {} in place of %s: %v", test.file, field, err)
			}
		})
		if fields == 0 {
			t.Errorf("%s: no field was changed", test.file)
		}
	}
}

// anyObject finds the places where {} is as good as anything.
var anyObject = regexp.MustCompile("/(metadata|profiles|breakdown/0)(/|$)")

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
