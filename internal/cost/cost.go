package cost

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/decimal"
	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/spelling"
)

// counter adds up what an offer can cost: its price, and all other numbers that it shows. If a number can be read in
// two ways, the larger reading counts. Each exception is a function, and lowers a count only in the case that its
// comment states.
type counter struct {
	price    price
	currency string
	shown    jsonread.Value // the offer
	offer    dialect.Offer
	isParts  bool // it counts possible parts of the price

	forms  []number // the price in other forms
	others []number // amounts beside the price
	shares []number // shares of the price and all others
	err    error
}

// stop records why the cost is not known; only the first reason counts. It adds the line that declares a member as not
// charged, unless its name can be that of the price.
func (c *counter) stop(path, problem, declared string) {
	unclear := &Unclear{Problem: "has no clear price (" + path + " " + problem + ")"}
	if declared != "" && !areForms(spelling.Words(declared)) {
		unclear.Lines = []dialect.Line{besideLine(declared)}
	}
	c.err = cmp.Or(c.err, error(unclear))
}

const tooLong = "has too many digits"

// cost returns the largest form of the price plus all other numbers, or this form alone if it is the sum of the price
// and the others. A net price or a subtotal is never this sum. If the name of the price has no word for the price, a
// larger form counts in addition to it.
func (c *counter) cost() (Cost, error) {
	price := number{most: c.price.most}
	if c.price.most != c.price.plain {
		price.text = "a price that may be " + text(c.price.most)
	}
	largest := slices.MaxFunc(append([]number{price}, c.forms...), func(a, b number) int { return a.most.Cmp(b.most) })
	others := c.others
	if largest != price && !areForms(spelling.Words(c.price.path[len(c.price.path)-1])) {
		others = append(slices.Clip(others), number{path: strings.Join(c.price.path, "."), most: price.most,
			text: "price " + text(price.most)})
	}
	most, counted := c.sum(largest, others)
	isSum := len(counted) > 1 && !anyOf(spelling.Words(largest.path), untaxedWords)
	if sum, _ := c.sum(price, c.others); isSum && c.isRounded(largest.most, sum) {
		most, counted = c.roundUp(largest.most), []number{largest}
	}
	cost := Cost{Currency: c.currency, Price: c.price.plain, Most: most}
	for _, n := range counted {
		cost.Beside = append(cost.Beside, n.text)
	}
	slices.SortStableFunc(counted, largestFirst)
	for _, n := range slices.Backward(counted) {
		if c.offer.Amount != "" && n.most.Cmp(c.price.most) > 0 { // the dialect may name the wrong price
			continue
		}
		line := besideLine(n.path)
		if n.path == "" && hasThreeDecimals(c.currency) {
			line = dialect.Line{Field: "offer.amount", Value: strings.Join(c.price.path, ".")}
		}
		cost.Lines = append(cost.Lines, line)
	}
	return cost, c.err
}

// number is a number that counts.
type number struct {
	path      string
	most      decimal.Number // the most that the number can mean
	text      string         // as the offer shows it
	isPercent bool           // it is a percentage, not an amount
}

func largestFirst(a, b number) int { return b.most.Cmp(a.most) }

func percentLast(a, b number) int {
	switch {
	case a.isPercent == b.isPercent:
		return largestFirst(a, b)
	case b.isPercent:
		return -1
	}
	return 1
}

// besideLine returns the line that declares a member as not charged. A path of a dialect has at most two names, so
// below that, the line declares the object around the member.
func besideLine(path string) dialect.Line {
	names := strings.SplitN(path, ".", 3)
	return dialect.Line{Field: "offer.beside", Value: strings.Join(names[:min(2, len(names))], ".")}
}

// isRounded reports whether a number is a sum, or is below it by less than the smallest unit of the currency.
func (c *counter) isRounded(n, sum decimal.Number) bool {
	difference, ok := sum.Add(decimal.Number{Units: -n.Units, Scale: n.Scale})
	return ok && difference.Sign() >= 0 && difference.Cmp(decimal.Number{Units: 1, Scale: c.decimals()}) < 0
}

// sum adds the other amounts to a form of the price, and then the shares one by one, each as a share of the sum so far.
func (c *counter) sum(form number, others []number) (most decimal.Number, counted []number) {
	if form.text != "" {
		counted = append(counted, form)
	}
	most = c.roundUp(form.most)
	add := func(n number, more decimal.Number) {
		sum, ok := most.Add(c.roundUp(more))
		if !ok {
			c.stop(n.path, tooLong, n.path)
		}
		n.most = more
		most, counted = sum, append(counted, n)
	}
	for _, n := range others {
		add(n, n.most)
	}
	// A percentage can apply to every amount, so shares that may be amounts come first.
	for _, n := range slices.SortedStableFunc(slices.Values(c.shares), percentLast) {
		share := c.share(n, most)
		n.text += " (" + text(share) + ")"
		add(n, share)
	}
	return most, counted
}

// share returns a share of an amount: 7.5 and 0.075 are 7.5 %. Without a percent sign, it may be an amount as well.
func (c *counter) share(n number, of decimal.Number) decimal.Number {
	factor := n.most
	if n.isPercent || factor.Cmp(decimal.Number{Units: 1}) > 0 {
		factor, _ = factor.Mul(decimal.Number{Units: 1, Scale: 2})
	}
	share, ok := of.Mul(factor)
	if !ok {
		c.stop(n.path, tooLong, n.path)
	}
	if !n.isPercent && n.most.Cmp(share) > 0 {
		share = n.most
	}
	return c.roundUp(share)
}

// decimals returns the decimals of the smallest unit of the currency, two at most.
func (c *counter) decimals() uint8 {
	const none = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
	if slices.Contains(strings.Fields(none), strings.ToUpper(c.currency)) {
		return 0
	}
	return 2
}

// roundUp rounds up to the smallest unit of the currency: a service may round its debits.
func (c *counter) roundUp(n decimal.Number) decimal.Number {
	rounded := n.Round(c.decimals())
	if rounded.Cmp(n) < 0 {
		rounded, _ = rounded.Add(decimal.Number{Units: 1, Scale: c.decimals()})
	}
	return rounded
}

// value counts a value and all that it holds.
func (c *counter) value(v jsonread.Value, at place) {
	switch {
	case at.isPrice || at.path == c.offer.Currency || c.describes(at):
	case slices.Contains(c.offer.Beside, at.path):
		c.declared(v, at)
	case at.isSkipped():
	case v.Scalar():
		c.scalar(v, at)
	case v.Text != "":
		c.stop(at.path, "is nested too deeply", at.path)
	case c.areParts(v, at):
	default:
		c.all(v, at)
	}
}

// all counts the members or elements of a value.
func (c *counter) all(v jsonread.Value, at place) {
	if name, twice := v.Repeated(); twice {
		c.stop(spelling.Quote(name), "is given twice", "")
	}
	statesShareAlone := func(v jsonread.Value) bool { return statesShare(jsonread.Member{Value: v}) }
	isShare := slices.ContainsFunc(v.Members, statesShare) || slices.ContainsFunc(v.Elements, statesShareAlone)
	for _, m := range v.Members {
		inner := at.inside(m.Name)
		inner.isShare = at.isShare || isShare || strings.Contains(m.Name, "%")
		c.value(m.Value, inner)
	}
	at.isShare = at.isShare || isShare
	for _, element := range v.Elements {
		c.value(element, at)
	}
}

// describes reports whether AvailableDocument reads the member as something that is not money.
func (c *counter) describes(at place) bool {
	return slices.Contains([]string{"document_type", "slug", "type", "name", "mode", "reasons", "profile_fields",
		c.offer.DocumentType, c.offer.Mode}, at.path)
}

// declared skips what the dialect declares as not charged. It stops at a number that is more than the price and has a
// name for the price: the dialect may have swapped two names. A member "value" beside the price more likely is the
// value of the goods.
func (c *counter) declared(v jsonread.Value, at place) {
	n, err := readAmount(v)
	isMore := errors.Is(err, decimal.ErrRange) || err == nil && n.most.Cmp(c.price.most) > 0
	canBe := at.path != "value" &&
		(areForms(at.words) || areForms(at.words, earlierWords) || areForms(at.words, swappedWords))
	if v.Scalar() && isMore && canBe {
		c.stop(at.path, "of offer.beside is more than the price, and may be the price: remove it from offer.beside", "")
	}
	for _, m := range v.Members {
		c.declared(m.Value, at.inside(m.Name))
	}
	for _, element := range v.Elements {
		c.declared(element, at)
	}
}

// statesShare reports whether a member or element states that the numbers beside it are percentages: "type": "percent".
func statesShare(m jsonread.Member) bool {
	switch {
	case m.Value.Text == "true":
		return areShare(spelling.Words(m.Name))
	case m.Value.Kind != '"' || strings.ContainsFunc(m.Value.Text, unicode.IsDigit):
		return false
	}
	words := spelling.Words(m.Value.Text)
	return strings.Contains(m.Value.Text, "%") || statesPercent(words) || len(words) == 1 && areShare(words)
}

// scalar counts a number, unless its name is that of an identifier, a time or a count that is 1.
func (c *counter) scalar(v jsonread.Value, at place) {
	n, err := readAmount(v)
	one, code := decimal.Number{Units: 1}, cmp.Or(n.code, codeIn(at.words))
	switch {
	case at.isCurrency() && c.foreign(currencyIn(v, c.offer)), c.foreign(codeIn([]string{v.Text})),
		isSymbol(v.Text) && c.foreign(v.Text):
		c.stopForeign(at.path, "is "+spelling.Quote(v.Text))
	case at.isNoMoney():
	case errors.Is(err, decimal.ErrRange):
		c.stop(at.path, tooLong, at.path)
	case err != nil && c.mayBeAmount(v):
		c.stop(at.path, "is "+sent(v), at.path)
	case err != nil || n.most.Sign() == 0 && !c.isParts:
	case (at.isCount || isOf(at.last(), countWords+" items")) && n.most.Cmp(one) != 0:
		c.stop(at.path, "is "+text(n.most)+", and the price may be for one", at.path)
	case at.isCount || isOf(at.last(), countWords+" items"):
	case c.foreign(code):
		c.stop(at.path, "is in "+spelling.Quote(code), at.path)
	default:
		c.number(n, at)
	}
}

// number counts a number by its kind: a form of the price, a share, or an amount.
func (c *counter) number(n amount, at place) {
	counted := number{path: at.path, most: n.most, text: at.path + " " + text(n.most), isPercent: n.percent}
	isNegative := n.most.Sign() < 0
	switch {
	case isNegative && !at.isReduction():
		c.stop(at.path, "is negative", at.path)
	case c.isParts && !n.percent:
		c.others = append(c.others, counted)
	case isNegative, c.isMinor(n.most, at):
	case n.percent || at.isShare || areShare(at.words):
		c.shares = append(c.shares, counted)
	case c.isForm(n.most, at):
		c.forms = append(c.forms, counted)
	default:
		c.others = append(c.others, counted)
	}
}

// isForm reports whether a number is the price in another form, such as net or with taxes: all words of its name are
// words for the price, it is at least half the price, and it is the first such number of its member. So the elements of
// a list, such as instalments, are not all forms.
func (c *counter) isForm(n decimal.Number, at place) bool {
	double, ok := n.Add(n)
	isSame := func(form number) bool { return form.path == at.path }
	return areForms(at.words) && (!ok || double.Cmp(c.price.most) >= 0) && !slices.ContainsFunc(c.forms, isSame)
}

// isMinor reports whether a number is the price in minor units, which may be rounded to a whole number: its name has a
// word for minor units, its other words are words for the price, and it is the price times 100.
func (c *counter) isMinor(n decimal.Number, at place) bool {
	minor, ok := c.price.most.Mul(decimal.Number{Units: -100})
	difference, fits := minor.Add(n)
	return areForms(at.words, minorWords) && ok && fits && difference.Cmp(decimal.Number{Units: 1}) < 0 &&
		difference.Cmp(decimal.Number{Units: -1}) > 0
}

// areParts reports whether an object or list has the parts of the price: its name has a word for parts, its other words
// are words for the price, each number is read, and at least two numbers, without their total, add up to the price.
func (c *counter) areParts(v jsonread.Value, at place) bool {
	if c.isParts || !areForms(at.words, partWords) || c.price.most.Sign() == 0 {
		return false
	}
	parts := counter{price: c.price, currency: c.currency, shown: c.shown, offer: c.offer, isParts: true}
	parts.all(v, at)
	sum, fits, count := decimal.Number{}, parts.err == nil && len(parts.shares) == 0, len(parts.others)
	total, _ := c.price.most.Add(c.price.most)
	hasTotal := false
	for _, n := range parts.others {
		more, ok := sum.Add(n.most)
		sum, fits = more, fits && ok
		hasTotal = hasTotal || n.most == c.price.most && areForms(spelling.Words(strings.TrimPrefix(n.path, at.path)))
	}
	return fits && (count > 1 && sum == c.price.most || count > 2 && sum == total && hasTotal)
}

// stopForeign records a currency other than the offer's. If an object holds it, the object may hold the price. If it
// belongs to a member, as fee_currency belongs to fee, the line declares this member as not charged. Otherwise the
// price may be in that currency, and there is a line only if the dialect declares the currency.
func (c *counter) stopForeign(path, problem string) {
	if c.err != nil {
		return // the first reason counts
	}
	end := max(strings.LastIndex(path, "."), 0)
	owner, isPrice := path[:end], end > 0 && strings.HasPrefix(strings.Join(c.price.path, "."), path[:end+1])
	unclear := &Unclear{Problem: "has no clear price (" + path + " " + problem + ")"}
	for _, suffix := range []string{"_currency", "Currency", "_ccy", "Ccy"} {
		if name := strings.TrimSuffix(path, suffix); name != path && c.shown.At(name).Kind != 0 {
			owner = name
		}
	}
	switch {
	case isPrice:
		unclear.Lines = []dialect.Line{{Field: "offer.currency", Value: path}}
	case slices.Contains(c.offer.Beside, owner), owner == "" && c.offer.Currency != "":
		unclear.Lines = []dialect.Line{besideLine(path)}
	case c.shown.At(owner).Kind == '{':
		for _, m := range c.shown.At(owner).Members {
			if n, err := readAmount(m.Value); err == nil && n.most.Sign() > 0 {
				unclear.Lines = append(unclear.Lines, dialect.Line{Field: "offer.amount", Value: owner + "." + m.Name})
			}
		}
	case owner != "" && !areForms(spelling.Words(owner)):
		unclear.Lines = []dialect.Line{besideLine(owner)}
	}
	c.err = unclear
}

// currencies are the codes that a name can contain, as in amount_usd, with their symbols. They have no other meaning in
// a name.
const currencies = "USD$ EUR€ GBP£ NGN₦ GHS₵ KES ZAR XOF XAF CNY¥ JPY¥ INR₹ AED CHF"

// codeIn returns the code of a currency among several words, or "".
func codeIn(words []string) string {
	for known := range strings.FieldsSeq(currencies) {
		if slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(word, known[:3]) }) {
			return known[:3]
		}
	}
	return ""
}

// codes returns a line for each member below a value that may hold a currency code: the line sets the field to the path
// of the member. In an offer, each text of three capitals may be a code.
func (c *counter) codes(field string, v jsonread.Value, at place) (lines []dialect.Line) {
	inOffer := field == "offer.currency" && v.Text == strings.ToUpper(v.Text)
	if IsCode(v.Text) && (at.isCurrency() || inOffer) && !c.describes(at) {
		lines = append(lines, dialect.Line{Field: field, Value: at.path})
	}
	for _, m := range v.Members {
		lines = append(lines, c.codes(field, m.Value, at.inside(m.Name))...)
	}
	for _, element := range v.Elements {
		lines = append(lines, c.codes(field, element, at)...)
	}
	return lines
}

// foreign reports whether a currency is known, and is not the offer's. A symbol can mean several currencies, so it is
// compared only if the symbol of the offer's currency is known.
func (c *counter) foreign(currency string) bool {
	isSymbol := !strings.ContainsFunc(currency, unicode.IsLetter)
	if currency == "" || c.currency == "" || !isSymbol {
		return Foreign(currency, c.currency)
	}
	for known := range strings.FieldsSeq(currencies) {
		if SameCurrency(known[:3], c.currency) {
			return currency != known[3:]
		}
	}
	return false
}
