package shipping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"reflect"
	"slices"

	"github.com/google/go-querystring/query"

	"github.com/shipping-go/shipping/internal/paging"
)

// Page is one page of a list.
type Page[T any] struct {
	// Items are the page's records, in the service's order.
	Items []T
	// Pagination holds the numbers that the page reports about itself.
	Pagination Pagination
	// Response is the status, header and attempts of the call that returned the page.
	Response *Response
	// Resume continues a walk after this page; see [Walk]. It is empty if nothing is left, and for a page of List.
	Resume string
}

// Pagination holds the numbers that a page reports about itself. The lists have different pagination objects; fields
// that a list does not have are zero.
//
// Specification: "Rate list pagination object", "Webhook pagination object", "Transaction pagination
// object".
type Pagination struct {
	// Total is the number of records on all pages.
	Total int `json:"total"`
	// PerPage is how many records the service puts on a page, which can be fewer than requested.
	PerPage int `json:"perPage"`
	// Page is this page's number, from 1.
	Page int `json:"page"`
	// PageCount is the number of pages.
	PageCount int `json:"pageCount"`
	// CurrentPage is this page's number again (webhooks and transactions).
	CurrentPage int `json:"currentPage" spec:"optional"`
	// PagingCounter is the number of the page's first record, from 1 (webhooks).
	PagingCounter int `json:"pagingCounter" spec:"optional"`
	// PrevPage and NextPage are page numbers (webhooks and transactions); 0 without such a page, or if the
	// service sends null.
	PrevPage int `json:"prevPage" spec:"optional"`
	NextPage int `json:"nextPage" spec:"optional"`
	// HasPrevPage and HasNextPage report whether there are such pages (webhooks and transactions).
	HasPrevPage bool `json:"hasPrevPage" spec:"optional"`
	HasNextPage bool `json:"hasNextPage" spec:"optional"`
}

// defaultPerPage is how many records the service puts on a page if the request has no perPage.
//
// Specification: "Limits".
const defaultPerPage = 100

// Walk configures how All and Pages read a list. The zero value is the default.
//
// A walk reads the list up to four times, and up to eight times if records change places. It ends without an error
// only if its readings together found every record of the service's total, and the last one saw no change.
type Walk struct {
	// Window is the maximum number of pages that are held or requested at once: the page that the consumer has, and
	// those fetched ahead. With 1, a page is fetched only after the previous one was consumed. Default: 20.
	//
	// A loop that ends at the first page costs two requests: the window opens when the consumer asks for the second
	// page. It closes when the list changes, and opens again step by step. [WithLimiter] and a 429 of the service bound
	// the rate of the requests.
	Window int
	// Resume continues a walk at the place where an earlier one ended, in this process or another: it is the Resume of a
	// [ListError], of a [Page] or of a [ListProgress]. The walk must be of the same list. Records of the earlier walk can
	// be delivered again, for example if rows vanished from the list in the meantime. None is lost, except in the cases of
	// "What no client can see" in docs/lists.md.
	Resume string
	// Progress is called after each page was consumed.
	Progress func(ListProgress)
}

// defaultWindow is the Window of a walk that sets none.
const defaultWindow = 20

// zero reports whether nothing is set.
func (w Walk) zero() bool { return w.Window == 0 && w.Resume == "" && w.Progress == nil }

// ListProgress reports the progress of a walk.
type ListProgress struct {
	// Items is the number of records delivered so far, and Total the number that the service reports now.
	Items, Total int
	// Page is the number of the page just consumed, and PageCount the current number of pages.
	Page, PageCount int
	// Repeated is how many records were dropped because they had been delivered before: rows that
	// arrived at the head push others onto the next page.
	Repeated int
	// Resume continues after this page; see [Walk]. It is empty if nothing is left.
	Resume string
}

// ListError is the error of a walk that failed.
type ListError struct {
	// Resume continues the walk after the last record that was delivered; see [Walk].
	Resume string
	Page   int
	// Missing is the number of missing records if the cause is [ErrIncomplete]; at least 1 if the list reports no total.
	Missing int
	Err     error
}

// Error returns the text of the cause.
func (e *ListError) Error() string {
	if e.Err == nil {
		return "shipping: the list could not be read to its end"
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *ListError) Unwrap() error { return e.Err }

// ErrPageLoop is the cause of a [ListError] if the service sends the same records again and again, or pages
// of another size with each response, so that the walk would never end.
var ErrPageLoop = errors.New("shipping: the list does not advance")

// ErrIncomplete is the cause of a [ListError] if the walk delivered fewer records than the list's total, although the
// total did not shrink accordingly. [ListError.Missing] is how many are missing.
//
// [ListError.Resume] continues before the first missing record, or at the head if records changed places. The
// records after that place are delivered again, together with the missing ones if the service has them now. A list
// that changed in the meantime can cause the error as well: if as many records arrived as vanished between two
// reads, the total does not show it.
var ErrIncomplete = errors.New("shipping: the list is incomplete")

// listing is the data of a list response.
type listing[T any] interface{ contents() ([]T, Pagination) }

// lister reads one list: a page, or a walk over all of them.
type lister[T any, L listing[T]] struct {
	core          *core
	operation     string
	page, perPage int
	walk          Walk
	query         func(page int) any
	id            func(*T) (id, storage string) // "" if the record has none
	invalid       error
}

func (l lister[T, L]) validate() error {
	switch {
	case l.invalid != nil:
		return l.invalid
	case l.page < 0:
		return invalidRequest(l.operation, "Page", fmt.Sprintf("is %d: pages count from 1, and 0 means the first", l.page))
	case l.perPage < 0:
		return invalidRequest(l.operation, "PerPage",
			fmt.Sprintf("is %d: set at least 1, or leave it 0 for the service's default of 100", l.perPage))
	case l.walk.Window < 0:
		return invalidRequest(l.operation, "Walk.Window",
			fmt.Sprintf("is %d: set at least 1, or leave it 0 for the default of 20", l.walk.Window))
	}
	return nil
}

func (l lister[T, L]) list(ctx context.Context, options []CallOption) (*Page[T], error) {
	err := l.validate()
	if err == nil && !l.walk.zero() {
		err = invalidRequest(l.operation, "Walk", "has no effect on one page: use All or Pages")
	}
	if err != nil {
		return nil, err
	}
	return l.fetch(ctx, l.page, options, true)
}

// checkList returns an error if the records are of another kind or, with mustList, if the list is missing. An empty
// list is valid.
func checkList[T any](records []T, mustList bool) *Error {
	switch {
	case records == nil && mustList:
		return &Error{Cause: errors.New("the response contains no list")}
	case areForeign(records):
		return &Error{Cause: errors.New("the records have no member that the specification shows")}
	}
	return nil
}

// areForeign reports whether no record has a documented member besides a storage identifier, as if a search engine
// had wrapped the service's records.
func areForeign[T any](records []T) bool {
	for _, record := range records {
		value := reflect.ValueOf(&record).Elem()
		for _, name := range []string{"StorageID", "ID"} {
			if field := value.FieldByName(name); field.IsValid() {
				field.SetZero()
			}
		}
		if !value.IsZero() {
			return false
		}
	}
	return len(records) > 0
}

// fetch fetches a page. Without mustList, a page without a list is not an error: the walk judges it.
func (l lister[T, L]) fetch(ctx context.Context, page int, options []CallOption, mustList bool) (*Page[T], error) {
	data, response, err := fetch(ctx, l.core, request{operation: l.operation, options: l.query(page)}, options,
		func(data L, _ []byte) *Error {
			items, _ := data.contents()
			return checkList(items, mustList)
		})
	if err != nil {
		return nil, err
	}
	items, pagination := data.contents()
	return &Page[T]{Items: items, Pagination: pagination, Response: &response}, nil
}

// all walks the records of the pages.
func (l lister[T, L]) all(ctx context.Context, options []CallOption) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		l.read(ctx, options, func(page *Page[T], _ *paging.Walk, err error) bool {
			if err != nil {
				return yield(nil, err)
			}
			for i := range page.Items {
				if !yield(&page.Items[i], nil) {
					return false
				}
			}
			return true
		})
	}
}

func (l lister[T, L]) pages(ctx context.Context, options []CallOption) iter.Seq2[*Page[T], error] {
	return func(yield func(*Page[T], error) bool) {
		l.read(ctx, options, func(page *Page[T], walk *paging.Walk, err error) bool {
			if err == nil {
				page.Resume = walk.Token()
			}
			return yield(page, err)
		})
	}
}

// read yields the pages with records that were not yielded before. An error is yielded last.
func (l lister[T, L]) read(ctx context.Context, options []CallOption, yield func(*Page[T], *paging.Walk, error) bool) {
	walk, settings, err := l.start(ctx, options)
	if err != nil {
		yield(nil, nil, err)
		return
	}
	defer walk.Stop()
	for {
		next, err := walk.Next()
		page := pageOf[T](next, err)
		if page != nil && settings.response != nil {
			*settings.response = *page.Response
		}
		if err != nil {
			yield(nil, nil, listError(err))
			break
		}
		if page == nil || len(page.Items) > 0 && !yield(page, walk, nil) {
			break
		}
		if l.walk.Progress != nil {
			l.walk.Progress(ListProgress(walk.Progress()))
		}
	}
	walk.Stop()
	walk.Repanic()
}

func (l lister[T, L]) start(ctx context.Context, options []CallOption) (*paging.Walk, callSettings, error) {
	settings, err := newCallSettings(options)
	if err == nil {
		err = l.validate()
	}
	if err == nil && ctx == nil {
		err = nilContext(l.operation)
	}
	if err != nil {
		return nil, settings, err
	}
	config := paging.Config{
		Fetch: l.fetcher(settings.response != nil, options), List: l.hash(settings.query), Token: l.walk.Resume,
		First: l.page, PerPage: l.perPage, Window: l.walk.Window,
	}
	config.PerPage = cmp.Or(config.PerPage, defaultPerPage)
	config.Window = cmp.Or(config.Window, defaultWindow)
	walk, err := paging.Start(ctx, config)
	if err != nil {
		err = invalidRequest(l.operation, "Walk.Resume", err.Error())
	}
	return walk, settings, err
}

// fetcher returns a function that reads pages for a walk. If the caller stores responses, each page has a Response with
// the body, even if the page is not read.
func (l lister[T, L]) fetcher(stored bool, options []CallOption) func(context.Context, int) (*paging.Page, error) {
	return func(ctx context.Context, number int) (*paging.Page, error) {
		call, response := slices.Clip(options), &Response{}
		if stored {
			call = append(call, WithResponse(response))
		}
		page, err := l.fetch(ctx, number, call, false)
		if err != nil {
			return &paging.Page{Value: &Page[T]{Response: response}, Refused: refusesPage(err)}, err
		}
		if stored {
			page.Response = response
		}
		n := page.Pagination
		got := &paging.Page{
			Numbers: paging.Numbers{Total: n.Total, PerPage: n.PerPage, PageCount: n.PageCount, HasNext: n.HasNextPage},
			Number:  cmp.Or(n.Page, n.CurrentPage),
			IDs:     make([]uint64, len(page.Items)), Listed: page.Items != nil, Value: page,
		}
		anonymous := true
		for i := range page.Items {
			got.IDs[i] = paging.ID(l.id(&page.Items[i]))
			anonymous = anonymous && got.IDs[i] == 0
		}
		if anonymous && len(page.Items) > 0 {
			got.Content = paging.Hash(fmt.Sprintf("%+v", page.Items)) // json.Marshal refuses an unreadable amount
		}
		return got, nil
	}
}

// refusesPage reports whether the service may have refused a page because it is behind the last one.
func refusesPage(err error) bool {
	failure, ok := errors.AsType[*Error](err)
	return ok && slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusRequestedRangeNotSatisfiable,
		http.StatusUnprocessableEntity}, failure.StatusCode)
}

// hash identifies a list in resume tokens: by the operation and its query, without the page.
func (l lister[T, L]) hash(added url.Values) uint64 {
	values, _ := query.Values(l.query(0)) // an error is that of each call
	return paging.Hash(l.operation + " " + values.Encode() + " " + added.Encode())
}

// pageOf returns the page that was fetched last, without the records that were yielded before.
func pageOf[T any](next *paging.Page, err error) *Page[T] {
	if failure, ok := errors.AsType[*paging.Error](err); ok {
		next = failure.Fetched
	}
	if next == nil {
		return nil
	}
	page := next.Value.(*Page[T])
	if next.Skip == nil {
		return page
	}
	kept := page.Items[:0]
	for i, item := range page.Items {
		if !next.Skip[i] {
			kept = append(kept, item)
		}
	}
	clear(page.Items[len(kept):])
	page.Items = kept
	return page
}

// listError converts the error of package paging to the one that the caller gets.
func listError(err error) error {
	failure, ok := errors.AsType[*paging.Error](err)
	if !ok {
		return err
	}
	cause := failure.Err
	if failure.Kind == paging.Behind {
		cause = fmt.Errorf("shipping: %w", cause)
	}
	if kind := map[paging.Kind]error{paging.Empty: ErrUnexpectedBody, paging.Loop: ErrPageLoop,
		paging.Incomplete: ErrIncomplete}[failure.Kind]; kind != nil {
		cause = fmt.Errorf("%w: %w", kind, cause)
	}
	return &ListError{Resume: failure.Token, Page: failure.Page, Missing: failure.Missing, Err: cause}
}
