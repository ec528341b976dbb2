package paging_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/internal/paging"
	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
)

// list is a list of numbered rows, newest first, that is read through a function.
type list struct {
	mu       sync.Mutex
	rows     []int
	newest   int
	perPage  int
	requests []int // pages, in order
	change   func(*list)
	fault    func(number int, page *paging.Page)
}

func newList(rows, perPage int) *list {
	l := &list{perPage: perPage}
	l.arrive(rows)
	return l
}

func (l *list) arrive(n int) {
	for range n {
		l.newest++
		l.rows = slices.Insert(l.rows, 0, l.newest)
	}
}

func (l *list) vanish(at, n int) {
	at = min(at, len(l.rows))
	l.rows = slices.Delete(slices.Clone(l.rows), at, min(at+n, len(l.rows)))
}

func (l *list) fetch(ctx context.Context, number int) (*paging.Page, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests = append(l.requests, number)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if l.change != nil {
		l.change(l)
	}
	first, last := min((number-1)*l.perPage, len(l.rows)), min(number*l.perPage, len(l.rows))
	rows := slices.Clone(l.rows[first:last])
	page := &paging.Page{Listed: true, Value: rows, Numbers: paging.Numbers{
		Total: len(l.rows), PerPage: l.perPage, PageCount: max(1, (len(l.rows)+l.perPage-1)/l.perPage),
		HasNext: last < len(l.rows),
	}}
	for _, row := range rows {
		page.IDs = append(page.IDs, paging.ID(fmt.Sprint(row), ""))
	}
	if l.fault != nil {
		l.fault(number, page)
	}
	return page, nil
}

func (l *list) config(window int) paging.Config {
	return paging.Config{Fetch: l.fetch, List: paging.Hash("list"), PerPage: l.perPage, Window: window}
}

// walk returns the rows of a walk, and the error that ended it.
func walk(ctx context.Context, config paging.Config) (rows []int, err error) {
	rows, _, err = walkPages(ctx, config, math.MaxInt)
	return rows, err
}

// walkPages returns the rows of the first pages of a walk, and its token.
func walkPages(ctx context.Context, config paging.Config, pages int) (rows []int, token string, err error) {
	w, err := paging.Start(ctx, config)
	if err != nil {
		return nil, "", err
	}
	defer w.Stop()
	for range pages {
		page, err := w.Next()
		if page == nil || err != nil {
			return rows, w.Token(), err
		}
		rows = append(rows, fresh(page)...)
	}
	return rows, w.Token(), nil
}

// resumed returns the config of a walk that continues behind the first pages, and their rows.
func (l *list) resumed(t *testing.T, pages int) (config paging.Config, rows []int) {
	t.Helper()
	config = l.config(1)
	rows, token, err := walkPages(t.Context(), config, pages)
	if err != nil {
		t.Fatal(err)
	}
	config.Token = token
	return config, rows
}

func fresh(page *paging.Page) (rows []int) {
	for i, row := range page.Value.([]int) {
		if page.Skip == nil || !page.Skip[i] {
			rows = append(rows, row)
		}
	}
	return rows
}

// TestWalk_AResumedWalkThatEndsAtItsFirstRecords requests the page behind its place, and one more.
func TestWalk_AResumedWalkThatEndsAtItsFirstRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newList(400, 10)
		config := l.config(20)
		for _, want := range [][]int{{1, 2}, {2, 3}, {3, 4}} {
			l.requests = nil
			w, err := paging.Start(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			for {
				page, err := w.Next()
				if err != nil || page == nil {
					t.Fatal(page, err)
				}
				if page.Fresh > 0 {
					break
				}
			}
			w.Stop()
			if got := slices.Sorted(slices.Values(l.requests)); !slices.Equal(got, want) {
				t.Errorf("requested %v, want %v", got, want)
			}
			config.Token = w.Token()
		}
	})
}

// TestWalk_AnEmptyPageThatHasASuccessor does not end a list without totals: the records behind it come, and those that
// it should have held are reported.
func TestWalk_AnEmptyPageThatHasASuccessor(t *testing.T) {
	l := newList(60, 10)
	l.fault = func(number int, page *paging.Page) {
		page.Total, page.PageCount = 0, 0
		if number == 3 {
			page.IDs, page.Value = nil, []int(nil)
		}
	}
	rows, err := walk(t.Context(), l.config(20))
	failure, ok := errors.AsType[*paging.Error](err)
	if !ok || failure.Kind != paging.Incomplete || failure.Missing != 10 || len(rows) != 50 {
		t.Fatalf("%d records, %v", len(rows), err)
	}
	l.fault = func(_ int, page *paging.Page) { page.Total, page.PageCount = 0, 0 }
	config := l.config(20)
	config.Token = failure.Token
	rest, err := walk(t.Context(), config)
	if rest = append(rows, rest...); err != nil || !slices.Contains(rest, 40) || !slices.Contains(rest, 31) {
		t.Errorf("resumed: %v, %v", rest, err)
	}
}

// TestWalk_RowsVanishWithEveryResponse, at the end of the list, until the walk ignores the totals. It believes them
// again when it reads the list again. It once ended in Incomplete.
func TestWalk_RowsVanishWithEveryResponse(t *testing.T) {
	for _, until := range []int{22, 30} {
		l := newList(200, 10)
		l.change = func(l *list) {
			if n := len(l.requests); n > 3 && n < until {
				l.vanish(len(l.rows)-1, 1)
			}
		}
		if rows, err := walk(t.Context(), l.config(1)); err != nil || !slices.Equal(rows[:len(l.rows)], l.rows) {
			t.Errorf("until request %d: %d records of %d and %v after %d requests", until, len(rows), len(l.rows),
				err, len(l.requests))
		}
	}
}

// TestWalk_ChangesInALaterReading: the list changes three times, also while the walk reads it again because rows
// vanished. That reading cannot count all rows, and brings nothing new. It once ended in Incomplete, although the list
// had come to rest.
func TestWalk_ChangesInALaterReading(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3} { // the last one is such a case
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			l, events := newList(90, 17), 3
			l.change = func(l *list) {
				if len(l.requests) > 1 && events > 0 && random.IntN(4) == 0 {
					events--
					l.arrive(random.IntN(6))
					l.vanish(random.IntN(len(l.rows)), random.IntN(6))
				}
			}
			config := l.config(2)
			config.Fetch = func(ctx context.Context, number int) (*paging.Page, error) {
				time.Sleep(time.Duration(number%2) * time.Millisecond) // each second page comes before the one in front of it
				return l.fetch(ctx, number)
			}
			if rows, err := walk(t.Context(), config); err != nil {
				t.Errorf("seed %d: %d records of %d and %v after %d requests", seed, len(rows), len(l.rows), err, len(l.requests))
			}
		})
	}
}

// TestWalk_PagesAreReadInAnotherOrder than they were requested in, while rows arrive and vanish. If a page is read
// before the one in front of it, both can lack a row that moved from this one to that one. Such a row was once lost
// without an error if the totals of the two pages were equal.
func TestWalk_PagesAreReadInAnotherOrder(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3, 1168} { // the last one is such a case
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			l := newList(90, 17)
			began, events := slices.Clone(l.rows), 25
			l.change = func(l *list) {
				if len(l.requests) > 1 && events > 0 && random.IntN(2) == 0 {
					events--
					l.arrive(random.IntN(6))
					l.vanish(random.IntN(len(l.rows)), random.IntN(6))
				}
			}
			config := l.config(3)
			config.Fetch = func(ctx context.Context, number int) (*paging.Page, error) {
				l.mu.Lock()
				own := rand.New(rand.NewPCG(seed, uint64(number<<20|len(l.requests)))) // the same in every run
				l.mu.Unlock()
				time.Sleep(time.Duration(own.IntN(1e9)))
				return l.fetch(ctx, number)
			}
			rows, err := walk(t.Context(), config)
			for _, row := range began {
				if slices.Contains(l.rows, row) && !slices.Contains(rows, row) {
					t.Errorf("seed %d: row %d was lost: %v", seed, row, err)
				}
			}
		})
	}
}

// TestWalk_RowsMoveBetweenTwoPagesInFlight: rows arrive and vanish after a page was read and before the one in front of
// it is read, so that neither has the rows that moved from this one to that one. They were once in no walk, and there
// was no error: a resumed walk read ahead before it knew whether the list had shrunk, and a token lacked what was still
// missing.
func TestWalk_RowsMoveBetweenTwoPagesInFlight(t *testing.T) {
	for name, test := range map[string]struct {
		legs    []int // how many pages each walk takes before the last one
		slow    int   // the page that is read after the change
		arrive  int
		vanish  int // how many rows vanish
		at      int // from this place on, when the others have arrived
		changes int // the walk in which this happens
	}{
		"a walk":                       {slow: 3, arrive: 2, vanish: 2, at: 25},
		"a resumed walk":               {legs: []int{3}, slow: 4, arrive: 3, vanish: 4, at: 23, changes: 1},
		"a walk that is resumed again": {legs: []int{2, 2, 1}, slow: 3, arrive: 2, vanish: 2, at: 25, changes: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newList(25, 5)
			began, config, leg, start, all := slices.Clone(l.rows), l.config(20), 0, time.Now(), []int{}
			l.change = func(l *list) {
				if test.arrive > 0 && leg == test.changes && time.Since(start) > time.Second {
					l.arrive(test.arrive)
					l.vanish(test.at, test.vanish)
					test.arrive = 0
				}
			}
			config.Fetch = func(ctx context.Context, number int) (*paging.Page, error) {
				time.Sleep(time.Second / 2)
				if number == test.slow {
					time.Sleep(time.Second)
				}
				return l.fetch(ctx, number)
			}
			for _, pages := range append(test.legs, 100) {
				start = time.Now()
				rows, token, err := walkPages(t.Context(), config, pages)
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				all, config.Token, leg = append(all, rows...), token, leg+1
			}
			for _, row := range began {
				if slices.Contains(l.rows, row) && !slices.Contains(all, row) {
					t.Errorf("%s: row %d was lost: %v", name, row, all)
				}
			}
		})
	}
}

// TestWalk_ArrivalsDoNotHideAnEmptyPage: 52 rows arrive, and the walk looks for its place on page 6, which is empty. It
// reads the rows that arrived instead. They once counted as the records of the empty page.
func TestWalk_ArrivalsDoNotHideAnEmptyPage(t *testing.T) {
	l := newList(57, 12)
	l.change = func(l *list) {
		if len(l.requests) == 2 {
			l.arrive(52)
		}
	}
	l.fault = func(number int, page *paging.Page) {
		if number == 6 {
			page.IDs, page.Value = nil, []int(nil)
		}
	}
	rows, err := walk(t.Context(), l.config(1))
	if failure, ok := errors.AsType[*paging.Error](err); !ok || failure.Kind != paging.Incomplete {
		t.Errorf("%d records and %v, want Incomplete", len(rows), err)
	}
}

// TestWalk_AnEmptyPageOfAResumedWalk is read again, also if arrivals then push the records of the token onto a page
// behind it. These records once made the walk begin anew behind them, and what the page had left out was lost.
func TestWalk_AnEmptyPageOfAResumedWalk(t *testing.T) {
	l := newList(100, 10)
	config, rows := l.resumed(t, 3)
	l.arrive(15)
	l.requests = nil
	l.change = func(l *list) {
		if len(l.requests) == 4 {
			l.arrive(19)
		}
	}
	l.fault = func(number int, page *paging.Page) {
		if number == 5 && len(l.requests) == 2 {
			page.IDs, page.Value = nil, []int(nil)
		}
	}
	rest, err := walk(t.Context(), config)
	for row := range 100 {
		if !slices.Contains(rows, row+1) && !slices.Contains(rest, row+1) {
			t.Errorf("row %d was lost", row+1)
		}
	}
	if err != nil {
		t.Error(err, l.requests)
	}
}

// TestWalk_RowsVanishBehindAPageWithoutIDs: the page is read again, and recognized. The walk once ended in Incomplete.
func TestWalk_RowsVanishBehindAPageWithoutIDs(t *testing.T) {
	l := newList(95, 10)
	l.change = func(l *list) {
		if len(l.requests) == 4 {
			l.vanish(90, 5)
		}
	}
	l.fault = func(number int, page *paging.Page) {
		page.IDs, page.Content = make([]uint64, len(page.IDs)), uint64(number)
	}
	if rows, err := walk(t.Context(), l.config(1)); err != nil || len(rows) != 90 {
		t.Errorf("%d records and %v, want 90", len(rows), err)
	}
}

// TestWalk_TheRecordsOfATokenShowThePlace, also if it is in front of the one that the numbers imply: three rows vanish,
// three arrive at the end, and the pages are larger.
func TestWalk_TheRecordsOfATokenShowThePlace(t *testing.T) {
	l := newList(100, 10)
	config, _ := l.resumed(t, 3)
	l.vanish(0, 3)
	l.rows, l.perPage = append(l.rows, 101, 102, 103), 25
	if rows, err := walk(t.Context(), config); err != nil || !slices.Equal(rows, l.rows[27:]) {
		t.Errorf("%v, %v", rows, err)
	}
}

// TestWalk_ATokenWithoutATotal: its records vanished, and the pages are larger, so that the first two pages are empty.
// The second one once confirmed the place because it had the total of the first one, 0, and all other rows were lost.
func TestWalk_ATokenWithoutATotal(t *testing.T) {
	l := newList(30, 4)
	l.fault = func(_ int, page *paging.Page) { page.Total = 0 }
	config, _ := l.resumed(t, 3)
	l.vanish(0, 20)
	l.perPage = 11
	if rows, err := walk(t.Context(), config); err != nil || !slices.Equal(rows, l.rows) {
		t.Errorf("%v, %v", rows, err)
	}
}

// TestWalk_APageOfAnotherSize: page 3 is always larger than the others, so that it begins behind the place, and the
// page of the place always leads to page 3. The walk once read the two pages without end.
func TestWalk_APageOfAnotherSize(t *testing.T) {
	l := newList(95, 10)
	config := l.config(1)
	config.Fetch = func(ctx context.Context, number int) (*paging.Page, error) {
		if len(l.requests) > 200 {
			return nil, errors.New("too many requests")
		}
		l.perPage = 10
		if number == 3 {
			l.perPage = 15
		}
		return l.fetch(ctx, number)
	}
	rows, err := walk(t.Context(), config)
	if failure, ok := errors.AsType[*paging.Error](err); !ok || failure.Kind != paging.Loop {
		t.Errorf("%d records and %v after %d requests, want Loop", len(rows), err, len(l.requests))
	}
}

// TestToken_OfEarlierVersions: a token without a version is read, also if it names a place before which no record is
// missing; one of a later version, or of another list, is refused.
func TestToken_OfEarlierVersions(t *testing.T) {
	hash := paging.Hash("list")
	last := paging.ID("31", "")
	for name, test := range map[string]struct {
		token  map[string]any
		begins int // the first row that comes; 0 if the token is refused
		text   string
	}{
		"no version": {token: map[string]any{"l": hash, "c": 20, "p": 10, "t": 50, "n": 20, "i": []uint64{last}},
			begins: 30},
		"version 1": {token: map[string]any{"v": 1, "l": hash, "c": 20, "p": 10, "t": 50, "n": 20, "i": []uint64{last}},
			begins: 30},
		"version 2":    {token: map[string]any{"v": 2, "l": hash, "x": 20}, text: "version 2"},
		"another list": {token: map[string]any{"v": 1, "l": hash + 1, "p": 1}, text: "another list"},
		"total of -2":  {token: map[string]any{"v": 1, "l": hash, "c": 20, "p": 10, "t": -2, "n": 20}, text: "damaged"},
		"damaged":      {token: map[string]any{"v": 1, "l": hash, "c": -1, "p": 1}, text: "damaged"},
	} {
		l := newList(50, 10)
		config := l.config(1)
		config.Token = base64.RawURLEncoding.EncodeToString(marshal(t, test.token))
		rows, err := walk(t.Context(), config)
		if test.begins == 0 {
			if err == nil || !strings.Contains(err.Error(), test.text) || len(l.requests) > 0 {
				t.Errorf("%s: %v after %d requests, want an error with %q", name, err, len(l.requests), test.text)
			}
			continue
		}
		if diff := cmp.Diff(l.rows[slices.Index(l.rows, test.begins):], rows); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

func marshal(t *testing.T, value any) []byte {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
