package compliance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shipping-go/shipping"
)

// reader reads a table strictly and goes on after a problem, so that a person sees all of them at
// once. Decoding into structs stops at the first unknown key, takes keys in any case and lets a
// repeated key win.
type reader struct {
	problems []Problem
}

// fault notes a problem. What follows from it at the same place would only be noise.
func (r *reader) fault(place, reason string) {
	if !slices.ContainsFunc(r.problems, func(p Problem) bool { return p.Field == place }) {
		r.problems = append(r.problems, Problem{place, reason})
	}
}

// object is a JSON object as it was written: in order, with repeated keys.
type object []entry

type entry struct {
	key   string
	value any // string, bool, json.Number, nil, []any or object
}

// tree reads the next value. The JSON is known to be valid, so no token is in error.
func tree(tokens *json.Decoder) any {
	token, _ := tokens.Token()
	switch token {
	case json.Delim('{'):
		members := object{}
		for tokens.More() {
			key, _ := tokens.Token()
			name, _ := key.(string)
			members = append(members, entry{name, tree(tokens)})
		}
		_, _ = tokens.Token()
		return members
	case json.Delim('['):
		list := []any{}
		for tokens.More() {
			list = append(list, tree(tokens))
		}
		_, _ = tokens.Token()
		return list
	default:
		return token
	}
}

// member is a key of an object and what its value is read into.
type member struct {
	key  string
	into any // *string, *bool, *int, *[]string, *[]any or *shipping.Amount
}

// object reads an object into its members. It reports whether the value was an object.
func (r *reader) object(place string, value any, members []member) bool {
	entries, ok := value.(object)
	if !ok {
		r.fault(place, "must be an object in braces")
		return false
	}
	for i, e := range entries {
		known := slices.IndexFunc(members, func(m member) bool { return m.key == e.key })
		wrong := ""
		switch {
		case known < 0:
			wrong = "is not a key here; the keys are " + keys(members)
		case slices.ContainsFunc(entries[:i], func(earlier entry) bool { return earlier.key == e.key }):
			wrong = "is given twice; remove one"
		case !assign(members[known].into, e.value):
			wrong = "must be " + kind(members[known].into)
		}
		if wrong != "" {
			r.fault(strings.TrimPrefix(place+"."+e.key, "file."), wrong)
		}
	}
	return true
}

func keys(members []member) string {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.key
	}
	return strings.Join(names, ", ")
}

// assign stores a value and reports whether it has the right kind.
func assign(into, value any) (ok bool) {
	switch into := into.(type) {
	case *string:
		*into, ok = value.(string)
	case *bool:
		*into, ok = value.(bool)
	case *[]any:
		*into, ok = value.([]any)
	case *[]string:
		var list []any
		list, ok = value.([]any)
		texts := make([]string, len(list))
		for i := range list {
			ok = ok && assign(&texts[i], list[i])
		}
		if ok {
			*into = texts
		}
	case *int:
		number, _ := value.(json.Number)
		n, err := strconv.Atoi(number.String())
		*into, ok = n, err == nil
	case *shipping.Amount:
		number, _ := value.(json.Number)
		amount, err := shipping.ParseAmount(number.String())
		*into, ok = amount, err == nil
	}
	return ok
}

// kind describes the values of a member.
func kind(into any) string {
	switch into.(type) {
	case *string:
		return "a text in quotes"
	case *bool:
		return "true or false"
	case *int:
		return "a whole number"
	case *[]string:
		return "a list of texts"
	case *shipping.Amount:
		return "a number of at most 18 digits"
	default:
		return "a list of objects"
	}
}

func (r *reader) filled(place, text string) {
	if strings.TrimSpace(text) == "" {
		r.fault(place, "must be given")
	}
}

func (r *reader) oneOf(place, value string, allowed []string) {
	if !slices.Contains(allowed, value) {
		r.fault(place, fmt.Sprintf("%q must be one of %s", value, strings.Join(allowed, ", ")))
	}
}

func index(place string, i int) string { return place + "[" + strconv.Itoa(i) + "]" }
