package shipping

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// jsonObject is a JSON object whose members can be changed.
type jsonObject struct{ members []jsonMember }

// jsonMember has its name in JSON, with quotes.
type jsonMember struct {
	name  string
	value any // *jsonObject, []any or a json.RawMessage
}

func (o *jsonObject) MarshalJSON() ([]byte, error) {
	var out strings.Builder
	for i, m := range o.members {
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "%s%s:%s", map[bool]string{true: ","}[i > 0], m.name, value)
	}
	return []byte("{" + out.String() + "}"), nil
}

// documentedMember is a member of a document that documentOf made, or the other name of one.
type documentedMember struct {
	object *jsonObject
	name   string // without quotes
	path   string // of the object, such as "data.rates[]"
	wrong  string // a value of the same type, but another one
}

// documentOf returns a document in which every field of a type has a value, and appends its members to the
// list.
func documentOf(t reflect.Type, path string, members *[]documentedMember) any {
	switch t {
	case reflect.TypeFor[requestData]():
		t = reflect.TypeFor[RegulatoryRequest]()
	case reflect.TypeFor[envelopeStatus]():
		return json.RawMessage(`true`)
	case reflect.TypeFor[RawJSON]():
		return json.RawMessage(`{"right":1}`)
	case reflect.TypeFor[Amount]():
		return json.RawMessage(`10.5`)
	case reflect.TypeFor[time.Time]():
		return json.RawMessage(`"2026-01-05T09:30:00Z"`)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return documentOf(t.Elem(), path, members)
	case reflect.Slice:
		return []any{documentOf(t.Elem(), path+"[]", members)}
	case reflect.String:
		return json.RawMessage(`"right"`)
	case reflect.Bool:
		return json.RawMessage(`true`)
	case reflect.Map:
		return json.RawMessage(`{"FDA":{"right":1}}`)
	case reflect.Struct:
		o := &jsonObject{}
		for name, f := range memberTypes(t) {
			alias := slices.Contains(aliases(t), name)
			within := members
			if alias {
				within = &[]documentedMember{} // its value is not in the document
			}
			value := documentOf(f, strings.TrimPrefix(path+"."+name, "."), within)
			if !alias {
				o.members = append(o.members, jsonMember{fmt.Sprintf("%q", name), value})
			}
			*members = append(*members, documentedMember{o, name, path, wrongValue(value)})
		}
		slices.SortFunc(o.members, func(a, b jsonMember) int { return strings.Compare(a.name, b.name) })
		return o
	}
	return json.RawMessage(`7`)
}

// aliases returns the other names of a type's fields.
func aliases(t reflect.Type) []string {
	var names []string
	for field := range t.Fields() {
		names = append(names, strings.Split(field.Tag.Get("alias"), ",")...)
	}
	return names
}

func wrongValue(right any) string {
	switch right := right.(type) {
	case json.RawMessage:
		switch right[0] {
		case '"':
			return `"2027-02-03T10:45:00Z"`
		case 't':
			return `false`
		case '{':
			return `{"wrong":2}`
		}
		return `99`
	case []any:
		return `[]`
	}
	return `{}`
}

// foldings returns names, in JSON, that encoding/json takes for a name although they differ from it.
func foldings(name string) []string {
	title := []rune(name)
	for i, r := range title {
		if unicode.IsLetter(r) {
			title[i] = unicode.ToUpper(r)
			break
		}
	}
	upper := strings.ToUpper(name)
	names := []string{upper, strings.ToLower(name), string(title), strings.ReplaceAll(name, "s", "ſ"), strings.ReplaceAll(name, "k", "\u212a")}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == name })
	for i := range names {
		names[i] = `"` + names[i] + `"`
	}
	return append(names, fmt.Sprintf(`"\u%04X%s"`, upper[0], upper[1:])) // "\u0041MOUNT" and the like
}

// exactReads are the calls that read every type of the wire.
func exactReads() map[string]struct {
	answer reflect.Type
	read   func(context.Context, *Client) (any, error)
} {
	type reader = struct {
		answer reflect.Type
		read   func(context.Context, *Client) (any, error)
	}
	return map[string]reader{
		"rates": {reflect.TypeFor[envelope[rateList]](), func(ctx context.Context, c *Client) (any, error) {
			page, err := c.Rates.List(ctx, nil)
			if err != nil {
				return nil, err
			}
			return []any{page.Items, page.Pagination}, nil
		}},
		"transactions": {reflect.TypeFor[envelope[transactionList]](), func(ctx context.Context, c *Client) (any, error) {
			page, err := c.Transactions.List(ctx, &TransactionListOptions{Wallet: "VA-1"})
			if err != nil {
				return nil, err
			}
			return []any{page.Items, page.Pagination}, nil
		}},
		"webhooks": {reflect.TypeFor[envelope[webhookList]](), func(ctx context.Context, c *Client) (any, error) {
			page, err := c.Webhooks.List(ctx, nil)
			if err != nil {
				return nil, err
			}
			return []any{page.Items, page.Pagination}, nil
		}},
		"countries": {reflect.TypeFor[envelope[[]Country]](), func(ctx context.Context, c *Client) (any, error) { return c.Countries.List(ctx) }},
		"replay": {reflect.TypeFor[envelope[ReplayResult]](), func(ctx context.Context, c *Client) (any, error) {
			return c.Webhooks.Replay(ctx, &ReplayRequest{DeliveryID: "WD-1"})
		}},
		"request": {reflect.TypeFor[envelope[requestData]](), func(ctx context.Context, c *Client) (any, error) {
			record, err := c.Regulatory.Get(ctx, "right")
			if err == nil {
				record.Raw = ""
			}
			return record, err
		}},
		"another operation": {reflect.TypeFor[envelope[Transaction]](), func(ctx context.Context, c *Client) (any, error) {
			var out Transaction
			err := c.Do(ctx, http.MethodGet, "/v1/other", nil, nil, &out)
			return out, err
		}},
	}
}

// A member whose name differs from a field's only in case is not read into the field, wherever it stands, whatever its
// value is, and whichever reader reads the response. It is reported as unknown.
func TestNames_MatchByteForByte(t *testing.T) {
	t.Parallel()
	for operation, test := range exactReads() {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			var members []documentedMember
			document := documentOf(test.answer, "", &members).(*jsonObject)
			var found []DriftFinding
			report := WithDriftReport(func(d Drift) { found = append(found, d.Findings...) })
			for reader, options := range map[string][]Option{"fast": nil, "repairing": nil} {
				restore := document.members
				if reader == "repairing" { // with a value of another type beside it
					document.members = slices.Clone(restore)
					i := slices.IndexFunc(restore, func(m jsonMember) bool { return m.name == `"message"` })
					document.members[i].value = json.RawMessage(`5`)
				}
				read := func(options ...Option) any {
					body, err := json.Marshal(document)
					if err != nil {
						t.Fatal(err)
					}
					value, err := test.read(t.Context(), clientOf(t, body, options...))
					if err != nil {
						t.Fatalf("%s: %v\n%s", reader, err, body)
					}
					return value
				}
				want := read(options...)
				for _, m := range members {
					checkFoldings(t, reader, m, want, func() any { return read(options...) })
				}
				document.members = restore
			}
			for _, m := range members {
				name := foldings(m.name)[0]
				found = nil
				complete := m.object.members
				m.object.members = append(slices.Clone(complete), jsonMember{name, json.RawMessage(m.wrong)})
				body, err := json.Marshal(document)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := test.read(t.Context(), clientOf(t, body, report)); err != nil {
					t.Fatal(err)
				}
				m.object.members = complete
				unknown := strings.TrimPrefix(m.path+"."+strings.Trim(name, `"`), ".")
				if operation != "another operation" && !slices.ContainsFunc(found, func(f DriftFinding) bool { return f.Path == unknown && f.Kind == driftUnknown }) {
					t.Errorf("%s is not reported as unknown: %v", unknown, found)
				}
			}
		})
	}
}

// checkFoldings adds each folding of a member's name to its object, before and behind the member, with
// values that would change the record, and without the member itself.
func checkFoldings(t *testing.T, reader string, m documentedMember, want any, read func() any) {
	t.Helper()
	complete := m.object.members
	defer func() { m.object.members = complete }()
	for _, name := range foldings(m.name) {
		for _, wrong := range []string{m.wrong, `{"a":[1]}`, `"x"`} {
			added := jsonMember{name, json.RawMessage(wrong)}
			for place, changed := range [][]jsonMember{
				slices.Insert(slices.Clone(complete), 0, added),
				append(slices.Clone(complete), added),
			} {
				m.object.members = changed
				if difference := cmp.Diff(want, read(), cmp.Exporter(func(reflect.Type) bool { return true })); difference != "" {
					t.Fatalf("%s: %s: %s beside %q in %q, place %d: (-want +got)\n%s", reader, name, wrong, m.name, m.path, place, difference)
				}
			}
		}
	}
}
