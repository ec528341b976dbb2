// Package decimal computes with exact decimal numbers of up to 18 significant digits and 18 decimals.
//
// A result is exact, or it is refused. Only [Number.Round] and [Number.MulRound] round. Every value is a number: none
// means "not given".
package decimal

import (
	"cmp"
	"errors"
	"math"
	"math/big"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// MaxDigits is the largest number of significant digits of a [Number], and of its decimals.
const MaxDigits = 18

// Number is Units × 10^-Scale. It has no trailing zeros after the point, so that equal numbers are equal with
// ==. The zero value is 0.
type Number struct {
	Units int64
	Scale uint8
}

// New returns units × 10^-scale for a scale from 0 to [MaxDigits]; false if it has too many digits.
func New(units int64, scale uint8) (Number, bool) {
	n := normalized(units, scale)
	return n, magnitude(n.Units) < uint64(powerOfTen(MaxDigits))
}

func (n Number) Sign() int { return cmp.Compare(n.Units, 0) }

// Add returns n + m; false if it has too many digits.
func (n Number) Add(m Number) (Number, bool) {
	scale := max(n.Scale, m.Scale)
	x, okX := n.At(scale)
	y, okY := m.At(scale)
	sum := x + y
	if overflows := (sum > x) != (y > 0); !okX || !okY || overflows {
		return Number{}, false
	}
	return New(sum, scale)
}

// Mul returns n × m; false if it has too many digits.
func (n Number) Mul(m Number) (Number, bool) {
	hi, lo := bits.Mul64(magnitude(n.Units), magnitude(m.Units))
	scale := n.Scale + m.Scale
	for scale > 0 {
		quotientHi, quotientLo, remainder := divTen(hi, lo)
		if remainder != 0 {
			break
		}
		hi, lo, scale = quotientHi, quotientLo, scale-1
	}
	if hi != 0 || lo >= uint64(powerOfTen(MaxDigits)) || scale > MaxDigits {
		return Number{}, false
	}
	product := int64(lo)
	if n.Sign() != m.Sign() {
		product = -product
	}
	return Number{Units: product, Scale: scale}, true
}

// MulRound returns n × m with at most scale decimals; false if the result has too many digits. It rounds halves away
// from zero.
func (n Number) MulRound(m Number, scale uint8) (Number, bool) {
	product := new(big.Int).Mul(big.NewInt(n.Units), big.NewInt(m.Units))
	if drop := int64(n.Scale) + int64(m.Scale) - int64(scale); drop > 0 {
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(drop), nil)
		half := new(big.Int).Rsh(unit, 1)
		product.Quo(product.Add(product, half.Mul(half, big.NewInt(int64(product.Sign())))), unit)
	} else {
		scale = n.Scale + m.Scale
	}
	if !product.IsInt64() {
		return Number{}, false
	}
	return New(product.Int64(), scale)
}

// Round returns n with at most scale decimals. It rounds halves away from zero.
func (n Number) Round(scale uint8) Number {
	if scale >= n.Scale {
		return n
	}
	drop := n.Scale - scale
	unit := powerOfTen(drop)
	quotient, rest := n.Units/unit, magnitude(n.Units%unit)
	if rest >= uint64(unit)-rest {
		quotient += int64(n.Sign())
	}
	return normalized(quotient, scale)
}

// Cmp returns -1, 0 or 1 as n is less than, equal to or greater than m.
func (n Number) Cmp(m Number) int {
	if n.Sign() != m.Sign() {
		return cmp.Compare(n.Sign(), m.Sign())
	}
	scale := max(n.Scale, m.Scale)
	hi, lo := bits.Mul64(magnitude(n.Units), uint64(powerOfTen(scale-n.Scale)))
	otherHi, otherLo := bits.Mul64(magnitude(m.Units), uint64(powerOfTen(scale-m.Scale)))
	return n.Sign() * cmp.Or(cmp.Compare(hi, otherHi), cmp.Compare(lo, otherLo))
}

// At returns the units of n at a scale that is at least its own; false if they do not fit.
func (n Number) At(scale uint8) (int64, bool) {
	hi, lo := bits.Mul64(magnitude(n.Units), uint64(powerOfTen(scale-n.Scale)))
	if hi != 0 || lo > math.MaxInt64 {
		return 0, false
	}
	if n.Units < 0 {
		return -int64(lo), true
	}
	return int64(lo), true
}

// normalized strips trailing zeros of the fraction.
func normalized(units int64, scale uint8) Number {
	for scale > 0 && units%10 == 0 {
		units, scale = units/10, scale-1
	}
	return Number{Units: units, Scale: scale}
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

var (
	// ErrSyntax is returned for text that is not a decimal number.
	ErrSyntax = errors.New("decimal: not a decimal number")
	// ErrRange is returned for a number that has too many digits.
	ErrRange = errors.New("decimal: more than 18 digits")
)

const (
	maxText     = 400       // bytes; a longer text is refused unread
	maxExponent = 1_000_000 // more than any text of a number other than 0 needs
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

// notation returns the pattern of a decimal number: its sign, its digits, which commas may group by thousands, its
// fraction, and its exponent.
var notation = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([-+]?)([0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(?:\.([0-9]+))?(?:[eE]([-+]?[0-9]+))?$`)
})

// Parse reads a decimal number in JSON's notation, exponents included. It accepts a leading plus sign,
// surrounding spaces, leading zeros, and commas that group thousands. Any other text is [ErrSyntax]; a number
// with too many digits is [ErrRange].
func Parse(text string) (Number, error) {
	if n, ok := ParsePlain([]byte(text)); ok {
		return n, nil
	}
	text = strings.TrimSpace(text)
	parts := notation().FindStringSubmatch(text[:min(len(text), maxText)])
	if parts == nil || len(text) > maxText {
		return Number{}, ErrSyntax
	}
	sign, fraction := parts[1], parts[3]
	exponent, _ := strconv.Atoi(parts[4]) // 0 without an exponent; the nearest int if it is too large
	digits := strings.TrimLeft(strings.ReplaceAll(parts[2], ",", "")+fraction, "0")
	significant := strings.TrimRight(digits, "0")
	scale := len(fraction) - min(max(exponent, -maxExponent), maxExponent) - (len(digits) - len(significant))
	zeros := max(-scale, 0)
	switch {
	case significant == "":
		return Number{}, nil
	case scale > MaxDigits || len(significant)+zeros > MaxDigits:
		return Number{}, ErrRange
	}
	units, err := strconv.ParseInt(sign+significant+strings.Repeat("0", zeros), 10, 64)
	return Number{Units: units, Scale: uint8(max(scale, 0))}, err
}

// Append appends the number with the given number of decimals, at least n.Scale.
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
