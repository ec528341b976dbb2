package paging

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Walk is a walk over a list. Its place is behind the last record that it returned.
//
// Each page is read in three steps:
//
//  1. check refuses a page without data, and a page with another number than requested.
//  2. If the total shrank or leapt, or the page size changed, the page does not follow on the one before. The walk
//     then searches for the record that it returned last, from the likeliest page on, and continues behind it.
//  3. accept returns the records that were not returned before, moves the place behind the page, and counts how many
//     records are missing: the rows between the place that the total implies and the first new record.
type Walk struct {
	config Config
	pages  *prefetcher
	seen   seen

	number    int // the page to read next
	place     place
	perPage   int     // how many rows a page holds
	pageCount int     // how many pages there are; 0 if unknown
	search    *search // not nil while the walk searches for its place
	complete  *token  // the position before the first page that may lack records; nil if there is none
	content   uint64  // of the page before, if its records have no IDs
	progress  Progress

	reach   int  // how many pages may be held or requested at once now
	opening bool // reach is that of a consumer that may want only one page
	held    bool // the consumer has a page

	started      bool // a page was accepted, or the walk was resumed
	ended        bool
	rechecked    bool // the total was read once more
	rechecking   bool // by the next page
	ignoreTotals bool
	stall        stall
}

// place is where a walk is in the list.
type place struct {
	covered int // rows in front of the first record to come
	total   int // rows in the list when they were counted; 0 if unknown
	missing int // records that did not come though rows behind them did
	slack   int // how many more rows may be in front, after a search that found an earlier record
}

// search looks for the place in a list that has changed. The place is not nearer to the head than before, less
// the rows that the list lost; it can be anywhere behind, if as many rows arrived as vanished.
type search struct {
	guessed bool
	scanned int // pages read one after the other, if the likeliest pages did not show the place
}

// stall counts what happened since a record was returned, so that a walk always ends.
type stall struct {
	pages   int // accepted pages, without a change of the total
	arrived int // rows that the totals grew by: they push rows already returned onto later pages
	moves   int // changes of the total or of the page size
	unmoved int // searches that found the place where it was before
}

const (
	maxMoves   = 100
	maxUnmoved = 16
	maxScanned = 10_000

	unknown = -1 // the Total of a page that does not report one
)

// Start begins a walk. An error is about the token.
func Start(ctx context.Context, config Config) (*Walk, error) {
	w := &Walk{
		config: config, pages: newPrefetcher(ctx, config.Fetch), number: max(config.First, 1),
		reach: min(2, config.Window), opening: true,
	}
	if config.Token != "" {
		t, err := parseToken(config.Token, config.List)
		if err != nil {
			return nil, err
		}
		w.resume(t)
	}
	return w, nil
}

// Stop cancels all requests and returns when no goroutine is left. It must be called.
func (w *Walk) Stop() { w.pages.stop() }

// Repanic ends the caller's goroutine as Fetch ended its own, if that was by a panic or by runtime.Goexit. It is
// called after Stop.
func (w *Walk) Repanic() { w.pages.running.Repanic() }

// Progress returns the progress up to the page that Next returned last.
func (w *Walk) Progress() Progress { return w.progress }

// Next returns the next page, nil at the end, or an *Error. A page can be without fresh records.
func (w *Walk) Next() (*Page, error) {
	if w.held && w.opening {
		w.reach, w.opening = w.config.Window, false
	}
	for {
		if w.ended && !w.recheck() {
			return nil, w.end()
		}
		number := w.number
		page, err := w.take()
		if err != nil {
			return nil, &Error{Kind: Failed, Page: number, Token: w.Token(), Fetched: page, Err: err}
		}
		accepted, failure := w.read(page)
		if failure != nil {
			failure.Page, failure.Fetched = number, page
			return nil, failure
		}
		if accepted {
			w.held = true
			return page, nil
		}
	}
}

// read reports whether the page is accepted as the next one; if not, another has to be read first.
func (w *Walk) read(page *Page) (bool, *Error) {
	requested := w.number
	w.normalize(page)
	if failure := w.check(page); failure != nil {
		return false, failure
	}
	change := w.change(page)
	located := 0 // how many rows of the page are in front of the place
	switch {
	case w.search != nil:
		if located = w.locate(page); located == 0 {
			return false, w.stalled()
		}
	case w.moved(page):
		return false, w.stalled()
	}
	w.accept(page, located, requested, change)
	if w.ended {
		return true, nil
	}
	return true, w.stalled()
}

// normalize replaces numbers that no list has, so that calculations with them stay in range. A total of 0 counts
// only if nothing on the page contradicts it.
func (w *Walk) normalize(page *Page) {
	const most = 1 << 20 // records on a page
	n := &page.Numbers
	page.bare = *n == Numbers{}
	for _, number := range []*int{&n.Total, &n.PageCount, &n.Page} {
		*number = min(max(*number, 0), math.MaxInt32)
	}
	if n.PerPage < 0 || n.PerPage > most {
		n.PerPage = 0
	}
	if w.ignoreTotals || n.Total == 0 && (len(page.IDs) > 0 || n.PerPage == 0 || n.PageCount > 1 || n.HasNext) {
		n.Total = unknown
	}
}

// check refuses a page without data, or from a list that ignores the page number.
func (w *Walk) check(page *Page) *Error {
	if len(page.IDs) == 0 {
		if nothing := !page.Listed && page.bare && w.place.total == 0; nothing || (!page.Listed || page.bare) && w.due(page) > 0 {
			return &Error{Kind: Empty, Token: w.Token(),
				Err: fmt.Errorf("page %d has neither records nor the numbers of a page without any; resume later", w.number)}
		}
		return nil
	}
	unseen := func(id uint64) bool { return !w.seen.has(id) }
	switch {
	case page.Page == 0 || page.Page == w.number:
	case page.Page < w.number && page.Page == page.PageCount: // the service returns its last page for one behind it
		w.number = page.Page
	case w.search != nil || !slices.ContainsFunc(page.IDs, unseen):
		return w.loop("asked for page %d, received page %d: the service seems to ignore the page number", w.number, page.Page)
	}
	return nil
}

// moved begins a search if the page may not follow on the one before. Rows that arrived at the head need none,
// unless they are more than a page: they make as many records come again.
func (w *Walk) moved(page *Page) bool {
	change, resized := w.change(page), w.resized(page)
	switch {
	case !w.started || !resized && change >= 0 && change <= w.perPage:
		return false
	case !resized && w.stall.unmoved >= maxUnmoved:
		w.ignoreTotals, page.Total = true, unknown
		return false
	case resized:
		w.perPage = page.PerPage
	}
	w.stall.moves++
	w.search = &search{}
	w.moveTo(w.pageOf(w.expected(page) - 1))
	return true
}

// locate looks on the page for the record returned last, or if that one has vanished, for the last of those before
// it that is left, and returns how many rows of the page are in front of the place. It returns 0 if another page
// has to be read.
func (w *Walk) locate(page *Page) int {
	if w.resized(page) {
		w.perPage = page.PerPage
	}
	for i := len(page.IDs) - 1; i >= 0; i-- {
		if w.seen.has(page.IDs[i]) {
			w.found(page, i+1)
			return i + 1
		}
	}
	s, change := w.search, min(w.change(page), 0)
	likely, last := w.pageOf(w.expected(page)-1), min(max(page.PageCount, w.pageCount), maxScanned)+maxUnmoved
	switch {
	case len(w.seen.ring) == 0: // nothing to recognise the place by
	case s.scanned == 0 && !s.guessed && likely != w.number:
		s.guessed = true
		w.moveTo(likely)
		return 0
	case s.scanned == 0:
		s.scanned = 1
		w.moveTo(w.pageOf(w.place.covered - 1 + change))
		return 0
	case s.scanned < last && len(page.IDs) > 0 && w.more(page):
		s.scanned++
		w.moveTo(w.number + 1)
		return 0
	}
	// All of them have vanished. A record twice is better than one lost.
	w.search = nil
	w.moveTo(w.pageOf(w.place.covered + change))
	w.settle(w.firstRow(), page.Total)
	w.place.slack = w.place.total
	return 0
}

// found ends a search at a page of which so many rows are in front of the place. The place can still be on a later
// page, because the record that was found need not be the last one; then its records come again.
func (w *Walk) found(page *Page, located int) {
	w.search = nil
	w.seen.addOlder(page.IDs[:located]) // a token knows few: these may be pushed on as well
	covered := w.firstRow() + located
	if covered == w.place.covered {
		w.stall.unmoved++
	}
	if excess := w.expected(page) - covered; excess > 0 {
		w.place.slack += excess
		w.settle(covered, page.Total)
	}
}

// settle moves the place.
func (w *Walk) settle(covered, total int) {
	w.place.covered = covered
	if total != unknown {
		w.place.total = total
	}
}

// accept takes the page as the next one, so many of whose rows are in front of the place.
func (w *Walk) accept(page *Page, located, requested, change int) {
	w.measure(page)
	expected := w.expected(page)
	w.progress.Vanished += max(-change, 0)
	received, again := len(page.IDs), w.mark(page, located)
	fresh := received - again

	// The rows between the expected place and the first new record were passed without being returned.
	passed := w.firstRow() + again - expected
	if w.place.total == 0 && page.Total == unknown { // records that come again are those that others pushed back
		passed -= again
	}
	passed = max(passed, 0)
	excused := min(passed, again, w.place.slack)
	if fresh > 0 && w.complete == nil && (passed > excused || !w.regular(page)) {
		t := w.position()
		w.complete = &t
	}
	if fresh > 0 {
		w.place.missing += passed - excused
		w.place.slack = 0
		w.settle(w.firstRow()+received, page.Total)
	} else {
		w.place.slack -= excused
		w.settle(expected+excused, page.Total)
	}
	for i, id := range page.IDs {
		if page.Skip == nil || !page.Skip[i] { // only now: rows of one page are different rows, whatever their IDs
			w.seen.add(id)
		}
	}
	page.Fresh = fresh
	w.count(page, again-located, change, located > 0)
	w.ended = w.atEnd(page, requested, change)
	w.advance(page, change != 0 || again > located)
}

// mark marks the records that were returned before, and those in front of the place, and returns how many they are.
func (w *Walk) mark(page *Page, located int) int {
	again := 0
	repeated := page.Content != 0 && page.Content == w.content
	w.content = page.Content
	for i, id := range page.IDs {
		if i >= located && !repeated && !w.seen.has(id) {
			continue
		}
		if page.Skip == nil {
			page.Skip = make([]bool, len(page.IDs))
		}
		page.Skip[i] = true
		again++
	}
	return again
}

// count updates the progress and the stall counters.
func (w *Walk) count(page *Page, repeated, change int, located bool) {
	w.progress.Items += page.Fresh
	w.progress.Repeated += repeated
	w.progress.Page, w.progress.PageCount, w.progress.Total = w.number, page.PageCount, max(page.Total, 0)
	w.stall.arrived += max(change, 0)
	switch {
	case page.Fresh > 0:
		w.stall = stall{}
	case change != 0:
		w.stall.moves++
	case !located:
		w.stall.pages++
	}
}

// atEnd reports whether the page is the last one.
func (w *Walk) atEnd(page *Page, requested, change int) bool {
	if page.Fresh == 0 {
		behind := page.PageCount > 0 && requested > page.PageCount
		// A service that does not paginate returns all it has for every page.
		unpaged := page.bare && w.started && w.place.total == 0 && len(page.IDs) < w.config.PerPage
		if behind || unpaged || w.rechecking && change == 0 {
			return true
		}
	}
	w.rechecking = false
	return !w.more(page)
}

// more reports whether to read a page after this one. Any of its numbers can imply one, but behind a page without
// rows there is none, unless rows are due that have not come.
func (w *Walk) more(page *Page) bool {
	received, total := len(page.IDs), page.Total
	if total == unknown {
		total = w.place.total
	}
	switch {
	case received == 0:
		return w.pageCount > w.number && (total == 0 || w.shortage() > 0)
	case page.PageCount > w.number || page.HasNext || total > w.firstRow()+received:
		return true
	case page.PageCount > 0 || total > 0:
		return false
	default: // the page has no numbers: a full one may be followed by another
		return received >= w.perPage
	}
}

// advance makes the page after this one the next. Pages are fetched ahead while the list does not change; otherwise
// those fetched ahead are dropped, because a row may have moved from one to another between the two reads.
func (w *Walk) advance(page *Page, changed bool) {
	w.number++
	switch {
	case page.Total == unknown || w.started && changed:
		w.moveTo(w.number)
	case !w.opening:
		w.reach = min(2*w.reach, w.config.Window)
	}
	w.started = true
	if !w.ended {
		w.ahead(w.reach - 1) // the consumer has one
	}
}

// recheck begins to read the total once more if records are missing. It reports false if that has been done.
func (w *Walk) recheck() bool {
	if w.rechecked || w.shortage() == 0 || len(w.seen.ring) == 0 {
		return false
	}
	w.rechecked, w.rechecking, w.ended = true, true, false
	w.search = &search{}
	w.moveTo(w.pageOf(w.place.covered - 1))
	return true
}

// end returns the error of a walk that returned fewer records than the total promised; nil if it did not.
func (w *Walk) end() error {
	missing := w.shortage()
	if missing == 0 {
		return nil
	}
	hint := ""
	if n := w.progress.Repeated; n > 0 {
		hint = fmt.Sprintf(", and %d came again: the service may ignore the page number or give several records one identifier", n)
	}
	return &Error{Kind: Incomplete, Page: w.number, Missing: missing, Token: w.completeToken(),
		Err: fmt.Errorf("at least %d of the records that its total promised did not come%s; "+
			"resume to read the list again from the last place before which none is missing", missing, hint)}
}

// shortage returns how many records have not come that should have, if there is no other page.
func (w *Walk) shortage() int {
	return w.place.missing + max(w.place.total-w.place.covered, 0)
}

// stalled returns the error of a list that brings nothing new for too long; nil if it may still.
func (w *Walk) stalled() *Error {
	s, again := w.stall, len(w.seen.ring)+min(w.stall.arrived, remembered) // rows that can come again
	switch {
	case s.pages > 16+2*again/max(w.perPage, 1):
		return w.loop("%d pages in a row, up to page %d, brought nothing new: the service seems to ignore the page number", s.pages, w.number)
	case s.moves > maxMoves:
		return w.loop("its total or page size changed %d times before it brought something new: "+
			"set PerPage to a larger size that the service keeps, and resume", s.moves)
	}
	return nil
}

func (w *Walk) loop(format string, values ...any) *Error {
	return &Error{Kind: Loop, Token: w.completeToken(), Err: fmt.Errorf(format, values...)}
}

// take fetches the page whose turn it is, and others ahead of it.
func (w *Walk) take() (*Page, error) {
	w.ahead(w.reach)
	page, err := w.pages.take(w.number)
	if page == nil && err == nil {
		err = errors.New("no page")
	}
	return page, err
}

// ahead fetches the next n pages, as far as there are any.
func (w *Walk) ahead(n int) {
	w.pages.ahead(w.number, min(w.number+n-1, w.pageCount))
}

// moveTo makes number the page to read next, and drops what was fetched ahead.
func (w *Walk) moveTo(number int) {
	w.pages.forget()
	w.number, w.reach, w.opening = number, 1, false
}

// pageOf returns the number of the page that holds a row, counted from 0 at the head of the list.
func (w *Walk) pageOf(row int) int { return max(row, 0)/max(w.perPage, 1) + 1 }

// firstRow returns how many rows are in front of the page to read next.
func (w *Walk) firstRow() int { return int(min(int64(w.number-1)*int64(w.perPage), math.MaxInt32)) }

// change returns by how much the total has changed since the page before; 0 if that is not known.
func (w *Walk) change(page *Page) int {
	if w.place.total == 0 || page.Total == unknown {
		return 0
	}
	return page.Total - w.place.total
}

// expected returns where the place is if rows arrived only at the head.
func (w *Walk) expected(page *Page) int { return w.place.covered + max(w.change(page), 0) }

// due returns how many rows the numbers promise for the page. If the page has no numbers, those of the page before
// it count.
func (w *Walk) due(page *Page) int {
	size, total, pages := w.perPage, page.Total, page.PageCount
	if size == 0 {
		size = max(page.PerPage, 1)
	}
	if total == unknown {
		total, pages = w.place.total, max(pages, w.pageCount)
	}
	switch {
	case total > 0:
		return min(max(total-(w.number-1)*size, 0), size)
	case pages > w.number:
		return size
	case pages == w.number && pages > 1:
		return 1
	default:
		return 0
	}
}

// regular reports whether the page has the rows that its numbers promise, and all numbers that the list has.
func (w *Walk) regular(page *Page) bool {
	if page.Total == unknown {
		return len(page.IDs) >= w.due(page) && w.place.total == 0
	}
	return len(page.IDs) >= w.due(page) && w.believable(page)
}

// measure learns the size of pages, and how many there are.
func (w *Walk) measure(page *Page) {
	received := len(page.IDs)
	switch {
	case w.resized(page):
		w.perPage = page.PerPage
	case w.perPage == 0 && received == 0:
		w.perPage = max(page.PerPage, 1)
	default: // rows count more than numbers
		w.perPage = max(w.perPage, received, 1)
	}
	switch {
	case page.PageCount > 0:
		w.pageCount = page.PageCount
	case page.Total > 0:
		w.pageCount = (page.Total + w.perPage - 1) / w.perPage
	}
	if !w.started {
		w.place.covered = w.firstRow()
	}
}

// resized reports whether pages have another size than before. Some services report as the size of their last page
// the number of its rows; then it does not end where the list ends.
func (w *Walk) resized(page *Page) bool {
	ends := w.number < page.PageCount || page.Total == (w.number-1)*page.PerPage+len(page.IDs)
	return page.PerPage != w.perPage && (page.PerPage > w.perPage || ends) && w.believable(page)
}

// believable reports whether a page holds as many rows as its own numbers imply.
func (w *Walk) believable(page *Page) bool {
	received, size := len(page.IDs), page.PerPage
	switch {
	case size == 0:
		return false
	case page.Total == unknown:
		return received == size || received < size && w.number >= page.PageCount
	case received == 0 && page.PageCount != (page.Total+size-1)/size:
		return false
	default:
		return received == min(max(page.Total-(w.number-1)*size, 0), size)
	}
}
