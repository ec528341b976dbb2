package conformance

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

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

// jsonOf is a value as JSON has it: it was decoded from JSON.
func jsonOf(value any) string {
	encoded, _ := json.Marshal(value)
	return string(encoded)
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

// joined lists names, each once.
func joined(names []string) string {
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// problem returns a problem if it is one.
func problem(is bool, format string, args ...any) []string {
	if !is {
		return nil
	}
	return []string{fmt.Sprintf(format, args...)}
}
