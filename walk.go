package shipping

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// walk reads a list page by page while rows arrive and vanish. Rows are ordered newest first: a row that
// arrives pushes the others back, and a row that vanishes pulls those behind it forward, so that a page
// number means other rows than before. Either the total or repeated records show it.
//
//   - Records that were delivered before are dropped.
//   - Pages are fetched ahead while the total stays and nothing repeats. Otherwise the pages fetched
//     ahead are thrown away, because a row may have moved from one to the other between the two reads.
//     Nothing is fetched ahead if the service reports no total.
//   - After the total shrank or leapt, after the page size changed, and at a resume, the walk looks for
//     the record that it delivered last, and continues behind it; see search.
//   - The numbers of a page count, not those of the request, and its rows count more than its numbers. A
//     page size is believed if the page holds as many rows as that size implies.
//   - The records still to come are counted down from the total. If some have not come at the end, the
//     total is read once more, and the walk ends with [ErrIncomplete]. Rows that vanished are excused only
//     if the total shrank and the place shows that they stood behind it.
//
// What the walk does not cover:
//
//   - A row can be lost if rows vanish from a list without totals; if rows arrive elsewhere than at the
//     head while others vanish; if the list changes between the moments when the service counts the rows
//     and when it reads them; or if all rows delivered so far are replaced between two reads in flight.
//   - While a list changes, a row that is missing from a faulty page (a row left out, one that comes again,
//     no total) can be taken for one that vanished, or a row that has just arrived for the missing one. In
//     a list that does not change, no such row is lost in silence.
//   - A first page with an empty list and no numbers is an empty list.
//   - A complete walk can end with ErrIncomplete if as many rows arrive as undelivered ones vanish between
//     two reads, or if rows vanish while the page size changes.
//   - A row can be delivered twice if more rows than are remembered arrive between two reads while as many
//     vanish. A resumed walk remembers only the few rows of its token and those that it has read since.
type walk[T any] struct {
	settings callSettings
	id       func(*T) (id, storage string)
	list     uint64 // identifies the list in a resume token
	asked    int    // the page size that was requested
	pages    *prefetch[*Page[T]]
	window   int
	reach    int // how many pages may be fetched at once now; less than the window after a move

	number    int // the page to read next
	covered   int // rows from the head of the list to the last one delivered
	perPage   int // how many rows a page holds
	total     int // rows in the list at the last page; 0 if unknown
	pageCount int
	remaining int  // rows still to come, counted down from the total
	unsettled int  // rows that vanished, though it is not known yet from which side of the place
	untold    bool // a page since the last total did not report it, so that a change cannot be explained
	started   bool
	lost      bool // the place was not known, as after a resume, and no total was seen since
	ended     bool
	rechecked bool // the total was read once more

	recent       recentIDs
	lastContent  uint64      // hash of the last page, if its records have no identifiers
	search       *search     // not nil while the walk looks for its place
	complete     resumeToken // the last place before which no record is missing
	irregular    bool        // a page was not what its numbers implied
	ignoreTotals bool
	stall        stall
	progress     ListProgress
}

// stall counts what happened since a record was delivered, so that a walk always terminates.
type stall struct {
	pages   int // pages accepted without a change of the total
	arrived int // rows that the totals grew by: they push rows already delivered onto later pages
	moves   int // changes of the total or of the page size
	unmoved int // searches that found the place where it was before
}

const (
	maxMoves   = 100
	maxUnmoved = 16
)

func (l lister[T, L]) start(ctx context.Context, options []CallOption) (*walk[T], error) {
	settings, err := newCallSettings(options)
	if err == nil {
		err = l.validate()
	}
	if err != nil {
		return nil, err
	}
	w := &walk[T]{
		settings: settings, id: l.id, list: l.hash(settings.query), asked: l.perPage, window: settings.window,
		number: max(l.page, 1),
	}
	setDefault(&w.asked, defaultPerPage)
	setDefault(&w.window, DefaultWindow)
	w.reach = w.window
	w.complete = w.position()
	if settings.resume != "" {
		token, err := parseResumeToken(settings.resume, w.list)
		if err != nil {
			return nil, invalidRequest(l.operation, "WithResume", err.Error())
		}
		w.resume(token)
	}
	w.pages = newPrefetch(ctx, func(ctx context.Context, number int) (*Page[T], error) {
		if settings.response == nil {
			return l.fetch(ctx, number, &settings)
		}
		own := settings // each fetch fills a response of its own, also when it fails
		own.response = &Response{}
		page, err := l.fetch(ctx, number, &own)
		if page == nil {
			page = &Page[T]{}
		}
		page.Response = own.response
		return page, err
	})
	return w, nil
}

func (w *walk[T]) close() { w.pages.close() }

// run yields the pages up to the end of the walk. The error, if there is one, comes last.
func (w *walk[T]) run(yield func(*Page[T], error) bool) {
	for {
		page, err := w.next()
		if err != nil {
			yield(nil, err)
			return
		}
		if page == nil || !yield(page, nil) {
			return
		}
		w.consumed()
	}
}

// next returns the next page with the records that were not delivered before, or nil at the end.
func (w *walk[T]) next() (*Page[T], error) {
	for {
		number := w.number
		if w.ended {
			resumed, err := w.recheck()
			switch {
			case err != nil:
				return nil, w.failed(number, err)
			case !resumed:
				return nil, w.shortage()
			}
			continue
		}
		page, err := w.take()
		usable := false
		if err == nil {
			usable, err = w.judge(page)
		}
		switch {
		case err != nil:
			return nil, w.failed(number, err)
		case usable && len(page.Items) > 0:
			return page, nil
		case usable:
			w.consumed()
		}
	}
}

// failed ends the walk at a page that could not be read or used. A list that goes in circles may have
// done so for some pages.
func (w *walk[T]) failed(page int, err error) error {
	token := w.token()
	if errors.Is(err, ErrPageLoop) {
		token = w.complete
	}
	return &ListError{Resume: token.String(), Page: page, Err: err}
}

// recheck reads the total once more if records have not come, or if the last page reported no total. It
// reports whether the list turns out to have changed, so that the walk goes on.
func (w *walk[T]) recheck() (bool, error) {
	if w.rechecked || w.remaining <= 0 && !w.untold {
		return false, nil
	}
	w.rechecked = true
	w.moveTo(w.pageAt(w.covered - 1))
	page, err := w.take()
	if err != nil {
		return false, err
	}
	own, ids := plausible(page.Pagination, len(page.Items)), w.identify(page.Items)
	end := (w.number-1)*w.perPage + len(ids)
	if own.Total == end && len(ids) > 0 && slices.Equal(ids[len(ids)-1:], w.recent.last(1)) {
		w.covered = min(w.covered, end) // no row is due behind the last one any more
	}
	if len(w.recent.known) == 0 { // there is no place to look for
		w.remaining += min(w.change(own), 0)
		return false, nil
	}
	moved, err := w.moved(own, len(page.Items))
	w.ended = !moved
	return moved, err
}

// shortage is the error of a walk that delivered fewer records than the total promised; nil if it did not.
func (w *walk[T]) shortage() error {
	if w.remaining <= 0 {
		return nil
	}
	hint := ""
	if n := w.progress.Repeated; n > 0 {
		hint = fmt.Sprintf(", and %d came again: the service may ignore the page number or give several records one identifier", n)
	}
	return &ListError{
		Resume: w.complete.String(), Page: w.number, Missing: w.remaining,
		Err: fmt.Errorf("%w: at least %d of the records that its total promised did not come%s; "+
			"resume to read the list again from the last place before which none is missing", ErrIncomplete, w.remaining, hint),
	}
}

// take fetches the page whose turn it is, and others ahead of it.
func (w *walk[T]) take() (*Page[T], error) {
	w.ahead(w.reach)
	page, err := w.pages.take(w.number)
	if w.settings.response != nil && page != nil {
		*w.settings.response = *page.Response
	}
	return page, err
}

// ahead fetches the next n pages, as far as there are any.
func (w *walk[T]) ahead(n int) {
	w.pages.ahead(w.number, min(w.number+n-1, w.pageCount))
}

// moveTo makes number the page to take next, and forgets what was fetched ahead.
func (w *walk[T]) moveTo(number int) {
	w.pages.forget()
	w.number, w.reach = number, 1
}

// pageAt returns the number of the page that holds a row, counted from 0 at the head of the list.
func (w *walk[T]) pageAt(row int) int { return max(row, 0)/max(w.perPage, 1) + 1 }

// judge finds out where the page stands in the list. It reports false if the page cannot be used and
// the walk has to look elsewhere first; otherwise the page keeps the records that were not delivered
// before.
func (w *walk[T]) judge(page *Page[T]) (usable bool, err error) {
	own, ids := plausible(page.Pagination, len(page.Items)), w.identify(page.Items)
	if w.blank(page, own) {
		return false, fmt.Errorf("%w: page %d has neither records nor the numbers of a page without any; resume later", ErrUnexpectedBody, w.number)
	}
	beyond, err := w.checkNumber(own, ids)
	if err != nil {
		return false, err
	}
	delivered := 0 // of the page's first rows
	if w.search != nil {
		if delivered = w.locate(own, ids); delivered == 0 {
			return false, nil
		}
	} else if moved, err := w.moved(own, len(ids)); moved || err != nil {
		return false, err
	}
	return true, w.accept(page, own, ids, delivered, beyond)
}

// blank reports whether a page has no records and does not show that it should have none.
func (w *walk[T]) blank(page *Page[T], own Pagination) bool {
	list, numbers := page.Items != nil, page.Pagination != Pagination{}
	switch {
	case len(page.Items) > 0 || list && numbers:
		return false
	case !list && !numbers && w.total == 0:
		return true
	default:
		return w.due(own) > 0
	}
}

// due returns how many rows the numbers promise for the page. If the page has no numbers, those of the
// page before it count.
func (w *walk[T]) due(own Pagination) int {
	size, total, pages := w.perPage, own.Total, own.PageCount
	if size == 0 {
		size = max(own.PerPage, 1)
	}
	if total == unknown {
		total, pages = w.total, max(pages, w.pageCount)
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

// checkNumber compares the number that a page reports with the one that was requested. It reports true
// for a service that returns its last page when asked for one beyond it.
func (w *walk[T]) checkNumber(own Pagination, ids []uint64) (beyond bool, err error) {
	switch {
	case own.Page == 0 || own.Page == w.number || len(ids) == 0:
		return false, nil
	case own.Page < w.number && own.Page == own.PageCount:
		w.number = own.Page
		return true, nil
	case w.search != nil || slices.ContainsFunc(ids, w.recent.has):
		return false, fmt.Errorf("%w: asked for page %d, received page %d: the service seems to ignore the page number", ErrPageLoop, w.number, own.Page)
	default: // a wrong number on the right page
		return false, nil
	}
}

// change returns by how much the total has changed since the last page; 0 if that is not known.
func (w *walk[T]) change(own Pagination) int {
	if w.ignoreTotals || w.total == 0 || own.Total == unknown {
		return 0
	}
	return own.Total - w.total
}

// resized reports whether pages have another size than before. Some services report as the size of
// their last page the number of its rows.
func (w *walk[T]) resized(own Pagination, received int) bool {
	return own.PerPage != w.perPage && (own.PerPage > w.perPage || w.number < own.PageCount) &&
		believable(own, w.number, received)
}

// believable reports whether a page holds as many rows as its own numbers imply.
func believable(own Pagination, number, received int) bool {
	switch {
	case own.PerPage == 0:
		return false
	case own.Total == unknown:
		return received == own.PerPage || received < own.PerPage && number >= own.PageCount
	case received == 0 && own.PageCount != (own.Total+own.PerPage-1)/own.PerPage:
		return false
	default:
		return received == min(max(own.Total-(number-1)*own.PerPage, 0), own.PerPage)
	}
}

// moved begins a search if the page may not follow on the one before.
func (w *walk[T]) moved(own Pagination, received int) (bool, error) {
	change, resized := w.change(own), w.resized(own, received)
	switch {
	case !w.started || !resized && change >= 0 && change <= w.perPage:
		return false, nil
	case !resized && w.stall.unmoved >= maxUnmoved:
		w.ignoreTotals = true
		return false, nil
	}
	if resized {
		w.perPage = own.PerPage
	}
	w.stall.moves++
	w.search = &search{}
	w.moveTo(w.pageAt(w.covered - 1 + max(change, 0)))
	return true, w.stalled()
}

// stalled is the error of a list that brings nothing new for too long; nil while it may.
func (w *walk[T]) stalled() error {
	s := w.stall
	again := len(w.recent.known) + min(s.arrived, remembered) // rows that can come again
	switch {
	case s.pages > 16+2*again/w.perPage:
		return fmt.Errorf("%w: %d pages in a row, up to page %d, brought nothing new: the service seems to ignore the page number",
			ErrPageLoop, s.pages, w.number)
	case s.moves > maxMoves:
		return fmt.Errorf("%w: its total or page size changed %d times before it brought something new: "+
			"set PerPage to a larger size that the service keeps, and resume", ErrPageLoop, s.moves)
	}
	return nil
}

// accept takes the page as the next one, whose first rows are in front of the place that a search has
// found. It drops the records that were delivered before, counts the others, and decides which page comes
// next.
func (w *walk[T]) accept(page *Page[T], own Pagination, ids []uint64, delivered int, last bool) error {
	received := len(ids)
	w.measure(own, received)
	// A service that does not paginate returns all it has for every page.
	unpaged := page.Pagination == Pagination{} && w.started && w.total == 0 && received < w.asked
	switch content := contentHash(page.Items, ids); {
	case content == 0 || content != w.lastContent:
		w.lastContent = content
	case unpaged:
		delivered = received
	default:
		return fmt.Errorf("%w: page %d is the page before it again: the service seems to ignore the page number", ErrPageLoop, w.number)
	}
	change := w.change(own)
	first, late := delivered, 0
	if w.remembersAll() { // what is new among the first rows was missing, or has arrived: that is not known
		first, late = 0, w.recent.unknown(ids[:delivered])
	}
	w.follow(own, (w.number-1)*w.perPage+delivered, delivered > 0)
	fresh := w.fresh(page, ids, first)
	repeated := received - delivered + late - fresh
	w.settle(max(repeated-max(change, 0), 0), fresh)
	w.progress.Items += fresh
	w.progress.Repeated += repeated
	w.progress.Page, w.progress.PageCount, w.progress.Total = w.number, own.PageCount, max(own.Total, 0)
	w.count(own, received, fresh-late)

	switch {
	case fresh > 0:
		w.stall = stall{}
	case change != 0:
		w.stall.moves++
	case delivered == 0:
		w.stall.pages++
	}
	w.ended = last || unpaged && fresh == 0 || !w.more(own, received)
	if err := w.stalled(); err != nil && !w.ended {
		return err
	}

	w.number++
	switch {
	case own.Total == unknown || w.ignoreTotals || w.started && (change != 0 || repeated > 0):
		w.moveTo(w.number)
	case w.started:
		w.reach = min(2*w.reach, w.window)
	}
	w.started = true
	page.Resume = w.token().String()
	if !w.ended {
		w.ahead(w.reach - 1) // the consumer has one
	}
	return nil
}

// remembersAll reports whether the walk can tell every record that it delivered.
func (w *walk[T]) remembersAll() bool {
	return w.settings.resume == "" && len(w.recent.ring) == w.progress.Items
}

// measure learns the size of pages, and how many there are.
func (w *walk[T]) measure(own Pagination, received int) {
	switch {
	case w.resized(own, received):
		w.perPage = own.PerPage
	case w.perPage == 0 && received == 0:
		w.perPage = max(own.PerPage, 1)
	default: // rows count more than numbers
		w.perPage = max(w.perPage, received, 1)
	}
	switch {
	case own.PageCount > 0:
		w.pageCount = own.PageCount
	case own.Total > 0:
		w.pageCount = (own.Total + w.perPage - 1) / w.perPage
	}
	if !w.started {
		w.covered = (w.number - 1) * w.perPage
	}
}

// follow takes over the total of a page. After a search, place is how many rows of the list stand before
// those that are still to come. Only then can rows that vanished be told from rows that are missing: those
// that vanished from behind the place are no longer to come.
func (w *walk[T]) follow(own Pagination, place int, searched bool) {
	if own.Total == unknown {
		w.untold, w.unsettled = w.total > 0, 0
		return
	}
	change := w.change(own)
	w.progress.Vanished += max(-change, 0)
	w.stall.arrived += max(change, 0)
	if change > 0 {
		w.unsettled = 0 // rows that arrive make others come again
	}
	switch {
	case w.total == 0:
		w.remaining += max(own.Total-w.covered, 0)
	case searched && w.lost && change != 0: // rows can have arrived and vanished
		w.remaining = w.missing() + max(own.Total-place, 0)
		w.unsettled = own.Total
	case searched && change < 0 && !w.untold:
		w.unsettled -= change
		behind := (w.total - w.covered) - (own.Total - place)
		behind = min(max(behind, 0), w.unsettled)
		w.remaining -= behind
		w.unsettled -= behind
	}
	w.total, w.untold, w.lost = own.Total, false, false
}

// settle counts the records of a page that came again. A search ends at the first page with a record
// that was delivered: if more of them follow at once, the place is behind them, and fewer are to come.
func (w *walk[T]) settle(repeated, fresh int) {
	w.remaining -= min(repeated, w.unsettled)
	w.unsettled -= min(repeated, w.unsettled)
	if fresh > 0 {
		w.unsettled = 0
	}
}

// missing returns how many records did not come though their rows have been passed.
func (w *walk[T]) missing() int {
	return max(w.remaining-max(w.total-w.covered, 0), 0)
}

// count counts the rows of a page, and remembers the place behind it if no record is missing before.
func (w *walk[T]) count(own Pagination, received, fresh int) {
	due := w.due(own)
	switch {
	case w.total > 0:
		w.remaining -= fresh
	case received < due: // nobody knows how many
		w.remaining++
	}
	if received > 0 { // rows that the page lacks have their place on it
		w.covered = (w.number-1)*w.perPage + max(received, due)
	}
	whole := received >= due && (w.total == 0 || own.Total != unknown && believable(own, w.number, received))
	w.irregular = w.irregular || fresh > 0 && !whole || w.missing() > 0
	if fresh > 0 && !w.irregular {
		w.complete = w.position()
	}
}

// more reports whether to ask for a page after this one. Any of its numbers can imply one, but behind a
// page without rows there is none, unless rows are due that have not come.
func (w *walk[T]) more(own Pagination, received int) bool {
	total := own.Total
	if total == unknown {
		total = w.total
	}
	switch {
	case received == 0:
		return w.pageCount > w.number && (total == 0 || w.remaining > 0)
	case own.PageCount > w.number || own.HasNextPage || total > (w.number-1)*w.perPage+received:
		return true
	case own.PageCount > 0 || total > 0:
		return false
	default: // the page has no numbers: a full one may be followed by another
		return received >= w.perPage
	}
}

// fresh keeps the records behind the first ones that were not delivered before, remembers them, and
// returns how many they are. Records without an id are kept.
func (w *walk[T]) fresh(page *Page[T], ids []uint64, first int) int {
	kept := 0
	for i := first; i < len(ids); i++ {
		if w.recent.has(ids[i]) {
			continue
		}
		page.Items[kept], ids[kept] = page.Items[i], ids[i]
		kept++
	}
	clear(page.Items[kept:])
	page.Items = page.Items[:kept]
	for _, id := range ids[:kept] { // only now: rows of one page are different rows, whatever their ids
		w.recent.add(id)
	}
	return kept
}

// identify returns the hashes of the records' ids.
func (w *walk[T]) identify(items []T) []uint64 {
	ids := make([]uint64, len(items))
	for i := range items {
		ids[i] = recordHash(w.id(&items[i]))
	}
	return ids
}

// contentHash tells pages apart whose records have no ids; 0 if one has.
func contentHash[T any](items []T, ids []uint64) uint64 {
	if len(items) == 0 || slices.ContainsFunc(ids, func(id uint64) bool { return id != 0 }) {
		return 0
	}
	return textHash(fmt.Sprintf("%+v", items))
}

func (w *walk[T]) consumed() {
	if w.settings.progress != nil {
		w.progress.Resume = w.token().String()
		w.settings.progress(w.progress)
	}
}

// unknown is the total of a page that does not report one.
const unknown = -1

// plausible replaces numbers that no list has, so that calculations with them stay in range. A total of
// 0 counts only if nothing on the page contradicts it.
func plausible(own Pagination, received int) Pagination {
	const most = 1 << 20 // records on a page
	for _, n := range []*int{&own.Total, &own.PageCount, &own.Page} {
		*n = min(max(*n, 0), math.MaxInt32)
	}
	if own.PerPage < 0 || own.PerPage > most {
		own.PerPage = 0
	}
	if own.Total == 0 && (received > 0 || own.PerPage == 0 || own.PageCount > 1 || own.HasNextPage) {
		own.Total = unknown
	}
	return own
}
