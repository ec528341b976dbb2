package jsonread

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// plain returns a value as encoding/json decodes it, with numbers as they are written.
func (v Value) plain() any {
	switch v.Kind {
	case '{':
		object := map[string]any{}
		for _, m := range v.Members {
			object[m.Name] = m.Value.plain()
		}
		return object
	case '[':
		list := []any{}
		for _, element := range v.Elements {
			list = append(list, element.plain())
		}
		return list
	case '"':
		return v.Text
	case 0:
		return nil
	}
	if v.Text == "true" || v.Text == "false" {
		return v.Text == "true"
	}
	return json.Number(v.Text)
}

// A value has what encoding/json decodes, and a text that is not JSON is absent.
func TestParse_AgreesWithEncodingJSON(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `null`, `true`, `-1.50e3`, `"a\u00e9\ud83d\ude00\n"`, ` { "a" : [ 1 , null , {"b":"\\"} ] , "a":2, "": false } `,
		"\"\xff\"", `"\ud800"`, `{"request":{"request_id":"RD-1","charged_amount":0.0}}`,
		``, `{`, `{"a"}`, `{"a":1,}`, `[1 2]`, `"a`, `tru`, `+1`, `{"a":nul}`, `NaN`, "\"\n\"", `{"a":1`,
	} {
		var want any
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if decoder.Decode(&want) != nil {
			want = nil
		}
		if d := cmp.Diff(want, Parse(text).plain()); d != "" {
			t.Errorf("%s: (-want +got)\n%s", text, d)
		}
	}
	deep := Parse(strings.Repeat(`[`, 100) + strings.Repeat(`]`, 100))
	for range deepest + 1 {
		deep = deep.Elements[0]
	}
	if deep.Kind != '[' || deep.Elements != nil {
		t.Errorf("the deepest value is %+v, want an empty list", deep)
	}
}
