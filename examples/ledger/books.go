package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
)

// book adds up the rows of one currency; a wallet has one, but nothing is added up across two.
type book struct {
	Currency         string
	Rows             int
	First, Last      string // the dates of the oldest and newest row
	in, out, pending shipping.Amount
	reversed         int
	days             map[string]shipping.Amount // the sum of a day, by its date
	spent            map[string]shipping.Amount // by purpose, above zero
	Doubts           []doubtful
	doubts           int
}

// doubtful is a row that a bookkeeper should look at.
type doubtful struct{ When, ID, Amount, Why string }

// shownDoubts bounds the report; the CSV has them all.
const shownDoubts = 50

// readBooks adds up a finished CSV.
func readBooks(path string, carriers map[string]string) ([]*book, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows := csv.NewReader(file)
	rows.FieldsPerRecord = len(columns())
	if _, err := rows.Read(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	byCurrency := map[string]*book{}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = enter(byCurrency, row, carriers)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return slices.SortedFunc(maps.Values(byCurrency), func(a, b *book) int { return cmp.Compare(a.Currency, b.Currency) }), nil
}

func enter(books map[string]*book, row []string, carriers map[string]string) error {
	when, id, description, shipment, status, amount, currency, reversed, doubt :=
		row[0], row[1], row[2], row[3], row[5], row[7], row[8], row[9], row[10]
	b := books[currency]
	if b == nil {
		b = &book{Currency: currency, days: map[string]shipping.Amount{}, spent: map[string]shipping.Amount{}}
		books[currency] = b
	}
	b.Rows++
	day, _, _ := strings.Cut(when, "T")
	if b.Rows == 1 {
		b.First, b.Last = day, day
	}
	b.First, b.Last = min(b.First, day), max(b.Last, day)
	if doubt != "" {
		if b.doubts++; b.doubts <= shownDoubts {
			b.Doubts = append(b.Doubts, doubtful{day, id, amount, doubt})
		}
	}
	if reversed == "true" {
		b.reversed++
	}
	if amount == "" {
		return nil
	}
	moved, err := shipping.ParseAmount(amount)
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	sums := []*shipping.Amount{&b.in}
	if moved.Sign() < 0 {
		sums[0] = &b.out
	}
	if status == string(shipping.TransactionPending) {
		sums = append(sums, &b.pending)
	}
	for _, sum := range sums {
		if *sum, err = sum.Add(moved); err != nil {
			return err
		}
	}
	if b.days[day], err = b.days[day].Add(moved); err != nil {
		return err
	}
	if moved.Sign() < 0 {
		what := purpose(description)
		if carrier := carriers[shipment]; carrier != "" {
			what += ", " + carrier
		}
		if b.spent[what], err = b.spent[what].Add(moved.Neg()); err != nil {
			return err
		}
	}
	return nil
}

// identifiers match the parts in which descriptions of the same kind differ.
var identifiers = regexp.MustCompile(`\s*(\bfor\s+)?\b[A-Z]{2,4}-[A-Z0-9]{4,}\b`)

// purpose is a description without the identifiers in it.
func purpose(description string) string {
	return cmp.Or(strings.TrimSpace(identifiers.ReplaceAllString(description, "")), "(no description)")
}

// point is the running total at the end of a day.
type point struct {
	Day   time.Time
	Total shipping.Amount
}

// totals are the running totals, oldest first. Rows without a date count as having been there before.
func (b *book) totals() ([]point, error) {
	var points []point
	var total shipping.Amount
	for _, day := range slices.Sorted(maps.Keys(b.days)) {
		var err error
		if total, err = total.Add(b.days[day]); err != nil {
			return nil, err
		}
		if day == "" {
			continue
		}
		date, err := time.Parse(time.DateOnly, day)
		if err != nil {
			return nil, err
		}
		points = append(points, point{date, total})
	}
	return points, nil
}

// figure is a number with a name.
type figure struct{ Name, Value string }

// Figures returns the key figures.
func (b *book) Figures() []figure {
	total, err := b.in.Add(b.out)
	running := money(total)
	if err != nil {
		running = err.Error()
	}
	return []figure{
		{"Money in", money(b.in)}, {"Money out", money(b.out)}, {"Running total", running},
		{"Still pending", money(b.pending)}, {"Rows reversed", fmt.Sprint(b.reversed)}, {"Rows in doubt", fmt.Sprint(b.doubts)},
	}
}

// money writes thousands with commas: 28,640.50. Decimals beyond the second are kept.
func money(amount shipping.Amount) string {
	written := amount.String()
	if _, decimals, _ := strings.Cut(written, "."); len(decimals) < 2 {
		written = amount.StringFixed(2)
	}
	whole, decimals, _ := strings.Cut(written, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole + "." + decimals
}
