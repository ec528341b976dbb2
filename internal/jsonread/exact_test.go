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

func newDocument() *document { return &document{Deep: &Deep{}} }

var exported = cmp.Exporter(func(reflect.Type) bool { return true })

// checkDocuments reads texts, and compares the documents with those that have been changed in the same way.
func checkDocuments(t *testing.T, tests map[string]func(*document)) {
	t.Helper()
	for text, change := range tests {
		got, want := newDocument(), newDocument()
		change(want)
		if err := jsonread.Unmarshal([]byte(text), got); err != nil {
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
	checkDocuments(t, map[string]func(*document){
		`{"request_id":"a","REQUEST_ID":"b"}`:       func(d *document) { d.RequestID = "a" },
		`{"REQUEST_ID":"b","request_id":"a"}`:       func(d *document) { d.RequestID = "a" },
		`{"Request_Id":"b"}`:                        func(*document) {},
		`{"requeſt_id":"b"}`:                        func(*document) {},
		"{\"\u212aey_mask\":\"b\",\"notes\":\"n\"}": func(d *document) { d.Notes = "n" },
		`{"\u0072equest_id":"a"}`:                   func(d *document) { d.RequestID = "a" },
		`{"\u0052equest_id":"b"}`:                   func(*document) {},
		`{"reque\u017ft_id":"b"}`:                   func(*document) {},
		`{"request-id":"b","requestid":"c"}`:        func(*document) {},
		`{"Plain":"a","plain":"b"}`:                 func(d *document) { d.Plain = "a" },
		`{"Skip":"b","skip":"c","-":"d"}`:           func(*document) {},
		`{"COUNT":"not a number","count":3}`:        func(d *document) { d.Count = 3 },
		`{"id":"a","Id":"b","ID":"c"}`:              func(d *document) {}, // in both embedded structs: in none
		`{"Notes":"b","task":"t","TASK":"u"}`:       func(d *document) { d.Task = "t" },
		`{"one":{"name":"a","NAME":"b"}}`:           func(d *document) { d.One.Name = "a" },
		`{"ONE":{"name":"a"}}`:                      func(*document) {},
		`{"one":{"parent":{"name":"a","Name":1}}}`:  func(d *document) { d.One.Parent = &item{Name: "a"} },
		`{"list":[{"Name":"b"},{"name":"a"}]}`:      func(d *document) { d.List = []item{{}, {Name: "a"}} },
		`{"pair":[{"Name":"b"},{"name":"a"}]}`:      func(d *document) { d.Pair[1].Name = "a" },
		`{"one":{"items":[{"NAME":"b"}]}}`:          func(d *document) { d.One.Items = []*item{{}} },
		`{"by_name":{"x":{"NAME":"b"},"X":{"name":"a"}}}`: func(d *document) {
			d.ByName = map[string]item{"x": {}, "X": {Name: "a"}}
		},
		`{"texts":{"a":"1","A":"2"}}`:     func(d *document) { d.Texts = map[string]string{"a": "1", "A": "2"} },
		`{"any":{"a":1,"A":2}}`:           func(d *document) { d.Any = map[string]any{"a": 1.0, "A": 2.0} },
		`{"raw":{"name":"a","NAME":"b"}}`: func(d *document) { d.Raw = json.RawMessage(`{"name":"a","NAME":"b"}`) },
		`{"one":{"amount":1,"Amount":2}}`: func(d *document) { d.One.Amount.text = "1" },
		"\t{ \"Notes\" :\n1 , \"notes\" : \"a\" , \"NOTES\":[{\"x\":\"}\\\"\"}] } ": func(d *document) { d.Notes = "a" },
	})
}

// If several members have the same name, the last one counts. A exactPrice that is given twice has no value.
func TestUnmarshal_TakesTheLastOfMembersWithOneName(t *testing.T) {
	t.Parallel()
	twice := exactPrice{text: `"given twice"`}
	checkDocuments(t, map[string]func(*document){
		`{"notes":"a","notes":"b"}`:                        func(d *document) { d.Notes = "b" },
		`{"notes":"a","note\u0073":"b"}`:                   func(d *document) { d.Notes = "b" },
		`{"notes":"a","notes":"b","notes":"c"}`:            func(d *document) { d.Notes = "c" },
		`{"notes":"a","notes":null}`:                       func(*document) {},
		`{"count":"x","count":2}`:                          func(d *document) { d.Count = 2 },
		`{"one":{"name":"a"},"one":{}}`:                    func(*document) {},
		`{"list":[{"name":"a"},{"name":"b"}],"list":[{}]}`: func(d *document) { d.List = []item{{}} },
		`{"texts":{"a":"1"},"texts":{"b":"2"}}`:            func(d *document) { d.Texts = map[string]string{"b": "2"} },
		`{"texts":{"a":"1","a":"2"}}`:                      func(d *document) { d.Texts = map[string]string{"a": "2"} },
		`{"price":1,"price":100}`:                          func(d *document) { d.Price = &twice },
		`{"price":1,"Price":2,"price":1,"count":1}`:        func(d *document) { d.Price, d.Count = &twice, 1 },
		`{"price":1,"price":2,"price":3}`:                  func(d *document) { d.Price = &twice },
		`{"one":{"amount":1,"items":[],"amount": {"a":[1]} }}`: func(d *document) {
			d.One.Amount, d.One.Items = twice,
				[]*item{}
		},
		`{"list":[{"amount":1},{"amount":2,"amount":2},{"amount":3}]}`: func(d *document) {
			d.List = []item{{Amount: exactPrice{text: "1"}}, {Amount: twice}, {Amount: exactPrice{text: "3"}}}
		},
		`{"one":{"amount":1},"one":{"amount":2}}`: func(d *document) { d.One.Amount.text = "2" },
		`{"one":{"amount":1,"amount":2,"parent":{"amount":3,"amount":4}}}`: func(d *document) {
			d.One.Amount,
				d.One.Parent = twice, &item{Amount: twice}
		},
		`{"by_name":{"x":{"name":"a"},"x":{}},"pair":[{"name":"a"}],"pair":[{},{}]}`: func(
			d *document) {
			d.ByName = map[string]item{"x": {}}
		},
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
