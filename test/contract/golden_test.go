package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
)

// validate checks a JSON text against a schema of the document.
func validate(schema *openapi3.Schema, text []byte) error {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	return schema.VisitJSON(value, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors())
}

// places returns the JSON pointers of the values that a validation refuses, each once.
func places(err error) []string {
	found := map[string]bool{}
	collectPlaces(err, found)
	return slices.Sorted(maps.Keys(found))
}

func collectPlaces(err error, found map[string]bool) {
	if several, ok := errors.AsType[openapi3.MultiError](err); ok {
		for _, each := range several {
			collectPlaces(each, found)
		}
		return
	}
	if one, ok := errors.AsType[*openapi3.SchemaError](err); ok {
		found["/"+strings.Join(one.JSONPointer(), "/")] = true
		return
	}
	if err != nil {
		found[err.Error()] = true
	}
}

// golden is a golden response of the client. Some differ from the specification on purpose, as a real service did, to prove
// that the client reads them; odd has the prefixes of those places.
type golden struct {
	file, operation string
	odd             []string
}

// path returns the path of the file.
func (g golden) path() string {
	return filepath.Join("..", "..", "internal", "shippingtest", "testdata", g.file)
}

// goldens returns the golden responses. That of a list has the name of the list.
func goldens(t *testing.T) (all []golden) {
	t.Helper()
	others := []golden{
		{"webhooks_only_page.json", shipping.OpListWebhooks, nil},
		{"replay.json", shipping.OpReplayWebhook, nil},
		{"purchase.json", shipping.OpPurchase, nil},
		{"draft.json", shipping.OpAnalyze, []string{"/data/addresses/destination", "/data/available_documents/1/reasons/0/item_id"}}, // fields left out; an empty id
		{"request.json", shipping.OpGetRequest, []string{"/data/available_documents/0"}},                                             // fields left out
	}
	odd := map[string][]string{ // of lists: a record in which every field is null; events for event
		"rates.json": {"/data/rates/2/"}, "countries.json": {"/data/3/"}, "transactions.json": {"/data/transactions/2/"},
		"webhooks.json": {"/data/webhooks/1", "/data/webhooks/2/"},
	}
	files, err := filepath.Glob(golden{file: "*.json"}.path())
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if i := slices.IndexFunc(others, func(g golden) bool { return g.file == name }); i >= 0 {
			all = append(all, others[i])
			continue
		}
		all = append(all, golden{name, strings.TrimSuffix(name, ".json") + ".list", odd[name]})
	}
	return all
}

// successOf returns the schema of a success of an operation.
func successOf(t *testing.T, document *openapi3.T, operation string) *openapi3.Schema {
	t.Helper()
	for _, op := range operations.All() {
		if op.Name != operation {
			continue
		}
		for status, response := range responsesOf(t, document, op) {
			if status[0] == '2' {
				return response.Value.Content.Get("application/json").Schema.Value
			}
		}
	}
	t.Fatalf("no operation %q: a golden response of another one than a list needs a row in goldens", operation)
	return nil
}

// responsesOf returns the documented responses of an operation, by status.
func responsesOf(t *testing.T, document *openapi3.T, op operations.Operation) map[string]*openapi3.ResponseRef {
	t.Helper()
	if path := document.Paths.Value(op.Route); path != nil && path.GetOperation(op.Method) != nil {
		return path.GetOperation(op.Method).Responses.Map()
	}
	t.Fatalf("internal/specification/service.json lacks %s %s (%s): add it to paths", op.Method, op.Route, op.Name)
	return nil
}

func TestGoldens_ClientAnswersAreAsDocumented(t *testing.T) {
	t.Parallel()
	document := rules(t)
	for _, test := range goldens(t) {
		t.Run(test.file, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(test.path())
			if err != nil {
				t.Fatal(err)
			}
			found := places(validate(successOf(t, document, test.operation), text))
			for _, place := range found {
				if !slices.ContainsFunc(test.odd, func(odd string) bool { return strings.HasPrefix(place, odd) }) {
					t.Errorf("%s is not as documented", place)
				}
			}
			for _, odd := range test.odd {
				if !slices.ContainsFunc(found, func(place string) bool { return strings.HasPrefix(place, odd) }) {
					t.Errorf("%s is listed as odd and is as documented", odd)
				}
			}
		})
	}
}

// The server's golden records are patterns: "RT-<digits>" stands for any such text, and a key with a
// question mark may be absent. Filled in, they are what the document describes, field by field.
func TestGoldens_ServerRecordsAreAsDocumented(t *testing.T) {
	t.Parallel()
	document := rules(t)
	files, err := filepath.Glob(filepath.Join("..", "..", "mockserver", "testdata", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := ""
		for word := range strings.SplitSeq(strings.TrimSuffix(filepath.Base(file), ".json"), "_") {
			name += strings.ToUpper(word[:1]) + word[1:]
		}
		if document.Components.Schemas[name] == nil {
			t.Errorf("%s has the name of no schema, such as replay_result.json of ReplayResult", file)
			continue
		}
		schema := document.Components.Schemas[name].Value
		for _, optional := range []bool{true, false} {
			if err := validate(schema, fill(t, schema, text, optional)); err != nil {
				t.Errorf("%s with optional fields %t is not a %s: %v", file, optional, name, err)
			}
		}
	}
}

// fill puts a value of its kind in place of each word of a golden pattern. Where the document has a list
// of values, any text is its first.
func fill(t *testing.T, schema *openapi3.Schema, text []byte, optional bool) []byte {
	t.Helper()
	var pattern any
	if err := json.Unmarshal(text, &pattern); err != nil {
		t.Fatal(err)
	}
	filled, err := json.Marshal(fillValue(schema, pattern, optional))
	if err != nil {
		t.Fatal(err)
	}
	return filled
}

func fillValue(schema *openapi3.Schema, pattern any, optional bool) any {
	switch pattern := pattern.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, value := range pattern {
			plain, isOptional := strings.CutSuffix(name, "?")
			if isOptional && !optional {
				continue
			}
			inner := &openapi3.Schema{}
			if property := schema.Properties[plain]; property != nil {
				inner = property.Value
			}
			out[plain] = fillValue(inner, value, optional)
		}
		return out
	case []any:
		out := []any{}
		for _, value := range pattern {
			out = append(out, fillValue(schema.Items.Value, value, optional))
		}
		return out
	case float64:
		return 1 // any number
	case string:
		return fillText(schema, pattern, optional)
	default:
		return pattern
	}
}

func fillText(schema *openapi3.Schema, pattern string, optional bool) any {
	switch {
	case strings.HasSuffix(pattern, " or null>") && !optional:
		return nil
	case pattern == "<text>" && len(schema.Enum) > 0:
		return schema.Enum[0]
	}
	return words().Replace(strings.Replace(pattern, " or null>", ">", 1))
}

// words is an example of each word of the golden patterns.
func words() *strings.Replacer {
	return strings.NewReplacer(
		"<text>", "some text", "<digits>", "0918273645", "<letters>", "NG", "<alphanumerics>", "7Q2MX09DKA4B8C1E",
		"<storage id>", "65a1b2c3d4e5f60718293a4d", "<timestamp>", "2026-01-05T09:30:00.000Z", "<currency>", "NGN",
		"<url>", "https://example.com/a", "<degrees>", "-66.5", "<utc offset>", "UTC-04:00", "<dialling code>", "1-787", "<any>", "",
	)
}
