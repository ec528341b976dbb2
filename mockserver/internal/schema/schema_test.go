package schema_test

import (
	"strings"
	"testing"

	"github.com/shipping-go/shipping/mockserver/internal/schema"
)

// document wraps a schema as the answer of the operation "op" with status 200.
func document(text string) string {
	return `{"paths":{"/op":{"get":{"operationId":"op","responses":{
		"200":{"content":{"application/json":{"schema":` + text + `}}},
		"204":{"description":"no JSON"},
		"default":{"$ref":"#/components/responses/Failure"}}}}},
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
		{"integer with an exponent beyond every number", `{"type":"integer"}`, `1e99999999999999999999`, `1e-99999999999999999999`, "should be integer"},
		{"const", `{"const":true}`, `true`, `false`, "should be true"},
		{"enum", `{"enum":["a","b"]}`, `"b"`, `"c"`, "should be one of [a b]"},
		{"pattern", `{"pattern":"^RT-[0-9]+$"}`, `"RT-1"`, `"RT-x"`, "should match ^RT-[0-9]+$"},
		{"date-time", `{"format":"date-time"}`, `"2026-01-05T09:30:00.000Z"`, `"2026-01-05"`, "should be a date-time"},
		{"uri", `{"format":"uri"}`, `"https://example.com/a"`, `"/a"`, "should be a uri"},
		{"minimum", `{"minimum":1}`, `1.0`, `0.99`, "should be at least 1"},
		{"minimum of more digits than an amount has", `{"minimum":1}`, `1e400`, `-1e400`, "should be at least 1"},
		{"items", `{"items":{"type":"string"}}`, `["a"]`, `["a",1]`, "/1 is 1; it should be string"},
		{"minItems", `{"minItems":1}`, `[0]`, `[]`, "has 0 entries; it should have at least 1"},
		{"property", `{"properties":{"a":{"properties":{"b":{"type":"number"}}}}}`, `{"a":{"b":1}}`, `{"a":{"b":"1"}}`, `/a/b is "1"; it should be number`},
		{"required", `{"required":["a"]}`, `{"a":null}`, `{}`, "/a is missing"},
		{"dependentRequired", `{"dependentRequired":{"a":["b"]}}`, `{"c":1}`, `{"a":1}`, "/b is missing"},
		{"further properties", `{"additionalProperties":{"type":"number"}}`, `{"a":1}`, `{"a":"1"}`, "/a is"},
		{"a property that is not listed", `{"properties":{"a":{}}}`, `{"a":1}`, `{"b/c":1}`, "/b~1c is not in the document"},
		{"any property", `{"properties":{"a":{"type":"number"}},"additionalProperties":true}`, `{"b":1}`, `{"a":"1"}`, "/a is"},
		{"not", `{"not":{"required":["a"]}}`, `{}`, `{"a":1}`, "is what it should not be"},
		{"then", `{"if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":1,"b":1}`, `{"a":1}`, "/b is missing"},
		{"else", `{"if":{"required":["a"]},"else":{"required":["b"]}}`, `{"a":1}`, `{}`, "/b is missing"},
		{"$ref", `{"$ref":"#/components/schemas/Number"}`, `1`, `"1"`, "should be number"},
		{"keyword beside $ref", `{"$ref":"#/components/schemas/Number","enum":[2]}`, `2`, `3`, "should be one of [2]"},
		{"not JSON", `{}`, `{}`, `{"a"`, "is no JSON"},
		{"more than one value", `{}`, `{}`, `{} {}`, "something follows"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d, err := schema.Parse([]byte(document(test.schema)), schema.Closed)
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

func TestCheck_OpenDocumentLetsUnlistedFieldsPass(t *testing.T) {
	t.Parallel()
	d, err := schema.Parse([]byte(document(`{"properties":{"a":{}}}`)), schema.Open)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.CheckResponse("op", 200, []byte(`{"b":1}`)); err != nil {
		t.Error(err)
	}
}

func TestCheckResponse_ChoosesTheSchemaByStatus(t *testing.T) {
	t.Parallel()
	d, err := schema.Parse([]byte(document(`{"type":"string"}`)), schema.Closed)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, operation string
		status          int
		body, want      string // want "": accepted
	}{
		{"its own", "op", 200, `"a"`, ""},
		{"without JSON nothing is held against anything", "op", 204, `%PDF-`, ""},
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

func TestParse_RefusesWhatItWouldNotCheck(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, schema, want string }{
		{"unknown keyword", `{"maxLength":3}`, "maxLength"},
		{"unknown format", `{"format":"email"}`, "format email"},
		{"unknown type", `{"type":["text"]}`, "text is no type"},
		{"bad pattern", `{"pattern":"("}`, "missing closing"},
		{"dangling $ref", `{"$ref":"#/components/schemas/None"}`, "no such schema"},
		{"enumerated object", `{"const":{}}`, "only texts"},
		{"no object", `7`, "cannot unmarshal"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := schema.Parse([]byte(document(test.schema)), schema.Closed)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v; want an error with %q", err, test.want)
			}
		})
	}
	if _, err := schema.Parse([]byte("openapi: 3.1.0"), schema.Open); err == nil {
		t.Error("YAML is taken for JSON")
	}
	circle := `{"components":{"schemas":{"A":{"$ref":"#/components/schemas/B"},"B":{"$ref":"#/components/schemas/A"}}}}`
	if _, err := schema.Parse([]byte(circle), schema.Open); err == nil || !strings.Contains(err.Error(), "leads back to itself") {
		t.Errorf("a circle: %v", err)
	}
}
