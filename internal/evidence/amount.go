package evidence

import (
	"errors"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/shipping-go/shipping/internal/decimal"
	"github.com/shipping-go/shipping/internal/jsonread"
)

// amount is an amount of money as it was sent.
type amount struct {
	// plain is the number in the notation of [decimal.Parse], and most the largest number that the text can stand for:
	// "1.500" may be 1500.
	plain, most decimal.Number
	code        string // the currency in the text, in capitals
	percent     bool
}

// textOfAmount returns the pattern of a text that is one number, with at most a currency or a percent sign.
var textOfAmount = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:([A-Za-z]{3}|\p{Sc}) ?)?([-+]?[0-9.,' ]*[0-9](?:[eE][-+]?[0-9]+)?)(?: ?([A-Za-z]{3}|\p{Sc}|%))?$`)
})

// longest bounds the text of an amount with separators.
const longest = 64

// readAmount reads a number, or a text that is one. The error is that of [decimal.Parse].
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
	a := amount{plain: plain, most: most, percent: found[3] == "%"}
	if code := found[1] + found[3]; len(code) == 3 && code[0] < 0x80 {
		a.code = strings.ToUpper(code)
	}
	return a, nil
}

// startOfText returns the pattern of a text that starts with an amount, such as "100.00 (7.5%)". The group is the
// amount.
var startOfText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*((?:(?:[A-Za-z]{3}|\p{Sc}) ?)?[-+]?[0-9.,']+(?: [0-9]{3})*(?:[.,][0-9]+)?` +
		`(?: ?(?:[A-Z]{3}|\p{Sc}|%))?)[ (;/+]`)
})

// readStart reads the amount at the start of a longer text.
func readStart(v jsonread.Value) (amount, error) {
	found := startOfText().FindStringSubmatch(strings.Map(plainSeparator, v.Text))
	if v.Kind != '"' || found == nil {
		return amount{}, decimal.ErrSyntax
	}
	return readAmount(jsonread.Value{Kind: '"', Text: strings.TrimRight(found[1], ".,' ")})
}

// computed reads a number that only floating-point arithmetic produces, such as 107.50000000000001: it has more digits
// than a float64 holds. It is rounded to 9 decimals.
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

// mostOf returns the largest number that a text with separators can stand for.
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

// ungrouped returns a whole number without the separators of its thousands; false if they do not group it. Groups of
// two digits are those of lakhs and crores.
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
