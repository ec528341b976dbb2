package lists_test

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
)

// TestPager_WalksEveryRecordOfEveryPage for list lengths around the edges of pages.
func TestPager_WalksEveryRecordOfEveryPage(t *testing.T) {
	t.Parallel()
	for name, walk := range walkers() {
		for _, rows := range []int{0, 1, 9, 10, 11, 19, 20, 21, 99, 100, 101, 1000} {
			for _, perPage := range []int{0, 1, 10, 100, 1000} {
				s := newRowService(rows)
				delivered, err := collect(walk(t.Context(), s.client(t), 0, perPage))
				if err != nil || !slices.Equal(delivered, s.rows) {
					t.Fatalf("%s, %d rows, %d a page: delivered %v and %v", name, rows, perPage, delivered, err)
				}
				if perPage == 0 {
					perPage = 100
				}
				if want := max(1, (rows+perPage-1)/perPage); len(s.asked) != want {
					t.Errorf("%s, %d rows, %d a page: %d requests, want %d", name, rows, perPage, len(s.asked), want)
				}
			}
		}
	}
}

// TestPager_AnIteratorCanBeUsedAgain after a break, also by several goroutines at once: each use is a separate walk.
func TestPager_AnIteratorCanBeUsedAgain(t *testing.T) {
	t.Parallel()
	s := newRowService(25 * pageSize)
	rows := walkTransactions(t.Context(), s.client(t), 0, pageSize)
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

// TestPager_Pages: number, numbers of the list, response and where to resume.
func TestPager_Pages(t *testing.T) {
	t.Parallel()
	s := newRowService(5*pageSize - 1)
	var response shipping.Response
	number := 0
	for page, err := range s.client(t).Webhooks.Pages(t.Context(), &shipping.WebhookListOptions{PerPage: pageSize}, shipping.WithResponse(&response)) {
		if err != nil {
			t.Fatal(err)
		}
		number++
		want := shipping.Pagination{
			Total: 49, PerPage: 10, Page: number, CurrentPage: number, PageCount: 5, PagingCounter: 10*number - 9,
			PrevPage: number - 1, HasPrevPage: number > 1, NextPage: number + 1, HasNextPage: number < 5,
		}
		if number == 5 {
			want.NextPage = 0
		}
		if diff := cmp.Diff(want, page.Pagination); diff != "" {
			t.Errorf("page %d (-want +got)\n%s", number, diff)
		}
		if page.Resume == "" {
			t.Errorf("page %d cannot be resumed after", number)
		}
		if response.StatusCode != 200 || len(response.Body) == 0 || !bytes.Equal(response.Body, page.Response.Body) {
			t.Errorf("page %d: WithResponse has another response than the page's: %+v", number, response)
		}
	}
	if number != 5 {
		t.Errorf("%d pages, want 5", number)
	}
}

// TestPager_ProgressCountsWhatHappens while three rows arrive and two vanish.
func TestPager_ProgressCountsWhatHappens(t *testing.T) {
	t.Parallel()
	s := newRowService(3*pageSize + 5)
	s.before = func(s *rowService, page, n int) {
		switch n {
		case 2: // page 2 begins with the last three of page 1
			s.arrive(3)
		case 3: // behind page 2: the record delivered last is looked for on it, and page 3 asked for again
			s.vanish(len(s.rows)-2, 2)
		}
	}
	var got []shipping.ListProgress
	delivered, err := collect(walkTransactions(t.Context(), s.client(t), 0, pageSize, withWindow(1),
		withProgress(func(p shipping.ListProgress) {
			if p.Resume == "" {
				t.Errorf("progress of page %d cannot be resumed after", p.Page)
			}
			p.Resume = ""
			got = append(got, p)
		})))
	if err != nil {
		t.Fatal(err)
	}
	want := []shipping.ListProgress{
		{Items: 10, Total: 35, Page: 1, PageCount: 4},
		{Items: 17, Total: 38, Page: 2, PageCount: 4, Repeated: 3},
		{Items: 17, Total: 36, Page: 2, PageCount: 4, Repeated: 13},
		{Items: 27, Total: 36, Page: 3, PageCount: 4, Repeated: 13},
		{Items: 33, Total: 36, Page: 4, PageCount: 4, Repeated: 13},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(delivered) != 33 {
		t.Errorf("delivered %d records, want the 35 of the start less the 2 that vanished", len(delivered))
	}
}

// TestPager_AnErrorHasAResumeToken, after all records before it were delivered.
func TestPager_AnErrorHasAResumeToken(t *testing.T) {
	t.Parallel()
	for name, walk := range walkers() {
		for failing := 1; failing <= 5; failing++ {
			s := newRowService(5 * pageSize)
			s.status = func(page, _ int) int {
				if page == failing {
					return 500
				}
				return 0
			}
			var response shipping.Response
			delivered, err := collect(walk(t.Context(), s.client(t), 0, pageSize, withCall(shipping.WithResponse(&response))))
			ended, ok := errors.AsType[*shipping.ListError](err)
			switch {
			case !ok || !errors.Is(err, shipping.ErrServer):
				t.Fatalf("%s: page %d: %v, want a ListError with ErrServer", name, failing, err)
			case ended.Page != failing || !slices.Equal(delivered, s.rows[:(failing-1)*pageSize]):
				t.Errorf("%s: page %d: ended at page %d after %v", name, failing, ended.Page, delivered)
			case response.StatusCode != 500:
				t.Errorf("%s: page %d: WithResponse holds status %d, want that of the failure", name, failing, response.StatusCode)
			}
			s.status = nil
			rest, err := collect(walk(t.Context(), s.client(t), 0, pageSize, withResume(ended.Resume)))
			if diff := cmp.Diff(s.rows, slices.Concat(delivered, rest)); err != nil || diff != "" {
				t.Errorf("%s: resumed at page %d: %v (-want +got)\n%s", name, failing, err, diff)
			}
		}
	}
}

// TestPager_APageBehindTheLastOne is an error. A loop from page 900 of 3 once delivered nothing, without an error.
func TestPager_APageBehindTheLastOne(t *testing.T) {
	t.Parallel()
	for name, walk := range walkers() {
		s := newRowService(3 * pageSize)
		_, err := collect(walk(t.Context(), s.client(t), 900, pageSize))
		ended, ok := errors.AsType[*shipping.ListError](err)
		if !ok || ended.Page != 900 || err.Error() != "shipping: page 900 is behind the last page, 3" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPager_SeveralRecordsMayShareAnIdentifier if the service stores them apart, such as the legs of a
// transfer.
func TestPager_SeveralRecordsMayShareAnIdentifier(t *testing.T) {
	t.Parallel()
	s := newRowService(5 * pageSize)
	s.legs = 3
	delivered, err := collect(walkTransactions(t.Context(), s.client(t), 0, pageSize))
	if err != nil || len(delivered) != len(s.rows) {
		t.Errorf("%d records and %v, want %d", len(delivered), err, len(s.rows))
	}
}
