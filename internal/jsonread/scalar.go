package jsonread

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/shipping-go/shipping/internal/decimal"
)

// The parse functions read the text of a string, a number or a boolean into a field, and report whether the text is a
// value of the field's type.

func parseBool(text string, p unsafe.Pointer) (read bool) {
	switch strings.ToLower(text) {
	case "true", "1", "yes":
		*(*bool)(p) = true
	case "false", "0", "no", "":
		*(*bool)(p) = false
	default:
		return false
	}
	return true
}

// parseInt reads a number that is an integer, however it is written: "1,250", "2.0", "1e3".
func parseInt[T int | int64](text string, p unsafe.Pointer) (read bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || strings.Trim(fraction, "0") != "" {
		exact, err := decimal.Parse(text)
		if err != nil || exact.Scale != 0 {
			return false
		}
		n = exact.Units
	}
	if int64(T(n)) != n {
		return false
	}
	*(*T)(p) = T(n)
	return true
}

func parseFloat(text string, p unsafe.Pointer) (read bool) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return false
	}
	*(*float64)(p) = n
	return true
}

// parseAnyTime reads a time in any notation, a complete timestamp or not.
func parseAnyTime(text string, p unsafe.Pointer) (read bool) {
	at, _, read := parseTime(text)
	if read {
		*(*time.Time)(p) = at
	}
	return read
}

// scalar reads a string, a number or a boolean as a string, which is valid until the text changes.
func (s *scanner) scalar() string {
	var piece []byte
	if s.peek() == '"' {
		quoted, escaped := s.quoted()
		if quoted == nil || escaped {
			return unescape(quoted)
		}
		piece = quoted[1 : len(quoted)-1]
	} else {
		piece = s.Raw()
	}
	return unsafe.String(unsafe.SliceData(piece), len(piece))
}

// unescape returns the text of a string in quotes, which scanner.quoted has checked. Half a surrogate pair and
// each byte that is not UTF-8 become U+FFFD.
func unescape(quoted []byte) (text string) {
	_ = json.Unmarshal(quoted, &text)
	return text
}
