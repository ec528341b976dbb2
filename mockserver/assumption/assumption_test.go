package assumption

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// A tag that cannot be read would be ignored: every value of a tag sets its field, and is in its range.
func TestSet_TagsAreValid(t *testing.T) {
	t.Parallel()
	for field := range reflect.TypeFor[Set]().Fields() {
		for _, tag := range []string{"open", "default", "basis", "contrary"} {
			if field.Tag.Get(tag) == "" {
				t.Errorf("%s has no %s", field.Name, tag)
			}
		}
		if scope := scopeOf(field); !slices.Contains([]Scope{ScopeServer, ScopeOpening, ScopeWorld}, scope) {
			t.Errorf("%s has the scope %q", field.Name, scope)
		}
		if text, ranged := field.Tag.Lookup("range"); ranged {
			least, most, found := strings.Cut(text, "..")
			if !found || !json.Valid([]byte(least)) || !json.Valid([]byte(most)) {
				t.Errorf("%s has the range %q", field.Name, text)
			}
		} else if kind := kindOf(field.Type).name; kind == "number" {
			t.Errorf("%s has no range", field.Name)
		}
		for _, tag := range []string{"contrary", "strict"} {
			var a Set
			if text, tagged := field.Tag.Lookup(tag); tagged && text != "-" {
				if err := a.Assign(field.Name, text); err != nil || a.Check() != nil {
					t.Errorf("%s: %s is %q: %v, %v", field.Name, tag, text, err, a.Check())
				}
			}
		}
	}
}

// Contrary changes every choice but those that the service cannot make, as the rows of the table state.
func TestContrary_ChangesEveryChoice(t *testing.T) {
	t.Parallel()
	var a Set
	Contrary(&a)
	fields := reflect.TypeFor[Set]()
	rows := a.Rows()
	if len(rows) != fields.NumField() {
		t.Fatalf("%d rows for %d fields", len(rows), fields.NumField())
	}
	for i, row := range rows {
		field := fields.Field(i)
		if row.Field != field.Name || row.Changed == (field.Tag.Get("contrary") == "-") {
			t.Errorf("%+v: changed is %t", row, row.Changed)
		}
	}
}

// Values out of range were accepted: a status of 99, a negative cap, and a number that is not one, for which
// GET /_mock/assumptions failed from then on, also after a restart.
func TestSet_AssignedValuesAreInRange(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ field, value, want string }{
		{"RuleFailureStatus", "99", "RuleFailureStatus is 99: it must be from 400 to 599, or 0 for the default"},
		{"RuleFailureStatus", "600", "from 400 to 599"},
		{"AnalyzeStatus", "300", "from 200 to 299"},
		{"PerPageCap", "-1", "from 1 to 1000000"},
		{"PerPageCap", "many", "PerPageCap"},
		{"PerPgeCap", "1", "PerPgeCap"},
		{"LastPageNull", "perhaps", "LastPageNull"},
		{"Purchasing", "5", "Purchasing"},
		{"Purchasing", "-1s", "Purchasing is -1s: it must be from 1ns to 8760h0m0s"},
		{"EvidenceAfter", "10000h", "to 8760h0m0s"},
		{"GenerationScale", "NaN", "GenerationScale is NaN: it must be from -1000000 to 1000000"},
		{"GenerationScale", "+Inf", "GenerationScale is +Inf"},
		{"GenerationScale", "1e7", "to 1000000"},
		{"DeliveryAccept", "2xx", "DeliveryAccept"},
		{"MaxBody", "-1", "from 1 to 1073741824"},
	} {
		var a Set
		err := a.Assign(test.field, test.value)
		if err == nil {
			err = a.Check()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s=%s: %v, want %q in it", test.field, test.value, err, test.want)
		}
	}
}

// null restores the value of the server, and a preset keeps what belongs to other scopes.
func TestSet_Apply(t *testing.T) {
	t.Parallel()
	base := Set{PerPageCap: 5, OneWorld: true, OpenOperations: []string{"rates.list"}}
	a := base
	a.PerPageCap, a.ObjectBreakdown = 7, true
	if err := a.Apply(Change{Preset: "contrary", Assumptions: map[string]json.RawMessage{
		"PerPageCap": json.RawMessage("null"), "Purchasing": json.RawMessage(`"90s"`), "LastPageNull": json.RawMessage("false"),
	}}, &base, ScopeWorld); err != nil {
		t.Fatal(err)
	}
	if a.PerPageCap != 5 || a.Purchasing != 90*time.Second || a.LastPageNull || !a.OldestFirst || !a.ObjectBreakdown || a.MaxBody != 0 || !a.OneWorld {
		t.Errorf("the set is %+v", a)
	}
	if err := a.Apply(Change{Preset: "default"}, &base, ScopeWorld, ScopeOpening); err != nil || !reflect.DeepEqual(a, base) {
		t.Errorf("the default is %+v (%v), want %+v", a, err, base)
	}
	for text, c := range map[string]Change{
		`did you mean "contrary"`: {Preset: "contrari"}, `did you mean "PerPageCap"`: {Assumptions: map[string]json.RawMessage{"PerPgeCap": json.RawMessage("null")}},
		"a whole number": {Assumptions: map[string]json.RawMessage{"PerPageCap": json.RawMessage("[1]")}},
		"from 1 to":      {Assumptions: map[string]json.RawMessage{"PerPageCap": json.RawMessage("-1")}},
	} {
		if err := a.Apply(c, &base, ScopeWorld); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%+v: %v, want %q in it", c, err, text)
		}
	}
}
