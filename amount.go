package shipping

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/shipping-go/shipping/internal/decimal"
	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/spelling"
)

// Amount is an exact decimal amount of money in major currency units: 19.99 is nineteen and
// ninety-nine hundredths, never 19.989999999999998. No float is involved anywhere.
//
// The zero value means "not given": the field is absent, null or an empty string. It counts as 0 in
// arithmetic; [Amount.Known] distinguishes it from 0. A value that could not be read as a number, or was
// given twice under one name, is unreadable: it is never silently 0, arithmetic on it returns
// [ErrAmountUnreadable], and it compares greater than every other amount, so that it is never the cheapest.
//
// An Amount holds up to 18 significant digits and 18 decimals. Values are kept normalized
// (1.50 is 1.5), so two known amounts are equal exactly when they compare equal with ==.
//
// Specification: "Rate", "Transaction" (amount: decimal amount in major currency units).
type Amount struct {
	_      jsonread.Once // if a price is given twice, it is unreadable
	number decimal.Number
	state  amountState
}

type amountState uint8

const (
	amountAbsent amountState = iota
	amountKnown
	amountUnreadable
)

var (
	// ErrAmountOverflow is returned when a result needs more than 18 significant digits or decimals.
	ErrAmountOverflow = errors.New("shipping: amount has more than 18 digits")
	// ErrAmountUnreadable is returned for text that is not a decimal number, and for arithmetic on an
	// amount that was read from such text.
	ErrAmountUnreadable = errors.New("shipping: amount is not a decimal number")
)

const decimalPointHint = "use a point for decimals and no other separator, such as 1000.50"

// NewAmount returns units × 10^-decimals: NewAmount(1999, 2) is 19.99. It returns
// [ErrAmountOverflow] for more than 18 digits, or decimals outside 0 to 18.
func NewAmount(units int64, decimals int) (Amount, error) {
	if decimals < 0 || decimals > decimal.MaxDigits {
		return Amount{}, decimalsError(decimals)
	}
	return calculation("NewAmount").fitting(decimal.New(units, uint8(decimals)))
}

// decimalsError is an [ErrAmountOverflow] with another text: the amount may have few digits.
type decimalsError int

func (e decimalsError) Error() string {
	return fmt.Sprintf("shipping: NewAmount takes 0 to 18 decimals, and got %d", int(e))
}

func (e decimalsError) Unwrap() error { return ErrAmountOverflow }

// ParseAmount reads a decimal number in JSON's notation, exponents included: "19.99", "-3", "1e3".
// A leading plus sign and surrounding spaces are accepted, as are commas that group thousands
// ("1,234.50"). Anything else is [ErrAmountUnreadable]; more than 18 digits is [ErrAmountOverflow].
func ParseAmount(text string) (Amount, error) {
	n, err := decimal.Parse(text)
	switch {
	case errors.Is(err, decimal.ErrRange):
		return Amount{}, fmt.Errorf("%w: %s: write a smaller number, or round it", ErrAmountOverflow, spelling.Quote(text))
	case err != nil:
		hint := "write the number only, such as 19.99, without a currency"
		if strings.Contains(text, ",") {
			hint = decimalPointHint
		}
		return Amount{}, fmt.Errorf("%w: %s: %s", ErrAmountUnreadable, spelling.Quote(text), hint)
	}
	return knownAmount(n), nil
}

// readable returns an error if the receiver of a method or its argument is unreadable.
func (a Amount) readable(argument Amount) error {
	switch amountUnreadable {
	case a.state:
		return fmt.Errorf("%w: check Known of the receiver, such as a in a.Add(b), before you use it", ErrAmountUnreadable)
	case argument.state:
		return fmt.Errorf("%w: check Known of the argument, such as b in a.Add(b), before you use it", ErrAmountUnreadable)
	}
	return nil
}

func knownAmount(n decimal.Number) Amount { return Amount{number: n, state: amountKnown} }

// calculation is the name of a function that computes an amount.
type calculation string

// fitting returns the result of a calculation, or an error if it does not fit into an Amount.
func (c calculation) fitting(n decimal.Number, fits bool) (Amount, error) {
	if !fits {
		return Amount{}, c.overflow()
	}
	return knownAmount(n), nil
}

func (c calculation) overflow() error {
	advice := "use smaller amounts, or round them first"
	if c == "Mul" {
		advice += ", or call MulRound"
	}
	return fmt.Errorf("%w: the result of %s: %s", ErrAmountOverflow, c, advice)
}

// Known reports whether the amount was given and readable: false for an absent or null field, for an
// empty string, and for text that is not a number.
func (a Amount) Known() bool { return a.state == amountKnown }

// Sign returns -1, 0 or 1. An unreadable amount has sign 0.
func (a Amount) Sign() int { return a.number.Sign() }

// Add returns a + b exactly, or an error; see [ErrAmountOverflow] and [ErrAmountUnreadable].
func (a Amount) Add(b Amount) (Amount, error) {
	if err := a.readable(b); err != nil {
		return Amount{}, err
	}
	return calculation("Add or Sub").fitting(a.number.Add(b.number))
}

// Sub returns a - b exactly, or an error.
func (a Amount) Sub(b Amount) (Amount, error) { return a.Add(b.Neg()) }

// Mul returns a × b exactly, or an error. [Amount.MulRound] rounds the product.
func (a Amount) Mul(b Amount) (Amount, error) {
	if err := a.readable(b); err != nil {
		return Amount{}, err
	}
	return calculation("Mul").fitting(a.number.Mul(b.number))
}

// MulRound returns a × b rounded to the given number of decimals (0 to 18), halves away from zero. Only the rounded
// product must fit, so that an amount can be converted at an exchange rate with many decimals.
func (a Amount) MulRound(b Amount, decimals int) (Amount, error) {
	if err := a.readable(b); err != nil {
		return Amount{}, err
	}
	return calculation("MulRound").fitting(a.number.MulRound(b.number, scale(decimals)))
}

// Split divides a into n parts of the given number of decimals. They are equal or differ by one unit of the last
// decimal, the larger first, and sum to a. It is an error if a has more decimals, or n is not positive.
func (a Amount) Split(n, decimals int) ([]Amount, error) {
	units, ok := a.number.At(max(scale(decimals), a.number.Scale))
	switch {
	case a.state == amountUnreadable:
		return nil, a.readable(Amount{})
	case n < 1:
		return nil, fmt.Errorf("shipping: cannot split %s into %d parts: pass at least 1", a, n)
	case a != a.Round(decimals):
		return nil, fmt.Errorf("shipping: cannot split %s into parts with %d decimals, because it has %d: round it first", a,
			decimals, a.number.Scale)
	case !ok:
		return nil, calculation("Split").overflow()
	}
	parts := make([]Amount, n)
	for i := range parts {
		part := units / int64(n-i)
		if units%int64(n-i) != 0 {
			part += int64(a.Sign())
		}
		units -= part
		number, _ := decimal.New(part, scale(decimals))
		parts[i] = knownAmount(number)
	}
	return parts, nil
}

// Neg returns -a.
func (a Amount) Neg() Amount {
	a.number.Units = -a.number.Units
	return a
}

// Round returns a rounded to the given number of decimals (0 to 18), halves away from zero.
func (a Amount) Round(decimals int) Amount {
	if a.state != amountKnown {
		return a
	}
	return knownAmount(a.number.Round(scale(decimals)))
}

// scale limits a number of decimals to those that an amount can have.
func scale(decimals int) uint8 { return uint8(min(max(decimals, 0), decimal.MaxDigits)) }

// AtMost reports whether a is not greater than limit. It reports false if one of them is not known: a price that was
// not given, or cannot be read, is never within a limit.
func (a Amount) AtMost(limit Amount) bool {
	return a.Known() && limit.Known() && a.Cmp(limit) <= 0
}

// Cmp returns -1, 0 or 1 as a is less than, equal to or greater than b. An amount that was not given counts as 0,
// like the sum of no amounts; an unreadable one is greater than every readable one. So check [Amount.Known] before
// you choose the smallest of several prices, and compare a price with a limit by [Amount.AtMost].
func (a Amount) Cmp(b Amount) int {
	switch aBad, bBad := a.state == amountUnreadable, b.state == amountUnreadable; {
	case aBad && bBad:
		return 0
	case aBad:
		return 1
	case bBad:
		return -1
	}
	return a.number.Cmp(b.number)
}

// Equal reports whether a and b are the same amount; one that was not given equals 0.
func (a Amount) Equal(b Amount) bool { return a.Cmp(b) == 0 }

// Flat returns the amount times 100 as an integer, halves rounded away from zero: the form of a
// transaction's flat_amount, for every currency (specification: "Transaction").
func (a Amount) Flat() (int64, error) {
	if a.state == amountUnreadable {
		return 0, a.readable(Amount{})
	}
	flat, ok := a.number.Round(2).At(2)
	if !ok {
		return 0, calculation("Flat").overflow()
	}
	return flat, nil
}

// String returns the shortest exact decimal form: "19.99", "1000", "-0.5". An amount that was not
// given is "0", an unreadable one "unreadable".
func (a Amount) String() string {
	if a.state == amountUnreadable {
		return "unreadable"
	}
	return string(a.number.Append(nil, a.number.Scale))
}

// StringFixed returns the amount rounded to exactly that many decimals (0 to 18): "19.90" for 2.
func (a Amount) StringFixed(decimals int) string {
	if a.state == amountUnreadable {
		return "unreadable"
	}
	return string(a.number.Round(scale(decimals)).Append(nil, scale(decimals)))
}

// MarshalJSON writes a JSON number. An amount that was not given is 0; an unreadable one is an error.
func (a Amount) MarshalJSON() ([]byte, error) { return a.MarshalText() }

// UnmarshalJSON reads a JSON number or a string that contains one; null and an empty string mean not given.
// Anything else makes the amount unreadable, but fails neither the record nor the page around it: [Amount.Known]
// and every calculation report it.
func (a *Amount) UnmarshalJSON(data []byte) error {
	*a = amountOf(data)
	return nil
}

// amountOf returns the amount of any JSON value, which may be unreadable.
func amountOf(raw []byte) Amount {
	if n, ok := decimal.ParsePlain(raw); ok { // nearly all are plain
		return knownAmount(n)
	}
	return unusualAmount(string(raw))
}

func unusualAmount(raw string) Amount {
	if raw == "null" || raw == `""` {
		return Amount{}
	}
	if len(raw) > 1 && raw[0] == '"' {
		raw = raw[1 : len(raw)-1]
	}
	n, err := decimal.Parse(raw)
	if err != nil {
		return Amount{state: amountUnreadable}
	}
	return knownAmount(n)
}

// MarshalText writes the form of [Amount.String], for flags, CSV and configuration.
func (a Amount) MarshalText() ([]byte, error) {
	if a.state == amountUnreadable {
		return nil, a.readable(Amount{})
	}
	return a.number.Append(nil, a.number.Scale), nil
}

// UnmarshalText parses text as [ParseAmount] does.
func (a *Amount) UnmarshalText(text []byte) error {
	parsed, err := ParseAmount(string(text))
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}

// Value implements [driver.Valuer], for a numeric or text column: it returns the exact decimal text. An amount that was
// not given is NULL. An unreadable one is an error, so that no row is written with another amount.
func (a Amount) Value() (driver.Value, error) {
	switch a.state {
	case amountAbsent:
		return nil, nil
	case amountUnreadable:
		return nil, a.readable(Amount{})
	}
	return a.String(), nil
}

// Scan implements [sql.Scanner], for a numeric, integer or text column: NULL and an empty text mean not given, and
// any other text is read as by [ParseAmount]. A floating-point column is refused, because its values are not exact.
// An error leaves the amount as it is.
//
// [sql.Scanner]: https://pkg.go.dev/database/sql#Scanner
func (a *Amount) Scan(column any) error {
	var text string
	switch value := column.(type) {
	case nil:
	case int64:
		text = strconv.FormatInt(value, 10)
	case string:
		text = value
	case []byte:
		text = string(value)
	default:
		return fmt.Errorf("%w: a column of type %T: use a numeric or text column", ErrAmountUnreadable, column)
	}
	if text == "" {
		*a = Amount{}
		return nil
	}
	return a.UnmarshalText([]byte(text))
}
