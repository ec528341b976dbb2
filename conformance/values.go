package conformance

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
)

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
