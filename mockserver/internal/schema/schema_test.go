package schema_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/openapi"
	"github.com/shipping-go/shipping/mockserver/internal/schema"
)

// document wraps a schema as the answer of the operation "op" with status 200.
func document(text string) string {
	return `{"paths":{"/op":{"get":{"operationId":"op","responses":{
		"200":{"content":{"application/json":{"schema":` + text + `}}},
		"204":{"description":"no JSON"},
		"default":{"$ref":"#/components/responses/Failure"}}}},
		"/ranges":{"get":{"operationId":"ranges","responses":{"2XX":{"content":{"application/json":{"schema":` + text + `}}}}}}},
	"components":{
		"responses":{"Failure":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Refusal"}}}}},
		"schemas":{
			"Refusal":{"type":"object","properties":{"status":{"type":"boolean","const":false}},"required":["status"]},
			"Number":{"type":"number","minimum":1}}}}`
}

func TestCheck_FindsEachKindOfDifference(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, schema, good, bad, want string }{
		{"type", `{"type":"string"}`, `"a"`, `1`, "the body is 1; it should be string"},
		{"several types", `{"type":["integer","null"]}`, `null`, `"1"`, "should be integer or null"},
		{"integer written as a fraction", `{"type":"integer"}`, `1.50e1`, `1.5`, "should be integer"},
		{"integer with a negative exponent", `{"type":"integer"}`, `100e-2`, `100e-3`, "should be integer"},
		{"integer zero", `{"type":"integer"}`, `0.0`, `true`, "should be integer"},
		{"integer with an exponent beyond every number", `{"type":"integer"}`, `1e99999999999999999999`, `1.5`, "should be integer"},
		{"const", `{"const":true}`, `true`, `false`, "should be true"},
		{"enum", `{"enum":["a","b"]}`, `"b"`, `"c"`, "should be one of [a b]"},
		{"pattern", `{"pattern":"^RT-[0-9]+$"}`, `"RT-1"`, `"RT-x"`, "should match ^RT-[0-9]+$"},
		{"date-time", `{"format":"date-time"}`, `"2026-01-05T09:30:00.000Z"`, `"2026-01-05"`, "should be a date-time"},
		{"minimum", `{"minimum":1}`, `1.0`, `0.99`, "should be at least 1"},
		{"minimum of more digits than an amount has", `{"minimum":1}`, `1e400`, `-1e400`, "should be at least 1"},
		{"items", `{"items":{"type":"string"}}`, `["a"]`, `["a",1]`, "/1 is 1; it should be string"},
		{"property", `{"properties":{"a":{"properties":{"b":{"type":"number"}}}}}`, `{"a":{"b":1}}`, `{"a":{"b":"1"}}`, `/a/b is "1"; it should be number`},
		{"required", `{"required":["a"]}`, `{"a":null}`, `{}`, "/a is missing"},
		{"further properties", `{"additionalProperties":{"type":"number"}}`, `{"a":1}`, `{"a":"1"}`, "/a is"},
		{"a property that is not listed", `{"properties":{"a":{}}}`, `{"a":1}`, `{"b/c":1}`, "/b~1c is not in the document"},
		{"any property", `{"properties":{"a":{"type":"number"}},"additionalProperties":true}`, `{"b":1}`, `{"a":"1"}`, "/a is"},
		{"$ref", `{"$ref":"#/components/schemas/Number"}`, `1`, `"1"`, "should be number"},
		{"keyword beside $ref", `{"$ref":"#/components/schemas/Number","minimum":2}`, `2`, `1`, "should be at least 2"},
		{"not JSON", `{}`, `{}`, `{"a"`, "is not JSON"},
		{"more than one value", `{}`, `{}`, `{} {}`, "something follows"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d, err := schema.Parse([]byte(document(test.schema)))
			if err != nil {
				t.Fatal(err)
			}
			if err := d.CheckResponse("op", 200, []byte(test.good)); err != nil {
				t.Errorf("%s is refused: %v", test.good, err)
			}
			err = d.CheckResponse("op", 200, []byte(test.bad))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v; want an error with %q", test.bad, err, test.want)
			}
		})
	}
}

func TestCheckResponse_ChoosesTheSchemaByStatus(t *testing.T) {
	t.Parallel()
	d, err := schema.Parse([]byte(document(`{"type":"string"}`)))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, operation string
		status          int
		body, want      string // want "": accepted
	}{
		{"its own", "op", 200, `"a"`, ""},
		{"a body that is not JSON is not checked", "op", 204, `%PDF-`, ""},
		{"a range of statuses", "ranges", 201, `"a"`, ""},
		{"a range of statuses, and another value", "ranges", 202, `1`, "should be string"},
		{"a status that is not documented", "ranges", 500, `1`, "which the OpenAPI document does not have"},
		{"any other status is the default", "op", 503, `{"status":false}`, ""},
		{"a success where a failure belongs", "op", 503, `{"status":true}`, "/status"},
		{"a request that named no operation", "", 404, `{"status":false}`, ""},
		{"an operation that is not in the document", "other", 200, `{}`, `no operation "other"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := d.CheckResponse(test.operation, test.status, []byte(test.body))
			if (err == nil) != (test.want == "") || (err != nil && !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%v; want %q", err, test.want)
			}
		})
	}
}

func TestParse_RefusesWhatIsNotJSON(t *testing.T) {
	t.Parallel()
	if _, err := schema.Parse([]byte("openapi: 3.1.0")); err == nil {
		t.Error("YAML is taken for JSON")
	}
}

// Nothing in the responses of the service goes unchecked: their schemas use no keyword that Document does not know.
func TestDocument_KnowsTheKeywordsOfTheService(t *testing.T) {
	t.Parallel()
	known := []string{
		"$ref", "type", "const", "enum", "pattern", "format", "minimum", "items", "required", "properties", "additionalProperties",
		"description", "examples", "x-assumption", "x-go-type", // annotations
	}
	loaded, err := openapi.Load(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, assumed := range []bool{false, true} {
		text, err := loaded.Write(shipping.Operations(), func(string) bool { return assumed })
		if err != nil {
			t.Fatal(err)
		}
		var document map[string]any
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		var examine func(place string, node any)
		examine = func(place string, node any) {
			s, _ := node.(map[string]any)
			for name, argument := range s {
				switch {
				case !slices.Contains(known, name):
					t.Errorf("%s uses %q: add it to check.go and to this test, or use another keyword", place, name)
				case name == "$ref" && !seen[argument.(string)]:
					seen[argument.(string)] = true
					target := any(document)
					for _, step := range strings.Split(argument.(string), "/")[1:] {
						target = target.(map[string]any)[step]
					}
					examine(argument.(string), target)
				case name == "properties":
					for inner, property := range argument.(map[string]any) {
						examine(place+"/"+inner, property)
					}
				case name == "items", name == "additionalProperties":
					examine(place+" "+name, argument)
				}
			}
		}
		for _, operation := range shipping.Operations() {
			path, _ := document["paths"].(map[string]any)[operation.Route].(map[string]any)
			method, described := path[strings.ToLower(operation.Method)].(map[string]any)
			if !described {
				t.Errorf("service.json has no %s %s", operation.Method, operation.Route)
				continue
			}
			responses, err := json.Marshal(method["responses"])
			if err != nil {
				t.Fatal(err)
			}
			for _, ref := range regexp.MustCompile(`#/components/schemas/\w+`).FindAllString(string(responses), -1) {
				examine(operation.Name, map[string]any{"$ref": ref})
			}
		}
		examine("refusals", map[string]any{"$ref": "#/components/schemas/Refusal"})
		if len(seen) < 25 {
			t.Errorf("only %d schemas were examined", len(seen))
		}
	}
}
