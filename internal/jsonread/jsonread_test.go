package jsonread_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

type slug string

// price is read by a custom function.
type price struct{ Text string }

// raw keeps a value as it was sent.
type raw string

type part struct {
	Code  slug           `json:"code" alias:"slug,type" read:"bare"`
	Price price          `json:"price" alias:"amount" spec:"optional"`
	Count float64        `json:"count,omitempty"`
	Odd   map[string]raw `json:"-" read:"unreadable"`
}

type base struct {
	ID  string `json:"id"`
	Raw raw    `json:"-" read:"raw"`
}

type thing struct {
	base
	Count  int          `json:"count" spec:"optional"`
	Big    int64        `json:"big" spec:"optional"`
	Ratio  float64      `json:"ratio" spec:"optional"`
	Live   bool         `json:"live" spec:"optional"`
	Maybe  *bool        `json:"maybe" spec:"optional"`
	At     time.Time    `json:"at" spec:"optional"`
	Kinds  []slug       `json:"kinds" alias:"types" spec:"optional"`
	Parts  []part       `json:"parts" spec:"optional"`
	Strict []part       `json:"strict" spec:"optional" read:"strict"`
	One    *part        `json:"one" spec:"optional"`
	Extra  raw          `json:"extra" spec:"optional"`
	Counts map[slug]int `json:"counts" spec:"optional"`
	Nested *thing       `json:"nested" spec:"optional"`
	Hidden string       `json:"-"`
	Plain  string
}

func newReader() *jsonread.Reader {
	return jsonread.New(
		jsonread.Custom("number", func(d *jsonread.Decoder, p *price) bool {
			p.Text = d.RawText()
			return p.Text != "1e99"
		}, func(p *price) { p.Text = "twice" }),
		jsonread.Custom("", func(d *jsonread.Decoder, r *raw) bool {
			*r = raw(d.RawText())
			return true
		}, nil),
	)
}

func TestRead_MendsEachKindOfField(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	things := map[string]thing{
		`{"id":"a","ID":"b","Plain":"c","hidden":"d"}`: {base: base{ID: "a"}},
		`{"id":7}`:                {base: base{ID: "7"}},
		`{"id":false}`:            {base: base{ID: "false"}},
		`{"i\u0064":"\ud800\"x"}`: {base: base{ID: "\ufffd\"x"}},
		`{"count":"1,250"}`:       {Count: 1250},
		`{"count":2.0}`:           {Count: 2},
		`{"count":1e3}`:           {Count: 1000},
		`{"count":" -3 "}`:        {Count: -3},
		// Such products of floating-point arithmetic were 0.
		`{"count":1998.9999999999998}`:             {Count: 1999},
		`{"count":-110.00000000000001}`:            {Count: -110},
		`{"big":"1998.99999999999977262632"}`:      {Big: 1999},
		`{"big":"9223372036854775807"}`:            {Big: 9223372036854775807},
		`{"big":-9223372036854775808}`:             {Big: -9223372036854775808},
		`{"big":1234567890123456789.00}`:           {Big: 1234567890123456789},
		`{"ratio":"7200"}`:                         {Ratio: 7200},
		`{"live":"Yes"}`:                           {Live: true},
		`{"live":1}`:                               {Live: true},
		`{"maybe":"true"}`:                         {Maybe: &yes},
		`{"maybe":0}`:                              {Maybe: &no},
		`{"kinds":"x"}`:                            {Kinds: []slug{"x"}},
		`{"kinds":["x",7,null,{}]}`:                {Kinds: []slug{"x", "7", "", ""}},
		`{"kinds":[]}`:                             {Kinds: []slug{}},
		`{"parts":["x",7,null,{"count":"2"}]}`:     {Parts: []part{{Code: "x"}, {}, {}, {Count: 2}}},
		`{"parts":[{"count":"x"},{"count":null}]}`: {Parts: []part{{Odd: map[string]raw{"count": `"x"`}}, {}}},
		`{"one":"x"}`:                              {One: &part{Code: "x"}},
		`{"one":{"count":"x"}}`:                    {One: &part{Odd: map[string]raw{"count": `"x"`}}},
		`{"one":{"price":1e99,"code":"x"}}`:        {One: &part{Code: "x", Price: price{"1e99"}}},
		`{"nested":{"one":{"code":{}}}}`:           {Nested: &thing{base: base{Raw: `{"one":{"code":{}}}`}, One: &part{}}},
		`{"strict":null}`:                          {Strict: []part{}},
		`{"extra": [1, 2] }`:                       {Extra: "[1, 2]"},
		`{"extra":null}`:                           {Extra: "null"},
		`{"counts":{"a":1,"\u0062":2}}`:            {Counts: map[slug]int{"a": 1, "b": 2}},
		`{"counts":{"a":1,"a":"2","b":[]}}`:        {Counts: map[slug]int{"a": 2, "b": 0}},
		`{"counts":{}}`:                            {Counts: map[slug]int{}},
		`{"nested":{"nested":{"count":1}}}`: {Nested: &thing{base: base{Raw: `{"nested":{"count":1}}`},
			Nested: &thing{base: base{Raw: `{"count":1}`}, Count: 1}}},
	}
	for _, text := range []string{ // what cannot be read is zero
		`{"id":{}}`, `{"count":"12,50"}`, `{"big":1e-7}`, `{"big":1998.99999}`, `{"big":9007199254740993.0000001}`,
		`{"count":1.5}`, `{"count":true}`, `{"count":[1]}`, `{"count":1e300}`, `{"big":9223372036854775808}`,
		`{"ratio":1e999}`, `{"ratio":"NaN"}`, `{"ratio":"soon"}`, `{"live":"perhaps"}`, `{"maybe":"perhaps"}`,
		`{"maybe":[]}`, `{"kinds":7}`, `{"parts":{}}`, `{"one":[]}`, `{"one":null}`, `{"counts":null}`,
		`{"counts":[{"a":1}]}`, `[]`, ` null `,
	} {
		things[text] = thing{}
	}
	for text, want := range things {
		want.Plain = "untouched"
		if strings.HasPrefix(text, "{") {
			want.Raw = raw(text)
		}
		got := thing{Plain: "untouched"}
		if err := newReader().Read([]byte(text), &got, jsonread.Options{}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if difference := cmp.Diff(want, got, cmp.AllowUnexported(thing{})); difference != "" {
			t.Errorf("%s: (-want +got)\n%s", text, difference)
		}
	}
}

// The memory of one list is used again for the next, which may be within it.
func TestRead_ListsInListsOfAnyLength(t *testing.T) {
	t.Parallel()
	type node struct {
		ID    string `json:"id"`
		Nodes []node `json:"nodes"`
		Parts []part `json:"parts"`
	}
	var tree func(id string, depth, width int) node
	tree = func(id string, depth, width int) node {
		n := node{ID: id, Nodes: []node{}, Parts: []part{}}
		for i := range width {
			n.Parts = append(n.Parts, part{Code: slug(fmt.Sprint(id, "/", i)), Price: price{"1"}, Count: float64(i)})
			if depth > 0 {
				n.Nodes = append(n.Nodes, tree(fmt.Sprint(id, ".", i), depth-1, (width+i)%19))
			}
		}
		return n
	}
	reader := newReader()
	for _, width := range []int{0, 1, 2, 15, 16, 17, 40} {
		want := tree("n", 2, width)
		text := shippingtest.Must(json.Marshal(want))(t)
		text = bytes.ReplaceAll(text, []byte(`{"Text":"1"}`), []byte("1"))
		var got node
		shippingtest.NoError(t, reader.Read(text, &got, jsonread.Options{}))
		clear(text) // nothing of it is kept
		shippingtest.Diff(t, fmt.Sprintf("lists of %d", width), want, got)
	}
}

func TestRead_TakesTheLastOfMembersWithOneName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]part{
		`{"code":"a","code":"b"}`:                       {Code: "b"},
		`{"code":"a","code":null}`:                      {},
		`{"count":1,"count":"x"}`:                       {},
		`{"price":1,"price":1}`:                         {Price: price{"twice"}},
		`{"price":1,"price":1,"price":1}`:               {Price: price{"twice"}},
		`{"price":1,"amount":1}`:                        {Price: price{"1"}},
		`{"price":1,"amount":2}`:                        {Price: price{"twice"}},
		`{"amount":2,"amount":2}`:                       {Price: price{"twice"}},
		`{"type":"c","slug":"b"}`:                       {Code: "b"},
		`{"type":"c","slug":"b","code":"a","type":"d"}`: {Code: "a"},
		`{"code":"a","slug":"b","type":"c"}`:            {Code: "a"},
		`{"code":null,"type":"c"}`:                      {Code: "c"},
		`{"code":"","slug":"","type":7}`:                {Code: "7"},
		`{"type":"c","code":""}`:                        {Code: "c"},
		`{"slug":"b","slug":"c"}`:                       {Code: "c"},
	} {
		var got part
		if err := newReader().Read([]byte(text), &got, jsonread.Options{}); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
}

// Each value in a known format is read as a point in time, and any other value as the zero time.
func TestRead_Timestamps(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 11, 7, 17, 20, 0, 0, time.UTC)
	day := at.Truncate(24 * time.Hour)
	read := func(value string) (at time.Time, complete bool, err error) {
		var got struct {
			At time.Time `json:"at"`
		}
		complete = true
		err = newReader().Read([]byte(`{"at":`+value+`}`), &got,
			jsonread.Options{Report: func(jsonread.Difference) { complete = false }})
		return got.At, complete, err
	}
	for value, test := range map[string]struct {
		want     time.Time
		complete bool // no difference is reported
	}{
		`"2024-11-07T17:20:00Z"`:            {at, true},
		`"2024-11-07T17:20:00.000Z"`:        {at, true},
		`"2024-11-07T17:20:00,5Z"`:          {at.Add(500 * time.Millisecond), true},
		`"2024-11-07T17:20:00.0000000009Z"`: {at, true},
		`"2024-11-07T17:20Z"`:               {at, true},
		`"20241107T172000Z"`:                {at, true},
		`"20241107T1720Z"`:                  {at, true},
		`"20241107T172000.25+0100"`:         {at.Add(250*time.Millisecond - time.Hour), true},
		`"2024-11-07T18:20:00+01"`:          {at, true},
		`"2024-11-07T16:50:00-00:30"`:       {at, true},
		`"2024-11-07t17:20:00z"`:            {at, true},
		`"2024-11-07T9:20:00Z"`:             {at.Add(-8 * time.Hour), true},
		`"2024-11-07T9:20:00"`:              {at.Add(-8 * time.Hour), false},
		`"2024-10-31T17:20:00.000Z"`:        {at.AddDate(0, 0, -7), true},
		`"2024-11-07 17:20:00.5Z"`:          {at.Add(500 * time.Millisecond), true},
		`"2024-11-07T17:20:00\u005a"`:       {at, true},
		`" 2024-11-07T17:20:00Z "`:          {at, true},
		`"2024-02-29T00:00:00Z"`:            {time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), true},
		`"2024-11-07T17:20:00"`:             {at, false},
		`"2024-11-07 17:20"`:                {at, false},
		`"2024-11-07"`:                      {day, false},
		`"Thu, 07 Nov 2024 17:20:00 GMT"`:   {at, false},
		`"Thu, 07 Nov 2024 18:20:00 +0100"`: {at, false},
		`1731000000`:                        {at, false},
		`"1731000000"`:                      {at, false},
		`1731000000000`:                     {at, false},
	} {
		if at, complete, err := read(value); err != nil || !at.Equal(test.want) || complete != test.complete {
			t.Errorf("%s: %v, complete %t, %v; want %v", value, at, complete, err, test.want)
		}
	}
	for _, value := range []string{
		`""`, `0`, `-1`, `1.5`, `true`, `99999999999999999`, `"yesterday"`, `"2024-02-30T00:00:00Z"`, `"2023-02-29"`,
		`"2024-13-01"`, `"2024-11-07T24:00:00Z"`, `"2024-11-07T17:60:00Z"`, `"2024-11-07T17:20:60Z"`,
		`"2024-11-07T17:20:00.Z"`, `"2024-11-07T1720:00Z"`, `"2024-11-07T17:20:00Zulu"`, `"2024-11-07T17:20:00+24:00"`,
		`"2024-11-07T17:20+"`, `"2024-11-07T"`, `"2024-11-07T17:20:00.12345678x9Z"`, `"2024-11-07T1:7:20Z"`, `"T"`,
		`"2024-1107"`,
	} {
		if at, complete, err := read(value); err != nil || !at.IsZero() || complete {
			t.Errorf("%s: %v, complete %t, %v", value, at, complete, err)
		}
	}
	if _, _, err := read("\"\x00\x00\x00\x00-11-07\""); err != jsonread.ErrSyntax {
		t.Errorf("NUL characters: %v", err)
	}
}

func TestRead_ReportsDifferences(t *testing.T) {
	t.Parallel()
	var got []string
	report := func(d jsonread.Difference) {
		got = append(got, fmt.Sprint(d.Kind, " ", d.Path, " ", d.Detail))
	}
	text := `{"big":1.5,"ratio":1e999,"x":1,"count":"1","kinds":[7],"types":null,"parts":[{"slug":"a","y":[]},"b",` +
		`{"code":"c","price":"1"},{"code":"d","price":1e99}],"one":[],"extra":{},"nested":{"id":null,"at":1}}`
	var into thing
	shippingtest.NoError(t, newReader().Read([]byte(text), &into, jsonread.Options{Report: report}))
	if difference := cmp.Diff([]string{
		"type big number instead of int64", "type ratio number instead of float64",
		"unknown x number", "type count string instead of number", "type kinds[] number instead of string",
		"unknown parts[].y array", "missing parts[].code ", "type parts[] string instead of object",
		"type parts[].price string instead of number",
		"type parts[].price number instead of price",
		"type one array instead of object", "type nested.at number instead of ISO 8601 timestamp", "missing id ",
	}, got); difference != "" {
		t.Errorf("(-want +got)\n%s", difference)
	}
}

func TestRead_Errors(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 10_100) + strings.Repeat("]", 10_100)
	for text, want := range map[string]error{
		``: jsonread.ErrSyntax, `{`: jsonread.ErrSyntax, `{} x`: jsonread.ErrSyntax, `{"id":"a",}`: jsonread.ErrSyntax,
		`{"x":` + deep + `}`: jsonread.ErrSyntax,
		`{"count":01}`:       jsonread.ErrSyntax, `{"count":"\x"}`: jsonread.ErrSyntax, `{"at":"2024}`: jsonread.ErrSyntax,
		`{"one":[}`:   jsonread.ErrSyntax,
		`{,"id":"a"}`: jsonread.ErrSyntax, `{"id":"a""count":1}`: jsonread.ErrSyntax, `{"id","a"}`: jsonread.ErrSyntax,
		`{"x","a"}`: jsonread.ErrSyntax, `{"id":"a"]`: jsonread.ErrSyntax,
		`{"kinds":["a","b","c"]}`:      jsonread.ErrCrowded,
		`{"x":[[1,2],[3]]}`:            jsonread.ErrCrowded,
		`{"kinds":["a","b"]}`:          nil,
		`{"strict":null}`:              nil,
		`{"strict":{"a":1}}`:           &jsonread.MismatchError{Path: "strict", Got: "object", Want: "array"},
		`{"nested":{"strict":7}}`:      &jsonread.MismatchError{Path: "nested.strict", Got: "number", Want: "array"},
		`{"strict":7,"kinds":[1,2,3]}`: jsonread.ErrCrowded,
		// Known members, unknown ones, and those of a value that is skipped or read by its own function.
		`{"id":"a"` + strings.Repeat(`,"id":"a"`, 4) + `}`:     nil,
		`{"id":"a"` + strings.Repeat(`,"id":"a"`, 5) + `}`:     jsonread.ErrCrowded,
		`{"x":0` + strings.Repeat(`,"x":0`, 5) + `}`:           jsonread.ErrCrowded,
		`{"x":[{"a":0,"b":0},{"a":0,"b":0,"c":0,"d":0,"e":0}]`: jsonread.ErrCrowded,
	} {
		var into thing
		err := newReader().Read([]byte(text), &into, jsonread.Options{Elements: 1, Members: 4})
		if mismatch, ok := errors.AsType[*jsonread.MismatchError](err); ok {
			shippingtest.Diff(t, text, want, error(mismatch))
		} else if err != want {
			t.Errorf("%.40s: %v, want %v", text, err, want)
		}
	}
}

type offered struct {
	Type     string `json:"document_type" alias:"slug,type" read:"bare"`
	Amount   priced `json:"amount" alias:"price"`
	Currency string `json:"currency" spec:"optional"`
	Mode     string `json:"mode" spec:"optional"`
}

type priced struct{ text string }

type drafted struct {
	Offers []offered `json:"available_documents"`
	Items  []offered `json:"line_items" alias:"items"`
}

// A renamed field has no other name, members of members are read at their place, and one that is given twice has no
// value.
func TestRename(t *testing.T) {
	t.Parallel()
	base := jsonread.New(jsonread.Custom("number",
		func(d *jsonread.Decoder, p *priced) bool { p.text = d.RawText(); return true },
		func(p *priced) { p.text = "twice" }))
	renamed := base.Rename(jsonread.Names{
		reflect.TypeFor[offered](): {"document_type": "slug", "amount": "price.value", "currency": "price.code", "mode": "-"},
		reflect.TypeFor[drafted](): {"line_items": "goods"},
	})
	twice := drafted{Offers: []offered{{Type: "FDA", Amount: priced{"twice"}}}}
	for text, want := range map[string]drafted{
		`{"available_documents":[{"slug":"FDA","price":{"value":12.5,"code":"NGN"},"mode":"x","document_type":"no",` +
			`"amount":3},"MSDS"],"goods":[],"line_items":[{}]}`: {
			Offers: []offered{{Type: "FDA", Amount: priced{"12.5"}, Currency: "NGN"}, {Type: "MSDS"}}, Items: []offered{}},
		`{"available_documents":[{"slug":"FDA","price":{"value":12.5,"code":"NGN"},"price":{"value":1}}]}`: twice,
		`{"available_documents":[{"slug":"FDA","price":{"value":12.5,"value":1}}]}`:                        twice,
		`{"available_documents":[{"slug":"FDA","price":null},{"price":7},{"price":"x"},{"price":[]}]}`: {
			Offers: []offered{{Type: "FDA"}, {}, {}, {}}},
	} {
		var got drafted
		if err := renamed.Read([]byte(text), &got, jsonread.Options{}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\n%+v\n%+v", text, err, got, want)
		}
	}
	var got drafted
	if err := base.Read([]byte(`{"available_documents":[{"slug":"FDA","price":3}],"items":[{}]}`), &got,
		jsonread.Options{}); err != nil || got.Offers[0].Amount.text != "3" || len(got.Items) != 1 {
		t.Errorf("the usual names: %+v, %v", got, err)
	}
	clash := base.Rename(jsonread.Names{reflect.TypeFor[offered](): {"currency": "mode.currency"}})
	var one offered
	if err := clash.Read([]byte(`{"mode":{"currency":"NGN"}}`), &one, jsonread.Options{}); err != nil {
		t.Errorf("a path through another field: %+v, %v", one, err)
	}
}

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
		shippingtest.Diff(t, text, want, name)
	}
	if name, found := jsonread.UnknownMember([]byte(`{"a":1}`), &map[string]any{}); found {
		t.Errorf("a map has no place for %q", name)
	}
}
