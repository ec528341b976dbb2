package conformance

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
)

// kind returns the problems of a value at a path; none if the value is of the kind.
type kind func(path string, value any) []string

// field is a row of a table of the specification.
type field struct {
	name     string
	is       kind
	optional bool // the specification allows it to be absent
}

type fields []field

// record is an object with the fields of a table. Further fields are left to [fields.others].
func record(table fields) kind {
	return func(path string, value any) []string {
		object, ok := value.(map[string]any)
		if !ok {
			return wrong(path, value, "an object")
		}
		var problems []string
		for _, f := range table {
			at := strings.TrimPrefix(path+"."+f.name, ".")
			value, there := object[f.name]
			if there {
				problems = append(problems, f.is(at, value)...)
			} else if !f.optional {
				problems = append(problems, at+" is missing")
			}
		}
		return problems
	}
}

// fieldsOf returns the table of a record: the members of its type in the client. Each is of the kind that its Go type
// stands for, or of the narrower kind given for its name.
func fieldsOf[T any](narrower map[string]kind) fields { return tableOf(reflect.TypeFor[T](), narrower) }

func tableOf(of reflect.Type, narrower map[string]kind) fields {
	var table fields
	for member := range of.Fields() {
		f := field{name: member.Tag.Get("json"), optional: member.Tag.Get("spec") == "optional"}
		if f.is = narrower[f.name]; f.is == nil {
			f.is = kindOf(member.Type)
		}
		table = append(table, f)
	}
	return table
}

// kindOf returns the kind that a Go type of the client stands for.
func kindOf(of reflect.Type) kind {
	switch of {
	case reflect.TypeFor[time.Time]():
		return timestamp
	case reflect.TypeFor[shipping.Amount]():
		return number
	case reflect.TypeFor[shipping.RawJSON]():
		return present
	}
	switch of.Kind() {
	case reflect.String:
		return text
	case reflect.Bool:
		return boolean
	case reflect.Slice:
		return listOf(kindOf(of.Elem()))
	case reflect.Struct:
		return record(tableOf(of, nil))
	}
	return number
}

// others returns the names of an object that the table does not have, sorted.
func (t fields) others(object map[string]any) []string {
	var out []string
	for name := range object {
		if !slices.ContainsFunc(t, func(f field) bool { return f.name == name }) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// listOf is an array whose elements are all of one kind.
func listOf(element kind) kind {
	return func(path string, value any) []string {
		array, ok := value.([]any)
		if !ok {
			return wrong(path, value, "an array")
		}
		var problems []string
		for i, v := range array {
			problems = append(problems, element(fmt.Sprintf("%s[%d]", path, i), v)...)
		}
		return problems
	}
}

// orNull is a kind or null.
func orNull(k kind) kind {
	return func(path string, value any) []string {
		if value == nil {
			return nil
		}
		return k(path, value)
	}
}

func present(string, any) []string { return nil }

func text(path string, value any) []string {
	if _, ok := value.(string); !ok {
		return wrong(path, value, "a string")
	}
	return nil
}

func boolean(path string, value any) []string {
	if _, ok := value.(bool); !ok {
		return wrong(path, value, "a boolean")
	}
	return nil
}

func number(path string, value any) []string {
	if _, ok := value.(json.Number); !ok {
		return wrong(path, value, "a number")
	}
	return nil
}

// integer is a number without a fraction.
func integer(path string, value any) []string {
	if _, ok := whole(value); !ok {
		return wrong(path, value, "a whole number")
	}
	return nil
}

// matching is a text of a form that the specification names.
func matching(form, expression string) kind {
	pattern := regexp.MustCompile(`^(?:` + expression + `)$`)
	return func(path string, value any) []string {
		if s, ok := value.(string); !ok || !pattern.MatchString(s) {
			return wrong(path, value, form)
		}
		return nil
	}
}

// digits is an identifier of the format PREFIX-<digits>.
func digits(prefix string) kind { return matching(prefix+"-<digits>", prefix+`-[0-9]+`) }

// alphanumerics is an identifier of the format PREFIX-<alphanumerics>.
func alphanumerics(prefix string) kind {
	return matching(prefix+"-<alphanumerics>", prefix+`-[0-9A-Za-z]+`)
}

// timestamp is an ISO 8601 UTC timestamp.
func timestamp(path string, value any) []string {
	at, ok := instant(value)
	if _, offset := at.Zone(); !ok || offset != 0 {
		return wrong(path, value, "an ISO 8601 UTC timestamp")
	}
	return nil
}

// instant reads an ISO 8601 timestamp in the extended or the basic format, with or without seconds.
func instant(value any) (time.Time, bool) {
	s, _ := value.(string)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "20060102T150405Z0700", "20060102T1504Z0700"} {
		if at, err := time.Parse(layout, s); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// degrees is a number of decimal degrees carried as a string.
func degrees(limit int64) kind {
	form := fmt.Sprintf("decimal degrees up to %d, as a string", limit)
	return func(path string, value any) []string {
		s, ok := value.(string)
		if ok {
			var d *big.Rat
			d, ok = decimal(json.Number(s))
			ok = ok && d.Abs(d).Cmp(big.NewRat(limit, 1)) <= 0
		}
		if !ok {
			return wrong(path, value, form)
		}
		return nil
	}
}

// oneOf is one of several texts.
func oneOf(values ...string) kind {
	return func(path string, value any) []string {
		if s, ok := value.(string); !ok || !slices.Contains(values, s) {
			return wrong(path, value, "one of "+strings.Join(values, ", "))
		}
		return nil
	}
}

// jsonOf is a value as JSON has it.
func jsonOf(value any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(encoded)
}

// wrong describes a value of another kind.
func wrong(path string, value any, want string) []string {
	shown := jsonOf(value)
	if len(shown) > 80 {
		shown = shown[:80] + "…"
	}
	if path == "" {
		path = "the value"
	}
	return []string{fmt.Sprintf("%s is %s; want %s", path, shown, want)}
}

// decimal reads a JSON number exactly. Numbers that no price or count could be are refused, since
// their digits may not fit into memory.
func decimal(n json.Number) (*big.Rat, bool) {
	mantissa, exponent, scientific := strings.Cut(strings.ToLower(string(n)), "e")
	if scientific {
		if e, err := strconv.Atoi(exponent); err != nil || e < -400 || e > 400 {
			return nil, false
		}
	}
	if len(mantissa) > 400 || strings.ContainsAny(mantissa, "/_xobp") {
		return nil, false
	}
	return new(big.Rat).SetString(string(n))
}

// rational reads a value that is a JSON number.
func rational(value any) (*big.Rat, bool) {
	n, ok := value.(json.Number)
	if !ok {
		return nil, false
	}
	return decimal(n)
}

// whole reads a value that is a JSON number without a fraction.
func whole(value any) (int64, bool) {
	d, ok := rational(value)
	if !ok || !d.IsInt() || !d.Num().IsInt64() {
		return 0, false
	}
	return d.Num().Int64(), true
}
