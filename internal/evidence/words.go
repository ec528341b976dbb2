package evidence

import (
	"slices"
	"strings"
	"unicode"
)

// name is the name of a member.
type name struct {
	words   []string
	meaning meaning
	ending  ending
	// isCurrency: the member is a currency. Words has the others.
	isCurrency bool
}

// meaning is what the words of a name mean.
type meaning uint8

const (
	money meaning = 1 << iota
	// onTop is money that may be charged in addition to the price.
	onTop
	// total is money that contains the price.
	total
	// earlier is an amount before its conversion.
	earlier
	// minor is an amount in minor units.
	minor
	// parts are the parts of an amount.
	parts
)

func meaningOf(word string) meaning {
	switch word {
	case "amount", "amounts", "price", "prices", "cost", "costs":
		return money
	case "total", "totals":
		return money | total
	case "charge", "charges", "fee", "fees", "tax", "taxes", "vat", "gst", "hst", "iva", "duty", "duties", "levy", "levies",
		"commission", "commissions", "handling", "surcharge", "surcharges":
		return money | onTop
	case "default", "original":
		return earlier
	case "flat", "minor", "kobo", "cents":
		return minor
	case "breakdown", "parts", "components", "lines", "details":
		return parts
	}
	return 0
}

// ending is what the last word of a name means.
type ending uint8

const (
	_ ending = iota
	// identifier is a number that is no money, such as a count.
	identifier
	// share is a part of the price.
	share
)

func endingOf(word string) ending {
	switch word {
	case "id", "ids", "at", "date", "dates", "count", "counts", "items", "pages", "number", "numbers", "weight", "weights",
		"code", "codes", "type", "types", "name", "names", "ref", "refs", "currency", "currencies", "description", "descriptions":
		return identifier
	case "rate", "rates", "percent", "percentage", "pct", "share", "shares":
		return share
	}
	return 0
}

// currencyWords are the currencies that a name can state, as in amount_usd, and never another thing.
var currencyWords = []string{"usd", "eur", "gbp", "ngn", "ghs", "kes", "zar", "xof", "xaf", "cny", "jpy", "inr", "aed",
	"chf"}

func nameOf(member string) name {
	words := wordsOf(member)
	if len(words) == 0 {
		return name{}
	}
	n := name{words: words, ending: endingOf(words[len(words)-1])}
	if last := len(words) - 1; last > 0 && words[last] == "code" && words[last-1] == "currency" {
		words = words[:last]
	}
	if last := len(words) - 1; words[last] == "currency" {
		n.isCurrency, n.words = true, words[:last]
	}
	for _, word := range n.words {
		n.meaning |= meaningOf(word)
	}
	return n
}

// owner returns the first words of a name as one text.
func (n name) owner(words int) string { return strings.Join(n.words[:words], "_") }

// currencyIn returns the currency that the name states, such as "USD"; "" if it states none. The offer has a currency
// of its own.
func (n name) currencyIn(offer string) string {
	for _, word := range n.words {
		if slices.Contains(currencyWords, word) || strings.EqualFold(word, offer) {
			return strings.ToUpper(word)
		}
	}
	return ""
}

// wordsOf splits a name at its capitals, and at everything but letters, into words in lower case.
func wordsOf(name string) (words []string) {
	start, letters := 0, []rune(name)
	for i, r := range letters {
		switch {
		case !unicode.IsLetter(r):
			words = appendWord(words, letters[start:i])
			start = i + 1
		case i > start && unicode.IsUpper(r) && (unicode.IsLower(letters[i-1]) || i+1 < len(letters) &&
			unicode.IsLower(letters[i+1])):
			words = appendWord(words, letters[start:i])
			start = i
		}
	}
	return appendWord(words, letters[start:])
}

func appendWord(words []string, letters []rune) []string {
	if len(letters) == 0 {
		return words
	}
	return append(words, strings.ToLower(string(letters)))
}
