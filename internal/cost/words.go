package cost

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/shipping-go/shipping/internal/spelling"
)

// The words of names. A word can only lower the amount that a number counts as, or make an offer unclear;
// docs/internals/COST.md lists them all.
const (
	formWords     = "amount price cost value total sum gross net payable due final grand sub subtotal formatted"
	untaxedWords  = "net sub subtotal"
	earlierWords  = "default original"
	swappedWords  = "base converted"
	partWords     = "breakdown part component detail item line"
	minorWords    = "flat minor kobo cents"
	noMoneyWords  = "id at date code number weight"
	exchangeWords = "exchange fx"
	currencyWords = "currency ccy"
	countWords    = "count quantity qty pages units"
	moneyAfter    = "by per for"
	shareWords    = "share pct perc"
	negativeWords = "discount rebate"
)

// isOf reports whether a word is in a list, in singular or plural. Words for the price count only in singular, except
// totals: plural prices and costs can be other ones.
func isOf(word, list string) bool {
	for one := range strings.FieldsSeq(list) {
		if word == one || strings.TrimSuffix(word, "s") == one && (list != formWords || one == "total") {
			return true
		}
	}
	return false
}

// anyOf reports whether one of several words is in a list.
func anyOf(words []string, list string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return isOf(word, list) })
}

// areForms reports whether every word is for the price or in one of the lists, and every list contains at least one
// word.
func areForms(words []string, lists ...string) bool {
	isOther := func(word string) bool {
		return !isOf(word, formWords) && !slices.ContainsFunc(lists, func(list string) bool { return isOf(word, list) })
	}
	hasNone := func(list string) bool { return !anyOf(words, list) }
	return len(words) > 0 && !slices.ContainsFunc(words, isOther) && !slices.ContainsFunc(lists, hasNone)
}

// place is where a value stands in an offer.
type place struct {
	path string
	// name are the words of the last name. words are the words of all names below the object that holds the price.
	name, words []string
	// price are the names that lead from here to the price, if any do.
	price []string
	// isPrice: the value is the price.
	isPrice bool
	// isShare: a member beside the value states that it is a percentage.
	isShare bool
	// isCount: the value is in an object or list under the name of a count.
	isCount bool
}

// inside returns the place of a member of the value.
func (p place) inside(member string) place {
	name := spelling.Words(member)
	inner := place{name: name, words: slices.Concat(p.words, name), isCount: p.isCount || isOf(p.last(), countWords),
		path: joined(p.path, member)}
	if p.isCurrency() {
		inner.name = slices.Concat(p.name, name) // currency: {"code": "USD"}
	}
	if len(p.price) > 0 && p.price[0] == member {
		inner.price, inner.words = p.price[1:], nil
		inner.isPrice = len(inner.price) == 0
	}
	return inner
}

// joined returns the path of a member. A character that a path or an error cannot have becomes "_".
func joined(path, member string) string {
	name := strings.Map(func(r rune) rune {
		if r == '.' || unicode.IsControl(r) {
			return '_'
		}
		return r
	}, member)
	return strings.TrimPrefix(path+"."+cmp.Or(name, "_"), ".")
}

// last returns the last word of the name, or "" if a word before it means money, as in fee_by_weight.
func (p place) last() string {
	end := len(p.name) - 1
	if end < 0 || anyOf(p.name[:end], moneyAfter) {
		return ""
	}
	return p.name[end]
}

// isSkipped reports whether a member is not money, whatever it holds: a weight, an exchange rate, or an amount before
// its conversion.
func (p place) isSkipped() bool {
	isRate := anyOf(p.name, exchangeWords) && isOf(p.last(), "rate")
	name := slices.DeleteFunc(slices.Clone(p.name), func(word string) bool { return isOf(word, "currency code") })
	return isRate || isOf(p.last(), "weight") || areForms(name, earlierWords)
}

// isReduction reports whether the last word, apart from words for the price, is discount or rebate, so that a negative
// number lowers the price. Under discount_fee it can be a charge.
func (p place) isReduction() bool {
	words := slices.DeleteFunc(slices.Clone(p.words), func(word string) bool { return isOf(word, formWords) })
	return len(words) > 0 && isOf(words[len(words)-1], negativeWords)
}

// isCurrency reports whether the name is that of a currency.
func (p place) isCurrency() bool {
	end := len(p.name)
	return end > 0 && isOf(p.name[end-1], currencyWords) || end > 1 && isOf(p.name[end-2], currencyWords) &&
		p.name[end-1] == "code"
}

// isNoMoney reports whether the name is that of an identifier, a time or a code. "AT" alone is the country Austria.
func (p place) isNoMoney() bool {
	last := p.last()
	return isOf(last, noMoneyWords) && (last != "at" || len(p.name) > 1)
}

// statesPercent reports whether one of several words, or two in succession, stand for a percentage, such as "percent",
// "vatpercent" and "per cent".
func statesPercent(words []string) bool {
	return strings.Contains(strings.Join(words, ""), "percent")
}

// areShare reports whether the words of a name state that its number may be a percentage.
func areShare(words []string) bool {
	isRate := func(word string) bool { return strings.HasSuffix(strings.TrimSuffix(word, "s"), "rate") }
	return statesPercent(words) || anyOf(words, shareWords) || slices.ContainsFunc(words, isRate)
}
