package cost

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/shipping-go/shipping/internal/decimal"
	"github.com/shipping-go/shipping/internal/jsonread"
)

// amount is an amount of money as it was sent.
type amount struct {
	// plain is the number in the notation of [decimal.Parse]. most is the largest number that the text can mean: "1.500"
	// may be 1500.
	plain, most decimal.Number
	code        string // the currency in the text: a code in capitals, or a symbol
	percent     bool
}

// textOfAmount returns the pattern of a text that is one number, with at most a currency or a percent sign.
var textOfAmount = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:([A-Za-z]{3}|\p{Sc}) ?)?([-+]?[0-9.,' ]*[0-9](?:[eE][-+]?[0-9]+)?)(?: ?([A-Za-z]{3}|\p{Sc}|%))?$`)
})

// longest bounds the text of an amount with separators.
const longest = 64

// readAmount reads a number, or a text that is a number. The error is that of [decimal.Parse].
func readAmount(v jsonread.Value) (amount, error) {
	if !strings.ContainsAny(v.Text, "0123456789") {
		return amount{}, decimal.ErrSyntax
	}
	if v.Kind != '"' {
		if n, ok := computed(v.Text); ok {
			return amount{plain: n, most: n}, nil
		}
	}
	plain, err := decimal.Parse(v.Text)
	if v.Kind != '"' || len(v.Text) > longest || errors.Is(err, decimal.ErrRange) {
		return amount{plain: plain, most: plain}, err
	}
	found := textOfAmount().FindStringSubmatch(strings.TrimSpace(strings.Map(plainSeparator, v.Text)))
	if found == nil || found[1] != "" && found[3] != "" {
		return amount{}, decimal.ErrSyntax
	}
	most, ok := mostOf(strings.TrimPrefix(found[2], "+"))
	if !ok {
		return amount{}, decimal.ErrSyntax
	}
	if err != nil {
		plain = most
	}
	return amount{plain: plain, most: most, percent: found[3] == "%",
		code: strings.ToUpper(found[1] + strings.TrimSuffix(found[3], "%"))}, nil
}

// Charge reads a charge, which can be a text with a currency, such as "46.86 GBP". If the text can be read in two ways,
// it is the larger number, except that "41.500 KWD" has decimals.
func Charge(v jsonread.Value) (n decimal.Number, currency string, read bool) {
	charge, err := readAmount(v)
	for known := range strings.FieldsSeq(currencies) {
		if charge.code != "" && charge.code == known[3:] {
			charge.code = known[:3]
		}
	}
	if hasThreeDecimals(charge.code) {
		charge = charge.inThousandths(v)
	}
	return charge.most, charge.code, err == nil && !charge.percent && (charge.code == "" || IsCode(charge.code))
}

// hasThreeDecimals reports whether the smallest unit of a currency is a thousandth.
func hasThreeDecimals(currency string) bool {
	return slices.Contains(strings.Fields("BHD IQD JOD KWD LYD OMR TND"), strings.ToUpper(currency))
}

// thousandths returns the pattern of a text with three digits behind a point, such as "41.500 KWD". A comma there more
// likely separates thousands.
var thousandths = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[^-0-9.,]*([0-9]+)[.]([0-9]{3})[^-0-9.,]*$`)
})

// inThousandths returns the amount of v, whose currency has three decimals: three digits behind a point are decimals.
func (a amount) inThousandths(v jsonread.Value) amount {
	if found := thousandths().FindStringSubmatch(v.Text); v.Kind == '"' && found != nil {
		if n, err := decimal.Parse(found[1] + "." + found[2]); err == nil {
			a.plain, a.most = n, n
		}
	}
	return a
}

// IsZero reports whether a value is an amount of zero, such as "0.00 NGN".
func IsZero(v jsonread.Value) bool {
	n, err := readAmount(v)
	return err == nil && n.most.Sign() == 0
}

// startOfAmount returns the pattern of a text that may begin with an amount. The group is a currency.
var startOfAmount = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[^\pL\pN]*(?:(?i:up to|from|plus|approx|min|max)\pL*[^\pL\pN]*)?(?:([A-Z]{3})[^\pL\pN]*)?\p{Nd}`)
})

// abbreviated returns the pattern of a number after the short form of a currency, such as "N1,500", "US$5" and "Rs.
// 50". It does not match a single digit after letters, as in "A4".
var abbreviated = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^=?\pL{1,5}(?:[. ]*\p{Sc}[. ]*\p{Nd}|[. =/]*\p{Nd}[\p{Nd}.,' ]*\p{Nd}(?:$|/))`)
})

// dateOrTime returns the pattern of a date, with or without a time of day, that no other number follows.
var dateOrTime = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|UTC|[-+]\d\d:?\d\d))?)?\P{Nd}*$`)
})

// mayBeAmount reports whether a text that is not a number may be an amount.
func (c *counter) mayBeAmount(v jsonread.Value) bool {
	if v.Kind != '"' || dateOrTime().MatchString(v.Text) {
		return false
	}
	found := startOfAmount().FindStringSubmatch(v.Text)
	isAmount := found != nil && (found[1] == "" || codeIn(found[1:]) != "" || found[1] == c.currency)
	return isAmount || abbreviated().MatchString(v.Text)
}

// isSymbol reports whether a text is the symbol of a currency, such as "$" and "US$".
func isSymbol(text string) bool {
	return len(text) < 8 && strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Sc, r) }) &&
		!strings.ContainsFunc(text, unicode.IsDigit)
}

// computed reads a number from floating-point arithmetic, such as 107.50000000000001, and rounds it to 9 decimals.
// Such a number has more digits than a float64 holds.
func computed(text string) (n decimal.Number, ok bool) {
	const decimals, exact = 9, 15
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) <= decimals || len(strings.TrimLeft(whole+fraction, "-0")) <= exact ||
		strings.ContainsAny(text, "eE") {
		return n, false
	}
	n, err := decimal.Parse(whole + "." + fraction[:decimals+1])
	return n.Round(decimals), err == nil
}

// plainSeparator returns the ASCII character for a space or an apostrophe.
func plainSeparator(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case r == '’':
		return '\''
	}
	return r
}

// mostOf returns the largest number that a text with separators can mean.
func mostOf(text string) (most decimal.Number, found bool) {
	if n, err := decimal.Parse(text); err == nil {
		most, found = n, true
	}
	if strings.ContainsAny(text, "eE") {
		return most, found
	}
	for _, separators := range []struct{ thousands, point string }{
		{",", "."}, {".", ","}, {"'", "."}, {"'", ","}, {" ", "."}, {" ", ","},
	} {
		whole, fraction, hasFraction := strings.Cut(text, separators.point)
		whole, grouped := ungrouped(whole, separators.thousands)
		if !grouped || hasFraction && fraction == "" {
			continue
		}
		n, err := decimal.Parse("0" + whole + "." + fraction + "0")
		if err == nil && (!found || n.Cmp(most) > 0) {
			most, found = n, true
		}
	}
	return most, found
}

// ungrouped returns a whole number without the separators of its thousands; false if they do not group it. Lakhs and
// crores have groups of two digits.
func ungrouped(whole, separator string) (string, bool) {
	groups := strings.Split(whole, separator)
	for i, group := range groups[1:] {
		last := i == len(groups)-2
		if len(group) != 3 && (last || len(group) != 2) {
			return "", false
		}
	}
	first := groups[0]
	if len(groups) > 1 && (len(first) == 0 || len(first) > 3 || first[0] == '0') {
		return "", false
	}
	return strings.Join(groups, ""), true
}
