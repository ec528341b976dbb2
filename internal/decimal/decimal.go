// Package decimal computes with exact decimal numbers of up to 18 significant digits and 18 decimals.
//
// A result is exact, or it is refused. Only [Number.Round] changes a value. The package has no value for "not
// given" and none for "not a number".
package decimal

import (
	"cmp"
	"math"
	"math/bits"
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

// Sign returns -1, 0 or 1.
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

// Round returns n with at most that many decimals. It rounds halves away from zero.
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
