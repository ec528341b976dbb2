package shipping

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// String returns the shortest exact decimal form: "19.99", "1000", "-0.5". An amount that was not
// given is "0", an unreadable one "unreadable".
func (a Amount) String() string {
	if a.state == amountUnreadable {
		return "unreadable"
	}
	return string(a.append(nil, int(a.decimals)))
}

// StringFixed returns the amount rounded to exactly that many decimals (0 to 18): "19.90" for 2.
func (a Amount) StringFixed(decimals int) string {
	if a.state == amountUnreadable {
		return "unreadable"
	}
	decimals = min(max(decimals, 0), maxDecimals)
	return string(a.Round(decimals).append(nil, decimals))
}

// MarshalJSON writes a JSON number. An amount that was not given is 0; an unreadable one is an error.
func (a Amount) MarshalJSON() ([]byte, error) {
	if a.state == amountUnreadable {
		return nil, ErrAmountUnreadable
	}
	return a.append(nil, int(a.decimals)), nil
}

// UnmarshalJSON reads a JSON number or a string that holds one; null means not given. Anything else
// makes the amount unreadable without failing the record around it: one odd field must not lose a
// page. [Amount.Known] and every calculation tell.
func (a *Amount) UnmarshalJSON(data []byte) error {
	*a = amountOf(string(data))
	return nil
}

// amountOf is the amount that a JSON value stands for, whatever the value is.
func amountOf(raw string) Amount {
	if a, ok := plainAmount(raw); ok {
		return a
	}
	if raw == "null" || raw == `""` {
		return Amount{}
	}
	if len(raw) > 1 && raw[0] == '"' {
		raw = raw[1 : len(raw)-1]
	}
	a, err := ParseAmount(raw)
	if err != nil {
		return Amount{state: amountUnreadable}
	}
	return a
}

// plainAmount reads amounts as they nearly always stand: digits, perhaps a point and more digits.
func plainAmount[S string | []byte](text S) (a Amount, ok bool) {
	if len(text) > maxDecimals {
		return Amount{}, false
	}
	units, point := int64(0), len(text)
	for i := range len(text) {
		switch c := text[i]; {
		case '0' <= c && c <= '9':
			units = units*10 + int64(c-'0')
		case c == '.' && point == len(text):
			point = i
		default:
			return Amount{}, false
		}
	}
	if point == 0 || point == len(text)-1 {
		return Amount{}, false
	}
	return normalised(units, uint8(max(len(text)-1-point, 0))), true
}

// MarshalText writes the form of [Amount.String], for flags, CSV and configuration.
func (a Amount) MarshalText() ([]byte, error) {
	if a.state == amountUnreadable {
		return nil, ErrAmountUnreadable
	}
	return a.append(nil, int(a.decimals)), nil
}

// UnmarshalText reads what [ParseAmount] reads and returns its errors.
func (a *Amount) UnmarshalText(text []byte) error {
	parsed, err := ParseAmount(string(text))
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}

func (a Amount) append(dst []byte, decimals int) []byte {
	if a.coefficient < 0 {
		dst = append(dst, '-')
	}
	var memory [2 * maxDecimals]byte
	digits := strconv.AppendUint(memory[:0], magnitude(a.coefficient), 10)
	for range decimals - int(a.decimals) {
		digits = append(digits, '0')
	}
	if whole := len(digits) - decimals; whole > 0 {
		dst, digits = append(dst, digits[:whole]...), digits[whole:]
	} else {
		dst = append(dst, '0')
	}
	if decimals == 0 {
		return dst
	}
	dst = append(dst, '.')
	for range decimals - len(digits) {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// normalised strips trailing zeros of the fraction, so that equal amounts are equal with ==.
func normalised(units int64, decimals uint8) Amount {
	for decimals > 0 && units%10 == 0 {
		units, decimals = units/10, decimals-1
	}
	return Amount{coefficient: units, decimals: decimals, state: amountKnown}
}

// fitting is normalised for results of arithmetic, which must stay within 18 digits.
func fitting(units int64, decimals uint8) (Amount, error) {
	a := normalised(units, decimals)
	if magnitude(a.coefficient) >= uint64(powerOfTen(maxDecimals)) {
		return Amount{}, ErrAmountOverflow
	}
	return a, nil
}

func scaleUp(units int64, by uint8) (int64, bool) {
	hi, lo := bits.Mul64(magnitude(units), uint64(powerOfTen(by)))
	if hi != 0 || lo > math.MaxInt64 {
		return 0, false
	}
	if units < 0 {
		return -int64(lo), true
	}
	return int64(lo), true
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// powerOfTen returns 10^n for n up to 18.
func powerOfTen(n uint8) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

func divTen(hi, lo uint64) (quotientHi, quotientLo, remainder uint64) {
	quotientHi, rest := hi/10, hi%10
	quotientLo, remainder = bits.Div64(rest, lo, 10)
	return quotientHi, quotientLo, remainder
}

func cutExponent(s string) (mantissa, exponent string, found bool) {
	i := strings.IndexAny(s, "eE")
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// ungroup removes commas that stand exactly where thousands are grouped.
func ungroup(whole string) (string, bool) {
	groups := strings.Split(whole, ",")
	if len(groups) == 1 {
		return whole, true
	}
	for i, group := range groups {
		if len(group) != 3 && (i > 0 || len(group) == 0 || len(group) > 3) {
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// quoteShort keeps an error readable, and keeps a body that landed in a number out of it.
func quoteShort(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return strconv.Quote(s)
}
