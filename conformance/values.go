package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"
)

// instant reads an ISO 8601 timestamp in the extended or the basic format, with or without seconds.
func instant(value any) (at time.Time, ok bool) {
	text, _ := value.(string)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "20060102T150405Z0700", "20060102T1504Z0700"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

func isUTC(at time.Time) bool {
	_, offset := at.Zone()
	return offset == 0
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
func wrong(at string, value any, want string) []string {
	shown := jsonOf(value)
	if len(shown) > 80 {
		shown = shown[:80] + "…"
	}
	return []string{fmt.Sprintf("%s is %s; want %s", at, shown, want)}
}

// number matches JSON numbers that a price or a count can be. Others may have more digits than fit into memory.
var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?$`)

// rational reads a value that is a JSON number, exactly.
func rational(value any) (*big.Rat, bool) {
	n, ok := value.(json.Number)
	if !ok || len(n) > 400 || !number.MatchString(string(n)) {
		return nil, false
	}
	return new(big.Rat).SetString(string(n))
}

// whole reads a value that is a JSON number without a fraction.
func whole(value any) (int64, bool) {
	d, ok := rational(value)
	if !ok || !d.IsInt() || !d.Num().IsInt64() {
		return 0, false
	}
	return d.Num().Int64(), true
}

// objects returns the objects of an array.
func objects(value any) (out []map[string]any) {
	elements, _ := value.([]any)
	for _, element := range elements {
		if object, ok := element.(map[string]any); ok {
			out = append(out, object)
		}
	}
	return out
}

// joined lists a set of names.
func joined(names map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}

// problem returns a problem if it is one.
func problem(is bool, format string, args ...any) []string {
	if !is {
		return nil
	}
	return []string{fmt.Sprintf(format, args...)}
}
