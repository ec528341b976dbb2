package decimal

import (
	"errors"
	"strconv"
	"strings"
)

var (
	// ErrSyntax is returned for text that is not a decimal number.
	ErrSyntax = errors.New("decimal: not a decimal number")
	// ErrRange is returned for a number that has too many digits.
	ErrRange = errors.New("decimal: more than 18 digits")
)

const (
	maxText     = 400       // bytes; a longer text is refused unread
	maxExponent = 1_000_000 // of a number other than 0; beyond every text
)

// ParsePlain reads the form that nearly all numbers have: up to 18 characters, digits and perhaps a point and
// more digits. It allocates nothing. If ok is false, [Parse] decides.
func ParsePlain(text []byte) (n Number, ok bool) {
	if len(text) > MaxDigits {
		return Number{}, false
	}
	units, point := int64(0), len(text)
	for i := range len(text) {
		digit := text[i] - '0'
		if digit <= 9 {
			units = units*10 + int64(digit)
			continue
		}
		if text[i] != '.' || point != len(text) {
			return Number{}, false
		}
		point = i
	}
	if point == 0 || point == len(text)-1 {
		return Number{}, false
	}
	n = Number{Units: units, Scale: uint8(max(len(text)-1-point, 0))}
	if text[len(text)-1] == '0' {
		n = normalized(n.Units, n.Scale)
	}
	return n, true
}

// Parse reads a decimal number in JSON's notation, exponents included. It accepts a leading plus sign,
// surrounding spaces, leading zeros, and commas that group thousands. Any other text is [ErrSyntax]; a number
// with too many digits is [ErrRange].
func Parse(text string) (Number, error) {
	if n, ok := ParsePlain([]byte(text)); ok {
		return n, nil
	}
	text = strings.TrimSpace(text)
	if len(text) > maxText {
		return Number{}, ErrSyntax
	}
	digits, scale, negative, ok := split(text)
	if !ok {
		return Number{}, ErrSyntax
	}
	return assemble(digits, scale, negative)
}

// split takes a number apart: digits × 10^-scale.
func split(text string) (digits string, scale int, negative, ok bool) {
	if text != "" && (text[0] == '-' || text[0] == '+') {
		negative, text = text[0] == '-', text[1:]
	}
	mantissa, exponent, ok := cutExponent(text)
	if !ok {
		return "", 0, false, false
	}
	whole, fraction, hasPoint := strings.Cut(mantissa, ".")
	whole, ok = ungroup(whole)
	if !ok || whole == "" || hasPoint && fraction == "" || !allDigits(whole) || !allDigits(fraction) {
		return "", 0, false, false
	}
	return whole + fraction, len(fraction) - exponent, negative, true
}

// assemble is digits × 10^-scale as a [Number].
func assemble(digits string, scale int, negative bool) (Number, error) {
	digits = strings.TrimLeft(digits, "0")
	significant := strings.TrimRight(digits, "0")
	scale -= len(digits) - len(significant)
	if significant == "" {
		return Number{}, nil
	}
	if scale > MaxDigits || len(significant)+max(-scale, 0) > MaxDigits {
		return Number{}, ErrRange
	}
	significant += strings.Repeat("0", max(-scale, 0))
	units, err := strconv.ParseInt(significant, 10, 64)
	if err != nil {
		return Number{}, ErrRange
	}
	if negative {
		units = -units
	}
	return Number{Units: units, Scale: uint8(max(scale, 0))}, nil
}

// cutExponent returns the exponent, limited to ±maxExponent; 0 without one.
func cutExponent(text string) (mantissa string, exponent int, ok bool) {
	i := strings.IndexAny(text, "eE")
	if i < 0 {
		return text, 0, true
	}
	exponent, err := strconv.Atoi(text[i+1:])
	if errors.Is(err, strconv.ErrSyntax) {
		return "", 0, false
	}
	return text[:i], min(max(exponent, -maxExponent), maxExponent), true
}

// ungroup removes commas that stand exactly where thousands are grouped.
func ungroup(whole string) (string, bool) {
	first, rest, grouped := strings.Cut(whole, ",")
	if !grouped {
		return whole, true
	}
	if len(first) == 0 || len(first) > 3 {
		return "", false
	}
	for group := range strings.SplitSeq(rest, ",") {
		if len(group) != 3 {
			return "", false
		}
	}
	return first + strings.ReplaceAll(rest, ",", ""), true
}

func allDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

// Append appends the number with exactly that many decimals, which must be at least its own.
func (n Number) Append(dst []byte, decimals uint8) []byte {
	if n.Units < 0 {
		dst = append(dst, '-')
	}
	var memory [2 * MaxDigits]byte
	digits := strconv.AppendUint(memory[:0], magnitude(n.Units), 10)
	for range decimals - n.Scale {
		digits = append(digits, '0')
	}
	if whole := len(digits) - int(decimals); whole > 0 {
		dst, digits = append(dst, digits[:whole]...), digits[whole:]
	} else {
		dst = append(dst, '0')
	}
	if decimals == 0 {
		return dst
	}
	dst = append(dst, '.')
	for range int(decimals) - len(digits) {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}
