package compliance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shipping-go/shipping"
)

// reader reads JSON objects strictly and goes on after a problem, so that a person sees all of them
// at once. encoding/json stops at the first unknown key, takes keys in any case and lets a repeated
// key win.
type reader struct {
	problems []Problem
}

// fault notes a problem. What follows from it at the same place would only be noise.
func (r *reader) fault(place, reason string) {
	if slices.ContainsFunc(r.problems, func(p Problem) bool { return p.Field == place }) {
		return
	}
	r.problems = append(r.problems, Problem{place, reason})
}

// member is a key of an object and what its value is read into.
type member struct {
	key  string
	into any // *string, *bool, *int, *[]string, *[]json.RawMessage or *shipping.Amount
}

// object reads an object, which is valid JSON, into its members. It reports whether it was an object.
func (r *reader) object(place string, raw json.RawMessage, members []member) bool {
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		r.fault(place, "must be an object in braces")
		return false
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	_, _ = decoder.Token() // the brace; the JSON is known to be valid
	seen := make(map[string]bool)
	for decoder.More() {
		token, _ := decoder.Token()
		key, _ := token.(string)
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			r.fault(place, err.Error())
			return false
		}
		at := strings.TrimPrefix(place+"."+key, "file.")
		if seen[key] {
			r.fault(at, "is given twice; remove one")
		}
		seen[key] = true
		r.member(at, key, value, members)
	}
	return true
}

func (r *reader) member(place, key string, value json.RawMessage, members []member) {
	keys := make([]string, len(members))
	for i, m := range members {
		if m.key == key {
			if string(value) == "null" || json.Unmarshal(value, m.into) != nil {
				r.fault(place, "must be "+kind(m.into))
			}
			return
		}
		keys[i] = m.key
	}
	r.fault(place, "is no key here; the keys are "+strings.Join(keys, ", "))
}

// kind says in words what a member takes.
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
		return "a number"
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
