package lists_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/paging"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// TestPager_AnIteratorCanBeUsedAgain after a break, also by several goroutines at once: each use is a separate walk. If
// they shared its place, each would deliver a part of the rows.
func TestPager_AnIteratorCanBeUsedAgain(t *testing.T) {
	t.Parallel()
	s := newList(25 * pageSize)
	rows := s.client(t).Transactions.All(t.Context(), options(shipping.Walk{}))
	for range rows {
		break
	}
	for range 2 {
		if delivered, err := collect(rows); err != nil || !slices.Equal(delivered, s.rows) {
			t.Fatalf("delivered %v and %v", delivered, err)
		}
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if delivered, err := collect(rows); err != nil || !slices.Equal(delivered, s.rows) {
				t.Errorf("delivered %v and %v", delivered, err)
			}
		})
	}
	all.Wait()
}

// TestPager_ProgressCountsWhatHappens while three rows arrive and two vanish.
func TestPager_ProgressCountsWhatHappens(t *testing.T) {
	t.Parallel()
	s := newList(3*pageSize + 5)
	s.before = func(n int) {
		switch n {
		case 2: // page 2 begins with the last three of page 1
			s.arrive(3)
		case 3: // behind page 2: the record delivered last is looked for on it, and page 3 asked for again
			s.vanish(len(s.rows)-2, 2)
		}
	}
	var got []shipping.ListProgress
	progress := func(p shipping.ListProgress) {
		if last := len(got) == 4; (p.Resume == "") != last {
			t.Errorf("progress %d, of page %d, has the token %q", len(got), p.Page, p.Resume)
		}
		p.Resume = ""
		got = append(got, p)
	}
	walk := shipping.Walk{Window: 1, Progress: progress}
	delivered := shippingtest.Must(s.walk(t, walk))(t)
	want := []shipping.ListProgress{
		{Items: 10, Total: 35, Page: 1, PageCount: 4},
		{Items: 17, Total: 38, Page: 2, PageCount: 4, Repeated: 3},
		{Items: 17, Total: 36, Page: 2, PageCount: 4, Repeated: 13},
		{Items: 27, Total: 36, Page: 3, PageCount: 4, Repeated: 13},
		{Items: 33, Total: 36, Page: 4, PageCount: 4, Repeated: 13},
	}
	shippingtest.Diff(t, "progress", want, got)
	shippingtest.Diff(t, "records of 35 at the start less 2 that vanished", 33, len(delivered))
}

// TestPager_AnErrorHasAResumeToken after all records before it were delivered, or before any was.
func TestPager_AnErrorHasAResumeToken(t *testing.T) {
	t.Parallel()
	for name, walk := range walkers {
		for _, at := range []struct{ first, failing int }{{1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 5}, {4, 4}} {
			s := newList(5 * pageSize)
			s.status = func(page, _ int) int {
				return map[bool]int{true: http.StatusInternalServerError}[page == at.failing]
			}
			from, client, ctx := (at.first-1)*pageSize, s.client(t), t.Context()
			var response shipping.Response
			delivered, err := walk(ctx, client, at.first, shipping.Walk{}, shipping.WithResponse(&response))
			ended, ok := errors.AsType[*shipping.ListError](err)
			if !ok || !errors.Is(err, shipping.ErrServer) || ended.Page != at.failing || response.StatusCode != 500 ||
				!slices.Equal(delivered, s.rows[from:(at.failing-1)*pageSize]) {
				t.Fatalf("%s: %+v: %v after %v, with status %d", name, at, err, delivered, response.StatusCode)
			}
			s.status = nil
			rest, err := walk(ctx, client, at.first, shipping.Walk{Resume: ended.Resume})
			if all := slices.Concat(delivered, rest); err != nil || !slices.Equal(all, s.rows[from:]) {
				t.Errorf("%s: %+v: resumed: %v, %v", name, at, all, err)
			}
		}
	}
}

// TestPager_APageBehindTheLastOne is an error. A loop from page 900 of 3 once delivered nothing, without an error.
// Fetching ahead of the largest number once counted on without end; the number is limited.
func TestPager_APageBehindTheLastOne(t *testing.T) {
	t.Parallel()
	for name, walk := range walkers {
		for page, want := range map[int]int{900: 900, math.MaxInt: 1 << 30} {
			s := newList(3 * pageSize)
			_, err := walk(t.Context(), s.client(t), page, shipping.Walk{})
			ended, ok := errors.AsType[*shipping.ListError](err)
			if !ok || ended.Page != want || len(s.asked) != 1 ||
				err.Error() != fmt.Sprintf("shipping: page %d is past the last page, 3", want) {
				t.Errorf("%s: %v after %d requests", name, err, len(s.asked))
			}
		}
	}
}

// TestPager_EachListRecognizesItsRecords: rows arrive at the head with each response, so that those of the page before
// come again.
func TestPager_EachListRecognizesItsRecords(t *testing.T) {
	t.Parallel()
	for _, list := range shippingtest.Lists() {
		if !list.Paged {
			continue
		}
		s := newList(450)
		s.before = func(n int) { s.arrive(min(n-1, 3)) }
		want := 450
		for record, err := range list.All(t.Context(), s.client(t), "VA-1") {
			if shippingtest.NoError(t, err); reflect.ValueOf(record).Elem().Field(0).String() != fmt.Sprint("ROW-", want) {
				t.Fatalf("%s: %+v, want row %d", list.Name, record, want)
			}
			want--
		}
		shippingtest.Diff(t, list.Name+": rows that did not come", 0, want)
	}
}

// TestPager_AServiceThatDoesNotPaginate sends all it has whatever page is asked for.
func TestPager_AServiceThatDoesNotPaginate(t *testing.T) {
	t.Parallel()
	s, opts := newList(37), options(shipping.Walk{})
	s.change, opts.PerPage = func(p *page) { p.rows, p.Numbers = s.rows, paging.Numbers{} }, 0
	delivered := shippingtest.Must(collect(s.client(t).Transactions.All(t.Context(), opts)))(t)
	shippingtest.Diff(t, "delivered", s.rows, delivered)
}

// A service without numbers returned the same page for each number, and the walk did not end: its records have no ids,
// and an amount that cannot be read.
func TestPager_APageThatComesAgainWithAnUnreadableAmount(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	requests := 0
	service := shippingtest.NewService(func(r *http.Request) (*http.Response, error) {
		if requests++; requests > 9 {
			cancel()
		}
		return shippingtest.OK(`{"transactions":[{"amount":"abc"}],"pagination":{}}`)(r)
	})
	rows := 0
	for _, err := range shippingtest.NewClient(t, service).Transactions.All(ctx, options(shipping.Walk{})) {
		shippingtest.NoError(t, err)
		rows++
	}
	shippingtest.Diff(t, "rows", 1, rows)
}
