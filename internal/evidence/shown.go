package evidence

import (
	"slices"
	"strings"

	"github.com/shipping-go/shipping/internal/decimal"
	"github.com/shipping-go/shipping/internal/jsonread"
)

// Shown is a number or a text of an offer, read as [Offers.Cost] reads it. Unlike there, a text that only starts with a
// number is not one.
type Shown struct {
	// Path has the names of the members that lead to the value, separated by dots. It is "" inside lists.
	Path string
	// Money: the name is that of an amount. Currency: it is that of a currency.
	Money, Currency bool
	// Text is the value as it was sent.
	Text string
	// Number: the value is a number. Plain is its value, and Most the largest that its text can stand for.
	Number      bool
	Plain, Most decimal.Number
}

// Unreadable reports whether the value may be an amount that cannot be read.
func (s Shown) Unreadable() bool {
	return s.Money && !s.Number && strings.ContainsAny(s.Text, "0123456789")
}

// ShownIn returns the numbers and texts in the JSON of an offer, sorted by their paths.
func ShownIn(offer string) []Shown {
	shown := shownIn(jsonread.Parse(offer), place{}, true)
	slices.SortStableFunc(shown, func(a, b Shown) int { return strings.Compare(a.Path, b.Path) })
	return shown
}

func shownIn(v jsonread.Value, at place, named bool) (shown []Shown) {
	for _, m := range v.Members {
		n := nameOf(m.Name)
		inner := at.inside(m.Name, n)
		if m.Value.Kind != '"' && m.Value.Kind != 'v' {
			shown = append(shown, shownIn(m.Value, inner, named && m.Value.Kind == '{')...)
			continue
		}
		one := Shown{Money: inner.isMoney() && !n.isCurrency, Currency: n.isCurrency,
			Text: m.Value.Text}
		if named {
			one.Path = inner.path
		}
		a, err := readAmount(m.Value)
		one.Number, one.Plain, one.Most = err == nil, a.plain, a.most
		shown = append(shown, one)
	}
	for _, element := range v.Elements {
		shown = append(shown, shownIn(jsonread.Value{Kind: '{', Members: []jsonread.Member{{Name: "", Value: element}}}, at,
			false)...)
	}
	return shown
}
