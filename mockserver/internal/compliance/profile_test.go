package compliance_test

import (
	"encoding/json"
	"strings"
	"testing"

	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
)

// everyType is a form with a field of each kind.
const everyType = `{"forms": [{"slug": "OTHER", "title": "t", "description": "d", "mode": "manual", "price_usd": 1, "generation_seconds": 0,
	"fields": [
		{"name": "text", "label": "l", "type": "string", "required": true},
		{"name": "choice", "label": "l", "type": "string", "values": ["red", "blue"], "required": true},
		{"name": "code", "label": "l", "type": "string", "pattern": "[A-Z]{2}|-"},
		{"name": "time", "label": "l", "type": "string", "pattern": "[0-9]{2}:[0-9]{2}", "help": "Such as 14:30."},
		{"name": "number", "label": "l", "type": "number", "required": true},
		{"name": "count", "label": "l", "type": "number", "minimum": 1},
		{"name": "date", "label": "l", "type": "date"},
		{"name": "flag", "label": "l", "type": "boolean", "required": true},
		{"name": "share", "label": "l", "type": "percent"}]}]}`

func formOfEveryType(t testing.TB) *compliance.Form {
	rules := shippingtest.Must(compliance.Parse([]byte(everyType)))(t)
	return formsOf(rules)[0]
}

func TestCheck_ValuesOfEachType(t *testing.T) {
	t.Parallel()
	const (
		text    = "must be a text in quotes"
		number  = "must be a number without quotes, such as 12.5"
		date    = `must be a date in quotes, such as "2026-01-05"`
		flag    = "must be true or false, without quotes"
		percent = "must be a number from 0 to 100, without quotes"
	)
	long := `"` + strings.Repeat("É", 500) + `"`
	tests := []struct{ field, value, want string }{
		{"text", `"Ł ₦ \""`, ""},
		{"text", `5`, text},
		{"text", `{}`, text},
		{"text", long, ""},
		{"text", long[:len(long)-1] + `!"`, "must be at most 500 characters; shorten it"},
		{"choice", `"blue"`, ""},
		{"choice", `"Blue"`, "must be one of red, blue"},
		{"choice", `[]`, "must be one of red, blue"},
		{"code", `"GH"`, ""},
		{"code", `"GHA"`, "must match the pattern [A-Z]{2}|-"},
		{"code", `"GH\n"`, "must match the pattern [A-Z]{2}|-"},
		{"time", `"14:30"`, ""},
		{"time", `"2 pm"`, "is not in the right form. Such as 14:30"},
		{"number", `-18.25`, ""},
		{"number", `1e3`, ""},
		{"number", `0.30000000000000000004`, "has more than 18 digits; round it"},
		{"number", `"12"`, number},
		{"number", `true`, number},
		{"number", `[1]`, number},
		{"number", `1,000`, number},
		{"count", `1`, ""},
		{"count", `0.5`, "must be at least 1"},
		{"date", `"2024-02-29"`, ""},
		{"date", `"2026-02-29"`, date},
		{"date", `"05/01/2026"`, date},
		{"date", `20260105`, date},
		{"flag", `false`, ""},
		{"flag", `"yes"`, flag},
		{"flag", `1`, flag},
		{"share", `0`, ""},
		{"share", `100.00`, ""},
		{"share", `100.01`, percent},
		{"share", `-1`, percent},
		{"share", `"50"`, percent},
	}
	form := formOfEveryType(t)
	for _, test := range tests {
		var want []compliance.Problem
		if test.want != "" {
			want = []compliance.Problem{{Field: test.field, Reason: test.want}}
		}
		got := form.Check(map[string]json.RawMessage{test.field: json.RawMessage(test.value)})
		shippingtest.Diff(t, test.field+": "+test.value, want, got)
	}
}

func TestCheck_NamesEveryProblemAtOnceInTheOrderOfTheForm(t *testing.T) {
	t.Parallel()
	got := formOfEveryType(t).Check(map[string]json.RawMessage{"zeta": []byte("1"), "share": []byte("101"),
		"flag": []byte(`"no"`), "alpha": []byte("null"), "text": []byte("7")})
	fields := "; its fields are text, choice, code, time, number, count, date, flag, share"
	want := []compliance.Problem{
		{Field: "text", Reason: "must be a text in quotes"},
		{Field: "flag", Reason: "must be true or false, without quotes"},
		{Field: "share", Reason: "must be a number from 0 to 100, without quotes"},
		{Field: "alpha", Reason: "is not a field of OTHER" + fields},
		{Field: "zeta", Reason: "is not a field of OTHER" + fields},
	}
	shippingtest.Diff(t, "problems", want, got)
}
