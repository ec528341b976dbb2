package lists_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/paging"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// A service can respond to a page behind the last one with the last page. Its rows were taken for those of the page
// that was asked for, and unread rows in front of them were lost without an error. So were the rows of a walk that
// began behind the last page.
func TestWalk_TheLastPageComesAgain(t *testing.T) {
	t.Parallel()
	for name, numbering := range numberings {
		if numbering.alone || numbering.silent {
			continue
		}
		for _, window := range []int{1, defaultWindow} {
			l := newList(20)
			l.size = 4
			l.change = func(p *page) { endings["the last page"](p); numbering.change(p) }
			l.before = func(n int) { l.vanish(0, map[int]int{3: 4, 6: 5}[n]) }
			rows, err := l.walk(t, shipping.Walk{Window: window})
			if rest := l.rows; err != nil || !slices.Equal(rows[len(rows)-len(rest):], rest) {
				t.Errorf("%s, window %d: delivered %v, %v; the list has %v", name, window, rows, err, rest)
			}
		}
	}
	l := newList(30)
	l.change = endings["the last page"]
	rows, err := walkers["transactions"](t.Context(), l.client(t), 900, shipping.Walk{})
	if len(rows) > 0 || err == nil || err.Error() != "shipping: page 900 is past the last page, 3" {
		t.Errorf("from page 900: %v, %v", rows, err)
	}
}

// A walk that is resumed took the total of its token for that of a page without one, or for that of page 1, although
// page 2 had contradicted it: it was the number of rows on page 1. If rows had vanished in front of its place, the
// walk lost as many without an error, or ended in ErrIncomplete at each resume.
func TestResume_TheTotalOfTheToken(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]change{
		"total on the first page": numberings["total on the first page"].change,
		"total of the page":       shapes["total of the page"].change,
	} {
		for _, vanished := range []int{0, 3, 5} {
			l := newList(20)
			l.size, l.change = 5, change
			token := walkPart(t, l, 1)
			l.vanish(0, vanished)
			rows, err := l.walk(t, shipping.Walk{Resume: token})
			if want := l.rows[5-vanished:]; err != nil || !slices.Equal(rows, want) {
				t.Errorf("%s, %d rows vanished: delivered %v, %v; want %v", name, vanished, rows, err, want)
			}
		}
	}
}

// Rows 6 and 5 share the time that the service sorts by, and change places in some responses: 6 is on page 1 and on
// page 2, or 5 is. Each reading missed one of them, and the walk ended in ErrIncomplete although both had come.
func TestWalk_TiedRowsInSeveralReadings(t *testing.T) {
	t.Parallel()
	six, five := [][]int{{8, 7, 6}, {6, 4, 3}, {2, 1}}, [][]int{{8, 7, 5}, {5, 4, 3}, {2, 1}}
	for name, test := range map[string]struct {
		readings [][][]int // the pages of each reading; the last one is that of all further readings
		missing  []int
	}{
		"each row comes in two readings": {[][][]int{six, five, six, five}, nil},
		"a row comes in none":            {[][][]int{six}, []int{5}},
		// It must not fill the count of the records.
		"a row comes in none, and another is exchanged between two readings": {
			[][][]int{six, {{9, 8, 6}, {6, 4, 3}, {2, 1}}}, []int{5}},
		"the same, later": {[][][]int{six, six, {{9, 8, 6}, {6, 4, 3}, {2, 1}}}, []int{5}},
	} {
		l := newList(9)
		l.size = 3
		l.change = func(p *page) {
			pages := test.readings[min(p.list.times[p.number], len(test.readings))-1]
			p.Total, p.rows = 8, pages[p.number-1]
		}
		rows, err := l.walk(t, shipping.Walk{Window: 1})
		missing := without([]int{8, 6, 5, 4, 3, 2, 1}, rows)
		if errors.Is(err, incomplete) != (test.missing != nil) || !slices.Equal(missing, test.missing) {
			t.Errorf("%s: %v without %v; asked for %v", name, err, missing, l.asked)
		}
	}
}

// without returns the rows that are not among others.
func without(rows, others []int) (left []int) {
	for _, row := range rows {
		if !slices.Contains(others, row) {
			left = append(left, row)
		}
	}
	return left
}

// A page behind the last one was refused, and the walk ended in the error of the service: also at each resume behind a
// full last page. A refusal is the end only if the page before it reports so: a service can refuse deep pages, too. If
// both are refused, page 1 shows how far the list reaches.
func TestWalk_RefusedPages(t *testing.T) {
	t.Parallel()
	bare := func(p *page) { p.Numbers = paging.Numbers{} }
	noTotal := numberings["no total"].change
	for name, test := range map[string]struct {
		rows     int
		numbers  change
		deep     int            // pages from this one on are refused; 0 for none
		vanish   map[int][2]int // before a response: from where, and how many rows
		stop     int            // pages in front of a resume; 0 for none
		requests int            // of the last walk, at most
		refused  bool           // it ends in the error of the service
	}{
		"rows vanish":                     {20, nil, 0, map[int][2]int{3: {0, 4}, 6: {0, 5}}, 0, 9, false},
		"many rows vanish":                {40, nil, 0, map[int][2]int{5: {0, 16}}, 0, 12, false},
		"resumed behind a full last page": {24, nil, 0, map[int][2]int{6: {20, 4}}, 5, 2, false},
		"resumed, rows vanished":          {40, nil, 0, map[int][2]int{6: {0, 28}}, 5, 6, false},
		"resumed, no totals":              {40, noTotal, 0, map[int][2]int{6: {4, 32}}, 5, 5, false},
		"deep pages":                      {40, nil, 6, nil, 0, 8, true},
		"deep pages, no totals":           {40, noTotal, 6, nil, 0, 8, true},
		"deep pages, resumed":             {40, nil, 6, nil, 5, 3, true},
		"deep pages, resumed behind them": {40, nil, 4, map[int][2]int{6: {0, 0}}, 5, 5, true},
		"no numbers":                      {20, bare, 0, nil, 0, 8, true},
		"the first page":                  {20, nil, 1, nil, 0, 1, true},
	} {
		for _, status := range refusals {
			l := newList(test.rows)
			l.size = 4
			l.change = func(p *page) {
				deep := test.deep > 0 && p.number >= test.deep && (test.stop == 0 || p.list.responses > test.stop)
				if deep || p.number > p.PageCount {
					p.status = status
				}
				if test.numbers != nil {
					test.numbers(p)
				}
			}
			l.before = func(n int) { l.vanish(test.vanish[n][0], test.vanish[n][1]) }
			began, token := l.rows, ""
			if test.stop > 0 {
				for page, err := range l.client(t).Transactions.Pages(t.Context(), options(shipping.Walk{Window: 1})) {
					shippingtest.NoError(t, err)
					if token = page.Resume; len(l.asked) == test.stop {
						break
					}
				}
				l.asked = nil
			}
			rows, err := l.walk(t, shipping.Walk{Window: 1, Resume: token})
			failure, ok := errors.AsType[*shipping.Error](err)
			missing := without(without(l.rows, rows), began[:test.stop*l.size])
			if len(l.asked) > test.requests || test.refused != (ok && failure.StatusCode == status) ||
				!test.refused && (err != nil || len(missing) > 0) {
				t.Errorf("%s, %d: %v without %v; asked for %v", name, status, err, missing, l.asked)
			}
		}
	}
}
