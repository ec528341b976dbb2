package jsonread

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/internal/randomtest"
)

// FuzzScanner: the scanner takes the values that encoding/json takes, and reads the same strings.
func FuzzScanner(f *testing.F) {
	randomtest.AddInputs(f, "testdata/FuzzScanner.txt", "")
	for _, text := range []string{
		`{"a":[1,-2.5e3,"\u00e9",true,null],"b":{"c":"é🚲"}}`, ` [ ] `, `{ }`, `[1, [2], {"a" : null}]`,
		`{"a":1,"a":2,"":{"b":"}"}}`, "\n\t 1\r\n",
		`nul`, `nulll`, `tru`, `[`, `[1`, `[1,`, `[1,]`, `[,1]`, `[1 2]`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`,
		`{"a":1,}`, `{a:1}`, `{"a" 1}`,
		`{,}`, `[}`, `{]`, `]`, `}`, `,`, `:`, "\x00", "1\x00", "\xff", "\u00a01", `1,`, `a`, `'a'`,
		`0`, `-0`, `123456789012345678901`, `1.5`, `-1.50`, `1e3`, `1E+3`, `1.25e-3`,
		`-`, `+1`, `01`, `-01`, `1.`, `.5`, `1.e3`, `1e`, `1e+`, `1x`, `1 2`, `Infinity`, `0x10`,
		// Half a surrogate pair and bytes that are not UTF-8.
		`"\ud83d"`, `"\ud83d\n"`, `"\ud83d\u0041"`, `"\ude80\ud83d"`, `"\ud83d\ud83d\ude80"`, "\"\xff\"", "\"1234567\xc3\"",
		"\"\xc3\\n\xc3\"", "\"\xed\xa0\x80\"",
		`""`, `"a"`, `"1234567"`, `"12345678"`, `"123456789"`, `"NGN 18450.50 — café 🚲"`, `"1234567é"`, `"12345678é"`,
		`"\""`, `"\\"`, `"a\\"`, `"\/\b\f\n\r\t"`, `"\u0041\u00e9\u20AC"`, `"x\ud83d\ude80y"`, `"1234567\n"`, `"\u0000"`,
		"\"\x7f\u2028\"",
		`"`, `"a`, `"\"`, `"\`, `"\u`, `"\u12"`, `"\u12g4"`, `"\x41"`, "\"\n\"", "\"\x00\"", "\"1234567\x1f\"",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := newScanner([]byte(text))
		value := s.Raw()
		if taken := value != nil && s.done(); taken != json.Valid([]byte(text)) || taken &&
			string(value) != strings.Trim(text, " \t\r\n") {
			t.Errorf("%q: taken %t, as %q", text, taken, value)
		}
		var want string
		isString := json.Unmarshal([]byte(text), &want) == nil && !bytes.Equal(value, []byte("null"))
		s = newScanner([]byte(text))
		if got := s.string(); s.done() != isString || isString && got != want {
			t.Errorf("%q is read as %q, by encoding/json as %q", text, got, want)
		}
	})
}

func TestCrowded_CountsElementsAndNothingElse(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(",0", 10)
	for text, want := range map[string]bool{
		"[0" + many + "]":                               false,
		"[0" + many + ",0]":                             true,
		`{"a":[0` + many + `],"b":[0,0]}`:               true,
		`{"a":[[0` + many + `],[]]}`:                    true,
		`{"a":0` + strings.Repeat(`,"a":0`, 20) + "}":   false,
		`["` + many + many + `"]`:                       false,
		`["\"` + many + many + `"]`:                     false,
		`[{"a":0` + strings.Repeat(`,"a":0`, 20) + "}]": false,
		"]]}}" + many + many:                            false,
		`["` + many + many:                              false,
		"":                                              false,
	} {
		if got := Crowded([]byte(text), 10); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

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
		`{}`, `[]`, `null`, `true`, `-1.50e3`, `"a\u00e9\ud83d\ude00\n"`,
		` { "a" : [ 1 , null , {"b":"\\"} ] , "a":2, "": false } `,
		"\"\xff\"", `"\ud800"`, `"\"\\\/\b\f\n\r\t\u0041\u00E9\u20ac"`, `"\udc00\ud83d"`, `"\ud83d\u0041"`, `"\ud83d\n"`,
		`"\ud83d\ud83d\ude00"`,
		"\"\\n\xe2\x82\"", `"\ud83d\ude0"`, `"\u12g4"`, `"\x"`, `"\`,
		`{"request":{"request_id":"RD-1","charged_amount":0.0}}`,
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
