package jsonread_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/internal/jsonread"
)

type exactPrice struct {
	_    jsonread.Once
	text string
}

func (p *exactPrice) UnmarshalJSON(text []byte) error {
	p.text = string(text)
	return nil
}

type exactBase struct {
	ID    string `json:"id"`
	Notes string `json:"notes"`
}

type Deep struct {
	ID   string `json:"id"`
	Task string `json:"task"`
}

type item struct {
	Name   string     `json:"name"`
	Amount exactPrice `json:"amount"`
	Parent *item      `json:"parent"`
	Items  []*item    `json:"items"`
}

type document struct {
	exactBase
	*Deep
	RequestID string            `json:"request_id"`
	KeyMask   string            `json:"key_mask"`
	Skip      string            `json:"-"`
	Count     int               `json:"count,omitempty"`
	Plain     string            // read as "Plain"
	Price     *exactPrice       `json:"price"`
	One       item              `json:"one"`
	List      []item            `json:"list"`
	Pair      [2]item           `json:"pair"`
	ByName    map[string]item   `json:"by_name"`
	Texts     map[string]string `json:"texts"`
	Any       any               `json:"any"`
	Raw       json.RawMessage   `json:"raw"`
	At        time.Time         `json:"at"`
}

var exported = cmp.Exporter(func(reflect.Type) bool { return true })

// checkDocuments reads texts as documents.
func checkDocuments(t *testing.T, documents map[string]document) {
	t.Helper()
	for text, want := range documents {
		got := document{Deep: &Deep{}}
		if want.Deep == nil {
			want.Deep = &Deep{}
		}
		if err := jsonread.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", text, err)
		} else if difference := cmp.Diff(want, got, exported); difference != "" {
			t.Errorf("%s: (-want +got)\n%s", text, difference)
		}
	}
}

// A member belongs to a field only if their names are equal byte for byte. encoding/json ignores case, so that AMOUNT
// would replace amount.
func TestUnmarshal_MatchesNamesExactly(t *testing.T) {
	t.Parallel()
	noted := func(text string) document { return document{exactBase: exactBase{Notes: text}} }
	checkDocuments(t, map[string]document{
		`{"request_id":"a","REQUEST_ID":"b"}`:             {RequestID: "a"},
		`{"REQUEST_ID":"b","request_id":"a"}`:             {RequestID: "a"},
		`{"Request_Id":"b"}`:                              {},
		`{"requeſt_id":"b"}`:                              {},
		"{\"\u212aey_mask\":\"b\",\"notes\":\"n\"}":       noted("n"),
		`{"\u0072equest_id":"a"}`:                         {RequestID: "a"},
		`{"\u0052equest_id":"b"}`:                         {},
		`{"reque\u017ft_id":"b"}`:                         {},
		`{"request-id":"b","requestid":"c"}`:              {},
		`{"Plain":"a","plain":"b"}`:                       {Plain: "a"},
		`{"Skip":"b","skip":"c","-":"d"}`:                 {},
		`{"COUNT":"not a number","count":3}`:              {Count: 3},
		`{"id":"a","Id":"b","ID":"c"}`:                    {}, // in both embedded structs: in none
		`{"Notes":"b","task":"t","TASK":"u"}`:             {Deep: &Deep{Task: "t"}},
		`{"one":{"name":"a","NAME":"b"}}`:                 {One: item{Name: "a"}},
		`{"ONE":{"name":"a"}}`:                            {},
		`{"one":{"parent":{"name":"a","Name":1}}}`:        {One: item{Parent: &item{Name: "a"}}},
		`{"list":[{"Name":"b"},{"name":"a"}]}`:            {List: []item{{}, {Name: "a"}}},
		`{"pair":[{"Name":"b"},{"name":"a"}]}`:            {Pair: [2]item{1: {Name: "a"}}},
		`{"one":{"items":[{"NAME":"b"}]}}`:                {One: item{Items: []*item{{}}}},
		`{"by_name":{"x":{"NAME":"b"},"X":{"name":"a"}}}`: {ByName: map[string]item{"x": {}, "X": {Name: "a"}}},
		`{"texts":{"a":"1","A":"2"}}`:                     {Texts: map[string]string{"a": "1", "A": "2"}},
		`{"any":{"a":1,"A":2}}`:                           {Any: map[string]any{"a": 1.0, "A": 2.0}},
		`{"raw":{"name":"a","NAME":"b"}}`:                 {Raw: json.RawMessage(`{"name":"a","NAME":"b"}`)},
		`{"one":{"amount":1,"Amount":2}}`:                 {One: item{Amount: exactPrice{text: "1"}}},
		// Spaces, and brackets in a text.
		"\t{ \"Notes\" :\n1 , \"notes\" : \"a\" , \"NOTES\":[{\"x\":\"}\\\"\"}] } ": noted("a"),
	})
}

// If several members have the same name, the last one counts. A price that is given twice has no value.
func TestUnmarshal_TakesTheLastOfMembersWithOneName(t *testing.T) {
	t.Parallel()
	twice := exactPrice{text: `"given twice"`}
	noted := func(text string) document { return document{exactBase: exactBase{Notes: text}} }
	checkDocuments(t, map[string]document{
		`{"notes":"a","notes":"b"}`:                            noted("b"),
		`{"notes":"a","note\u0073":"b"}`:                       noted("b"),
		`{"notes":"a","notes":"b","notes":"c"}`:                noted("c"),
		`{"notes":"a","notes":null}`:                           {},
		`{"count":"x","count":2}`:                              {Count: 2},
		`{"one":{"name":"a"},"one":{}}`:                        {},
		`{"list":[{"name":"a"},{"name":"b"}],"list":[{}]}`:     {List: []item{{}}},
		`{"texts":{"a":"1"},"texts":{"b":"2"}}`:                {Texts: map[string]string{"b": "2"}},
		`{"texts":{"a":"1","a":"2"}}`:                          {Texts: map[string]string{"a": "2"}},
		`{"price":1,"price":100}`:                              {Price: &twice},
		`{"price":1,"Price":2,"price":1,"count":1}`:            {Price: &twice, Count: 1},
		`{"price":1,"price":2,"price":3}`:                      {Price: &twice},
		`{"one":{"amount":1,"items":[],"amount": {"a":[1]} }}`: {One: item{Amount: twice, Items: []*item{}}},
		`{"list":[{"amount":1},{"amount":2,"amount":2},{"amount":3}]}`: {
			List: []item{{Amount: exactPrice{text: "1"}}, {Amount: twice}, {Amount: exactPrice{text: "3"}}}},
		`{"one":{"amount":1},"one":{"amount":2}}`: {One: item{Amount: exactPrice{text: "2"}}},
		`{"one":{"amount":1,"amount":2,"parent":{"amount":3,"amount":4}}}`: {
			One: item{Amount: twice, Parent: &item{Amount: twice}}},
		`{"by_name":{"x":{"name":"a"},"x":{}},"pair":[{"name":"a"}],"pair":[{},{}]}`: {ByName: map[string]item{"x": {}}},
	})
}

func TestUnmarshal_ReadsWhatAnInterfacePointsTo(t *testing.T) {
	t.Parallel()
	var got item
	var target any = &got
	if err := jsonread.Unmarshal([]byte(`{"name":"a","NAME":"b"}`), &target); err != nil || got.Name != "a" {
		t.Errorf("%+v, %v", got, err)
	}
	var read exactPrice
	if err := jsonread.Unmarshal([]byte(`{"Text":1}`), &read); err != nil || read.text != `{"Text":1}` {
		t.Errorf("%+v, %v", read, err)
	}
	if err := jsonread.Unmarshal([]byte(`{}`), nil); err == nil {
		t.Error("nil is read into")
	}
	if err := jsonread.Unmarshal([]byte(`{}`), (*item)(nil)); err == nil {
		t.Error("a nil pointer is read into")
	}
}

func TestUnknownMember_NamesTheFirstMemberWithoutAField(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"name":"a","items":[{"name":"b"}]}`: "none",
		`{"name":"a","Name":"b","other":1}`:   "Name",
		`{"items":[{"other":1}],"x":1}`:       "other",
		`{"":1}`:                              "",
		`{"amount":{"other":1}}`:              "none",
	} {
		name, found := jsonread.UnknownMember([]byte(text), &item{})
		if !found {
			name = "none"
		}
		if name != want {
			t.Errorf("%s: %q, not %q", text, name, want)
		}
	}
	if name, found := jsonread.UnknownMember([]byte(`{"a":1}`), &map[string]any{}); found {
		t.Errorf("a map has no place for %q", name)
	}
}

func TestUnmarshal_ReturnsTheErrorsOfEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, `{`, `{"name`, `{"name":"a",}`, `{"name":"a","NAME":tru e}`, `{"name":"a","NAME":"b"} x`, `[]`,
		`{"\x":1,"NAME":2}`,
		`{"items":[{"NAME":"b"},]}`, `{"NAME":"b","name":1}`, `{"NAME":"b","items":{}}`, strings.Repeat("[", 20_000),
		strings.Repeat(`{"items":[`, 9_000),
	} {
		var got, plain item
		gotErr, plainErr := jsonread.Unmarshal([]byte(text), &got), json.Unmarshal([]byte(text), &plain)
		if gotErr == nil || plainErr == nil || gotErr.Error() != plainErr.Error() {
			t.Errorf("%.40s: %v; encoding/json: %v", text, gotErr, plainErr)
		}
		var wrong, plainWrong *json.UnmarshalTypeError
		if errors.As(gotErr, &wrong) && errors.As(plainErr, &plainWrong) && wrong.Offset != plainWrong.Offset {
			t.Errorf("%.40s: offset %d, not %d", text, wrong.Offset, plainWrong.Offset)
		}
	}
}
