package fault_test

import (
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/fault"
)

func TestFault_IsTheSameAfterJSON(t *testing.T) {
	t.Parallel()
	faults := map[string]fault.Fault{ // by their JSON
		`{"kind":"rate-limit","duration":"1m30s","retry_after":"seconds"}`: fault.RateLimit(fault.RetryAfterSeconds,
			90*time.Second),
		`{"kind":"respond","status":204}`:                      fault.Respond(204, nil, ""),
		`{"kind":"respond","status":200,"body_base64":"/wA="}`: fault.Respond(200, nil, "\xff\x00"),
		`{"kind":"respond","status":200,"header":{"Content-Type":"application/json","Date":[],` +
			`"Warning":["one","two"]},"body":"{\"data\":"}`: fault.Respond(
			200, http.Header{"Content-Type": {"application/json"}, "Warning": {"one", "two"}, "Date": nil}, `{"data":`),
	}
	made := string(shippingtest.Must(os.ReadFile("kinds.go"))(t))
	for _, kind := range fault.Kinds() {
		if !regexp.MustCompile(`(?m)^func [A-Z].*\) Fault {\s[^}]*Kind: "` + kind.Kind + `"`).MatchString(made) {
			t.Errorf("%s has no constructor", kind.Kind)
		}
		text, err := json.Marshal(kind.Example)
		if err != nil || kind.Example.Kind != kind.Kind {
			t.Errorf("the example of %s is %s (%v)", kind.Kind, text, err)
		}
		faults[string(text)] = kind.Example
	}
	for want, made := range faults {
		shippingtest.NoError(t, made.Check())
		text, err := json.Marshal(made)
		if err != nil || string(text) != want {
			t.Errorf("%s, %v, want %s", text, err, want)
		}
		var again fault.Fault
		shippingtest.NoError(t, json.Unmarshal(text, &again))
		shippingtest.Diff(t, want, made, again)
	}
}

// A name can be given twice in two spellings, and a value can be a string or a list.
func TestHeader_ReadsStringsAndLists(t *testing.T) {
	t.Parallel()
	var got fault.Header
	shippingtest.NoError(t, json.Unmarshal([]byte(`{"warning":["b","c"],"Warning":"a","x-none":[]}`), &got))
	shippingtest.Diff(t, "header", fault.Header{"Warning": {"a", "b", "c"}, "X-None": nil}, got)
	for _, text := range []string{`{"a":7}`, `{"a":{}}`, `{"a":["b",7]}`, `"a"`, `[]`} {
		shippingtest.Contains(t, text, json.Unmarshal([]byte(text), &got), `write it as {"Retry-After":"7"`)
	}
}

func TestFault_CheckRefusesWhatAKindDoesNotRead(t *testing.T) {
	t.Parallel()
	full := fault.Fault{
		Status: 503, Header: fault.Header{"A": {"b"}}, Duration: 1, Bytes: 1, ContentType: "text/plain", Location: "/",
		RetryAfter: fault.RetryAfterSeconds, PerPage: 1, Rows: 1, Body: "a",
	}
	fields := reflect.TypeFor[fault.Fault]()
	for _, kind := range fault.Kinds() {
		for field := range fields.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			changed := kind.Example
			value := reflect.ValueOf(full).FieldByIndex(field.Index)
			if name == "kind" || value.IsZero() {
				continue
			}
			reflect.ValueOf(&changed).Elem().FieldByIndex(field.Index).Set(value)
			read := strings.Contains(","+strings.Join(kind.Needs, ",")+",", ","+name+",")
			switch err := changed.Check(); {
			case read && err != nil:
				t.Errorf("%s of %s: %v", name, kind.Kind, err)
			case !read && (err == nil || !strings.Contains(err.Error(),
				name+" does not apply to a fault of kind "+kind.Kind+", which reads kind")):
				t.Errorf("%s of %s: %v", name, kind.Kind, err)
			}
		}
	}
}

func TestFault_CheckRefusesValuesOutOfRange(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fault fault.Fault
		want  string
	}{
		{fault.Fault{}, `kind "": choose one of status, rate-limit`},
		{fault.Fault{Kind: "rate_limit"}, `unknown kind "rate_limit": did you mean "rate-limit"?`},
		{fault.Fault{Kind: "status"}, `choose one from 200 to 599, such as "status": 503`},
		{fault.Status(103, nil), "choose one from 200 to 599"},
		{fault.Status(503, http.Header{"A b": {"c"}}), `invalid header name "A b"`},
		{fault.Status(503, http.Header{"": {"c"}}), `invalid header name ""`},
		{fault.Status(503, http.Header{"A": {"b\r\nC: d"}}), "line break"},
		{fault.Status(503, http.Header{"content-length": {"3"}}), "Content-Length follows from the body"},
		{fault.Respond(200, http.Header{"Transfer-Encoding": {"chunked"}}, ""), "follows from the body"},
		{fault.Respond(204, nil, "a"), "has no body"},
		{fault.Respond(600, nil, ""), "choose one from 200 to 599"},
		{fault.Fault{Kind: "respond", Status: 200, Body: "a", BodyBase64: []byte("b")}, "leave one of them out"},
		{fault.Fault{Kind: "respond", Status: 200, Body: "\xff"}, "use body_base64"},
		{fault.HTML(204), "has no body"},
		{fault.HTML(7), "choose one from 200 to 599"},
		{fault.RateLimit("later", 0), "seconds, imf-date"},
		{fault.RateLimit(fault.RetryAfterSeconds, -1), "must not be below zero"},
		{fault.Redirect(""), "location"},
		{fault.Latency(0), "above zero"},
		{fault.Truncate(-1), "at least 0"},
		{fault.ContentType(""), "content_type"},
		{fault.CapPage(0), "at least 1"},
		{fault.InsertRows(0), "between 1 and 10000"},
		{fault.InsertRows(10_001), "between 1 and 10000"},
		{fault.RemoveRows(0), "between 1 and 10000"},
	} {
		shippingtest.Contains(t, test.fault.Kind, test.fault.Check(), test.want)
	}
	below := map[string]func(*fault.Fault){
		"status": func(f *fault.Fault) { f.Status = -1 }, "duration": func(f *fault.Fault) { f.Duration = -1 },
		"bytes": func(f *fault.Fault) { f.Bytes = -1 }, "per_page": func(f *fault.Fault) { f.PerPage = -1 },
		"rows": func(f *fault.Fault) { f.Rows = -1 },
	}
	for _, kind := range fault.Kinds() {
		for field, lower := range below {
			broken := kind.Example
			if lower(&broken); slices.Contains(kind.Needs, field) && broken.Check() == nil {
				t.Errorf("%s accepts %s -1", kind.Kind, field)
			}
		}
	}
}

// A fault shares no memory with its arguments, so that a test can change its header afterwards.
func TestFault_SharesNoMemory(t *testing.T) {
	t.Parallel()
	header := http.Header{"Warning": {"one"}}
	made := fault.Respond(200, header, "\xff")
	header["Warning"][0] = "two"
	clone := made.Clone()
	made.Header["Warning"][0], made.BodyBase64[0] = "three", 'a'
	shippingtest.Diff(t, "clone", fault.Fault{Kind: "respond", Status: 200, Header: fault.Header{"Warning": {"one"}},
		BodyBase64: []byte("\xff")}, clone)
}
