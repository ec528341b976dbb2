package shipping

import (
	"context"
	"errors"
	"iter"
)

// defaultPerPage is how many records the service puts on a page that nobody asked for more or fewer of.
//
// Specification: "Limits".
const defaultPerPage = 100

// DefaultWindow is how many pages a walk fetches ahead unless [WithWindow] says otherwise.
const DefaultWindow = 10

// WithWindow sets how many pages [RatesService.All] and its like fetch at the same time, ahead of the
// consumer. 1 fetches a page only when the one before it was consumed.
func WithWindow(pages int) CallOption {
	return func(s *callSettings) {
		if pages < 1 {
			s.invalid = invalidRequest("", "WithWindow", "must be at least 1")
		}
		s.window = pages
	}
}

// WithResume continues a walk where an earlier one ended, in this process or another: token is the
// Resume of a [ListError], of a [Page] or of a [ListProgress]. The walk must be of the same list.
func WithResume(token string) CallOption { return func(s *callSettings) { s.resume = token } }

// WithListProgress calls report after each page of a walk was consumed.
func WithListProgress(report func(ListProgress)) CallOption {
	return func(s *callSettings) { s.progress = report }
}

// ListProgress tells how far a walk is.
type ListProgress struct {
	// Items is how many records were delivered, Total how many the service says there are now.
	Items, Total int
	// Page is the number of the page just consumed, PageCount how many there are now.
	Page, PageCount int
	// Repeated is how many records were dropped because they had been delivered before: rows that
	// arrived at the head push others onto the next page.
	Repeated int
	// Vanished is by how many the service's count shrank during the walk. Records that moved to an
	// earlier page by it are read again, so that none is lost.
	Vanished int
	// Resume continues after this page; see [WithResume].
	Resume string
}

// ListError ends a walk. Unwrap gives the cause.
type ListError struct {
	// Resume continues the walk after the last record that was delivered; see [WithResume].
	Resume string
	// Page is the page that failed.
	Page int
	// Missing is how many records did not come if the cause is [ErrIncomplete]; at least one if the list
	// reports no total.
	Missing int
	Err     error
}

// Error is the cause's text.
func (e *ListError) Error() string {
	if e.Err == nil {
		return "shipping: the list could not be read to its end"
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *ListError) Unwrap() error { return e.Err }

// ErrPageLoop ends a walk that the service leads in circles: it sends the same records again and
// again, or pages of another size with every answer.
var ErrPageLoop = errors.New("shipping: the list goes in circles")

// ErrIncomplete ends a walk that delivered all records it could get, but fewer than the list's total
// promised, although the total did not shrink accordingly. [ListError.Missing] is how many are missing.
//
// [ListError.Resume] continues at the last place before which no record is missing. The records behind
// that place are delivered again, with those that were missing if the service has them now. A list that
// changed in the meantime can cause the error as well: if as many records arrived as vanished between two
// reads, the total does not show it.
var ErrIncomplete = errors.New("shipping: the list is incomplete")

// listing is the data of a list answer.
type listing[T any] interface{ contents() ([]T, Pagination) }

// lister reads one list: a page, or a walk over all of them.
type lister[T any, L listing[T]] struct {
	core          *core
	operation     string
	page, perPage int
	query         func(page int) any
	id            func(*T) (id, storage string) // "" where the record has none
	invalid       error
}

func (l lister[T, L]) validate() error {
	switch {
	case l.invalid != nil:
		return l.invalid
	case l.page < 0:
		return invalidRequest(l.operation, "Page", "is negative: pages count from 1, and 0 means the first")
	case l.perPage < 0:
		return invalidRequest(l.operation, "PerPage", "is negative: 0 means the service's default of 100")
	}
	return nil
}

func (l lister[T, L]) list(ctx context.Context, options []CallOption) (*Page[T], error) {
	settings, err := newCallSettings(options)
	if err == nil {
		err = l.validate()
	}
	if err != nil {
		return nil, err
	}
	return l.fetch(ctx, l.page, &settings)
}

func (l lister[T, L]) fetch(ctx context.Context, page int, settings *callSettings) (*Page[T], error) {
	data, response, err := fetch[L](ctx, l.core, request{operation: l.operation, options: l.query(page)}, []CallOption{withSettings(*settings)})
	if err != nil {
		return nil, err
	}
	items, pagination := data.contents()
	return &Page[T]{Items: items, Pagination: pagination, Response: response}, nil
}

// pages walks the pages. The error, if there is one, comes last.
func (l lister[T, L]) pages(ctx context.Context, options []CallOption) iter.Seq2[*Page[T], error] {
	return func(yield func(*Page[T], error) bool) {
		w, err := l.start(ctx, options)
		if err != nil {
			yield(nil, err)
			return
		}
		defer w.close()
		w.run(yield)
		w.pages.close()
		w.pages.rethrow()
	}
}

// all walks the records of the pages.
func (l lister[T, L]) all(ctx context.Context, options []CallOption) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for page, err := range l.pages(ctx, options) {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Items {
				if !yield(&page.Items[i], nil) {
					return
				}
			}
		}
	}
}
