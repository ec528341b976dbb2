package evidence

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/decimal"
	"github.com/shipping-go/shipping/internal/jsonread"
)

// counter adds up the most that an offer can cost. It reads the whole offer, because any member may hold money.
type counter struct {
	price    price
	currency string
	offer    dialect.Offer

	sum        decimal.Number // of the amounts beside the price
	counted    []string       // their names
	total      decimal.Number // the largest total
	totalShown string         // its name
	numbers    int            // that were read
	err        error
}

// place is what the names above a value mean for it.
type place struct {
	path    string
	meaning meaning // of all names
	ending  ending  // of the last name
	// currency is that of the value; "" is that of the offer.
	currency string
	// price are the names that lead from here to the price; none if they do not.
	price []string
	// isPart: the value is in a list of the parts of an amount.
	isPart bool
	// isPrice: the value is the price.
	isPrice bool
	// isWhole: the value is the price with or without its taxes.
	isWhole bool
}

// inside returns the place of a member.
func (p place) inside(member string, n name) place {
	inner := place{path: strings.TrimPrefix(p.path+"."+member, "."), meaning: p.meaning | n.meaning, ending: n.ending,
		currency: p.currency, isPart: p.isPart}
	if len(p.price) > 0 && p.price[0] == member {
		inner.price = p.price[1:]
		inner.isPrice = len(inner.price) == 0
	}
	inner.isWhole = n.isWhole && len(p.price) > 0 || p.isWhole && n.meaning == 0 // beside the price, or in an object there
	if p.has(amounts) || p.has(parts) && member == "value" {
		inner.meaning |= money
	}
	if inner.has(onTop) {
		inner.meaning &^= parts | earlier | minor
	}
	if p.ending == identifier && n.meaning == total {
		inner.ending = identifier // weight: {"gross": 900}
	}
	if p.ending == share && n.ending == 0 && n.meaning&money == 0 {
		inner.ending = share // tax_rate: {"value": 7.5}
	}
	return inner
}

// isMoney reports whether a number here is money.
func (p place) isMoney() bool {
	return p.has(money|total) && p.ending != identifier && p.ending != items
}

// has reports whether a name means this.
func (p place) has(m meaning) bool { return p.meaning&m != 0 }

// foreign reports whether a currency is known and another than that of the offer.
func (c *counter) foreign(currency string) bool {
	return currency != "" && !SameCurrency(currency, c.currency)
}

// stop records the first reason why the cost is not known.
func (c *counter) stop(path, problem string) {
	if c.err == nil {
		c.err = fmt.Errorf("has no clear price (%s %s): select other documents", path, problem)
	}
}

// cost returns the result.
func (c *counter) cost() (Cost, error) {
	most, ok := c.price.most.Add(c.sum)
	if !ok {
		c.stop("the sum of its amounts", tooLong)
	}
	if c.total.Cmp(most) > 0 {
		most, c.counted = c.total, []string{c.totalShown}
	}
	if c.price.most != c.price.plain {
		c.counted = append(c.counted, "a price that may be "+text(c.price.most))
	}
	return Cost{Currency: c.currency, Price: c.price.plain, Most: most, Beside: c.counted}, c.err
}

const tooLong = "has too many digits"

// value adds what a value can cost.
func (c *counter) value(v jsonread.Value, at place) {
	switch {
	case !at.isPrice && slices.Contains(c.offer.Beside, at.path):
		c.numbers++
	case v.Scalar():
		c.scalar(v, at)
	case at.has(parts) && c.consistsOf(v):
	case v.Kind == '{':
		c.object(v, at)
	default:
		if at.ending == items {
			at.ending = 0
		}
		if at.has(amounts) {
			at.meaning |= money
		}
		at.isPart = at.has(parts)
		for _, element := range v.Elements {
			c.value(element, at)
		}
	}
}

// object adds what the members of an object can cost. A currency belongs to the numbers under its name (fee_currency to
// fee and fee_amount), or else to all numbers of its object.
func (c *counter) object(v jsonread.Value, at place) {
	if name, twice := v.Repeated(); twice {
		c.stop(quote(name), "is given twice")
	}
	names := make([]name, len(v.Members))
	currencies := map[string]string{} // by the name without "currency"
	for i, m := range v.Members {
		names[i] = nameOf(m.Name)
		if names[i].isCurrency {
			currencies[names[i].owner(len(names[i].words))] = currencyIn(m.Value, c.offer)
		}
	}
	outermost := at.path == ""
	if !outermost {
		at.currency = cmp.Or(currencies[""], at.currency)
	}
	before, used := c.numbers, map[string]bool{}
	for i, m := range v.Members {
		inner, owner := at.inside(m.Name, names[i]), ""
		if names[i].isCurrency && !c.holdsCode(inner) {
			continue
		}
		if code := names[i].currencyIn(c.currency); code != "" {
			inner.currency = code
		}
		for end := len(names[i].words); end > 0 && owner == ""; end-- {
			if currency := currencies[names[i].owner(end)]; currency != "" {
				owner, inner.currency = names[i].owner(end), currency
			}
		}
		earlier := c.numbers
		c.value(m.Value, inner)
		used[owner] = used[owner] || c.numbers > earlier
	}
	used[""] = !outermost && c.numbers > before
	for i, m := range v.Members {
		inner := at.inside(m.Name, names[i])
		if names[i].isCurrency && !c.holdsCode(inner) && !slices.Contains(c.offer.Beside, inner.path) {
			c.unused(m, inner, used[names[i].owner(len(names[i].words))])
		}
	}
}

// holdsCode reports whether a value is the object in which the dialect has the currency of the price.
func (c *counter) holdsCode(at place) bool { return strings.HasPrefix(c.offer.Currency, at.path+".") }

// unused stops at a currency that cannot be read, and at one other than that of the offer that belongs to no number:
// the price itself may be in it.
func (c *counter) unused(m jsonread.Member, at place, used bool) {
	switch {
	case !m.Value.Scalar():
		c.stop(at.path, "is "+sent(m.Value)+": name the member with the code, offer.currency of the dialect")
	case !used && !at.has(earlier) && c.foreign(currencyIn(m.Value, c.offer)):
		c.stop(at.path, "is "+quote(m.Value.Text))
	}
}

// scalar adds a number, if it is money.
func (c *counter) scalar(v jsonread.Value, at place) {
	if at.isPrice {
		if c.foreign(at.currency) {
			c.stop(at.path, "is in "+quote(at.currency))
		}
		return
	}
	n, err := readAmount(v)
	if err != nil && at.has(onTop) {
		n, err = readStart(v)
	}
	isMoney := at.isMoney()
	if isMoney && errors.Is(err, decimal.ErrRange) {
		c.stop(at.path, tooLong)
	}
	if err != nil {
		return
	}
	c.numbers++
	currency := cmp.Or(n.code, at.currency)
	if at.isWhole && c.nearPrice(n.most) {
		at.meaning = money | total
	}
	switch {
	case !isMoney || n.most.Sign() <= 0:
	case at.ending == share || n.percent:
		c.share(n, at)
	case at.has(onTop) && c.foreign(currency):
		c.stop(at.path, "is in "+quote(currency))
	case at.has(onTop):
		c.add(at.path+" "+text(n.most), roundUp(n.most, 4))
	case n.most == c.price.most && c.foreign(currency) && !at.has(earlier): // as if both were the price
		c.stop(at.path, "is in "+quote(currency))
	case c.foreign(currency), at.has(earlier), n.most == c.price.most, at.has(minor) && c.isMinor(n.most):
	case !at.has(total), at.isPart && n.most.Cmp(c.price.most) < 0:
		c.add(at.path+" "+text(n.most), roundUp(n.most, 4))
	case n.most.Cmp(c.total) > 0:
		c.total, c.totalShown = n.most, at.path+" "+text(n.most)
	}
}

// nearPrice reports whether a number is at least half of the price, so that it can be the price without its taxes.
func (c *counter) nearPrice(n decimal.Number) bool {
	double, ok := n.Add(n)
	return ok && double.Cmp(c.price.most) >= 0
}

// isMinor reports whether a number is the price in minor units, which may be rounded to a whole number.
func (c *counter) isMinor(n decimal.Number) bool {
	minor, ok := c.price.most.Mul(decimal.Number{Units: -100})
	difference, fits := minor.Add(n)
	return ok && fits && difference.Cmp(decimal.Number{Units: 1}) < 0 && difference.Cmp(decimal.Number{Units: -1}) > 0
}

// share adds a part of the price: 7.5 and 0.075 are both 7.5 %.
func (c *counter) share(n amount, at place) {
	one, factor := decimal.Number{Units: 1}, n.most
	if n.percent || n.most.Cmp(one) > 0 {
		factor, _ = factor.Mul(decimal.Number{Units: 1, Scale: 2})
	}
	portion, ok := c.price.most.Mul(factor)
	if !ok {
		c.stop(at.path, tooLong)
	}
	portion = roundUp(portion, 2)
	c.add(fmt.Sprintf("%s %s (%s)", at.path, text(n.most), text(portion)), portion)
}

func (c *counter) add(shown string, n decimal.Number) {
	sum, ok := c.sum.Add(n)
	if !ok {
		c.stop(shown, tooLong)
	}
	c.sum, c.counted = sum, append(c.counted, shown)
}

// roundUp returns a positive number with at most that many decimals, rounded up: a service may round, too.
func roundUp(n decimal.Number, decimals uint8) decimal.Number {
	rounded := n.Round(decimals)
	if rounded.Cmp(n) < 0 {
		rounded, _ = rounded.Add(decimal.Number{Units: 1, Scale: decimals})
	}
	return rounded
}

// consistsOf reports whether the price consists of the numbers of an object or list: they are at least two, and add up
// to it.
func (c *counter) consistsOf(v jsonread.Value) bool {
	p := partsOf{c: c}
	p.add(v, name{})
	if p.count < 2 || p.failed || p.sum != c.price.most {
		return false
	}
	c.numbers += p.count
	return true
}

// partsOf adds up the parts of a price.
type partsOf struct {
	c      *counter
	sum    decimal.Number
	count  int
	failed bool // they are in another currency, or too large
}

func (p *partsOf) add(v jsonread.Value, under name) {
	if _, twice := v.Repeated(); twice {
		p.failed = true
	}
	for _, m := range v.Members {
		switch n := nameOf(m.Name); {
		case n.isCurrency:
			p.failed = p.failed || !m.Value.Scalar() || p.c.foreign(currencyIn(m.Value, p.c.offer))
		case n.ending == 0:
			p.add(m.Value, n)
		}
	}
	for _, element := range v.Elements {
		p.add(element, under)
	}
	n, err := readAmount(v)
	if err != nil || under.meaning&total != 0 && n.most == p.c.price.most {
		return
	}
	sum, ok := p.sum.Add(n.most)
	p.failed = p.failed || !ok || n.percent || p.c.foreign(n.code) || p.c.foreign(under.currencyIn(p.c.currency))
	p.sum, p.count = sum, p.count+1
}
