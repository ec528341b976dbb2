package dialect

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Line is one decision in the form in which errors print it: "offer.amount = total" sets a field, and
// "offer.beside += tax" adds to a field that is a list, or has pairs. [Dialect.Apply] reads this form.
type Line struct {
	Field string
	// Value is the text that [Dialect.Set] reads, or one element of a list, or one pair.
	Value string
}

// String returns the line.
func (l Line) String() string {
	sign := "="
	if f, err := new(Dialect).field(l.Field); err == nil && f.isList() {
		sign = "+="
	}
	return l.Field + " " + sign + " " + l.Value
}

// With returns a copy of the dialect, which may be nil, with the decision of each line. It returns the error of
// [Dialect.Apply] or [Dialect.Check], or one for a value that a line cannot hold.
func (d *Dialect) With(lines ...Line) (*Dialect, error) {
	const longest = 100 // value of a line, in bytes
	changed := new(Dialect)
	changed.Overlay(d)
	for _, line := range lines {
		if line.Value == "" || len(line.Value) > longest || strings.TrimSpace(line.Value) != line.Value ||
			strings.ContainsFunc(line.Value, func(r rune) bool { return r == ',' || r == '"' || !strconv.IsPrint(r) }) {
			return nil, fmt.Errorf("%s: a line cannot hold %q", line.Field, line.Value)
		}
		if err := changed.Apply(line.String()); err != nil {
			return nil, err
		}
	}
	return changed, changed.Check()
}

// Declare returns a part of an error: the lines to write, ready to be copied, and the lines that they replace. It
// leaves out lines that the dialect, which may be nil, has already, and returns "" if none are left or the dialect
// cannot have them.
func (d *Dialect) Declare(lines ...Line) string {
	if _, err := d.With(lines...); err != nil {
		return ""
	}
	var texts, replaced []string
	before, _ := d.With()
	for _, line := range lines {
		now, _ := before.field(line.Field)
		if slices.Contains(strings.Split(now.String(), ","), line.Value) {
			continue
		}
		texts = append(texts, strconv.Quote(line.String()))
		if !now.isList() && !now.value.IsZero() {
			replaced = append(replaced, strconv.Quote(Line{line.Field, now.String()}.String()))
		}
	}
	switch {
	case len(texts) == 0:
		return ""
	case len(replaced) > 0:
		replaced[0] = ", in place of " + replaced[0]
	}
	return "write in the dialect " + strings.Join(texts, " and ") + strings.Join(replaced, " and ")
}

// isList reports whether the field has elements or pairs.
func (f field) isList() bool { return f.value.Kind() == reflect.Slice || f.value.Kind() == reflect.Map }

// add adds an element or pairs to the field of a name.
func (d *Dialect) add(name, text string) error {
	f, err := d.field(name)
	if err != nil {
		return err
	}
	if !f.isList() {
		return fmt.Errorf("%s is not a list: write %s = %s", name, name, text)
	}
	return f.set(strings.TrimPrefix(f.String()+","+text, ","))
}

// CostText returns the end of an error about a charge: what the dialect, which may be nil, declares about the cost of
// an offer; "" if nothing.
func (d *Dialect) CostText() string {
	declared, _ := d.With()
	lines := []Line{{"offer.amount", declared.Offer.Amount}, {"offer.default_currency", declared.Offer.DefaultCurrency}}
	for _, beside := range declared.Offer.Beside {
		lines = append(lines, Line{"offer.beside", beside})
	}
	lines = slices.DeleteFunc(lines, func(line Line) bool { return line.Value == "" })
	text := new(Dialect).Declare(lines...)
	return strings.Replace(text, "write in the dialect ", "; the dialect declares ", 1)
}
