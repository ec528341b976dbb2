package compliance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
)

func TestParse_ReplacesTheRules(t *testing.T) {
	t.Parallel()
	rules, err := compliance.Parse([]byte(`{"about": "ours", "forms": [
		{"slug": "WATCH", "title": "Watch worksheet", "description": "Takes a watch apart.", "mode": "automated", "us_only": true,
		 "cross_border": false, "hs_prefixes": ["9108", "9101-9103"], "keywords": ["watch"], "price_usd": 12.50, "generation_seconds": 90,
		 "fields": [{"name": "jewels", "label": "Number of jewels", "type": "number", "required": true, "help": "Count them.", "minimum": 0}]},
		{"slug": "OTHER", "title": "Other", "description": "Anything else.", "mode": "manual", "price_usd": 0, "generation_seconds": 0}]}`))
	if err != nil {
		t.Fatal(err)
	}
	price, _ := shipping.NewAmount(125, 1)
	zero, _ := shipping.NewAmount(0, 0)
	want := []*compliance.Form{
		{
			Slug: "WATCH", Title: "Watch worksheet", Description: "Takes a watch apart.", Mode: compliance.ModeAutomated, USOnly: true,
			HSPrefixes: []string{"9108", "9101", "9102", "9103"}, Keywords: []string{"watch"}, PriceUSD: price, Generation: 90 * time.Second,
			Fields: []compliance.Field{{
				Name: "jewels", Label: "Number of jewels", Type: compliance.TypeNumber, Required: true, Help: "Count them.", Minimum: zero,
			}},
		},
		{Slug: "OTHER", Title: "Other", Description: "Anything else.", Mode: compliance.ModeManual, PriceUSD: zero, Fields: []compliance.Field{}},
	}
	if diff := cmp.Diff(want, rules.Forms(), cmpopts.IgnoreUnexported(compliance.Field{}), cmp.Comparer(func(a, b shipping.Amount) bool { return a == b })); diff != "" {
		t.Errorf("forms (-want +got):\n%s", diff)
	}
	if form, ok := rules.Form("FDA"); ok {
		t.Errorf("FDA is not in the table, yet Form gives %v", form)
	}
}

func TestParse_NamesEveryProblemAtOnceWithItsPlace(t *testing.T) {
	t.Parallel()
	_, err := compliance.Parse([]byte(`{"comment": "", "forms": [
		{"slug": "WATCHES", "title": " ", "mode": "automatic", "price_usd": 1.999, "generation_seconds": -1, "hs_prefixes": ["9102", "9102"]},
		"WATCH",
		{"slug": "FDA", "title": "t", "description": "d", "mode": "manual", "price_usd": 1, "generation_seconds": 1, "fields": [
			{"name": "Lot Number", "label": "", "type": "text"}, 7]}]}`))
	var invalid *compliance.RulesError
	if !errors.As(err, &invalid) {
		t.Fatalf("error = %v, want a *RulesError", err)
	}
	var places []string
	for _, problem := range invalid.Problems {
		places = append(places, problem.Field)
	}
	want := []string{
		"comment",
		"forms[0].slug", "forms[0].title", "forms[0].description", "forms[0].mode", "forms[0].hs_prefixes[1]", "forms[0].price_usd",
		"forms[0].generation_seconds",
		"forms[1]",
		"forms[2].fields[0].name", "forms[2].fields[0].label", "forms[2].fields[0].type", "forms[2].fields[1]",
	}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	for _, place := range places {
		if !strings.Contains(err.Error(), "\n  "+place+": ") {
			t.Errorf("the message leaves out %s:\n%v", place, err)
		}
	}
}

func TestParse_SaysWhatIsWrongAndWhatWouldBeRight(t *testing.T) {
	t.Parallel()
	const types = `"text" must be one of string, number, date, boolean, percent`
	form := func(members string) string {
		return `{"forms": [{"slug": "FDA", "title": "t", "description": "d", "mode": "manual", "price_usd": 1, "generation_seconds": 1, ` + members + `}]}`
	}
	field := func(members string) string {
		return form(`"fields": [{"name": "a", "label": "l", ` + members + `}]`)
	}
	tests := []struct{ table, place, reason string }{
		{``, "line 1, column 1", "unexpected end of JSON input"},
		{`[]`, "file", "must be an object in braces"},
		{`{}`, "forms", "list at least one form"},
		{`{"forms": []}`, "forms", "list at least one form"},
		{`{"forms": {}}`, "forms", "must be a list of objects"},
		{`{"Forms": []}`, "Forms", "is not a key here; the keys are about, forms"},
		{`{"forms": [null]}`, "forms[0]", "must be an object in braces"},
		{form(`"slug": "AMS"`), "forms[0].slug", "is given twice; remove one"},
		{form(`"us_only": "yes"`), "forms[0].us_only", "must be true or false"},
		{form(`"us_only": null`), "forms[0].us_only", "must be true or false"},
		{form(`"keywords": "silk"`), "forms[0].keywords", "must be a list of texts"},
		{form(`"keywords": ["silk", 5]`), "forms[0].keywords", "must be a list of texts"},
		{form(`"keywords": ["silk", "!"]`), "forms[0].keywords[1]", "must contain a word"},
		{form(`"keywords": ["power bank", "Power-Bank"]`), "forms[0].keywords[1]", `"Power-Bank" is listed twice; remove one`},
		{form(`"hs_prefixes": ["9"]`), "forms[0].hs_prefixes[0]", `"9" must be 2, 4, 6, 8 or 10 digits, or a range of such: "9102", "7206-7229"`},
		{form(`"hs_prefixes": ["0012"]`), "forms[0].hs_prefixes[0]", `"0012" must be 2, 4, 6, 8 or 10 digits, or a range of such: "9102", "7206-7229"`},
		{form(`"hs_prefixes": ["91.02"]`), "forms[0].hs_prefixes[0]", `"91.02" must be 2, 4, 6, 8 or 10 digits, or a range of such: "9102", "7206-7229"`},
		{form(`"hs_prefixes": ["91-9102"]`), "forms[0].hs_prefixes[0]", `"91-9102" must be 2, 4, 6, 8 or 10 digits, or a range of such: "9102", "7206-7229"`},
		{form(`"hs_prefixes": ["12-07"]`), "forms[0].hs_prefixes[0]", `"12-07" must go upwards and span at most 100 headings`},
		{form(`"hs_prefixes": ["0101010101-9999999999"]`), "forms[0].hs_prefixes[0]", `"0101010101-9999999999" must go upwards and span at most 100 headings`},
		{form(`"hs_prefixes": ["07-12", "10"]`), "forms[0].hs_prefixes[1]", `"10" is listed twice; remove one`},
		{field(`"type": "text"`), "forms[0].fields[0].type", types},
		{field(`"type": "string", "pattern": "("`), "forms[0].fields[0].pattern", "is not a regular expression: error parsing regexp: missing closing ): `(`"},
		{field(`"type": "string", "pattern": "a)|(b"`), "forms[0].fields[0].pattern", "is not a regular expression: error parsing regexp: unexpected ): `a)|(b`"},
		{field(`"type": "date", "values": ["2026-01-05"]`), "forms[0].fields[0]", "values and pattern are for the type string"},
		{field(`"type": "percent", "minimum": 5`), "forms[0].fields[0].minimum", "is for the type number"},
		{field(`"type": "number", "minimum": "five"`), "forms[0].fields[0].minimum", "must be a number of at most 18 digits"},
		{strings.Replace(form(`"us_only": true`), `"generation_seconds": 1`, `"generation_seconds": 1.5`, 1), "forms[0].generation_seconds", "must be a whole number"},
		{strings.Replace(form(`"us_only": true`), `"price_usd": 1`, `"price_usd": "1"`, 1), "forms[0].price_usd", "must be a number of at most 18 digits"},
		{field(`"type": "string", "values": ["a", ""]`), "forms[0].fields[0].values[1]", "must hold a text"},
		{field(`"type": "string", "values": ["a", "a"]`), "forms[0].fields[0].values[1]", `"a" is listed twice; remove one`},
		{field(`"type": "string", "values": ["a"], "pattern": "b"`), "forms[0].fields[0].values[0]", `"a" can never be given: it must match the pattern b`},
		{form(`"fields": [{"name": "a", "label": "l", "type": "date"}, {"name": "a", "label": "l", "type": "date"}]`), "forms[0].fields[1].name",
			`"a" is listed twice; rename one`},
		{strings.Replace(form(`"fields": []`), `}]}`, `}, `+strings.TrimPrefix(form(`"fields": []`), `{"forms": [`), 1), "forms[1].slug",
			`"FDA" is listed twice; put the two together`},
	}
	for i, test := range tests {
		t.Run(fmt.Sprint(i, " ", test.place), func(t *testing.T) {
			t.Parallel()
			_, err := compliance.Parse([]byte(test.table))
			var invalid *compliance.RulesError
			if !errors.As(err, &invalid) {
				t.Fatalf("error = %v, want a *RulesError\n%s", err, test.table)
			}
			want := []compliance.Problem{{Field: test.place, Reason: test.reason}}
			if diff := cmp.Diff(want, invalid.Problems); diff != "" {
				t.Errorf("problems of %s (-want +got):\n%s", test.table, diff)
			}
		})
	}
}

func TestParse_PointsAtASyntaxError(t *testing.T) {
	t.Parallel()
	_, err := compliance.Parse([]byte("{\n  \"forms\": [,]\n}"))
	var invalid *compliance.RulesError
	if !errors.As(err, &invalid) || len(invalid.Problems) != 1 {
		t.Fatalf("error = %v, want a *RulesError with one problem", err)
	}
	if place := invalid.Problems[0].Field; !strings.HasPrefix(place, "line 2, column 1") {
		t.Errorf("place = %q, want line 2, column 12 or so", place)
	}
}

// FuzzParse: a table is refused, or it works for any goods and any profile. An empty one stands for the
// table that is built in.
func FuzzParse(f *testing.F) {
	builtIn, err := compliance.Default()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(everyType), "", "", []byte(`{"choice":"green","code":7,"time":"14:30","count":0.5,"date":"2026-02-30","flag":"yes","share":101,"new":{}}`))
	f.Add([]byte(`{"forms": [{"hs_prefixes": ["07-12"], "fields": [{"pattern": "("}]}]}`), "", "", []byte(nil))
	f.Fuzz(func(t *testing.T, table []byte, description, hsCode string, profile []byte) {
		rules := builtIn
		if len(table) > 0 {
			rules, err = compliance.Parse(table)
			if (rules == nil) == (err == nil) {
				t.Fatalf("Parse gives %v and %v, want one of them", rules, err)
			}
			if err != nil {
				return
			}
		}
		goods := compliance.Consignment{Origin: "cn", Destination: "US", Items: []compliance.Item{{ID: "IT-1", Description: description, HSCode: hsCode}}}
		for _, match := range rules.Match(goods) {
			if own, _ := rules.Form(match.Form.Slug); own != match.Form || len(match.Reasons) == 0 || len(match.Reasons) > 2 {
				t.Errorf("%q, %q needs %s for %+v", description, hsCode, match.Form.Slug, match.Reasons)
			}
		}
		var values map[string]json.RawMessage
		if json.Unmarshal(profile, &values) != nil {
			values = nil
		}
		for _, form := range rules.Forms() {
			if !slices.Contains(compliance.Slugs(), form.Slug) || !form.PriceUSD.Known() || form.PriceUSD.Sign() < 0 || form.Generation < 0 {
				t.Errorf("the form %+v is taken", form)
			}
			draft, complete := form.Check(values, false), form.Check(values, true)
			if len(draft) > len(complete) || slices.ContainsFunc(complete, func(p compliance.Problem) bool { return p.Reason == "" }) {
				t.Errorf("%s with %s has the problems %v, and once it is complete %v", form.Slug, profile, draft, complete)
			}
		}
	})
}
