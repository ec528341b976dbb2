package paging

import (
	"context"
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
	complete  *token  // the position before the first page that may lack records; nil if no page does
	content   uint64  // of the page before, if its records have no IDs
	progress  Progress

	reach   int  // how many pages may be held or requested at once now
	opening bool // reach is that of a consumer that may want only one page
	held    bool // the consumer has a record

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
	pushed  int // rows that came again behind the place, if the list has no totals
	moves   int // changes of the total or of the page size
	unmoved int // searches that found the place unchanged
}

const (
	maxMoves   = 100    // after which the list is given up
	maxUnmoved = 16     // after which totals are ignored: they change, but nothing moves
	maxScanned = 10_000 // pages

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
		w.ahead(w.reach)
		page, err := w.pages.take(number)
		if err != nil {
			return nil, &Error{Kind: Failed, Page: number, Token: w.Token(), Fetched: page, Err: err}
		}
		accepted, failure := w.read(page)
		if failure != nil {
			failure.Page, failure.Fetched = number, page
			return nil, failure
		}
		if accepted {
			w.held = w.held || page.Fresh > 0
			return page, nil
		}
	}
}

// read reports whether the page is accepted as the next one; if not, another has to be read first.
func (w *Walk) read(page *Page) (bool, *Error) {
	page.normalize(w.number, w.ignoreTotals)
	if failure := w.check(page); failure != nil {
		return false, failure
	}
	page.change = w.change(page)
	located := 0 // how many rows of the page are in front of the place
	switch {
	case w.search != nil:
		if located = w.locate(page); located == 0 {
			return false, w.stalled()
		}
	case w.moved(page):
		return false, w.stalled()
	}
	w.accept(page, located)
	if w.ended {
		return true, nil
	}
	return true, w.stalled()
}

// normalize replaces numbers that no list has, so that calculations with them stay in range. A total of 0 counts
// only if nothing on the page contradicts it.
func (p *Page) normalize(requested int, ignoreTotal bool) {
	const most = 1 << 20 // records on a page
	p.requested, p.bare = requested, p.Numbers == Numbers{}
	for _, n := range []*int{&p.Total, &p.PageCount, &p.Page} {
		*n = min(max(*n, 0), math.MaxInt32)
	}
	if p.PerPage < 0 || p.PerPage > most {
		p.PerPage = 0
	}
	if ignoreTotal || p.Total == 0 && (len(p.IDs) > 0 || p.PerPage == 0 || p.PageCount > 1 || p.HasNext) {
		p.Total = unknown
	}
}

// check refuses a page without data, or from a list that ignores the page number.
func (w *Walk) check(page *Page) *Error {
	if len(page.IDs) == 0 {
		total, pages := w.totalAt(page), max(page.PageCount, w.pageCount)
		due := total > w.firstRow() || total == 0 && (pages > 1 && pages >= w.number || !page.Listed && page.bare)
		if due && !(page.Listed && !page.bare) {
			return &Error{Kind: Empty, Token: w.Token(),
				Err: fmt.Errorf("page %d has neither records nor the numbers of a page without any; resume later", w.number)}
		}
		return nil
	}
	switch {
	case page.Page == 0 || page.Page == w.number:
	case page.Page < w.number && page.Page == page.PageCount: // the service returns its last page for one behind it
		w.number = page.Page
	case w.search != nil || !slices.ContainsFunc(page.IDs, func(id uint64) bool { return !w.seen.has(id) }):
		return w.loop("asked for page %d, received page %d: the service seems to ignore the page number", w.number, page.Page)
	}
	return nil
}

// moved begins a search if the page may not follow on the one before. Rows that arrived at the head need none,
// unless they are more than a page: they make as many records come again.
func (w *Walk) moved(page *Page) bool {
	resized := w.resized(page)
	switch {
	case !w.started || !resized && page.change >= 0 && page.change <= w.perPage:
		return false
	case !resized && w.stall.unmoved >= maxUnmoved:
		w.ignoreTotals, page.Total, page.change = true, unknown, 0
		return false
	case resized:
		w.perPage = page.PerPage
	}
	w.stall.moves++
	w.searchFrom(w.pageOf(w.expected(page) - 1))
	return true
}

func (w *Walk) searchFrom(number int) {
	w.search = &search{}
	w.moveTo(number)
}

// locate looks on the page for the record returned last, or if that one has vanished, for the last of those before
// it that is left, and returns how many rows of the page are in front of the place. It returns 0 if another page
// has to be read.
func (w *Walk) locate(page *Page) int {
	if w.resized(page) {
		w.perPage = page.PerPage
	}
	for located := len(page.IDs); located > 0; located-- {
		if w.seen.has(page.IDs[located-1]) {
			w.found(page, located)
			return located
		}
	}
	s, nearest := w.search, w.place.covered+min(page.change, 0)
	likely, last := w.pageOf(w.expected(page)-1), min(max(page.PageCount, w.pageCount), maxScanned)+maxUnmoved
	switch {
	case len(w.seen.ring) == 0: // nothing to recognise the place by
	case s.scanned == 0 && !s.guessed && likely != w.number:
		s.guessed = true
		w.moveTo(likely)
		return 0
	case s.scanned == 0:
		s.scanned = 1
		w.moveTo(w.pageOf(nearest - 1))
		return 0
	case s.scanned < last && len(page.IDs) > 0 && w.more(page):
		s.scanned++
		w.moveTo(w.number + 1)
		return 0
	}
	// All of them have vanished. A record twice is better than one lost.
	w.search = nil
	w.moveTo(w.pageOf(nearest))
	w.settle(w.firstRow(), page)
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
		w.settle(covered, page)
	}
}

// settle moves the place to a row of the list that the page is of.
func (w *Walk) settle(covered int, page *Page) {
	w.place.covered, w.place.total = covered, w.totalAt(page)
}

// accept takes the page as the next one, of which so many rows are in front of the place. It counts the records that
// are missing, and moves the place behind the page. A page without fresh records moves it only over rows that a search
// has left in front of it.
func (w *Walk) accept(page *Page, located int) {
	w.measure(page)
	expected, again := w.expected(page), w.mark(page, located)
	passed, excused := w.passed(page, located, again)
	switch {
	case page.Fresh == 0:
		w.place.slack -= excused
		w.settle(expected+excused, page)
	default:
		if w.complete == nil && (passed > excused || !w.regular(page)) {
			t := w.position()
			w.complete = &t
		}
		w.place.missing += passed - excused
		w.place.slack = 0
		w.settle(w.firstRow()+len(page.IDs), page)
	}
	for i, id := range page.IDs { // only now: rows of one page are different rows, whatever their IDs
		if page.Skip == nil || !page.Skip[i] {
			w.seen.add(id)
		}
	}
	w.count(page, again-located, located > 0)
	w.advance(page, again > located)
}

// passed returns how many rows lie between the place, as the total implies it, and the first fresh record of a page of
// which again records are not fresh, and how many of these rows are excused: those that a search may have left in
// front of the place. The others are missing.
func (w *Walk) passed(page *Page, located, again int) (passed, excused int) {
	passed = w.firstRow() + again - w.expected(page)
	if w.totalAt(page) == 0 { // rows that come again can have been pushed back, a page of them too
		pushed := min(max(passed, 0), again)
		passed -= pushed + w.stall.pushed
		w.stall.pushed += pushed
	}
	passed = max(passed, 0)
	excused = min(passed, w.place.slack)
	if located == 0 {
		excused = min(excused, again) // a page that was not read is not a page of records that come again
	}
	return passed, excused
}

// mark marks the records that were returned before, and those in front of the place, and returns how many they are.
func (w *Walk) mark(page *Page, located int) (again int) {
	same := page.Content != 0 && page.Content == w.content
	w.content = page.Content
	for i, id := range page.IDs {
		if i >= located && !same && !w.seen.has(id) {
			continue
		}
		if page.Skip == nil {
			page.Skip = make([]bool, len(page.IDs))
		}
		page.Skip[i] = true
		again++
	}
	page.Fresh = len(page.IDs) - again
	return again
}

// count updates the progress and the stall counters.
func (w *Walk) count(page *Page, repeated int, located bool) {
	w.progress.Items += page.Fresh
	w.progress.Repeated += repeated
	w.progress.Vanished += max(-page.change, 0)
	w.progress.Page, w.progress.PageCount, w.progress.Total = w.number, page.PageCount, max(page.Total, 0)
	w.stall.arrived += max(page.change, 0)
	switch {
	case page.Fresh > 0:
		w.stall = stall{}
	case page.change != 0:
		w.stall.moves++
	case !located:
		w.stall.pages++
	}
}

// advance makes the page after this one the next, unless this is the last one. Pages are fetched ahead while the list
// does not change; otherwise those fetched ahead are dropped, because a row may have moved from one to another
// between the two reads.
func (w *Walk) advance(page *Page, repeated bool) {
	behind := page.PageCount > 0 && page.requested > page.PageCount
	// A service that does not paginate returns all it has for every page.
	unpaged := page.bare && w.started && w.place.total == 0 && len(page.IDs) < w.config.PerPage
	w.ended = page.Fresh == 0 && (behind || unpaged || w.rechecking && page.change == 0) || !w.more(page)
	w.number++
	switch {
	case page.Total == unknown || w.started && (page.change != 0 || repeated):
		w.moveTo(w.number)
	case !w.opening:
		w.reach = min(2*w.reach, w.config.Window)
	}
	w.started, w.rechecking = true, false
	if !w.ended {
		w.ahead(w.reach - 1) // the consumer has one
	}
}

// more reports whether to read a page after this one. Any of its numbers can imply one, but no page
// follows a page without rows, unless expected rows have not come.
func (w *Walk) more(page *Page) bool {
	received, total := len(page.IDs), w.totalAt(page)
	switch {
	case received == 0:
		return total == 0 && (page.HasNext || w.pageCount > w.number) || w.shortage() > 0 && w.pageCount > w.number
	case page.PageCount > w.number || page.HasNext || total > w.firstRow()+received:
		return true
	case page.PageCount > 0 || total > 0:
		return false
	default: // the page has no numbers: a full one may be followed by another
		return received >= w.perPage
	}
}

// recheck begins to read the total once more if records are missing. It reports false if that has been done.
func (w *Walk) recheck() bool {
	if w.rechecked || w.shortage() == 0 || len(w.seen.ring) == 0 {
		return false
	}
	w.rechecked, w.rechecking, w.ended = true, true, false
	w.searchFrom(w.pageOf(w.place.covered - 1))
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

// shortage returns how many of the expected records have not come, if no other page follows.
func (w *Walk) shortage() int { return w.place.missing + max(w.place.total-w.place.covered, 0) }

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

// ahead fetches the next n pages, as far as there are any.
func (w *Walk) ahead(n int) { w.pages.ahead(w.number, min(w.number+n-1, w.pageCount)) }

// moveTo makes number the page to read next, and drops pages that were fetched ahead.
func (w *Walk) moveTo(number int) {
	w.pages.forget()
	w.number, w.reach, w.opening = number, 1, false
}

// pageOf returns the number of the page that holds a row, counted from 0 at the head of the list.
func (w *Walk) pageOf(row int) int { return max(row, 0)/max(w.perPage, 1) + 1 }

// firstRow returns how many rows are in front of the page to read next.
func (w *Walk) firstRow() int { return int(min(int64(w.number-1)*int64(w.perPage), math.MaxInt32)) }

// totalAt returns how many rows the list had when the page was read, as far as that is known; 0 if not.
func (w *Walk) totalAt(page *Page) int {
	if page.Total == unknown {
		return w.place.total
	}
	return page.Total
}

// change returns by how much the total has changed since the place was settled; 0 if that is not known.
func (w *Walk) change(page *Page) int {
	if w.place.total == 0 {
		return 0
	}
	return w.totalAt(page) - w.place.total
}

// expected returns where the place is if rows arrived only at the head.
func (w *Walk) expected(page *Page) int { return w.place.covered + max(w.change(page), 0) }

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

// regular reports whether the page has all rows that its numbers promise, and all numbers that the list has.
func (w *Walk) regular(page *Page) bool {
	if w.totalAt(page) == 0 {
		return len(page.IDs) >= w.perPage || page.PageCount <= w.number
	}
	return page.Total != unknown && w.believable(page)
}

// believable reports whether the page holds as many rows as its own numbers imply.
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
