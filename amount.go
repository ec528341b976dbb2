package shipping

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/shipping-go/shipping/internal/jsonexact"
)

// Amount is an exact decimal amount of money in major currency units: 19.99 is nineteen and
// ninety-nine hundredths, never 19.989999999999998. No float is involved anywhere.
//
// The zero value means "not given" (an absent or null field); it counts as 0 in arithmetic and
// [Amount.Known] tells it from a real 0. A value that could not be read as a number, or was given twice
// under one name, is unreadable:
// it is never silently 0, arithmetic on it returns [ErrAmountUnreadable], and it compares greater
// than every other amount, so that it is never the cheapest.
//
// An Amount holds up to 18 significant digits and 18 decimals. Values are kept normalised
// (1.50 is 1.5), so two known amounts are equal exactly when they compare equal with ==.
//
// Specification: "Rate", "Transaction" (amount: decimal amount in major currency units).
type Amount struct {
	_           jsonexact.Once // two prices are no price
	coefficient int64
	decimals    uint8
	state       amountState
}

type amountState uint8

const (
	amountAbsent amountState = iota
	amountKnown
	amountUnreadable
)

const (
	maxDecimals = 18
	maxLiteral  = 400 // characters; a longer text is refused unread
)

var (
	// ErrAmountOverflow is returned when a result needs more than 18 significant digits or decimals.
	ErrAmountOverflow = errors.New("shipping: amount does not fit in 18 digits")
	// ErrAmountUnreadable is returned for text that is no decimal number, and for arithmetic on an
	// amount that was read from such text.
	ErrAmountUnreadable = errors.New("shipping: amount is not a decimal number")
)

// NewAmount returns units × 10^-decimals: NewAmount(1999, 2) is 19.99. It returns
// [ErrAmountOverflow] for decimals outside 0 to 18.
func NewAmount(units int64, decimals int) (Amount, error) {
	if decimals < 0 || decimals > maxDecimals {
		return Amount{}, fmt.Errorf("%w: %d decimals", ErrAmountOverflow, decimals)
	}
	return fitting(units, uint8(decimals))
}

// ParseAmount reads a decimal number in JSON's notation, exponents included: "19.99", "-3", "1e3".
// A leading plus sign and surrounding spaces are accepted, as are commas that group thousands
// ("1,234.50"). Anything else is [ErrAmountUnreadable]; more than 18 digits is [ErrAmountOverflow].
func ParseAmount(text string) (Amount, error) {
	if a, ok := plainAmount(text); ok {
		return a, nil
	}
	s := strings.TrimSpace(text)
	if s == "" || len(s) > maxLiteral {
		return Amount{}, fmt.Errorf("%w: %s", ErrAmountUnreadable, quoteShort(text))
	}
	negative := false
	if s[0] == '-' || s[0] == '+' {
		negative, s = s[0] == '-', s[1:]
	}
	mantissa, exponentText, hasExponent := cutExponent(s)
	exponent := 0
	if hasExponent {
		e, err := strconv.Atoi(exponentText)
		if err != nil || e > 1_000_000 || e < -1_000_000 {
			if errors.Is(err, strconv.ErrSyntax) {
				return Amount{}, fmt.Errorf("%w: %s", ErrAmountUnreadable, quoteShort(text))
			}
			e = min(max(e, -1_000_000), 1_000_000)
		}
		exponent = e
	}
	whole, fraction, hasPoint := strings.Cut(mantissa, ".")
	whole, ok := ungroup(whole)
	if !ok || !allDigits(whole) || !allDigits(fraction) || whole == "" || (hasPoint && fraction == "") {
		return Amount{}, fmt.Errorf("%w: %s", ErrAmountUnreadable, quoteShort(text))
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	scale := len(fraction) - exponent
	trimmed := strings.TrimRight(digits, "0")
	scale -= len(digits) - len(trimmed)
	if trimmed == "" {
		return Amount{state: amountKnown}, nil
	}
	if scale < 0 {
		if len(trimmed)-scale > maxDecimals {
			return Amount{}, fmt.Errorf("%w: %s", ErrAmountOverflow, quoteShort(text))
		}
		trimmed += strings.Repeat("0", -scale)
		scale = 0
	}
	if scale > maxDecimals || len(trimmed) > maxDecimals {
		return Amount{}, fmt.Errorf("%w: %s", ErrAmountOverflow, quoteShort(text))
	}
	units, err := strconv.ParseInt(trimmed, 10, 64)
	if err != nil {
		return Amount{}, fmt.Errorf("%w: %s", ErrAmountOverflow, quoteShort(text))
	}
	if negative {
		units = -units
	}
	return Amount{coefficient: units, decimals: uint8(scale), state: amountKnown}, nil
}

// Known reports whether the amount was given and readable: false for an absent or null field and
// for text that is no number.
func (a Amount) Known() bool { return a.state == amountKnown }

// Sign returns -1, 0 or 1. An unreadable amount has sign 0.
func (a Amount) Sign() int {
	switch {
	case a.coefficient < 0:
		return -1
	case a.coefficient > 0:
		return 1
	default:
		return 0
	}
}

// Add returns a + b exactly, or an error; see [ErrAmountOverflow] and [ErrAmountUnreadable].
func (a Amount) Add(b Amount) (Amount, error) {
	if a.state == amountUnreadable || b.state == amountUnreadable {
		return Amount{}, ErrAmountUnreadable
	}
	decimals := max(a.decimals, b.decimals)
	x, okX := scaleUp(a.coefficient, decimals-a.decimals)
	y, okY := scaleUp(b.coefficient, decimals-b.decimals)
	sum := x + y
	if !okX || !okY || (x > 0 && y > 0 && sum < 0) || (x < 0 && y < 0 && sum >= 0) {
		return Amount{}, ErrAmountOverflow
	}
	return fitting(sum, decimals)
}

// Sub returns a - b exactly, or an error.
func (a Amount) Sub(b Amount) (Amount, error) { return a.Add(b.Neg()) }

// Mul returns a × b exactly, or an error; use [Amount.Round] to come back to a currency's decimals.
func (a Amount) Mul(b Amount) (Amount, error) {
	if a.state == amountUnreadable || b.state == amountUnreadable {
		return Amount{}, ErrAmountUnreadable
	}
	negative := (a.coefficient < 0) != (b.coefficient < 0)
	hi, lo := bits.Mul64(magnitude(a.coefficient), magnitude(b.coefficient))
	decimals := int(a.decimals) + int(b.decimals)
	for decimals > 0 {
		if hi2, lo2, remainder := divTen(hi, lo); remainder == 0 {
			hi, lo, decimals = hi2, lo2, decimals-1
			continue
		}
		break
	}
	if hi != 0 || lo > math.MaxInt64 || decimals > maxDecimals {
		return Amount{}, ErrAmountOverflow
	}
	product := int64(lo)
	if negative {
		product = -product
	}
	return fitting(product, uint8(decimals))
}

// Neg returns -a.
func (a Amount) Neg() Amount {
	a.coefficient = -a.coefficient
	return a
}

// Round returns a rounded to the given number of decimals (0 to 18), halves away from zero.
func (a Amount) Round(decimals int) Amount {
	drop := int(a.decimals) - max(decimals, 0)
	if drop <= 0 || a.state != amountKnown {
		return a
	}
	unit := powerOfTen(uint8(drop))
	quotient, rest := a.coefficient/unit, magnitude(a.coefficient%unit)
	if rest >= uint64(unit)-rest {
		quotient += int64(a.Sign())
	}
	return normalised(quotient, a.decimals-uint8(drop))
}

// Cmp returns -1, 0 or 1 as a is less than, equal to or greater than b. An amount that was not
// given counts as 0; an unreadable one is greater than every readable one.
func (a Amount) Cmp(b Amount) int {
	switch aBad, bBad := a.state == amountUnreadable, b.state == amountUnreadable; {
	case aBad && bBad:
		return 0
	case aBad:
		return 1
	case bBad:
		return -1
	}
	if a.Sign() != b.Sign() {
		return cmp.Compare(a.Sign(), b.Sign())
	}
	decimals := max(a.decimals, b.decimals)
	aHigh, aLow := bits.Mul64(magnitude(a.coefficient), uint64(powerOfTen(decimals-a.decimals)))
	bHigh, bLow := bits.Mul64(magnitude(b.coefficient), uint64(powerOfTen(decimals-b.decimals)))
	return a.Sign() * cmp.Or(cmp.Compare(aHigh, bHigh), cmp.Compare(aLow, bLow))
}

// Equal reports whether a and b are the same amount; one that was not given equals 0.
func (a Amount) Equal(b Amount) bool { return a.Cmp(b) == 0 }

// Flat returns the amount times 100 as an integer, halves rounded away from zero: the form of a
// transaction's flat_amount, for every currency alike (specification: "Transaction").
func (a Amount) Flat() (int64, error) {
	if a.state == amountUnreadable {
		return 0, ErrAmountUnreadable
	}
	rounded := a.Round(2)
	flat, ok := scaleUp(rounded.coefficient, 2-min(rounded.decimals, 2))
	if !ok {
		return 0, ErrAmountOverflow
	}
	return flat, nil
}
