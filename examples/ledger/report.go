package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"html/template"
	"maps"
	"slices"

	"github.com/shipping-go/shipping"
)

//go:embed report.html
var layout string

// sheet is a book as the report shows it.
type sheet struct {
	*book
	Chart  chart
	Spent  []bar
	Months []month
	Hidden int // doubts beyond those shown
}

// month is a line of the table under the chart.
type month struct{ Name, Moved, Total string }

// bar is the spending for one purpose, with the width of its bar.
type bar struct {
	What, Amount string
	Width        float64 // of 100
}

const (
	shownBars = 12
	barWidth  = 100
)

// render makes the report: one file that needs no network.
func render(wallet string, books []*book) ([]byte, error) {
	page, err := template.New("report").Parse(layout)
	if err != nil {
		return nil, err
	}
	data := struct {
		Wallet string
		Sheets []sheet
	}{Wallet: wallet}
	for _, b := range books {
		points, err := b.totals()
		if err != nil {
			return nil, err
		}
		s := sheet{book: b, Chart: draw(points), Hidden: b.doubts - len(b.Doubts)}
		if s.Months, err = months(points); err != nil {
			return nil, err
		}
		if s.Spent, err = bars(b.spent); err != nil {
			return nil, err
		}
		data.Sheets = append(data.Sheets, s)
	}
	var out bytes.Buffer
	err = page.Execute(&out, data)
	return out.Bytes(), err
}

// months are the sums and the closing totals of the months, newest first.
func months(points []point) ([]month, error) {
	var list []month
	var before shipping.Amount
	for i, p := range points {
		if i+1 < len(points) && points[i+1].Day.Format("2006-01") == p.Day.Format("2006-01") {
			continue
		}
		moved, err := p.Total.Sub(before)
		if err != nil {
			return nil, err
		}
		list = append(list, month{p.Day.Format("January 2006"), money(moved), money(p.Total)})
		before = p.Total
	}
	slices.Reverse(list)
	return list, nil
}

// bars are the largest spendings, and the others together.
func bars(spent map[string]shipping.Amount) ([]bar, error) {
	order := slices.SortedFunc(maps.Keys(spent), func(a, b string) int {
		return cmp.Or(spent[b].Cmp(spent[a]), cmp.Compare(a, b))
	})
	var list []bar
	var rest, most shipping.Amount
	add := func(what string, amount shipping.Amount) {
		if amount.Cmp(most) > 0 {
			most = amount
		}
		list = append(list, bar{What: what, Amount: money(amount), Width: pixels(amount)})
	}
	for i, what := range order {
		if i < shownBars {
			add(shorten(what), spent[what])
			continue
		}
		var err error
		if rest, err = rest.Add(spent[what]); err != nil {
			return nil, err
		}
	}
	if len(order) > shownBars {
		add("Everything else", rest)
	}
	for i := range list {
		list[i].Width *= barWidth / pixels(most)
	}
	return list, nil
}

// shorten keeps a label on its line.
func shorten(label string) string {
	const most = 60
	if letters := []rune(label); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return label
}
