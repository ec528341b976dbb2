package evidence

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// name is the name of a member.
type name struct {
	words   []string
	meaning meaning
	ending  ending
	// isCurrency: the member is a currency. Words has the others.
	isCurrency bool
	// isWhole: the member is the price with or without its taxes, such as net_amount or price_incl_tax.
	isWhole bool
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
	// amounts are parts of which each number is money, whatever its name.
	amounts
)

func meaningOf(word string) meaning {
	switch word {
	case "amount", "amounts", "price", "prices", "cost", "costs":
		return money
	case "total", "totals":
		return money | total
	case "charge", "charges", "fee", "fees", "duty", "duties", "levy", "levies", "commission", "commissions", "handling",
		"surcharge", "surcharges", "markup", "markups", "postage", "insurance", "insurances", "deposit", "deposits",
		"penalty", "penalties":
		return money | onTop
	case "tax", "taxes", "vat", "gst", "hst", "pst", "qst", "sst", "cgst", "sgst", "igst", "utgst", "iva", "tva", "mwst",
		"ust", "btw", "moms", "cess", "cesses", "excise", "excises":
		return money | onTop
	case "default", "original":
		return earlier
	case "flat", "minor", "kobo", "cents":
		return minor
	case "breakdown", "parts", "components":
		return parts | amounts
	case "lines", "details":
		return parts
	}
	return 0
}

// ending is what the last word of a name means.
type ending uint8

const (
	_ ending = iota
	// identifier is a number that is not money, such as a count.
	identifier
	// items is a count, or a list of what the words before it mean.
	items
	// share is a part of the price.
	share
)

func endingOf(word string) ending {
	switch word {
	case "id", "ids", "at", "date", "dates", "count", "counts", "pages", "number", "numbers", "weight", "weights",
		"code", "codes", "type", "types", "name", "names", "ref", "refs", "currency", "currencies", "description",
		"descriptions", "quantity", "qty", "version", "status", "label", "labels", "key", "keys", "index", "position",
		"title", "exponent", "decimals", "scale", "precision":
		return identifier
	case "items":
		return items
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
	last := len(words) - 1
	n := name{words: words, ending: endingOf(words[last])}
	if last > 0 && slices.Contains([]string{"by", "per", "for"}, words[last-1]) {
		n.ending = 0 // fee_by_weight
	}
	for last > 0 && (words[last] == "code" || words[last] == "iso") {
		last--
	}
	if words[last] == "currency" {
		n.isCurrency, n.words = true, words[:last]
	}
	for _, word := range n.words {
		n.meaning |= meaningOf(word)
	}
	switch classes := n.classes(); {
	case n.meaning&money != 0:
		n.isWhole = wholeName().MatchString(classes)
	case finalName().MatchString(classes):
		n.meaning |= total
	}
	return n
}

var (
	// wholeName matches the classes of the words in the name of a whole price: net_amount, price_incl_tax,
	// TaxInclusiveAmount, amount_due.
	wholeName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([afq]*[fq][afq]*|[afq]+[wi]t+|ti[afq]+)$`)
	})
	// finalName matches those of the name of a total without a word for money: gross, net_payable, to_pay.
	finalName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^q*f[fq]*$`) })
)

// classes returns a letter for each word of a name: a for an amount, t for a charge on top, f for what is paid in the
// end, q for what qualifies an amount, w and i for what includes or excludes, and x for any other.
func (n name) classes() string {
	var b strings.Builder
	for _, word := range n.words {
		switch meaning := meaningOf(word); {
		case meaning&onTop != 0:
			b.WriteByte('t')
		case meaning&money != 0:
			b.WriteByte('a')
		default:
			b.WriteByte(cmp.Or(classOf(word), 'x'))
		}
	}
	return b.String()
}

func classOf(word string) byte {
	switch word {
	case "gross", "brutto", "ttc", "payable", "due", "final", "pay", "sum", "chargeable", "billable", "overall":
		return 'f'
	case "net", "subtotal", "sub", "base", "grand", "unit", "to":
		return 'q'
	case "with", "without", "before", "after", "including", "excluding", "incl", "excl", "inc", "ex", "plus":
		return 'w'
	case "inclusive", "exclusive", "included":
		return 'i'
	case "and":
		return 't'
	}
	return 0
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
