package compliance_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/randomtest"
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
			HSPrefixes: []string{"9108", "9101-9103"}, Keywords: []string{"watch"}, PriceUSD: price, Seconds: 90,
			Fields: []compliance.FormField{{
				Field: compliance.Field{Name: "jewels", Label: "Number of jewels", Type: compliance.TypeNumber, Required: true},
				Help:  "Count them.", Minimum: zero,
			}},
		},
		{Slug: "OTHER", Title: "Other", Description: "Anything else.", Mode: compliance.ModeManual, PriceUSD: zero, Fields: []compliance.FormField{}},
	}
	watch, _ := rules.Form("WATCH")
	other, _ := rules.Form("OTHER")
	if diff := cmp.Diff(want, []*compliance.Form{watch, other}, cmpopts.IgnoreUnexported(compliance.FormField{}), cmp.Comparer(func(a, b shipping.Amount) bool { return a == b })); diff != "" {
		t.Errorf("forms (-want +got):\n%s", diff)
	}
	if form, ok := rules.Form("FDA"); ok {
		t.Errorf("FDA is not in the table, yet Form gives %v", form)
	}
}

func TestParse_ListsEveryProblemOfTheForms(t *testing.T) {
	t.Parallel()
	form := func(members string) string {
		return `{"slug": "FDA", "title": "t", "description": "d", "mode": "manual", "price_usd": 1, "generation_seconds": 1` + members + `}`
	}
	field := func(members string) string {
		return form(`, "fields": [{"name": "a", "label": "l", "type": "string"` + members + `}]`)
	}
	tests := []struct {
		forms string
		want  []string
	}{
		{``, []string{"list at least one form"}},
		{`null`, []string{"slug must be one of AMS", "title and description"}},
		{`7`, []string{"cannot unmarshal number", "at byte"}},
		{form(`, "us_onyl": true`), []string{`unknown field "us_onyl"`}},
		{form(`, "us_only": "yes"`), []string{"cannot unmarshal string"}},
		{`{"slug": "WATCHES", "mode": "automatic", "price_usd": 1.999, "generation_seconds": -1}`,
			[]string{"forms[0] (WATCHES)", "slug must be", "title and description", "mode must be automated or manual", "two decimals", "from 0 to 604800"}},
		{form(``) + `,` + form(``), []string{"FDA is listed twice"}},
		{form(`, "hs_prefixes": ["9102", "91.02", "9", "91-9102"]`), []string{`"91.02" must be 2, 4`, `"9" must be`, `"91-9102" must be`}},
		{form(`, "keywords": ["silk", "!"]`), []string{`"!" must contain a word`}},
		{form(`, "fields": [{"name": "Lot Number"}]`), []string{`"Lot Number" must be snake case`, "needs a label", "must be one of string, number, date, boolean, percent"}},
		{field(`}, {"name": "a", "label": "l", "type": "date"`), []string{"a is listed twice"}},
		{field(`, "pattern": "("`), []string{"the pattern of a is not a regular expression"}},
	}
	for _, test := range tests {
		_, err := compliance.Parse([]byte(`{"forms": [` + test.forms + `]}`))
		if err == nil {
			t.Errorf("%s is accepted", test.forms)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the error does not contain %q:\n%v", test.forms, want, err)
			}
		}
	}
	for _, table := range []string{``, `[]`, `{"forms": [` + form(``) + `]} {}`} {
		if _, err := compliance.Parse([]byte(table)); err == nil {
			t.Errorf("%s is accepted", table)
		}
	}
}

// FuzzParse: a table is refused, or it works for any goods and any profile. An empty one stands for the
// table that is built in.
func FuzzParse(f *testing.F) {
	builtIn, err := compliance.Default()
	if err != nil {
		f.Fatal(err)
	}
	randomtest.AddInputs(f, "testdata/FuzzParse.txt", []byte(nil), "", "", []byte(nil))
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
		for _, match := range rules.Match("CN", "US", []compliance.Item{{ID: "IT-1", Description: description, HSCode: hsCode}}) {
			if own, _ := rules.Form(match.Form.Slug); own != match.Form || len(match.Reasons) == 0 || len(match.Reasons) > 2 {
				t.Errorf("%q, %q needs %s for %+v", description, hsCode, match.Form.Slug, match.Reasons)
			}
		}
		var values map[string]json.RawMessage
		if json.Unmarshal(profile, &values) != nil {
			values = nil
		}
		for _, form := range formsOf(rules) {
			if !slices.Contains(compliance.Slugs(), form.Slug) || !form.PriceUSD.Known() || form.PriceUSD.Sign() < 0 || form.Seconds < 0 {
				t.Errorf("the form %+v is taken", form)
			}
			draft, complete := form.Check(values, false), form.Check(values, true)
			if len(draft) > len(complete) || slices.ContainsFunc(complete, func(p compliance.Problem) bool { return p.Reason == "" }) {
				t.Errorf("%s with %s has the problems %v, and once it is complete %v", form.Slug, profile, draft, complete)
			}
		}
	})
}
