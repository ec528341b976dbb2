package paging_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/internal/paging"
)

// list is a list of numbered rows, newest first, that is read through a function.
type list struct {
	mu       sync.Mutex
	rows     []int
	newest   int
	perPage  int
	requests []int // pages, in order
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
